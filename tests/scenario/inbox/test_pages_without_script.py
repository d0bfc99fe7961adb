"""The inbox in a browser that runs no script: every page and every button."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from agent_core import Agent, ScriptedModel, call, calls, says
from agent_core.thread.events import AnswerRefused, QuestionAnswered, ThreadId
from gateway.http.options import HttpOptions
from tests.doubles.inbox_house import InboxHouse, inbox_house, refund
from tests.scenario.inbox.reader import Reader


@pytest.fixture
async def house() -> AsyncIterator[InboxHouse]:
    """Open an inbox."""
    async with inbox_house(options=HttpOptions(shutdown_grace=0.2, heartbeat=0.2)) as opened:
        yield opened


async def _asked(house: InboxHouse, text: str) -> tuple[str, str]:
    thread = await house.launch(text)
    return thread.id, thread.questions[0].id


async def test_an_approval_from_the_queue_runs_the_tool(house: InboxHouse) -> None:
    """One press, and the agent goes on; the log says who it was and how they are known."""
    thread, question = await _asked(house, "refund order 1042")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get("/")
        asked = otto.text
        await otto.press(f"{question}/answer", decision="approve", comment="fine")
        after = otto.text
    done = await house.rested(thread)
    answered = [
        one
        for one in await house.store.events(ThreadId(thread))
        if isinstance(one, QuestionAnswered)
    ]

    assert "amount: 59.9 reason: arrived broken" in asked
    assert "by desk for ann asked less than a minute ago" in asked
    assert "Approved." in after
    assert "Nothing waits for you." in after
    assert done.status == "finished"
    assert (answered[0].by, answered[0].how, answered[0].comment) == (
        "otto",
        "inbox email",
        "fine",
    )


async def test_a_denial_carries_its_reason(house: InboxHouse) -> None:
    """The agent is told why, and goes on."""
    thread, question = await _asked(house, "refund order 1042")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get(f"/questions/{question}")
        await otto.press("/answer", decision="deny", comment="too much")
        await otto.get(f"/questions/{question}")
        verdict = otto.text
    settled = await house.gateway.question(question)

    assert (settled.answer, settled.comment) == ({"approved": False}, "too much")
    assert "Denied by otto at" in verdict
    assert (await house.rested(thread)).status == "finished"


async def test_edits_are_shown_side_by_side_before_they_are_sent(house: InboxHouse) -> None:
    """A form of the tool's own parameters, a look at the difference, then the approval."""
    thread, question = await _asked(house, "refund order 1042")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get(f"/questions/{question}/edit")
        wrong = await otto.press("/edit", **{"field-1": "lots"})
        told = otto.text
        await otto.press("/edit", **{"field-1": "20.5"})
        review = otto.text
        await otto.press("/edit", back="yes")
        again = otto.html
        await otto.press("/edit", **{"field-1": "20"})
        await otto.press("/answer", decision="edit", comment="part of it")
    settled = await house.gateway.question(question)

    assert wrong == 422
    assert "Please give a number, such as 20.5." in told
    assert "amount changed 59.9 20.5" in review
    assert 'value="20.5"' in again
    assert settled.answer == {
        "approved": True,
        "arguments": {"order": "1042", "amount": 20, "reason": "arrived broken"},
    }
    assert "Refunded 20.00" in str(await house.gateway.events(thread))


async def test_edits_that_the_tool_refuses_are_told_in_its_words(house: InboxHouse) -> None:
    """What is posted is checked again when it is sent: the page is not trusted."""
    _, question = await _asked(house, "refund order 1042")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get(f"/questions/{question}/edit")
        await otto.press("/edit")
        unchanged = otto.text
        status = await otto.press("/answer", decision="edit", arguments='{"order": []}')

    assert "you changed nothing" in unchanged
    assert status == 422
    assert "The changed arguments don't fit refund" in otto.text
    assert (await house.gateway.question(question)).status == "open"


