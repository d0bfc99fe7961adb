"""What erasing somebody means for one thread: every row of it that changes, and to what. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from agent_core.json_values import Json, JsonObject
from agent_core.thread.events import (
    ErasedRow,
    Event,
    Millis,
    PersonErased,
    QuestionAsked,
    ThreadLaunched,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from gateway.audit.entries import keyed, record_of
from gateway.people.routing import audience
from gateway.retention.persona import GONE, Persona
from gateway.retention.rewriting import exchanged, rewritten, rooms_of, said_by
from gateway.work.consequences import question_row, summary
from gateway.work.threads import snapshot_of
from storage.retention import Rewrite, RewrittenDelivery
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.seals import Link, Seal, link_of, links_of
from storage.texts import event_text, object_text, read_events, read_object
from storage.values import DeliveryId, QuestionRow, ThreadRow

_ENDS = frozenset({"finished", "failed", "cancelled"})
_TEXTS = ("text",)
"""What a message to people says in words; the rest of it are names and ids."""
_REPEATS = "thread.cancelled"
"""Whoever it goes to, it says why, in the words of who cancelled."""


class Plan(msgspec.Struct, kw_only=True):
    """What is to be done to a thread; `rewrite` is None if nothing."""

    rewrite: Rewrite | None
    entries: int = 0
    """How many events and messages change."""
    busy: str = ""
    """Why it can't be done without further ado."""
    to_withdraw: tuple[QuestionId, ...] = ()
    """Open questions that wait for them alone, or must tell them from others."""


def events_of(log: SealedLog) -> list[Event]:
    """Read the events of a log."""
    return read_events(",".join(event.body.decode() for event in log.events), log.thread)


def question_ids(log: Sequence[Event]) -> list[QuestionId]:
    """Name what was asked in a log."""
    return [event.question.id for event in log if isinstance(event, QuestionAsked)]


def plan(
    log: SealedLog,
    row: ThreadRow,
    questions: Mapping[QuestionId, QuestionRow],
    them: Persona,
    *,
    seal: Seal,
    now: Millis,
    by: str,
    reason: str,
) -> Plan:
    """Decide what erasing somebody means for a thread, as it was read."""
    before = events_of(log)
    here = them.within(rooms_of(before, them))
    events = rewritten(before, them)
    texts = {
        number: event_text(new)
        for number, (old, new) in enumerate(zip(before, events, strict=True), start=1)
        if new is not old
    }
    said = frozenset(said_by(before, them))
    deliveries = [new for one in log.deliveries if (new := _delivery(one, here, said)) is not None]
    if not texts and not deliveries:
        return Plan(rewrite=None)
    rows = tuple(_rows(log, texts, deliveries, seal))
    erased = PersonErased(at=now, name=them.name, rows=rows, by=by, reason=reason)
    state, after = fold(before), fold([*events, erased])
    return Plan(
        rewrite=Rewrite(
            thread=log.thread,
            seen=log.seq,
            updated_at=log.updated_at,
            chain=log.chain,
            events=list(texts.items()),
            deliveries=deliveries,
            erased=erased,
            origin=_launched(events).origin,
            requester=_launched(events).requester,
            thread_key=_thread_key(row, here),
            summary=summary(after),
            questions=[_question(one, after, here) for one in questions.values()],
            snapshot=snapshot_of(after),
            now=now,
        ),
        entries=len(rows),
        busy=_busy(state, log, deliveries),
        to_withdraw=_to_withdraw(state, here),
    )


def _launched(events: Sequence[Event]) -> ThreadLaunched:
    return next(event for event in events if isinstance(event, ThreadLaunched))


def _thread_key(row: ThreadRow, them: Persona) -> str:
    """Give its key; one that names them must be another, and still its own."""
    return f"erased:{row.id}" if them.occurrences(row.thread_key) else row.thread_key


