"""schemathesis against our own `/openapi.json`: it finds nothing.

Twice: with ids that it makes up or finds by itself, and with those of a real thread and question,
so that the commands themselves are reached. Two things it can't know are told to it: a cursor
comes from a list, and a thread to import from an export.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from gateway.http.options import HttpOptions
from tests.unit.gateway.http.house import house

FREE = HttpOptions(requests_per_second=1e6, burst=10**6, failures_burst=10**6, wait_cap=0.02)
EXAMPLES = 8

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
"""


async def schemathesis(url: str, key: str, settings: Path, *arguments: str) -> tuple[int, str]:
    """Run it; give its exit code and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli"),
        *("--config-file", str(settings), "run", f"{url}/openapi.json"),
        *("-H", f"Authorization: Bearer {key}", "--request-timeout", "10"),
        *("-n", str(EXAMPLES), "--seed", "20261116", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=settings.parent,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


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
    assert "21 passed" in said
