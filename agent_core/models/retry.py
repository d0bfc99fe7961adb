"""Trying a model again when it was unavailable: how often, and after how long.

The policy is a value and the delay is a pure function; sleeping and chance are passed in. Only
`ModelUnavailable` is tried again. A rejection would be the same the next time, and a bug in
somebody's model class must be seen, so both pass through untouched.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import msgspec

from agent_core.errors import DefinitionError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent_core.models.model import Model, ModelReply, ModelRequest, OnText

_HIGHEST_POWER = 60  # beyond it the delay has long been the longest; a float would overflow


class RetryPolicy(msgspec.Struct, frozen=True):
    """How patient to be with a model server.

    `attempts` counts the first one too. A delay grows by `factor` up to `longest_delay`, and up
    to `jitter` of it is added by chance, so that many threads don't come back all at once. A
    server that asks for more than `longest_wait` seconds is not waited for.
    """

    attempts: int = 5
    first_delay: float = 0.5
    factor: float = 2.0
    longest_delay: float = 30.0
    jitter: float = 0.25
    longest_wait: float = 600.0

    def __post_init__(self) -> None:
        """Refuse a policy that would never try at all, or wait backwards."""
        if self.attempts < 1:
            raise DefinitionError(f"RetryPolicy.attempts is {self.attempts}: it must be 1 or more")
        for field in ("first_delay", "factor", "longest_delay", "jitter", "longest_wait"):
            if getattr(self, field) < 0:
                raise DefinitionError(f"RetryPolicy.{field} must not be negative")


def delay_before(
    policy: RetryPolicy, attempt: int, retry_after: float | None, random_value: float
) -> float:
    """Give the seconds to wait before an attempt; the first retry is attempt 2.

    `retry_after` is a minimum: chance is added to it, never taken away.
    """
    power = min(max(attempt - 2, 0), _HIGHEST_POWER)
    delay = min(policy.first_delay * policy.factor**power, policy.longest_delay)
    return max(delay, retry_after or 0.0) * (1 + policy.jitter * random_value)


async def reply_with_retries(
    model: Model,
    request: ModelRequest,
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], Awaitable[None]],
    random: Callable[[], float],
    on_text: OnText | None = None,
    on_retry: Callable[[int, float, ModelUnavailable], None] | None = None,
) -> ModelReply:
    """Ask until the model replies or the policy says that it's enough.

    `on_retry` gets the number of the attempt that failed, the delay that follows, and why. What
    that attempt had streamed to `on_text` is void: the next one streams from the start.
    """
    for attempt in count(1):
        try:
            return await model.reply(request, on_text)
        except ModelUnavailable as error:
            if _is_enough(policy, attempt, error):
                raise
            delay = delay_before(policy, attempt + 1, error.retry_after, random())
            if on_retry is not None:
                on_retry(attempt, delay, error)
        await sleep(delay)
    raise AssertionError("counting never ends")  # pragma: no cover


def _is_enough(policy: RetryPolicy, attempt: int, error: ModelUnavailable) -> bool:
    return attempt >= policy.attempts or (error.retry_after or 0.0) > policy.longest_wait
