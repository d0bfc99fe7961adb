"""Answers by response URL: who may, once, until when; and what everybody else is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_core.thread.events import AnswerRefused, QuestionAnswered
from channels.callback.addresses import mark
from channels.callback.links import Link, sign_link
from tests.scenario.callback.office import SECRET, Office, office

YES = {"value": {"approved": True}}


async def asked(here: Office, text: str = "refund please") -> dict[str, Any]:
    """Launch something that asks, and give the question as the callback got it."""
    before = len(here.receiver.got)
    await here.launch(text)
    got = await here.receiver.until(before + 1)
    question: dict[str, Any] = got[before].json["data"]["question"]
    return question


async def test_a_program_answers_and_the_log_says_who_and_how() -> None:
    """The question as it is then comes back; the thread goes on."""
    async with office() as here:
        question = await asked(here)
        answer = await here.respond(question["response_url"], {**YES, "comment": "tests passed"})
        got = await here.receiver.until(3)
        log = await here.log(question["thread_id"])

        assert answer.status == 200, answer
        assert (answer.json["status"], answer.json["answered_by"]) == (
            "answered",
            "callback:127.0.0.1",
        )
        (event,) = [one for one in log if isinstance(one, QuestionAnswered)]
        assert (event.by, event.how, event.comment) == (
            "callback:127.0.0.1",
            "response_url",
            "tests passed",
        )
        assert got[2].json["data"]["thread"]["result"].endswith("paid back A1")


async def test_the_second_use_changes_nothing_and_is_told_who_answered() -> None:
    """Also with the same answer, and also when both come at the same moment."""
    async with office() as here:
        question = await asked(here)
        no = {"value": {"approved": False}}
        answers = await asyncio.gather(
            *(here.respond(question["response_url"], body) for body in (YES, no, YES))
        )
        refused = [one for one in answers if one.status != 200]

        assert [one.status for one in refused] == [409, 409]
        for one in refused:
            assert one.json["type"] == "/problems/already-settled"
            assert one.json["answered_by"] == "callback:127.0.0.1"
        log = await here.log(question["thread_id"])
        assert sum(isinstance(one, QuestionAnswered) for one in log) == 1


async def test_whoever_answered_elsewhere_was_first() -> None:
    """The program is told who, and its attempt stays in the log."""
    async with office() as here:
        question = await asked(here)
        await here.call("POST", f"/v1/questions/{question['id']}/answer", YES)
        answer = await here.respond(question["response_url"], YES)
        log = await here.log(question["thread_id"])

        assert (answer.status, answer.json["answered_by"]) == (409, "ci")
        (refused,) = [one for one in log if isinstance(one, AnswerRefused)]
        assert refused.by == "callback:127.0.0.1"


async def test_a_cancelled_thread_takes_no_answer() -> None:
    """410: nobody can answer any more."""
    async with office() as here:
        question = await asked(here)
        await here.call("POST", f"/v1/threads/{question['thread_id']}/cancel", {})
        answer = await here.respond(question["response_url"], YES)

        assert (answer.status, answer.json["question_status"]) == (410, "withdrawn")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
async def test_looking_changes_nothing(method: str) -> None:
    """No scanner of links ever approves anything."""
    async with office() as here:
        question = await asked(here)
        answer = await here.respond(question["response_url"], None, method)
        now = await here.call("GET", f"/v1/questions/{question['id']}")

        assert answer.status == 405
        assert method != "GET" or "POST" in answer.json["detail"]
        assert now.json["status"] == "open"


async def test_a_question_for_somebody_else_is_not_the_programs_to_answer() -> None:
    """It hears of it, and is told whose it is; the attempt is noted and the question stays open."""
    async with office() as here:
        question = await asked(here, "ask otto")
        answer = await here.respond(question["response_url"], {"value": "blue"})
        log = await here.log(question["thread_id"])

        assert answer.status == 403
        assert "otto" in answer.json["detail"]
        assert [one.by for one in log if isinstance(one, AnswerRefused)] == ["callback:127.0.0.1"]


async def test_a_callback_counts_as_who_launched_it() -> None:
    """Where the one who began it may not approve, their program may not, either."""
    async with office() as here:
        question = await asked(here, "deploy")
        answer = await here.respond(question["response_url"], YES)
        now = await here.call("GET", f"/v1/questions/{question['id']}")

        assert answer.status == 403, answer
        assert now.json["status"] == "open"


async def test_an_answer_of_the_wrong_shape_can_be_mended() -> None:
    """The URL is not used up by it."""
    async with office() as here:
        question = await asked(here)
        wrong = await here.respond(question["response_url"], {"value": "perhaps"})
        right = await here.respond(question["response_url"], YES)

        assert (wrong.status, wrong.json["type"]) == (422, "/problems/wrong-shape")
        assert right.status == 200


@pytest.mark.parametrize(
    "body", [None, [], {}, {"value": 1, "by": "otto"}, {"value": 1, "comment": 7}, "x"]
)
async def test_odd_bodies_are_refused_with_words(body: object) -> None:
    """Nothing but `value` and `comment`: who answers is nobody's to say."""
    async with office() as here:
        question = await asked(here)
        answer = await here.respond(question["response_url"], body)
        now = await here.call("GET", f"/v1/questions/{question['id']}")

        assert answer.status in {400, 422}, answer
        assert now.json["status"] == "open"


async def test_made_up_and_changed_tokens_are_unknown() -> None:
    """Cut, changed, signed with another secret, or for another callback than the thread's."""
    async with office() as here:
        question = await asked(here)
        url = question["response_url"]
        link = Link(question=question["id"], callback=mark("callback:x"), host="x", expires_at=1)
        far = 10**15
        elsewhere = Link(
            question=question["id"], callback=mark("callback:x"), host="x", expires_at=far
        )
        answers = [
            await here.respond(f"{here.url}/r/{token}", YES)
            for token in (
                "x",
                url.rpartition("/")[2][:-1],
                url.rpartition("/")[2][:-1] + ("A" if url[-1] != "A" else "B"),
                sign_link(elsewhere, b"another"),
                sign_link(link, SECRET),
                sign_link(elsewhere, SECRET),
            )
        ]

        assert [one.status for one in answers] == [404, 404, 404, 404, 410, 403]
        now = await here.call("GET", f"/v1/questions/{question['id']}")
        assert now.json["status"] == "open"


async def test_it_expires_with_the_question_or_after_thirty_days() -> None:
    """Whoever comes later is told so."""
    async with office() as here:
        question = await asked(here)
        here.clock.pass_time(30 * 24 * 3600 - 1)
        assert (await here.respond(question["response_url"], {"value": 7})).status == 422
        here.clock.pass_time(1)
        answer = await here.respond(question["response_url"], YES)

        assert (answer.status, answer.json["type"]) == (410, "/problems/question-closed")
        assert "expired" in answer.json["detail"]