def _delivery(row: KeptDelivery, them: Persona, said: frozenset[str]) -> RewrittenDelivery | None:
    """Take them out of a message: to them, nothing of it is left; of others, who was asked."""
    body, is_theirs = read_object(row.body.decode()), them.is_at(row.address)
    is_gone = is_theirs or (body.get("kind") == _REPEATS and body.get("text") in said)
    new: JsonObject = {name: _told(name, one, them, is_gone) for name, one in body.items()}
    if new == body and not is_theirs:
        return None
    return RewrittenDelivery(
        id=DeliveryId(row.id),
        address=them.placed(row.address),
        body=new,
        clears=is_theirs,
        ends=is_theirs,
    )


def _told(name: str, value: Json, them: Persona, is_gone: bool) -> Json:  # noqa: FBT001 (a fact)
    if name not in _TEXTS or not isinstance(value, str):
        return exchanged(value, them)
    return GONE if is_gone and value else value


def _rows(
    log: SealedLog, texts: Mapping[int, str], deliveries: Sequence[RewrittenDelivery], seal: Seal
) -> list[ErasedRow]:
    """Say of each row what it was, by keyed digests, and what it is to be."""
    new: dict[KeptEvent | KeptDelivery, KeptEvent | KeptDelivery] = {}
    for event in log.events:
        if event.seq in texts:
            new[event] = event._replace(body=texts[event.seq].encode())
    names = {one.id: one for one in deliveries}
    for row in log.deliveries:
        if (one := names.get(DeliveryId(row.id))) is not None:
            body = object_text(one.body, "delivery").encode()
            new[row] = row._replace(address=one.address, body=body)
    links = (link for link in links_of(seal, log) if link.row in new)
    return [_row(link, link_of(seal, log.thread, new[link.row]).value, seal) for link in links]


def _row(link: Link, now: bytes, seal: Seal) -> ErasedRow:
    """Give what a row was when it was written, also if words were erased from it before."""
    row, earlier = link.row, link.erased
    return ErasedRow(
        seq=row.seq,
        delivery="" if isinstance(row, KeptEvent) else row.id,
        link=link.value.hex(),
        record=keyed(seal, record_of(row)) if earlier is None else earlier.record,
        now=now.hex(),
    )


def _question(row: QuestionRow, after: ThreadState, them: Persona) -> QuestionRow:
    """Write a question's row anew; what the log has been summed up past is exchanged in place."""
    if row.id in after.questions:
        return question_row(after, row.id)
    body = row.body
    if them.is_them(str(body.get("answered_by"))):
        body = {**body, "answer": GONE, "comment": GONE if body.get("comment") else None}
    asked = tuple(them.put(one).lower() for one in row.asked)
    return msgspec.structs.replace(row, body=exchanged(body, them), asked=asked)


def _busy(state: ThreadState, log: SealedLog, deliveries: Sequence[RewrittenDelivery]) -> str:
    if state.lifecycle not in _ENDS:
        return "paused" if state.lifecycle == "paused" else "not ended"
    theirs = {one.id for one in deliveries if one.ends}
    pending = any(row.status == "pending" and row.id in theirs for row in log.deliveries)
    return "a message to them is still to be sent" if pending else ""


def _to_withdraw(state: ThreadState, them: Persona) -> tuple[QuestionId, ...]:
    """Name the open questions that nobody can decide rightly once they are erased."""
    return tuple(
        current.question.id
        for current in state.waiting_questions()
        if _waits_for(state, current, them) or _must_know(state, current, them)
    )


def _waits_for(state: ThreadState, current: QuestionState, them: Persona) -> bool:
    """Tell whether it waits for them, and for nobody else."""
    asked = audience(state, current)
    return bool(asked) and all(map(them.is_them, asked))


def _must_know(state: ThreadState, current: QuestionState, them: Persona) -> bool:
    """Tell whether it must tell them from others: or they could decide again under their name."""
    voters = (name for vote in current.votes for name in (vote.by, vote.person))
    requesters = (state.requester, state.requester_person)
    needs_others = current.question.policy.not_requester and any(map(them.is_them, requesters))
    return needs_others or any(map(them.is_them, voters))
