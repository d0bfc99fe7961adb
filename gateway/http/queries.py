"""What stands in a request beside its body: ids in the path, the query, and a few headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from multidict import MultiMapping
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.control.views import QuestionStatus, ThreadStatus
from gateway.http.bodies import Model, misfits
from gateway.http.problems import NOT_FOUND, Problem, misfit

_TEXT = r"^[^\x00]*$"
_SAFE_ID = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,500}")
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_LAST_EVENT_ID = re.compile(r"[0-9]{1,9}")
_MOST_SEQ = 999_999_999

Limit = Annotated[int, Field(ge=1, le=200, description="How many at the most.")]
Cursor = Annotated[
    str, Field(max_length=1000, pattern=_TEXT, description="`next_cursor` of the page before.")
]
Wait = Annotated[
    float,
    Field(
        ge=0,
        allow_inf_nan=False,
        description="Wait so many seconds for the thread to come to rest. Longer waits than the "
        "server allows (60) are cut short.",
    ),
]


class Query(BaseModel):
    """A query without parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WaitQuery(Query):
    """For a pipeline that wants the outcome, not a poll."""

    wait: Wait = 0
    until: Annotated[
        Literal["rest", "end"],
        Field(
            description="What to wait for: `rest`, also while people are asked; or `end`: finished,"
            " failed or cancelled."
        ),
    ] = "rest"


class ThreadsQuery(Query):
    """Which threads."""

    status: ThreadStatus | Literal[""] = ""
    agent: Annotated[str, Field(max_length=200, pattern=_TEXT)] = ""
    cursor: Cursor = ""
    limit: Limit = 50


class QuestionsQuery(Query):
    """Which questions."""

    status: QuestionStatus | Literal[""] = ""
    cursor: Cursor = ""
    limit: Limit = 50


class ExportQuery(Query):
    """As what."""

    format: Annotated[
        Literal["json", "markdown"],
        Field(description="`json` can be imported elsewhere; `markdown` is for people."),
    ] = "json"


class EventsQuery(Query):
    """Which piece of the log."""

    after: Annotated[
        int,
        Field(ge=0, le=_MOST_SEQ, description="Only later ones; `next_cursor` is such a number."),
    ] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 1000


def parse_query(query: MultiMapping[str], view: type[Model]) -> Model:
    """Make a view of a query; what is unknown, or given twice, is refused by name."""
    for name in query:
        if len(query.getall(name)) > 1:
            raise misfit(f"query.{name[:200]}", "was given more than once")
    try:
        return view.model_validate(dict(query))
    except ValidationError as exc:
        raise misfits("query", exc) from None


def parse_path(path: Mapping[str, str]) -> str:
    """Give the id in the path; one that nobody can have is not there."""
    name = next(iter(path.values()), "")
    if path and not _SAFE_ID.fullmatch(name):
        raise Problem(NOT_FOUND, "There can be no such id.")
    return name


def parse_idempotency_key(headers: MultiMapping[str]) -> str:
    """Give the key that makes a repeated request harmless, or nothing."""
    keys = headers.getall("Idempotency-Key", [])
    if not keys:
        return ""
    if len(keys) > 1 or not _IDEMPOTENCY_KEY.fullmatch(keys[0]):
        raise misfit("header.Idempotency-Key", "must be 1 to 255 visible ASCII characters")
    return keys[0]


def parse_last_event_id(headers: MultiMapping[str], otherwise: int) -> int:
    """Give the event after which a reader wants to go on."""
    last = headers.get("Last-Event-ID", "")
    if not last:
        return otherwise
    if not _LAST_EVENT_ID.fullmatch(last):
        raise misfit("header.Last-Event-ID", "must be the `id` of an event")
    return int(last)
