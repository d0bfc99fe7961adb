"""People write, and are written to: what each of them reads, and what comes of their answers."""

from __future__ import annotations

import re

import aiohttp
import pytest

from tests.scenario.email.conftest import Case
from tests.scenario.email.correspondence import OTTO

pytestmark = [pytest.mark.timeout(120), pytest.mark.asyncio(loop_scope="module")]


async def test_denial_with_a_reason_goes_back_to_the_agent(case: Case) -> None:
    """In the words of the person; nothing is paid."""
    question = await case.question()
    await case.here.replies(question, "Nein, weil die Quittung fehlt.\n\n-- \nOtto")
    result = await case.here.letter(case.ann, "Done.")

    assert "die Quittung fehlt" in result.text
    assert not case.paid


async def test_choice_is_made_by_its_number(case: Case) -> None:
    """As the mail lists the options."""
    await case.here.writes(case.ann, "which one?")
    question = await case.here.letter(case.ann, "Which?")
    await case.here.replies(question, "2")
    result = await case.here.letter(case.ann, "Done.")

    assert "1. red" in question.text
    assert "blue" in result.text


async def test_unclear_answer_is_asked_about_and_kept(case: Case) -> None:
    """A friendly mail says what is expected; the question stays open, nothing is guessed."""
    question = await case.question()
    before = len(case.here.office.letters(OTTO))
    await case.here.replies(question, f"Yes, but only 20 euros for {case.order}.")
    note = await case.here.office.letter(OTTO, before + 1)
    assert not case.paid
    await case.here.replies(question, "ok, yes")
    await case.here.letter(case.ann, "Done.")
    kept = f"%only 20 euros for {case.order}%"
    [(times,)] = case.here.server.rows(
        "SELECT count(*) FROM events WHERE body LIKE ? AND body LIKE '%MessageReceived%'", kept
    )

    assert "stays open" in note.text
    assert '"yes" or "no"' in note.text
    assert (case.paid, times) == (True, 1)


async def test_people_in_cc_stay_in_the_conversation(case: Case) -> None:
    """They get what she gets, and may go on with it."""
    bob = f"bob.{case.order}@example.com"
    await case.here.writes(case.ann, "hello", headers={"Cc": bob})
    await case.here.letter(case.ann, "hello")
    copy = await case.here.letter(bob, "hello")
    await case.here.replies(copy, "and hello from me")
    more = await case.here.letter(case.ann, "hello from me")

    assert bob in copy.header("Cc")
    assert more.subject == "Re: Refund"


async def test_others_who_were_asked_get_one_short_follow_up(case: Case) -> None:
    """She began it and may not approve it: she reads who did."""
    question = await case.question()
    await case.here.replies(question, "yes")
    await case.here.letter(case.ann, "Done.")
    settled = await case.here.letter(case.ann, "Approved")

    assert len(case.here.letters(case.ann, "Approved")) == 1
    assert settled.subject == "Re: Refund"


def _hidden(page: str) -> str:
    """Give what the page posts along: which card was looked at."""
    found = re.search(r'name="shown" value="([0-9a-f]+)"', page)
    assert found is not None
    return found[1]


async def test_link_acts_once_and_only_when_the_button_is_pressed(case: Case) -> None:
    """Scanners open every link, and some of them ask for the head alone."""
    (link,) = (await case.question()).links
    async with aiohttp.ClientSession() as session:
        for method in ("GET", "HEAD"):
            async with session.request(method, link) as answer:
                assert answer.status == 200
        async with session.get(link) as answer:
            page = await answer.text()
        await case.here.quiet()
        before = case.paid
        form = {"decision": "approve", "shown": _hidden(page)}
        async with session.post(link, data=form) as answer:
            first = answer.status
        async with session.post(link, data=form) as answer:
            second = await answer.text()
        await case.here.letter(case.ann, "Done.")

    assert (before, case.paid, first) == (False, True, 200)
    assert "refund" in page
    assert case.order in page
    assert "approved by otto" in second.lower()
