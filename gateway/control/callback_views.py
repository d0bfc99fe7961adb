"""What operators see of callbacks, and may ask for: public shapes, as in `views.py`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from gateway.control.views import CallbackUrl


def _written(value: object) -> object:
    """Take a time only as text: a number could be in seconds, or in milliseconds."""
    if not isinstance(value, str):
        raise ValueError("a time is written like 2026-11-16T09:00:00Z")  # noqa: TRY004 (pydantic's)
    return _moment.validate_python(value)


_moment = TypeAdapter(AwareDatetime)
Moment = Annotated[AwareDatetime, BeforeValidator(_written)]


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallbackView(_View):
    """An endpoint of callbacks that is in trouble, or was."""

    url: str
    """Scheme, host and path."""
    status: Literal["ok", "failing", "disabled"] = "ok"
    failing_since: datetime | None = None
    disabled_at: datetime | None = None
    error: str | None = None
    failed: int = 0
    """How many deliveries have failed for good, and wait for a replay."""


class CallbackList(_View):
    """The endpoints in trouble."""

    items: list[CallbackView]
    next_cursor: None = None


class Replay(_View):
    """Which of the deliveries that failed; with nothing, all."""

    thread: Annotated[str, Field(max_length=500)] = ""
    url: CallbackUrl = ""
    since: Moment | None = None


class ReplayView(_View):
    """How many go out again."""

    replayed: int


class Enable(_View):
    """Which endpoint; its query means nothing."""

    url: CallbackUrl
