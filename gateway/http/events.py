"""Events over HTTP: something happened outside, and whoever waits for its key goes on."""

from __future__ import annotations

import secrets
from typing import Literal

from agent_core.json_values import canonical, plain_object
from channels.occurrences import Occurred, Occurrence
from gateway.control.views import Happening, HappeningView
from gateway.http.problems import EVENTS_FULL, IDEMPOTENCY_CONFLICT, UNAVAILABLE, Problem, misfit
from gateway.http.queries import Query
from gateway.http.responses import Reply
from gateway.http.routes import Ask

_MOST_VALUE = 65_536


async def occur(ask: Ask[Query, Happening]) -> Reply:
    """Take an event: 200 if a thread has it, 202 if it is kept."""
    events = ask.desk.events
    if events is None:
        raise Problem(UNAVAILABLE, "This server keeps no events.")
    occurred = await events.occur(_occurrence(ask))
    match occurred.effect:
        case "conflict":
            told = "This Idempotency-Key was used before, with another event."
            raise Problem(IDEMPOTENCY_CONFLICT, told)
        case "full":
            raise Problem(EVENTS_FULL, f"{occurred.words}.")
        case effect:
            return _reply(effect, occurred)


def _occurrence(ask: Ask[Query, Happening]) -> Occurrence:
    key = " ".join(ask.body.key.split()) or ask.body.key
    value = plain_object(ask.body.value, "value")
    if len(canonical(value)) > _MOST_VALUE:
        raise misfit("body.value", f"must not have more than {_MOST_VALUE:,} bytes")
    own = ask.idempotency_key or secrets.token_hex(16)
    return Occurrence(
        key=" ".join(key.split()) or key,
        delivery=f"api:{ask.key.id}:{own}",
        value=value,
        how=f"api key {ask.by}",
    )


def _reply(effect: Literal["resumed", "kept", "late"], occurred: Occurred) -> Reply:
    view = HappeningView(
        effect=effect,
        thread_id=occurred.thread or None,
        question_id=occurred.question or None,
        detail=occurred.words,
    )
    return Reply(view=view, status=200 if effect == "resumed" else 202)
