"""The model's turn: what is checked before it, and what its reply becomes."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from agent_core.context.compaction import cut, render_for_summary
from agent_core.errors import ModelError, ModelUnavailable, NotJson
from agent_core.json_values import plain_object
from agent_core.loop.call_run import describe, is_own_doing
from agent_core.loop.definition import Definition
from agent_core.loop.world import World, fresh_question_id, unwatched
from agent_core.models import ModelReply, ModelRequest, RequestedCall, reply_with_retries
from agent_core.thread.events import (
    ChosenCall,
    ContextCompacted,
    Event,
    LimitReached,
    ModelReplied,
    QuestionAsked,
    ThreadFailed,
)
from agent_core.thread.questions import LIMIT_OPTIONS, Purpose, Question
from agent_core.thread.state import ThreadState
from agent_core.thread.usage import tidy

_log = logging.getLogger("parley.model")


def review(definition: Definition, state: ThreadState, world: World) -> list[Event]:
    """Look whether people or a limit have a word to say before the model goes on."""
    most = definition.ask_after_failures
    if most and state.failures_in_a_row >= most:
        prompt = f"The last {state.failures_in_a_row} tool calls failed. How should I go on?"
        return [_question(definition, state, world, purpose="failures", prompt=prompt)]
    limit = definition.limits.tripped(state.meter)
    if limit is None:
        return []
    reached = LimitReached(at=world.now(), limit=limit, then=definition.on_limit)
    match definition.on_limit:
        case "ask":
            prompt = f"I have reached my limit ({limit}). Shall I go on?"
            return [reached, _question(definition, state, world, purpose="limit", prompt=prompt)]
        case "fail":
            return [reached, ThreadFailed(at=world.now(), error=f"limit reached: {limit}")]
        case "finish":
            return [reached]


class _Halted(Exception):
    """A signal: the kill switch came down between two attempts."""


async def take_turn(definition: Definition, state: ThreadState, world: World) -> list[Event]:
    """Call the model, for a summary first if the thread has grown too long."""
    try:
        through = cut(state, definition.compaction) if definition.compaction else None
        if through is not None:
            return [await _compact(definition, state, world, through)]
        messages = definition.render(state, definition.instructions)
        tools = [tool.schema() for tool in definition.tools.values()]
        reply = await _reply(definition, ModelRequest(messages, tools), world)
        return [_replied(definition, state, reply, world)]
    except _Halted:
        return []
    except asyncio.CancelledError as exc:
        if not is_own_doing():
            raise
        return [ThreadFailed(at=world.now(), error=describe(exc))]
    except ModelError as exc:
        return [ThreadFailed(at=world.now(), error=_clean(f"the model did not reply: {exc}"))]
    except Exception as exc:  # noqa: BLE001 (somebody's model or renderer)
        _log.exception("model turn failed", extra={"thread_id": state.id})
        return [ThreadFailed(at=world.now(), error=describe(exc))]


def seen_upto(events: list[Event], seq: int) -> list[Event]:
    """Note on a reply that more has come since the model looked."""
    return [
        msgspec.structs.replace(event, seen=seq) if isinstance(event, ModelReplied) else event
        for event in events
    ]


async def _reply(definition: Definition, request: ModelRequest, world: World) -> ModelReply:
    async def sleep(seconds: float) -> None:
        await world.sleep(seconds)
        if world.halted():
            raise _Halted

    return await reply_with_retries(
        definition.model,
        request,
        definition.model_retries,
        sleep=sleep,
        random=world.random,
        on_text=None if world.on_text is unwatched else world.on_text,
        on_retry=_note_retry,
    )


def _note_retry(attempt: int, delay: float, error: ModelUnavailable) -> None:
    _log.warning("model unavailable", extra={"attempt": attempt, "delay": delay, "why": str(error)})


async def _compact(
    definition: Definition, state: ThreadState, world: World, through: int
) -> ContextCompacted:
    messages = render_for_summary(state, through, definition.instructions)
    reply = await _reply(definition, ModelRequest(messages, []), world)
    return ContextCompacted(
        at=world.now(), summary=_clean(reply.text), through=through, usage=tidy(reply.usage)
    )


def _replied(
    definition: Definition, state: ThreadState, reply: ModelReply, world: World
) -> ModelReplied:
    model = _clean(reply.model)
    return ModelReplied(
        at=world.now(),
        text=_clean(reply.text),
        calls=tuple(_chosen(definition, call) for call in reply.calls),
        usage=tidy(reply.usage),
        model="" if model == state.model else model,
    )


def _chosen(definition: Definition, call: RequestedCall) -> ChosenCall:
    tool = definition.tools.get(call.name)
    signature = tool.signature.digest if tool else ""
    name = _clean(call.name)
    try:
        arguments = plain_object(msgspec.json.decode(call.arguments or "{}"))
    except (msgspec.DecodeError, RecursionError, UnicodeError, NotJson):
        return ChosenCall(name, {}, signature, _clean(call.arguments) or "(nothing)")
    return ChosenCall(name, arguments, signature)


def _clean(text: str) -> str:
    """Drop what no database stores: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _question(
    definition: Definition, state: ThreadState, world: World, *, purpose: Purpose, prompt: str
) -> QuestionAsked:
    options = LIMIT_OPTIONS if purpose == "limit" else ()
    question = Question(
        id=fresh_question_id(world, state),
        kind="choice" if options else "text",
        prompt=prompt,
        purpose=purpose,
        options=options,
        waiting=definition.waiting["normal"],
    )
    return QuestionAsked(at=world.now(), question=question)
