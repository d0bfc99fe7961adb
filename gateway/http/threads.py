"""Threads over HTTP: launch, look, talk, control, move."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel

from agent_core.context.markdown import thread_as_markdown
from agent_core.errors import Refused
from agent_core.thread.checkpoint import Log
from gateway.control.views import (
    EventList,
    Fork,
    Launch,
    Message,
    Move,
    PurgedView,
    Reason,
    Resume,
    ThreadView,
)
from gateway.http import outcomes
from gateway.http.patience import unless
from gateway.http.problems import NOT_FOUND, Problem, problem_of
from gateway.http.queries import (
    EventsQuery,
    ExportQuery,
    Query,
    ThreadsQuery,
    WaitQuery,
    parse_last_event_id,
)
from gateway.http.responses import Reply
from gateway.http.routes import Ask, NoBody, RawBody
from gateway.http.streams import stream_events, wants_stream

_Done = TypeVar("_Done")


async def launch(ask: Ask[WaitQuery, Launch]) -> Reply:
    """Launch a thread: 201 for a new one, 200 for the one that was there."""
    thread, is_new = await ask.gateway.launch(
        ask.body, by=ask.by, idempotency_key=ask.idempotency_key
    )
    placed = _placed(await _rested(ask, thread), 201 if is_new else 200)
    return await _told(ask, placed)


async def listing(ask: Ask[ThreadsQuery, NoBody]) -> Reply:
    """List threads, newest first."""
    return Reply(view=await ask.gateway.threads(**ask.query.model_dump()))


async def one(ask: Ask[WaitQuery, NoBody]) -> Reply:
    """Show a thread, perhaps after it has come to rest."""
    thread = await _rested(ask, await ask.gateway.thread(ask.id))
    return await _told(ask, Reply(view=thread))


async def events(ask: Ask[EventsQuery, NoBody]) -> Reply | web.StreamResponse:
    """Show a piece of the log, or stream it."""
    limit = ask.query.limit
    after = parse_last_event_id(ask.request.headers, ask.query.after)
    if wants_stream(ask.request):
        return await stream_events(ask, after=after)
    items = await ask.gateway.events(ask.id, after=after, limit=limit)
    more = len(items) == limit
    return Reply(view=EventList(items=items, next_cursor=str(items[-1].seq) if more else None))


async def deliveries(ask: Ask[Query, NoBody]) -> Reply:
    """Show who heard of it where."""
    return Reply(view=await ask.gateway.deliveries(ask.id))


async def say(ask: Ask[Query, Message]) -> Reply:
    """Say something more."""
    return await _command(
        ask,
        ask.gateway.say(ask.id, ask.body.text, by=ask.by, idempotency_key=ask.idempotency_key),
    )


async def pause(ask: Ask[Query, Reason]) -> Reply:
    """Hold a thread."""
    return await _command(ask, ask.gateway.pause(ask.id, by=ask.by, reason=ask.body.reason))


async def resume(ask: Ask[Query, Resume]) -> Reply:
    """Let a paused thread go on."""
    instruction = ask.body.instruction
    return await _command(ask, ask.gateway.resume(ask.id, by=ask.by, instruction=instruction))


async def cancel(ask: Ask[Query, Reason]) -> Reply:
    """Stop a thread for good."""
    return await _command(ask, ask.gateway.cancel(ask.id, by=ask.by, reason=ask.body.reason))


async def move(ask: Ask[Query, Move]) -> Reply:
    """Let a conversation go on by another channel."""
    return await _command(ask, ask.gateway.move(ask.id, ask.body.to, by=ask.by))


async def retry(ask: Ask[Query, NoBody]) -> Reply:
    """Let a failed thread try again."""
    return await _command(ask, ask.gateway.retry(ask.id, by=ask.by))


async def fork(ask: Ask[Query, Fork]) -> Reply:
    """Copy a thread up to an event."""
    return _placed(await ask.gateway.fork(ask.id, by=ask.by, at=ask.body.at), 201)


async def export(ask: Ask[ExportQuery, NoBody]) -> Reply:
    """Write a whole thread: to be imported elsewhere, or to be read."""
    text = await ask.gateway.export(ask.id)
    if ask.query.format == "json":
        return Reply(text=text)
    log, _ = Log.read(text)
    return Reply(text=thread_as_markdown(log.events), content_type="text/markdown; charset=utf-8")


async def take_over(ask: Ask[Query, RawBody]) -> Reply:
    """Take over a thread that was exported elsewhere."""
    return _placed(await ask.gateway.import_(ask.body.text, by=ask.by), 201)


async def purge(ask: Ask[Query, NoBody]) -> Reply:
    """Delete a thread that is over."""
    if ask.desk.purger is None:
        raise Problem(NOT_FOUND, "This server deletes nothing.")
    await _refusable(ask, ask.desk.purger.purge_one(ask.id, by=f"api key {ask.by}"))
    return Reply(view=PurgedView(id=ask.id))


async def _rested(ask: Ask[WaitQuery, Any], thread: ThreadView) -> ThreadView:
    """Wait as long as was asked for, but never for somebody who has left."""
    seconds = min(ask.query.wait, ask.desk.options.wait_cap)
    if not seconds:
        return thread
    with ask.desk.endings.ending(ask.request) as ending:
        waiting = ask.gateway.wait(thread.id, seconds=seconds, until=ask.query.until)
        rested = await unless(ending, waiting)
    return rested or await ask.gateway.thread(thread.id)


async def _told(ask: Ask[WaitQuery, Any], reply: Reply) -> Reply:
    """Tell a thread with its outcome; in words, to who asks for no JSON."""
    thread = reply.view
    assert isinstance(thread, ThreadView), "it was just made of one"  # noqa: S101 (ours)
    reply.headers = {**reply.headers, outcomes.HEADER: outcomes.outcome(thread)}
    if not _wants_words(ask.request):
        return reply
    told = await ask.gateway.told(thread.id) if thread.questions else {}
    text = outcomes.in_words(thread, told)
    return replace(reply, view=None, text=text, content_type=f"{outcomes.TEXT}; charset=utf-8")


def _wants_words(request: web.Request) -> bool:
    return request.headers.get("Accept", "").partition(";")[0].strip().lower() == outcomes.TEXT


async def _command(ask: Ask[Any, Any], doing: Coroutine[Any, Any, BaseModel]) -> Reply:
    return Reply(view=await _refusable(ask, doing))


async def _refusable(ask: Ask[Any, Any], doing: Coroutine[Any, Any, _Done]) -> _Done:
    """Do it; a refusal also tells the thread's status in a word that programs can read."""
    try:
        return await doing
    except Refused as exc:
        problem = problem_of(exc)
        problem.members = {"thread_status": (await ask.gateway.thread(ask.id)).status}
        raise problem from exc


def _placed(thread: ThreadView, status: int) -> Reply:
    return Reply(view=thread, status=status, headers={"Location": f"/v1/threads/{thread.id}"})
