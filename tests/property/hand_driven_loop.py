"""An event loop without a clock, and without threads: what happens is the test's choice alone.

Time-outs fire when the test moves `moment`. A plain function that is sent to a thread runs at
once, on the spot; what it gave comes back when the test lets it. Whatever the loop would only
log (a task's exception that nobody looked at) is kept in `complaints`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

Release: TypeAlias = Callable[[], None]

complaints: list[str] = []
"""What any of these loops had to complain of; some complain only when collected as garbage."""


class HandDrivenLoop(asyncio.SelectorEventLoop):
    """Time passes when told."""

    def __init__(self) -> None:
        self.moment = 0.0
        super().__init__()
        self.plain = OnTheSpot()
        self.set_default_executor(self.plain)
        self.set_exception_handler(_keep_complaint)

    def time(self) -> float:
        """Give the time that the test has set."""
        return self.moment

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is left to run but the one who asks."""
        return not vars(self)["_ready"]


class OnTheSpot(ThreadPoolExecutor):
    """Runs a function at once, and hands its result over when the test says so."""

    hold: Callable[[Release], None] = staticmethod(lambda release: release())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 (as in the class above)
        """Run it; like a thread, it can't be stopped any more."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            value = fn(*args, **kwargs)
        except BaseException as exc:  # noqa: BLE001 (as a real pool does)
            error = exc
            self.hold(lambda: future.set_exception(error))
        else:
            self.hold(lambda: future.set_result(value))
        return future


def _keep_complaint(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    complaints.append(f"{context.get('message')}: {context.get('exception')!r}")
