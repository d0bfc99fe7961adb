"""schemathesis against our own `/openapi.json`: it finds nothing.

Three times: with ids that it makes up or finds by itself; with those of a real thread and question,
so that the commands themselves are reached; and with real values for what no schema can tell (a
cursor comes from a list, a thread to import from an export, and whether an answer fits depends on
the question, and whether a callback's host is outside, on its name). The first two leave cursors
empty and don't ask whether imports, answers and callbacks that are made up are taken: they are not.
The third holds us to every check, everywhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from gateway.http.options import HttpOptions
from gateway.http.table import routes
from tests.unit.gateway.http.house import House, house

FREE = HttpOptions(requests_per_second=1e6, burst=10**6, failures_burst=10**6, wait_cap=0.02)
EXAMPLES = 8
CALLS = len(routes(metrics=True))

SETTINGS = """
[parameters]
"query.cursor" = ""
{ids}

[[operations]]
include-path = "/v1/threads/import"
[operations.checks.positive_data_acceptance]
enabled = false

[[operations]]
include-path = "/v1/questions/{{question}}/answer"
[operations.checks.positive_data_acceptance]
enabled = false  # whether a value fits depends on the question: the schema can't tell

[[operations]]
include-path = ["/v1/threads", "/v1/callbacks/replay", "/v1/callbacks/enable"]
include-method = "POST"
[operations.checks.positive_data_acceptance]
enabled = false  # which hosts a callback may have, no pattern can tell
"""


HOOKS = f"""
hooks = {json.dumps(str(Path(__file__).with_name("fuzz_hooks.py")))}

[parameters]
{{ids}}
"""


async def schemathesis(
    url: str, key: str, settings: Path, *arguments: str, real: object = None
) -> tuple[int, str]:
    """Run it; give its exit code and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli"),
        *("--config-file", str(settings), "run", f"{url}/openapi.json"),
        *("-H", f"Authorization: Bearer {key}", "--request-timeout", "10"),
        *("-n", str(EXAMPLES), "--seed", "20261116", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=settings.parent,
        env={**_unmeasured(), "REAL_VALUES": json.dumps(real)},
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


def _unmeasured() -> dict[str, str]:
    """Give the environment without what measures coverage: it runs nothing of ours."""
    return {name: text for name, text in os.environ.items() if not name.startswith("COVERAGE_")}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("known", [False, True], ids=["made-up ids", "real ids"])
async def test_schemathesis_finds_nothing(known: bool, tmp_path: Path) -> None:  # noqa: FBT001 (a case)
    """No 5xx, no status or body that was not promised, nothing invalid taken or valid refused."""
    async with house(FREE) as opened:
        thread = await opened.launch("refund please")
        question = thread["questions"][0]["id"]
        ids = f'"path.thread" = "{thread["id"]}"\n"path.question" = "{question}"' if known else ""
        settings = tmp_path / "schemathesis.toml"
        settings.write_text(SETTINGS.format(ids=ids))
        phases = "coverage,fuzzing" if known else "coverage,fuzzing,stateful"
        code, said = await schemathesis(
            opened.url, opened.keys["admin"], settings, "--phases", phases
        )

    assert code == 0, said
    assert f"{CALLS} passed" in said


@pytest.mark.timeout(180)
async def test_schemathesis_finds_nothing_with_real_values(tmp_path: Path) -> None:
    """Every check is on, for every call: what fits is taken, and what doesn't is refused."""
    async with house(FREE) as opened:
        thread = await opened.launch("refund please")
        question = thread["questions"][0]["id"]
        settings = tmp_path / "schemathesis.toml"
        ids = f'"path.thread" = "{thread["id"]}"\n"path.question" = "{question}"'
        settings.write_text(HOOKS.format(ids=ids))
        arguments = (opened.url, opened.keys["admin"], settings, "--phases", "coverage,fuzzing")
        code, said = await schemathesis(*arguments, real=await real_values(opened))
        answered = (await opened.call("GET", f"/v1/questions/{question}")).json["status"]
        imported = len((await opened.call("GET", "/v1/threads?limit=200")).json["items"])

    assert code == 0, said
    assert f"{CALLS} passed" in said
    assert answered == "answered"  # so the real values were there, and taken
    assert imported > EXAMPLES


async def real_values(opened: House) -> dict[str, object]:
    """Find cursors of both lists, and a thread that can be taken over."""
    for _ in range(3):
        await opened.launch("refund please")
    finished = (await opened.launch("hello"))["id"]
    cursors = {}
    for path in ("/v1/threads", "/v1/questions"):
        page = (await opened.call("GET", f"{path}?limit=1")).json
        cursors[path] = ["", page["next_cursor"]]
        assert page["next_cursor"]
    export = (await opened.call("GET", f"/v1/threads/{finished}/export")).text
    return {"cursors": cursors, "exported": finished, "export": export}