async def test_what_was_looked_at_is_what_runs_to_the_letter(house: InboxHouse) -> None:
    """Characters that can't be seen were shown written out, and are not dropped on the way."""
    odd = "turned \u202eround\u200b, \x7f and \x07"
    call_it = ScriptedModel([calls(call("refund", order=odd, amount=59.9)), says("Done.")])
    desk = Agent("desk", tools=[refund], model=call_it)
    async with inbox_house(agents={"desk": desk}) as other:
        _, question = await _asked(other, "refund it")
        async with Reader(other, await other.sign_in("otto")) as otto:
            await otto.get(f"/questions/{question}/edit")
            await otto.press("/edit", **{"field-1": "20"})
            await otto.press("/answer", decision="edit")
        settled = await other.gateway.question(question)

    assert settled.answer == {"approved": True, "arguments": {"order": odd, "amount": 20}}


async def test_edits_that_do_not_fit_stay_in_the_form(house: InboxHouse) -> None:
    """Who has changed much and one thing wrongly mends that one thing."""
    _, question = await _asked(house, "wire it")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get(f"/questions/{question}/edit")
        await otto.press("/edit", **{"field-0": "BELL", "field-1": "9" * 15})
        await otto.press("/edit", back="yes")
        await otto.press("/edit", **{"field-1": "7"})
        status = await otto.press("/answer", decision="edit", arguments='{"to": 7}')
        told = otto.text
        await otto.press("/edit")

    assert status == 422
    assert "The changed arguments don't fit wire" in told
    assert "to changed ACME BELL" in otto.text
    assert (await house.gateway.question(question)).status == "open"


async def test_nobody_edits_what_is_settled_or_not_theirs_to_decide(house: InboxHouse) -> None:
    """They are told before they have filled in a form, not after."""
    _, question = await _asked(house, "refund order 1042")
    async with (
        Reader(house, await house.sign_in("ann")) as ann,
        Reader(house, await house.sign_in("olga")) as olga,
    ):
        await ann.get(f"/questions/{question}/edit")
        await olga.get(f"/questions/{question}/edit")
        await house.gateway.answer(question, {"approved": True}, by="otto")
        late = await olga.press("/edit", **{"field-1": "20"})
        told = olga.text
        await olga.get(f"/questions/{question}/edit")

    assert "you may look, but not answer" in ann.text
    assert late == 409
    assert "You were not the first" in told
    assert "Approved by otto at" in told
    assert "Approved by otto at" in olga.text
    assert "See the difference" not in ann.text + told + olga.text


async def test_choices_forms_and_words_are_answered(house: InboxHouse) -> None:
    """With what is wrong said beside the field, and what was typed kept."""
    _, choice = await _asked(house, "choose a colour")
    _, form = await _asked(house, "ship it")
    _, words = await _asked(house, "ask for the name")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get("/")
        await otto.press(f"{choice}/answer", choice="1")
        await otto.press(f"{words}/answer", text="Ada Lovelace")
        incomplete = await otto.press(
            f"{form}/answer", **{"field-0": "Main St", "field-1": "third", "field-3": "1"}
        )
        problem, kept = otto.text, otto.html
        await otto.press(f"{form}/answer", **{"field-1": "3", "field-2": "0", "field-3": "1"})
    given = {one: (await house.gateway.question(one)).answer for one in (choice, form, words)}

    assert incomplete == 422
    assert "Please give a whole number, such as 20." in problem
    assert 'value="Main St"' in kept
    assert given == {
        choice: "green",
        words: "Ada Lovelace",
        form: {"street": "Main St", "floor": 3, "lift": True, "size": "large"},
    }


