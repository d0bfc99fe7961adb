"""The approval queue, and the commands, over HTTP: real sockets, engine and store included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.unit.gateway.http.house import House, house

HELLO = {"agent": "support", "text": "hello"}
YES = {"value": {"approved": True}}


@pytest_asyncio.fixture
async def busy() -> AsyncIterator[House]:
    """A house that works."""
    async with house() as opened:
        yield opened


@pytest_asyncio.fixture
async def idle() -> AsyncIterator[House]:
    """A house where threads stay queued."""
    async with house(works=False) as opened:
        yield opened


async def test_an_approval_goes_through_the_queue(busy: House) -> None:
    """Launched, asked, found in the queue, answered by a key that may, finished."""
    thread = await busy.launch("refund please")
    assert thread["status"] == "waiting"
    (queued,) = (await busy.call("GET", "/v1/questions?status=open", key="answer")).json["items"]
    assert queued == thread["questions"][0]
    assert (queued["tool"], queued["arguments"]) == ("refund", {"order": "A1"})

    where = f"/v1/questions/{queued['id']}"
    answered = await busy.call("POST", f"{where}/answer", {**YES, "comment": "ok"}, key="answer")
    done = await busy.call("GET", f"/v1/threads/{thread['id']}?wait=20")

    assert (answered.status, answered.json["status"]) == (200, "answered")
    assert (answered.json["answered_by"], answered.json["comment"]) == ("answer", "ok")
    assert done.json["status"] == "finished"
    assert done.json["result"].endswith("paid back A1")
    assert (await busy.call("GET", "/v1/questions?status=open")).json["items"] == []


async def test_the_second_answer_is_told_who_was_first(busy: House) -> None:
    """409, with who and when in words, and the state for a program."""
    thread = await busy.launch("refund please")
    where = f"/v1/questions/{thread['questions'][0]['id']}/answer"
    both = await asyncio.gather(
        busy.call("POST", where, YES, key="answer"), busy.call("POST", where, YES)
    )
    late = next(answer for answer in both if answer.status != 200)

    assert sorted(answer.status for answer in both) == [200, 409]
    assert late.problem == "already-settled"
    assert late.json["question_status"] == "answered"
    assert f"by {late.json['answered_by']} at 20" in late.json["detail"]


async def test_an_answer_to_a_withdrawn_question_is_gone(busy: House) -> None:
    """410: nobody was first, and nobody can be any more."""
    thread = await busy.launch("refund please")
    await busy.call("POST", f"/v1/threads/{thread['id']}/cancel", {"reason": "not needed"})
    late = await busy.call("POST", f"/v1/questions/{thread['questions'][0]['id']}/answer", YES)

    assert (late.status, late.problem) == (410, "question-closed")
    assert late.json["question_status"] == "withdrawn"


async def test_an_answer_of_the_wrong_shape_is_explained_and_the_question_stays(
    busy: House,
) -> None:
    """422 says what would fit."""
    thread = await busy.launch("refund please")
    where = f"/v1/questions/{thread['questions'][0]['id']}"
    wrong = await busy.call("POST", f"{where}/answer", {"value": "perhaps"})

    assert (wrong.status, wrong.problem) == (422, "wrong-shape")
    assert "approve or deny" in wrong.json["detail"]
    assert (await busy.call("GET", where)).json["status"] == "open"


async def test_an_unknown_question_is_not_found(idle: House) -> None:
    """Neither to look at nor to answer."""
    assert (await idle.call("GET", "/v1/questions/q_nope")).problem == "not-found"
    assert (await idle.call("POST", "/v1/questions/q_nope/answer", YES)).problem == "not-found"


async def test_a_thread_is_held_and_let_go_with_an_instruction(idle: House) -> None:
    """A command that does not fit the status is refused with the status."""
    thread = (await idle.call("POST", "/v1/threads", HELLO)).json["id"]
    where = f"/v1/threads/{thread}"
    paused = await idle.call("POST", f"{where}/pause", {"reason": "lunch"}, key="control")
    twice = await idle.call("POST", f"{where}/pause", key="control")
    resumed = await idle.call("POST", f"{where}/resume", {"instruction": "be quick"}, key="control")
    retried = await idle.call("POST", f"{where}/retry", key="control")

    assert (paused.status, paused.json["status"]) == (200, "paused")
    assert (twice.status, twice.problem) == (409, "wrong-status")
    assert twice.json["thread_status"] == "paused"
    assert "by control" in twice.json["detail"]
    assert (resumed.status, resumed.json["status"]) == (200, "queued")
    assert (retried.status, retried.json["thread_status"]) == (409, "queued")


async def test_a_cancelled_thread_takes_no_more_messages(idle: House) -> None:
    """409 says since when, and by whom."""
    thread = (await idle.call("POST", "/v1/threads", HELLO)).json["id"]
    cancelled = await idle.call("POST", f"/v1/threads/{thread}/cancel", key="control")
    late = await idle.call("POST", f"/v1/threads/{thread}/messages", {"text": "wait!"})

    assert cancelled.status == 200
    assert (late.status, late.json["thread_status"]) == (409, "cancelled")
    assert "by control" in late.json["detail"]


async def test_the_kill_switch_is_pulled_and_lifted(busy: House) -> None:
    """While it is pulled, a launch is taken and waits."""
    pulled = await busy.call("PUT", "/v1/halt", {"reason": "fire"}, key="control")
    stuck = await busy.call("POST", "/v1/threads?wait=0.3", HELLO)
    shown = await busy.call("GET", "/v1/halt", key="read")
    lifted = await busy.call("DELETE", "/v1/halt", key="control")
    done = await busy.call("GET", f"/v1/threads/{stuck.json['id']}?wait=20")

    assert (pulled.status, pulled.json["halted"]) == (200, True)
    assert "fire" in shown.json["reason"]
    assert (stuck.status, stuck.json["status"]) == (201, "queued")
    assert lifted.json == {"halted": False, "reason": ""}
    assert done.json["status"] == "finished"


async def test_a_fork_is_a_thread_of_its_own(busy: House) -> None:
    """201, with where it is; open questions are asked anew."""
    thread = await busy.launch("refund please")
    forked = await busy.call("POST", f"/v1/threads/{thread['id']}/fork", key="control")
    whole = await busy.call("GET", f"{forked.headers['Location']}?wait=20")
    early = await busy.call("POST", f"/v1/threads/{thread['id']}/fork", {"at": 2})
    beyond = await busy.call("POST", f"/v1/threads/{thread['id']}/fork", {"at": 999})

    assert (forked.status, early.status) == (201, 201)
    assert forked.json["id"] != thread["id"]
    assert whole.json["questions"][0]["id"] != thread["questions"][0]["id"]
    assert beyond.status in {409, 422}


async def test_a_thread_moves_to_another_installation() -> None:
    """Exported here, imported there under its own id, and only once; or written for people."""
    async with house() as here, house() as there:
        thread = await here.launch("refund please")
        exported = await here.call("GET", f"/v1/threads/{thread['id']}/export", key="read")
        body = exported.text.encode()
        moved = await there.call("POST", "/v1/threads/import", data=body)
        twice = await there.call("POST", "/v1/threads/import", data=body)
        cut = await there.call("POST", "/v1/threads/import", {"events": []})
        question = thread["questions"][0]["id"]
        await there.call("POST", f"/v1/questions/{question}/answer", YES)
        done = await there.call("GET", f"/v1/threads/{thread['id']}?wait=20")
        told = await here.call("GET", f"/v1/threads/{thread['id']}/export?format=markdown")

    assert (moved.status, moved.json["id"]) == (201, thread["id"])
    assert (twice.status, twice.problem) == (409, "already-here")
    assert (cut.status, cut.problem) == (422, "bad-checkpoint")
    assert done.json["result"] == "done: paid back A1"
    assert told.headers["Content-Type"].startswith("text/markdown")
    assert "refund please" in told.text


# --- changing one's mind --------------------------------------------------------------------------


async def test_a_question_is_withdrawn_once(busy: House) -> None:
    """With a reason; then it is gone for everybody."""
    thread = await busy.launch("refund please")
    where = f"/v1/questions/{thread['questions'][0]['id']}"
    withdrawn = await busy.call("POST", f"{where}/withdraw", {"reason": "not needed"})
    again = await busy.call("POST", f"{where}/withdraw")
    late = await busy.call("POST", f"{where}/answer", YES)
    back = await busy.call("POST", f"{where}/take-back")

    assert (withdrawn.status, withdrawn.json["status"]) == (200, "withdrawn")
    assert (again.status, again.problem) == (410, "question-closed")
    assert (late.status, late.problem) == (410, "question-closed")
    assert (back.status, back.problem) == (409, "too-late")
    assert "no approval to take back" in back.json["detail"]


async def test_an_approval_is_taken_back_before_it_runs(busy: House) -> None:
    """While the thread is paused; the question stands in the queue again, under a new id."""
    thread = await busy.launch("refund please")
    asked = thread["questions"][0]["id"]
    await busy.call("POST", f"/v1/threads/{thread['id']}/pause")
    await busy.call("POST", f"/v1/questions/{asked}/answer", YES)
    back = await busy.call("POST", f"/v1/questions/{asked}/take-back", {"reason": "wrong one"})
    (queued,) = (await busy.call("GET", "/v1/questions?status=open")).json["items"]

    assert (back.status, back.json["status"], back.json["taken_back"]) == (200, "withdrawn", True)
    assert (queued["id"] != asked, queued["tool"]) == (True, "refund")


async def test_only_keys_that_may_change_questions_do(busy: House) -> None:
    """Withdrawing is control, taking back belongs to those who answer."""
    thread = await busy.launch("refund please")
    where = f"/v1/questions/{thread['questions'][0]['id']}"
    withdrawn = await busy.call("POST", f"{where}/withdraw", key="answer")
    back = await busy.call("POST", f"{where}/take-back", key="read")

    assert (withdrawn.status, back.status) == (403, 403)
