"""Compensation: undoing a call of a cancelled thread, once it is known to have run."""

from __future__ import annotations

import asyncio

from agent_core.json_values import Json
from agent_core.loop.call_run import describe, invoke, is_own_doing, thread_info
from agent_core.loop.definition import Definition
from agent_core.loop.world import World
from agent_core.models import RetryPolicy, delay_before
from agent_core.thread.events import CompensationRan
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import Call, ThreadState
from agent_core.tools.context import Surface, ToolContext
from agent_core.tools.signature import BadArguments
from agent_core.tools.tool import Tool

_BETWEEN_TRIES = RetryPolicy(first_delay=0.5, longest_delay=30.0)


async def undo(
    definition: Definition, state: ThreadState, call: Call, world: World
) -> list[CompensationRan]:
    """Try once to undo a call, after a pause if it was tried before; not if halted meanwhile."""
    before = state.compensations.get(call.key)
    attempt = 1 if before is None else before.attempts + 1
    if attempt > 1:
        await world.sleep(delay_before(_BETWEEN_TRIES, attempt, None, world.random()))
    if world.halted():
        return []
    error = await _try(definition.tools.get(call.tool), state, call, world)
    settled = not error or attempt >= definition.undo_attempts
    return [
        CompensationRan(
            at=world.now(), call=call.key, attempt=attempt, error=error, settled=settled
        )
    ]


async def _try(tool: Tool | None, state: ThreadState, call: Call, world: World) -> str:
    if tool is None or tool.compensate is None:
        return f"{call.tool} has no compensation any more"
    try:
        arguments = tool.signature.with_defaults(tool.signature.validate(call.arguments))
        context = _context(state, call, world)
        async with asyncio.timeout(tool.timeout):
            await invoke(tool.compensate.prepared(context, arguments, _result(call)))
    except BadArguments as exc:
        return f"{call.tool} takes other arguments now: {exc}"
    except asyncio.CancelledError as exc:
        if not is_own_doing():
            raise
        return describe(exc)
    except (Exception, SystemExit) as exc:  # noqa: BLE001 (whatever it raises is recorded)
        return describe(exc)
    return ""


def _result(call: Call) -> Json:
    """Give what the tool returned; a failure's text is no result."""
    has_one = call.result is not None and call.result.outcome in ("returned", "answered")
    return call.result.value if call.result and has_one else None


def _context(state: ThreadState, call: Call, world: World) -> ToolContext:
    surface = Surface(
        new_id=lambda: QuestionId(world.new_id("q")),
        is_taken=lambda _one: False,
        has_handler=lambda _name: False,
        interrupt=lambda: None,
        note=lambda _text: None,
        may_ask=False,
    )
    return ToolContext(
        idempotency_key=f"{call.idempotency_key}/undo",
        thread=thread_info(state),
        requester=state.requester,
        call=call.key,
        surface=surface,
    )