async def test_two_must_agree_on_the_very_same(house: InboxHouse) -> None:
    """The first vote is shown with its change; agreeing with it takes one press, by another."""
    thread, question = await _asked(house, "wire 5000")
    async with (
        Reader(house, await house.sign_in("otto")) as otto,
        Reader(house, await house.sign_in("olga")) as olga,
    ):
        await otto.get(f"/questions/{question}/edit")
        await otto.press("/edit", **{"field-1": "4000"})
        await otto.press("/answer", decision="edit")
        stays = otto.text
        await otto.get(f"/questions/{question}")
        button = otto.html.partition('value="agree-')[2].partition('"')[0]
        again = await otto.press("/answer", decision=f"agree-{button}")
        told = otto.text
        await olga.get(f"/questions/{question}")
        seen = olga.text
        await olga.press("/answer", decision=f"agree-{button}")

    assert "More people are needed: it stays open." in stays
    assert again == 409
    assert "otto" in told
    assert "1 of 2 so far" in seen
    assert "amount changed 5000 4000" in seen
    assert (await house.rested(thread)).status == "finished"
    assert "Wired 4000 to ACME." in str(await house.gateway.events(thread))


async def test_who_comes_second_is_told_who_was_first(house: InboxHouse) -> None:
    """The slower of two hears who decided and when, and the log notes that they tried."""
    thread, question = await _asked(house, "refund order 1042")
    async with (
        Reader(house, await house.sign_in("otto")) as otto,
        Reader(house, await house.sign_in("olga")) as olga,
    ):
        await otto.get("/")
        await olga.get("/")
        await otto.press(f"{question}/answer", decision="approve")
        late = await olga.press(f"{question}/answer", decision="deny")

    log = await house.store.events(ThreadId(thread))
    noted = [one.by for one in log if isinstance(one, AnswerRefused)]

    assert late == 409
    assert "You were not the first" in olga.text
    assert "Approved by otto at" in olga.text
    assert noted == ["olga"]


async def test_nobody_decides_what_they_were_not_shown(house: InboxHouse) -> None:
    """A page that is not of this question's card is refused, and shown anew."""
    _, question = await _asked(house, "refund order 1042")
    async with Reader(house, await house.sign_in("otto")) as otto:
        await otto.get("/")
        status = await otto.press(f"{question}/answer", decision="approve", shown="0" * 16)

    assert status == 409
    assert "This is not what you were shown" in otto.text
    assert (await house.gateway.question(question)).status == "open"


async def test_strangers_to_a_question_see_and_change_nothing(house: InboxHouse) -> None:
    """Ann began it and may look; she is not asked. A key without `answer` may only look."""
    _, question = await _asked(house, "refund order 1042")
    async with (
        Reader(house, await house.sign_in("ann")) as ann,
        Reader(house, await house.sign_in_with_key("eye", "read")) as eye,
        Reader(house, {}) as nobody,
    ):
        await ann.get(f"/questions/{question}")
        looks = ann.text
        await ann.get("/")
        queue = ann.text
        await eye.get(f"/questions/{question}")
        await nobody.get(f"/questions/{question}")

    assert "you may look, but not answer" in looks
    assert "Nothing waits for you." in queue
    assert "you may look, but not answer" in eye.text
    assert nobody.path == "/signin"


async def test_operators_see_theirs_first_and_what_waits_for_others_apart(
    house: InboxHouse,
) -> None:
    """What is not theirs to answer has no form; a program that may answer has all before it."""
    await _asked(house, "refund order 1042")
    async with (
        Reader(house, await house.sign_in("root")) as root,
        Reader(house, await house.sign_in_with_key("eye", "read")) as eye,
        Reader(house, await house.sign_in_with_key("otto", "admin")) as otto,
        Reader(house, await house.sign_in_with_key("robot", "read", "answer")) as robot,
    ):
        for one in (root, eye, otto, robot):
            await one.get("/")

    for looks in (root, eye):
        assert "Nothing waits for you." in looks.text
        assert "1 question waits for others" in looks.text
        assert "/answer" not in looks.html
    for answers in (otto, robot):
        assert "/answer" in answers.html
        assert "for others" not in answers.text


