"""One house with two doors: what is said at either holds for all that runs anywhere."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.scenario.machines.crew import Crew, crew

AT_ONCE = 1.0
"""Seconds, as promised."""

SECRET = "open sesame"
HOOK_RATE = 4
HOOK = f"""
[hooks.ci]
agent = "echo"
scheme = "bearer"
secret_env = "CI_SECRET"
message = "{{{{ payload.text }}}}"
per_second = {HOOK_RATE}
"""

_NEWER_EVENT = """
INSERT INTO events
SELECT id, seq + 1, '{"type": "ThreadTeleported", "at": 1}' FROM threads WHERE id = $1
"""

RATE, BURST = 100, 200
"""What a key may do (`HttpOptions`)."""

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(90)]


async def _stopped(site: Crew, what: str, *calls: tuple[str, str]) -> float:
    """Make the calls, and give how long it took until what was begun was cut short."""
    clock = asyncio.get_running_loop().time
    await site.written(f"begin {what}")
    start = clock()
    for method, path in calls:
        await site.call(method, path, {"reason": "enough"} if "halt" in path else {})
    await site.written(f"stopped {what}")
    return clock() - start


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Crew]:
    """Start two doors, and one who works."""
    folder = tmp_path_factory.mktemp("machines")
    settings = {"CI_SECRET": SECRET}
    async with crew(folder, "web web worker", config=HOOK, settings=settings) as started:
        yield started


async def test_pause_cancel_and_halt_reach_a_call_on_another_machine(site: Crew) -> None:
    """A model's call, and a tool's that may be interrupted; the one who is told runs nothing."""
    for agent in ("thinker", "digger"):
        for how in ("pause", "cancel"):
            what = f"{agent}-{how}"
            thread = await site.launch(agent, what)
            took = await _stopped(site, what, ("POST", f"/v1/threads/{thread}/{how}"))
            assert took < AT_ONCE, what
            await site.status(thread, {"pause": "paused", "cancel": "cancelled"}[how])

    threads = [await site.launch(agent, f"{agent}-halt") for agent in ("thinker", "digger")]
    await site.written("begin digger-halt")
    assert await _stopped(site, "thinker-halt", ("PUT", "/v1/halt")) < AT_ONCE
    await site.written("stopped digger-halt")
    assert [line for line in site.server.lines("ledger.txt") if line.startswith("end")] == []

    await site.call("DELETE", "/v1/halt")
    for thread in threads:  # they go on where they were, until they are told not to
        await site.call("POST", f"/v1/threads/{thread}/cancel", {}, or_else={409})
        await site.status(thread, "cancelled", "finished")


async def test_what_newer_code_has_written_is_left_alone(site: Crew) -> None:
    """The thread does not fail, its lease is free for who can read it, and nobody spins.

    Who writes to it is told to come again: another machine may understand.
    """
    thread = await site.launch("clerk", "from-the-future")
    await site.status(thread, "waiting")
    await site.server.rows(_NEWER_EVENT, thread)
    await site.server.rows("UPDATE threads SET seq = seq + 1, wake_at = 1 WHERE id = $1", thread)
    async with asyncio.timeout(20):
        while "left to others" not in site.server.log:  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.05)
    await site.status(await site.launch("echo", "others-go-on"), "finished")

    assert site.server.log.count("left to others") == 1
    row = "SELECT status, lease_until FROM threads WHERE id = $1"
    assert await site.server.rows(row, thread) == [("waiting", None)]
    url = f"{site.server.url}/v1/threads/{thread}/messages"
    heads = {"Authorization": f"Bearer {site.server.key}"}
    async with site.session.post(url, headers=heads, json={"text": "hello?"}) as told:
        assert (told.status, told.headers["Retry-After"]) == (503, "1")


async def test_two_doors_share_the_rate_of_a_key(site: Crew) -> None:
    """One client at both doors gets what it would get at one: a burst, and then the rate.

    Each door may be wrong by a sixteenth of the burst. The rate goes on while we count.
    """
    await asyncio.sleep(BURST / RATE)  # the bucket is full again
    answers, took = await _besiege(site, "GET", "/v1/questions?limit=1", site.server.key, 2 * BURST)

    assert answers[200] + answers[429] == 4 * BURST
    assert BURST <= answers[200] <= BURST + RATE * took + 2 * BURST / 16


async def test_two_doors_share_the_rate_of_a_hook(site: Crew) -> None:
    """Ten seconds' worth at once, and then so many a second; strangers use nothing up."""
    burst = 10 * HOOK_RATE
    strangers, _ = await _besiege(site, "POST", "/hooks/ci", "wrong", burst)
    answers, took = await _besiege(site, "POST", "/hooks/ci", SECRET, burst)

    assert strangers == {401: 2 * burst}
    assert answers[202] + answers[429] == 2 * burst
    assert burst <= answers[202] <= burst + HOOK_RATE * took + 2 * burst / 16


async def _besiege(
    site: Crew, method: str, path: str, key: str, each: int
) -> tuple[Counter[int], float]:
    """Call both doors so often, two callers at each; count the answers, and take the time."""
    answers, start = Counter[int](), asyncio.get_running_loop().time()
    heads = {"Authorization": f"Bearer {key}"}

    async def call(door: str) -> None:
        for number in range(each // 2):
            body = {"text": f"{door} {number}"} if method == "POST" else None
            asking = site.session.request(method, f"{door}{path}", headers=heads, json=body)
            async with asking as got:
                answers[got.status] += 1
                assert got.status != 429 or int(got.headers["Retry-After"]) >= 1

    await asyncio.gather(*(call(door.url) for door in site.server.doors for _ in range(2)))
    return answers, asyncio.get_running_loop().time() - start


async def test_stream_goes_on_at_another_machine_without_a_gap(site: Crew) -> None:
    """The machine that streams is killed: no event is lost, and none comes twice."""
    here, there = site.server.doors
    thread = await site.launch("clerk", "hello")
    question = (await site.status(thread, "waiting"))["questions"][0]["id"]
    path = f"/v1/threads/{thread}/events"
    heard = await _listen(site, f"{here.url}{path}", after=0, until="QuestionAsked")
    following = asyncio.create_task(
        _listen(site, f"{here.url}{path}", after=heard[-1], until="never")
    )
    await asyncio.sleep(0)
    assert await here.stop() == -signal.SIGKILL
    heard += await following

    later = asyncio.create_task(
        _listen(site, f"{there.url}{path}", after=heard[-1], until="ThreadFinished")
    )
    site.server.doors.remove(here)
    await site.call("POST", f"/v1/questions/{question}/answer", {"value": "go on"})
    heard += await later

    log = await site.events(thread)
    assert heard == [event["seq"] for event in log], (log, site.server.log)


async def _listen(site: Crew, url: str, *, after: int, until: str) -> list[int]:
    """Read a stream until an event of this type, or until the machine is gone."""
    headers = {
        "Authorization": f"Bearer {site.server.key}",
        "Accept": "text/event-stream",
        "Last-Event-ID": str(after),
    }
    heard: list[int] = []
    try:
        while (stream := await site.session.get(url, headers=headers)).status == 429:  # noqa: ASYNC110 (it is the server that waits)
            await asyncio.sleep(0.05)  # another test has used up the key's rate
        async with stream:
            async for line in stream.content:
                if line.startswith(b"id: "):
                    heard.append(int(line[4:]))
                if line.strip() == f"event: {until}".encode():
                    break
    except OSError:
        pass
    return heard
