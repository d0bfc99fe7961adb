"""Events by key: who waits gets what happens, once, in whatever order, through any crash."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Literal, TypeAlias

import pytest

from channels.occurrences import Occurred
from storage.errors import StoreError
from tests.unit.channels.event.hall import Hall, Steps, effects, happens

Step: TypeAlias = Callable[[], Coroutine[Any, Any, object]]


async def surely(step: Step) -> None:
    """Do it, and once more if it broke off."""
    try:
        await step()
    except StoreError:
        await step()


async def test_who_waits_is_answered_by_what_happens() -> None:
    """By the key alone; the log tells who reported it."""
    hall = Hall()
    channel = await hall.process()
    await channel.send(hall.asks("q"))
    told = await channel.occur(happens())

    assert told == Occurred(effect="resumed", thread="th_q", question="q")
    (decision,) = hall.decisions
    assert (decision.value, decision.place) == ({"number": 1}, "event:k")
    assert (decision.actor.id, decision.actor.how) == ("event:k", "webhook ci (github)")


async def test_what_happens_first_is_kept_for_the_question() -> None:
    """It is answered the moment it is asked."""
    hall = Hall()
    channel = await hall.process()
    told = await channel.occur(happens())
    await channel.send(hall.asks("q"))

    assert effects(told) == ["kept"]
    assert hall.answers == {"q": {"number": 1}}
    assert hall.left("came:") == hall.left("waiting:") == []


async def test_another_key_is_another_matter() -> None:
    """Also one that only begins alike."""
    hall = Hall()
    channel = await hall.process()
    await channel.send(hall.asks("q", "deploy:7"))
    told = [await channel.occur(happens(n, key)) for n, key in enumerate(["deploy", "deploy:77"])]

    assert effects(*told) == ["kept", "kept"]
    assert hall.answers == {}


async def test_oldest_event_goes_to_the_oldest_question_and_the_rest_stays() -> None:
    """First come, first served, on both sides."""
    hall = Hall()
    channel = await hall.process()
    for number in (1, 2, 3):
        await channel.occur(happens(number))
    late, early = hall.asks("late", asked_at=9), hall.asks("early", asked_at=2)
    await channel.send(early)
    await channel.send(late)

    assert hall.answers == {"early": {"number": 1}, "late": {"number": 2}}
    assert len(hall.left("came:")) == 1


async def test_of_several_who_wait_the_oldest_gets_it() -> None:
    """One event resumes one thread."""
    hall = Hall()
    channel = await hall.process()
    for question, asked_at in (("young", 9), ("old", 1)):
        await channel.send(hall.asks(question, asked_at=asked_at))
    await channel.occur(happens())

    assert hall.answers == {"old": {"number": 1}}


async def test_copy_has_no_second_effect_and_the_first_answer() -> None:
    """Though somebody else waits for the same key by now."""
    hall = Hall()
    channel = await hall.process()
    await channel.send(hall.asks("q"))
    first = await channel.occur(happens())
    await channel.send(hall.asks("next"))
    again = await channel.occur(happens())

    assert first == again
    assert hall.answers == {"q": {"number": 1}}


async def test_copies_that_are_kept_are_one() -> None:
    """A sender that did not hear us sends it again before anybody waits."""
    hall = Hall()
    channel = await hall.process()
    told = [await channel.occur(happens()) for _ in range(3)]
    await channel.send(hall.asks("q"))
    await channel.send(hall.asks("next"))

    assert effects(*told) == ["kept"] * 3
    assert hall.answers == {"q": {"number": 1}}


async def test_same_delivery_can_not_say_something_else() -> None:
    """Neither another value nor another key."""
    hall = Hall()
    channel = await hall.process()
    await channel.occur(happens())
    told = [
        await channel.occur(happens(value={"other": 1})),
        await channel.occur(happens(key="other")),
    ]

    assert effects(*told) == ["conflict", "conflict"]


@pytest.mark.parametrize("status", ["expired", "withdrawn"])
async def test_late_event_is_told_that_nobody_waits_any_more(
    status: Literal["expired", "withdrawn"],
) -> None:
    """And it is kept all the same: the agent may wait for it again."""
    hall = Hall()
    channel = await hall.process()
    sent = await channel.send(hall.asks("q"))
    hall.ends("q", status)
    await channel.settle(sent.receipt, hall.told("q"))
    told = await channel.occur(happens())
    await channel.send(hall.asks("again"))

    assert (told.effect, told.question, status in told.words) == ("late", "q", True)
    assert hall.answers == {"again": {"number": 1}}


async def test_question_that_ended_unnoticed_does_not_take_the_event_away() -> None:
    """The one behind it gets it."""
    hall = Hall()
    channel = await hall.process()
    for question in ("gone", "here"):
        await channel.send(hall.asks(question))
    hall.ends("gone", "expired")
    await channel.occur(happens())

    assert hall.answers == {"here": {"number": 1}}
    assert hall.left("waiting:") == []


async def test_question_that_is_over_is_not_put_up() -> None:
    """A delivery that waited long shows what is so by then."""
    hall = Hall()
    channel = await hall.process()
    asked = hall.asks("q")
    hall.ends("q", "withdrawn")
    await channel.send(hall.told("q"))

    assert asked.question is not None
    assert hall.left("waiting:") == []


async def test_no_more_than_a_hundred_of_a_key_are_kept() -> None:
    """More is a mistake, and is told."""
    hall = Hall()
    channel = await hall.process()
    told = [await channel.occur(happens(number)) for number in range(101)]

    assert effects(*told) == ["kept"] * 100 + ["full"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("order", ["question first", "event first"])
async def test_break_off_at_any_step_loses_nothing_and_doubles_nothing(
    when: Literal["before", "after"], order: str
) -> None:
    """The outbox sends the question again, the sender its event; and whoever starts, looks."""
    for fail_at in range(1, 40):
        hall = Hall(Steps(fail_at, when))
        channel = await hall.process()
        steps: list[Step] = [
            partial(channel.send, hall.asks("q")),
            partial(channel.occur, happens()),
        ]
        for step in steps if order == "question first" else steps[::-1]:
            await surely(step)
        broke_off, hall.steps.fail_at = hall.steps.fail_at == 0, 0
        await channel.send(hall.asks("next"))
        await channel.occur(happens())

        assert hall.answers == {"q": {"number": 1}}, (fail_at, when)
        if not broke_off:
            assert fail_at > 5
            return
    pytest.fail("it never came through")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_who_starts_finds_what_a_crash_has_left(when: Literal["before", "after"]) -> None:
    """Nobody sends anything again: the event was durable, and that is enough."""
    for fail_at in range(3, 8):  # from the occurrence's own step on: until then, it is not durable
        hall = Hall()
        channel = await hall.process()
        await channel.send(hall.asks("q"))
        hall.steps.done, hall.steps.fail_at, hall.steps.when = 0, fail_at, when
        with pytest.raises(StoreError):
            await channel.occur(happens())
        again = await hall.process()
        assert hall.answers == {"q": {"number": 1}}, (fail_at, when)

        await again.send(hall.asks("next"))
        assert hall.answers == {"q": {"number": 1}}, (fail_at, when)
        assert hall.left("came:") == []


async def test_two_processes_that_match_at_once_hand_over_once() -> None:
    """Both see the event and both questions: each gets one answer at the most."""
    hall = Hall()
    here, there = await hall.process(), await hall.process()
    await here.occur(happens(1))
    await there.occur(happens(2))
    for channel, question in ((here, "a"), (there, "b")):
        await channel.send(hall.asks(question))
    await there.occur(happens(1))

    assert hall.answers == {"a": {"number": 1}, "b": {"number": 2}}


async def test_what_another_secret_key_has_sealed_holds_nobody_up() -> None:
    """Who waits is found all the same; what came can't be read, and the next is not behind it."""
    hall = Hall()
    before = await hall.process()
    await before.occur(happens(1, "early"))
    await before.send(hall.asks("patient", "k"))
    hall.memory.is_sealed_by_another = set(hall.memory.kept)

    now = await hall.process()
    told = await now.occur(happens(2, "k"))
    await now.send(hall.asks("next", "early"))
    again = await now.occur(happens(3, "early"))

    assert effects(told, again) == ["resumed", "resumed"]
    assert hall.answers == {"patient": {"number": 2}, "next": {"number": 3}}
    assert len(hall.left("came:")) == 1  # for whoever sets the old key again


async def test_copy_of_what_another_secret_key_has_sealed_is_still_one() -> None:
    """That it had its effect is known to the inbox, which is not sealed."""
    hall = Hall()
    before = await hall.process()
    await before.send(hall.asks("q"))
    await before.occur(happens())
    hall.memory.is_sealed_by_another = set(hall.memory.kept)

    now = await hall.process()
    await now.occur(happens())
    await now.send(hall.asks("another"))

    assert hall.answers == {"q": {"number": 1}}
    assert hall.left("came:") == []