async def test_threads_are_found_by_filters_and_words(house: InboxHouse) -> None:
    """By status, agent, who began it, and how the first message begins."""
    first, _ = await _asked(house, "refund the vase")
    await house.launch("hello there", by="olga", agent="release")
    async with Reader(house, await house.sign_in("root")) as root:
        await root.get("/threads")
        everything = root.text
        await root.press("/threads", q="VASE refund")
        found = root.text
        await root.get("/threads?agent=release&person=olga&status=finished")
        finished = root.text
        await root.get(f"/threads?q={first}")
        by_id = root.text
        odd = await root.get("/threads?status=asleep&since=x")

    assert "refund the vase" in everything
    assert "hello there" in everything
    assert "refund the vase" in found
    assert "hello there" not in found
    assert "hello there" in finished
    assert "vase" not in finished
    assert "refund the vase" in by_id
    assert odd == 422
    assert "It was left out." in root.text


async def test_a_thread_is_steered_by_its_buttons(house: InboxHouse) -> None:
    """Pause, resume with an instruction, say, fork, cancel after a second look."""
    thread, _ = await _asked(house, "refund order 1042")
    async with Reader(house, await house.sign_in("root")) as root:
        await root.get(f"/threads/{thread}")
        await root.press("/pause", reason="lunch")
        paused = root.text
        await root.press("/resume", instruction="be quick")
        await root.press("/say", text="and be kind")
        said = root.text
        await root.press("/fork", at="2")
        copy = root.path.rpartition("/")[2]
        await root.get(f"/threads/{thread}")
        await root.press("/cancel", reason="enough")
        sure = root.text
        await root.press("/cancel")
        cancelled = root.text
        refused = await root.press("/fork", at="x1")

    assert "paused it" in paused
    assert "lunch" in paused
    assert "be quick" in said
    assert "and be kind" in said
    assert copy != thread
    assert "are you sure?" in sure
    assert "cancelled it" in cancelled
    assert (await house.gateway.thread(thread)).status == "cancelled"
    assert refused == 422


async def test_a_failed_thread_is_tried_again(house: InboxHouse) -> None:
    """The button is there only then; what is too late is told, and changes nothing."""
    thread = await house.launch("fail please")
    async with Reader(house, await house.sign_in("root")) as root:
        await root.get(f"/threads/{thread.id}")
        failed, page = root.text, root.html
        await root.press("/retry")
        await house.rested(thread.id)
        await house.gateway.cancel(thread.id, by="root")
        root.html = page
        late = await root.press("/retry")

    assert thread.status == "failed"
    assert "could not go on" in failed
    assert late == 409
    assert "Nothing has changed" in root.text


async def test_only_who_may_steer_sees_the_buttons(house: InboxHouse) -> None:
    """Whoever began a thread, and operators; forged forms of others are refused."""
    thread, _ = await _asked(house, "refund order 1042")
    async with (
        Reader(house, await house.sign_in("ann")) as ann,
        Reader(house, await house.sign_in("otto")) as otto,
    ):
        await ann.get(f"/threads/{thread}")
        await otto.get(f"/threads/{thread}")
        seen = otto.html
        otto.html = seen.replace("/say", "/pause")
        forged = await otto.press("/pause", reason="mine now")

    assert f"/threads/{thread}/pause" in ann.html
    assert f"/threads/{thread}/pause" not in seen
    assert forged == 403
    assert (await house.gateway.thread(thread)).status == "waiting"


async def test_the_kill_switch_is_for_admins_and_asks_twice(house: InboxHouse) -> None:
    """It needs a reason and a tick; while it is on, every page says so."""
    async with (
        Reader(house, await house.sign_in("root")) as root,
        Reader(house, await house.sign_in("otto")) as otto,
    ):
        forbidden = await otto.get("/halt")
        await root.get("/halt")
        unsure = await root.press("/halt", reason="fire")
        await root.press("/halt", reason="fire <b>", sure="yes")
        halted = await house.gateway.halted()
        await otto.get("/threads")
        banner = otto.text
        await root.press("/halt/lift")

    assert forbidden == 403
    assert unsure == 422
    assert halted.reason == "fire <b> (root)"
    assert "Everything is halted. fire <b> (root)" in banner
    assert not (await house.gateway.halted()).halted


