"""A thread for shell scripts: its outcome in a header, and what to read as plain text."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.gateway.http.house import House, house

TEXT = {"Accept": "text/plain"}


async def read(opened: House, thread: str, query: str = "") -> tuple[str, str, str]:
    """Give a thread's outcome, kind of content and text."""
    url = f"{opened.url}/v1/threads/{thread}{query}"
    headers = {**TEXT, "Authorization": f"Bearer {opened.keys['read']}"}
    async with opened.session.get(url, headers=headers) as answer:
        return (
            answer.headers["Parley-Outcome"],
            answer.headers["Content-Type"],
            await answer.text(),
        )


async def decided(opened: House, value: Any) -> str:  # noqa: ANN401 (any JSON)
    """Launch, answer, and give the thread at its end."""
    thread = await opened.launch("refund please")
    question = thread["questions"][0]["id"]
    await opened.call("POST", f"/v1/questions/{question}/answer", {"value": value})
    return str(thread["id"])


async def test_thread_that_waits_tells_who_is_asked() -> None:
    """In words for whoever reads a log; the same thread is JSON to everybody else."""
    async with house() as opened:
        thread = await opened.launch("refund please")
        outcome, kind, text = await read(opened, thread["id"])

        assert (outcome, kind) == ("waiting", "text/plain; charset=utf-8")
        assert f"The thread {thread['id']} is waiting.\nApproval: " in text
        assert "  asked: admin\n" in text
        assert f"  question: {thread['questions'][0]['id']}\n" in text


@pytest.mark.parametrize(("approved", "outcome"), [(True, "finished"), (False, "denied")])
async def test_thread_that_finished_without_leave_is_denied(approved: bool, outcome: str) -> None:  # noqa: FBT001 (a case)
    """Its status is finished either way, and its JSON has no more fields than before."""
    async with house() as opened:
        thread = await decided(opened, {"approved": approved})
        told = await read(opened, thread, "?wait=10&until=end")
        view = await opened.call("GET", f"/v1/threads/{thread}")

        assert (told[0], view.headers["Parley-Outcome"]) == (outcome, outcome)
        assert (view.json["status"], "denied" in view.json) == ("finished", False)
        assert told[2] == f"{view.json['result']}\n"


async def test_until_end_waits_on_while_people_are_asked() -> None:
    """`rest` is over at once; `end` when they have answered."""
    async with house() as opened:
        thread = await opened.launch("refund please")
        rested = await read(opened, thread["id"], "?wait=10")
        ending = asyncio.create_task(read(opened, thread["id"], "?wait=20&until=end"))
        question = thread["questions"][0]["id"]
        await opened.call("POST", f"/v1/questions/{question}/answer", {"value": {"approved": True}})

        assert rested[0] == "waiting"
        assert (await ending)[0] == "finished"


async def test_launch_tells_its_outcome_and_where_the_thread_is() -> None:
    """Also as text."""
    async with house() as opened:
        headers = {**TEXT, "Authorization": f"Bearer {opened.keys['launch']}"}
        body = {"agent": "support", "text": "hello"}
        async with opened.session.post(
            f"{opened.url}/v1/threads?wait=10", json=body, headers=headers
        ) as answer:
            assert (answer.status, answer.headers["Parley-Outcome"]) == (201, "finished")
            assert answer.headers["Location"].startswith("/v1/threads/th_")
            assert answer.content_type == "text/plain"
