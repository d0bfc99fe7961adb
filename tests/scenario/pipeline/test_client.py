"""The client of one file: POSIX sh and curl, with the real server, in every shell that is here."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.scenario.pipeline.stage import CLIENT, Stage, ended, stage, told
from tests.unit.gateway.canned import THREAD, Canned, canned_server

SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
ODD = "Deploy \"v1\"\\n\t$HOME `id` 'é🧵'\nsecond line\\"


def client(shell: str, *arguments: str) -> list[str]:
    """Call it in a shell."""
    return [*([shell, "sh"] if shell == "busybox" else [shell]), str(CLIENT), *arguments]


async def thread_of(here: Stage, said: str) -> dict[str, object]:
    """Read the thread that the client says it has launched."""
    thread = said.split("launched ")[1].split(maxsplit=1)[0]
    headers = {"Authorization": f"Bearer {here.server.key}"}
    url = f"{here.server.url}/v1/threads/{thread}"
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        got: dict[str, object] = await answer.json()
        return got


@pytest.mark.parametrize("shell", SHELLS)
async def test_any_text_arrives_as_it_is_and_the_result_comes_back(
    shell: str, tmp_path: Path
) -> None:
    """Quotes, backslashes, line ends, other alphabets; what looks like a command is none."""
    async with stage(tmp_path) as here:
        arguments = ["--thread-key", 'k"1', "--metadata", 'a="b"', "--metadata", "c=d=e"]
        step = await here.begin(client(shell, *arguments, "release", ODD))
        await here.clicks(await here.card(), "approve")
        ran = await ended(step)
        thread = await thread_of(here, ran.err)

    assert (ran.code, ran.out) == (0, f"Go ahead: {ODD}\n")
    assert thread["metadata"] == {"a": '"b"', "c": "d=e"}


@pytest.mark.parametrize("shell", SHELLS)
async def test_it_waits_through_a_restart_of_the_server(shell: str, tmp_path: Path) -> None:
    """Killed while somebody is asked; back on the same port; then otto says yes."""
    async with stage(tmp_path) as here:
        step = await here.begin(client(shell, "release", "Deploy v1"))
        card = await here.card()
        await told(step, "question: ")
        await here.server.stop(signal.SIGKILL)
        await here.server.start()
        await here.server.ready()
        await here.clicks(card, "approve")
        ran = await ended(step)

    assert (ran.code, ran.out) == (0, "Go ahead: Deploy v1\n")


async def test_same_key_again_takes_up_the_same_thread(tmp_path: Path) -> None:
    """A job that ran out of time is started again: otto is not asked twice."""
    async with stage(tmp_path) as here:
        arguments = ["--idempotency-key", "run-7", "release", "Deploy v1"]
        first = await here.run(client("sh", "--timeout", "0", *arguments))
        card = await here.card()
        second = await here.begin(client("sh", *arguments))
        await here.clicks(card, "deny")
        ran = await ended(second)
        cards = here.team.posted(here.team.dm("UOTTO"))

    assert (first.code, ran.code, len(cards)) == (3, 1, 1)
    assert "people did not give leave" in ran.err


async def test_key_of_the_scopes_that_it_names_is_enough_and_never_an_argument(
    tmp_path: Path,
) -> None:
    """Who lists the processes sees no secret."""
    async with stage(tmp_path) as here:
        step = await here.begin(client("sh", "release", "Deploy v1"))
        card = await here.card()
        listed = [
            (Path("/proc") / pid / "cmdline").read_bytes()
            for pid in os.listdir("/proc")  # noqa: PTH208 (names are wanted)
            if pid.isdecimal() and (Path("/proc") / pid / "cmdline").exists()
        ]
        await here.clicks(card, "approve")
        ran = await ended(step)

    assert ran.code == 0
    assert not [one for one in listed if here.server.key.encode() in one]


# Against a server that says what a test tells it to


@pytest.fixture
def canned() -> Iterator[Canned]:
    """A server with a script."""
    with canned_server() as server:
        yield server


async def call(canned: Canned, *arguments: str, **environ: str) -> tuple[int, str, str]:
    """Run it against that server."""
    process = await asyncio.create_subprocess_exec(
        *client("sh", *arguments),
        env={
            "PATH": os.environ["PATH"],
            "PARLEY_URL": canned.url,
            "PARLEY_API_KEY": "pk_1",
            **environ,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    ran = await ended(process)
    return ran.code, ran.out, ran.err


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        ([], {}),
        (["release"], {}),
        (["release", ""], {}),
        (["", "text"], {}),
        (["release", "text", "more"], {}),
        (["--timeout", "soon", "release", "text"], {}),
        (["--timeout", "-1", "release", "text"], {}),
        (["--timeout"], {}),
        (["--metadata", "none", "release", "text"], {}),
        (["--idempotency-key", "a b", "release", "text"], {}),
        (["--what", "release", "text"], {}),
        (["release", "text"], {"PARLEY_URL": ""}),
        (["release", "text"], {"PARLEY_URL": "ftp://x"}),
        (["release", "text"], {"PARLEY_API_KEY": ""}),
        (["release", "text"], {"PARLEY_API_KEY": 'a"\nurl = "http://evil'}),
    ],
)
async def test_wrong_usage_is_told_before_anything_is_sent(
    canned: Canned, arguments: list[str], environ: dict[str, str]
) -> None:
    """Exit 2, words on stderr, nothing on stdout."""
    code, out, err = await call(canned, *arguments, **environ)

    assert (code, out, bool(err)) == (2, "", True)
    assert canned.asked == []


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422, 301])
async def test_refusal_is_shown_and_not_repeated(canned: Canned, status: int) -> None:
    """A wrong key, an unknown agent: nothing gets better by waiting."""
    canned.problem("POST", "/v1/threads", status, "no such agent", Location="/elsewhere")
    code, out, err = await call(canned, "release", "text")

    assert (code, out, "no such agent" in err, len(canned.asked)) == (1, "", True, 1)


async def test_launch_is_repeated_with_the_same_key_until_the_server_can(canned: Canned) -> None:
    """Twice not now, then yes."""
    canned.problem("POST", "/v1/threads", 503, "busy")
    place = "/v1/threads/th_1"
    canned.on("GET", place, "All done.\n", Parley_Outcome="finished")
    running = asyncio.create_task(call(canned, "release", "text"))
    async with asyncio.timeout(30):
        while len(canned.asked) < 2:  # noqa: ASYNC110 (another thread's list)
            await asyncio.sleep(0.02)
    canned.on("POST", "/v1/threads", THREAD, 201, Location=place)
    code, out, _ = await running

    assert (code, out) == (0, "All done.\n")
    posted = [one for one in canned.asked if one.method == "POST"]
    assert len(posted) >= 3
    assert len({one.headers["Idempotency-Key"] for one in posted}) == 1
    assert json.loads(posted[0].body) == {"agent": "release", "text": "text"}


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        *(("finished", 0), ("denied", 1), ("failed", 1), ("cancelled", 1)),
        *(("waiting", 3), ("paused", 3), ("running", 3), ("queued", 3)),
    ],
)
async def test_exit_code_is_what_the_outcome_says(canned: Canned, outcome: str, code: int) -> None:
    """Whatever is not over when the time is over still waits."""
    canned.on("POST", "/v1/threads", THREAD, 201, Location="/v1/threads/th_1")
    canned.on("GET", "/v1/threads/th_1", "words\n", Parley_Outcome=outcome)
    patience = "1" if code == 3 else "60"
    ran = await call(canned, "--timeout", patience, "release", "text")

    assert ran[0] == code, ran


async def test_what_is_no_parley_server_is_told(canned: Canned) -> None:
    """A portal that answers 200 to everything must not pass for a yes; 2 is for no launch."""
    canned.on("POST", "/v1/threads", "<html>", 200)
    assert (await call(canned, "release", "text"))[0] == 2

    canned.on("POST", "/v1/threads", THREAD, 201, Location="/v1/threads/th_1")
    canned.on("GET", "/v1/threads/th_1", "<html>", 200)
    assert (await call(canned, "release", "text"))[0] == 1