async def test_figures_count_what_the_visitor_may_see(house: InboxHouse) -> None:
    """With a table beside each picture."""
    _, question = await _asked(house, "refund order 1042")
    await house.gateway.answer(question, {"approved": True}, by="otto")
    await house.launch("hello", by="olga")
    async with (
        Reader(house, await house.sign_in("root")) as root,
        Reader(house, await house.sign_in("ann")) as ann,
    ):
        await root.get("/figures")
        await ann.get("/figures")

    assert "Threads 2 Answers 1" in root.text
    assert "Threads 1 " in ann.text
    assert root.html.count("<svg") >= 3
    assert "As a table" in root.text


async def test_a_long_thread_opens_at_its_end_and_goes_back_page_by_page(
    house: InboxHouse,
) -> None:
    """A hundred events at a time; the tools of earlier calls are named all the same."""
    thread, question = await _asked(house, "refund order 1042")
    edited = {"order": "1042", "amount": 1, "reason": ""}
    await house.gateway.answer(question, {"approved": True, "arguments": edited}, by="otto")
    await house.rested(thread)
    for number in range(60):
        await house.gateway.say(thread, f"message {number}", by="ann")
        await house.rested(thread)
    last = len(await house.gateway.events(thread))
    async with Reader(house, await house.sign_in("ann")) as ann:
        await ann.get(f"/threads/{thread}")
        newest = ann.html
        await ann.get(f"/threads/{thread}?to={last - 100}")
        earlier = ann.html
        await ann.get(f"/threads/{thread}?to=104")
        middle = ann.text

    assert last > 150
    assert newest.count('<li class="entry tone-') == 100
    assert f'id="e{last}"' in newest
    assert f"?to={last - 100}#e{last - 100}" in newest
    assert f'id="e{last - 100}"' in earlier
    assert f'id="e{last - 99}"' not in earlier
    assert "data-stream" not in earlier
    assert "Changed amount: 59.9 → 1" in middle
    assert "refund returned" in middle


async def test_what_is_not_there_is_told_kindly(house: InboxHouse) -> None:
    """No stack, no empty page."""
    async with Reader(house, await house.sign_in("otto")) as otto:
        found = [
            await otto.get(path)
            for path in (
                "/threads/nope",
                "/questions/nope",
                "/questions/nope/edit",
                "/live/threads/nope",
                "/threads?cursor=nope",
            )
        ]

    assert found == [404, 404, 404, 404, 422]


async def test_a_session_has_so_many_windows_and_no_more() -> None:
    """Whoever opens too many is told to wait; one that is closed makes room."""
    options = HttpOptions(shutdown_grace=0.2, streams_per_key=1)
    async with inbox_house(options=options) as house:
        cookies = await house.sign_in("ann")
        async with (
            aiohttp.ClientSession(cookies=cookies) as http,
            http.get(f"{house.url}/live/queue") as first,
        ):
            told = await first.content.readuntil(b"event: queue\ndata: ")
            async with http.get(f"{house.url}/live/queue") as second:
                words = await second.text()

    assert first.status == 200
    assert b"event: queue" in told
    assert second.status == 429
    assert int(second.headers["Retry-After"]) > 0
    assert "Too many windows" in words


async def test_a_stream_ends_with_its_session(house: InboxHouse) -> None:
    """Whoever is signed out sees nothing more, also where much happens; HEAD opens none."""
    thread = (await house.launch("hello")).id
    cookies = await house.sign_in("ann")
    async with aiohttp.ClientSession(cookies=cookies) as http:
        address = f"{house.url}/live/threads/{thread}?after=2"
        async with http.head(address) as head, http.get(address) as stream:
            begun = await stream.content.readuntil(b"event: head")
            await house.sessions.revoke(lambda _name, session: session.name == "ann")
            rest = await asyncio.wait_for(stream.content.read(), 10)
        async with http.get(f"{house.url}/live/queue", allow_redirects=False) as refused:
            pass

    assert head.content_type == "text/event-stream"
    assert b"id: 3\nevent: entry\n" in begun
    assert b"id: 2\n" not in begun
    assert b"entry" not in rest
    assert refused.status == 303
