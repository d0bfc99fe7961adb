"""Links in mail, through the real server: pressed by people, beside their replies."""

from __future__ import annotations

import re

import aiohttp
import pytest

from tests.scenario.email.conftest import Case
from tests.scenario.email.correspondence import OTTO

pytestmark = [pytest.mark.timeout(120), pytest.mark.asyncio(loop_scope="module")]


async def shown(session: aiohttp.ClientSession, link: str) -> dict[str, str]:
    """Open the page, and give what its form brings along by itself."""
    async with session.get(link) as answer:
        assert answer.status == 200
        page = await answer.text()
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page))


async def test_denial_by_link_goes_back_to_the_agent_with_its_reason(case: Case) -> None:
    """As one by mail does; who asked for it reads who decided."""
    (link,) = (await case.question()).links
    async with aiohttp.ClientSession() as session:
        form = {**await shown(session, link), "decision": "deny", "comment": "No receipt, <Ann>."}
        async with session.post(link, data=form) as answer:
            page = await answer.text()
    result = await case.here.letter(case.ann, "Done.")

    assert answer.status == 200
    assert "Denied by" in page
    assert "No receipt, <Ann>." in result.text
    assert not case.paid


async def test_link_after_a_reply_is_too_late_and_says_who_was_faster(case: Case) -> None:
    """One question has one answer, whichever way it came."""
    question = await case.question()
    (link,) = question.links
    async with aiohttp.ClientSession() as session:
        form = {**await shown(session, link), "decision": "deny"}
        await case.here.replies(question, "yes")
        await case.here.letter(case.ann, "Done.")
        async with session.post(link, data=form) as late:
            words = await late.text()
        async with session.get(link) as look:
            page = await look.text()

    assert (late.status, look.status) == (409, 409)
    assert "already" in words.lower()
    assert "Approved by" in page
    assert case.paid


async def test_forged_link_opens_nothing(case: Case) -> None:
    """Another signature, another question, and no signature at all."""
    (link,) = (await case.question(OTTO)).links
    body, _, signature = link.rpartition(".")
    other = "0" if signature[-1] != "0" else "1"
    async with aiohttp.ClientSession() as session:
        for bad in (f"{body}.{signature[:-1]}{other}", f"{body}x.{signature}", body, f"{link}0"):
            for method in ("GET", "POST"):
                async with session.request(method, bad, data={"decision": "approve"}) as answer:
                    assert answer.status == 404
    await case.here.quiet()

    assert not case.paid
