"""When a model is asked again, and how long after."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import DefinitionError, ModelRejected, ModelUnavailable
from agent_core.models import (
    ModelReply,
    ModelRequest,
    RetryPolicy,
    ScriptedModel,
    delay_before,
    reply_with_retries,
    says,
)

REQUEST = ModelRequest(messages=[{"role": "user", "content": "hi"}])
STEADY = RetryPolicy(jitter=0.0)


class HandDrivenSleep:
    """Notes how long was asked for, and doesn't sleep."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Note it."""
        self.delays.append(seconds)


def no_chance() -> float:
    """Stand in for a random number."""
    return 0.0


async def test_failures_are_waited_out_with_growing_delays() -> None:
    """Each delay is twice the one before, and the reply comes through."""
    down = ModelUnavailable("down")
    model, sleep = ScriptedModel([[down, down, down, says("hi")]]), HandDrivenSleep()

    reply = await reply_with_retries(model, REQUEST, STEADY, sleep=sleep, random=no_chance)

    assert reply.text == "hi"
    assert sleep.delays == [0.5, 1.0, 2.0]


async def test_the_last_failure_is_raised_when_attempts_run_out() -> None:
    """As many attempts as the policy says, no delay after the last one."""
    failures = [ModelUnavailable(str(n)) for n in range(9)]
    model, sleep = ScriptedModel([[*failures]]), HandDrivenSleep()

    with pytest.raises(ModelUnavailable, match=r"^4$"):
        await reply_with_retries(model, REQUEST, STEADY, sleep=sleep, random=no_chance)

    assert len(model.requests) == 5
    assert len(sleep.delays) == 4


async def test_the_servers_wish_to_wait_is_honoured() -> None:
    """`retry_after` is a minimum for the delay."""
    model = ScriptedModel([[ModelUnavailable("busy", retry_after=12.0), says("hi")]])
    sleep = HandDrivenSleep()

    await reply_with_retries(model, REQUEST, STEADY, sleep=sleep, random=no_chance)

    assert sleep.delays == [12.0]


async def test_a_server_that_wants_too_long_is_given_up_at_once() -> None:
    """A worker doesn't sleep for an hour; the thread fails, and people can retry it."""
    model = ScriptedModel([[ModelUnavailable("busy", retry_after=601.0), says("hi")]])
    sleep = HandDrivenSleep()

    with pytest.raises(ModelUnavailable, match="busy"):
        await reply_with_retries(model, REQUEST, STEADY, sleep=sleep, random=no_chance)

    assert sleep.delays == []


@pytest.mark.parametrize("error", [ModelRejected("no such model"), ZeroDivisionError("bug")])
async def test_what_another_try_would_not_mend_passes_through(error: Exception) -> None:
    """A rejection, and a bug in somebody's model class, are seen as they are."""
    model, sleep = ScriptedModel([[error, says("hi")]]), HandDrivenSleep()

    with pytest.raises(type(error)) as caught:
        await reply_with_retries(model, REQUEST, STEADY, sleep=sleep, random=no_chance)

    assert caught.value is error
    assert sleep.delays == []


async def test_each_retry_is_told_before_its_delay() -> None:
    """Whoever shows the stream learns that what came so far is void."""
    down = ModelUnavailable("down")
    model, sleep = ScriptedModel([[down, says("hello there")]]), HandDrivenSleep()
    told: list[tuple[int, float, ModelUnavailable, int]] = []
    pieces: list[str] = []

    await reply_with_retries(
        model,
        REQUEST,
        STEADY,
        sleep=sleep,
        random=no_chance,
        on_text=pieces.append,
        on_retry=lambda n, delay, error: told.append((n, delay, error, len(sleep.delays))),
    )

    assert told == [(1, 0.5, down, 0)]
    assert "".join(pieces) == "hello there"


async def test_a_cancelled_delay_ends_the_retries() -> None:
    """A pause must not wait for a back-off."""
    model = ScriptedModel([[ModelUnavailable("down"), says("hi")]])
    asleep = asyncio.Event()

    async def sleep(_: float) -> None:
        asleep.set()
        await asyncio.Event().wait()

    retrying = reply_with_retries(model, REQUEST, STEADY, sleep=sleep, random=no_chance)
    task: asyncio.Task[ModelReply] = asyncio.create_task(retrying)
    await asleep.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model.requests) == 1


@given(
    attempt=st.integers(1, 10_000),
    retry_after=st.none() | st.floats(0, 600),
    chance=st.floats(0, 1),
)
def test_a_delay_stays_within_its_bounds(
    attempt: int, retry_after: float | None, chance: float
) -> None:
    """Never less than the server asked for, never more than the policy's longest plus chance."""
    policy = RetryPolicy()
    delay = delay_before(policy, attempt, retry_after, chance)
    longest = max(policy.longest_delay, retry_after or 0.0)

    assert (retry_after or 0.0) <= delay <= longest * (1 + policy.jitter)


def test_chance_spreads_the_delays() -> None:
    """Many threads that fail together don't come back together."""
    policy = RetryPolicy(jitter=0.5)

    assert [delay_before(policy, 2, None, value) for value in (0.0, 1.0)] == [0.5, 0.75]


@pytest.mark.parametrize(
    "wrong", [{"attempts": 0}, {"first_delay": -1.0}, {"factor": -2.0}, {"jitter": -0.1}]
)
def test_an_impossible_policy_is_refused_where_it_is_written(wrong: dict[str, float]) -> None:
    """The message names the field."""
    with pytest.raises(DefinitionError, match=next(iter(wrong))):
        RetryPolicy(**wrong)  # type: ignore[arg-type]
