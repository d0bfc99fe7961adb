"""The tools of the random stories: one of each kind, all acting on the stage of the moment.

Every tool takes a number. An even one has its effect before it is held up, an odd one after;
a compensation fails once for 3, and always for 4.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, Protocol

from agent_core import Tool, ToolContext, contact_human, tool

FAILS_ONCE, FAILS_ALWAYS = 3, 4


class Stage(Protocol):
    """Where tools act: it writes down what they do, and holds them up."""

    def enter(self, ctx: ToolContext, n: int) -> None:
        """The body of a tool begins."""

    async def hold(self, label: str) -> None:
        """Wait until the test lets go."""

    def take_effect(self, ctx: ToolContext) -> None:
        """What the tool is for has happened."""

    def hear(self, ctx: ToolContext, prompt: str, value: object) -> None:
        """An answer has reached the tool."""

    def undo(self, ctx: ToolContext) -> int:
        """A compensation begins; gives how many began before for this call."""


STAGE: ContextVar[Stage] = ContextVar("STAGE")


async def perform(ctx: ToolContext, n: int) -> str:
    """Do what most tools do."""
    STAGE.get().enter(ctx, n)
    return await conclude(ctx, n)


async def conclude(ctx: ToolContext, n: int) -> str:
    """Have an effect, and be held up before or after."""
    stage = STAGE.get()
    if n % 2 == 0:
        stage.take_effect(ctx)
    await stage.hold(f"tool {ctx.call}")
    if n % 2 == 1:
        stage.take_effect(ctx)
    return f"did {n}"


async def listen(ctx: ToolContext, word: str, **parts: Any) -> Any:  # noqa: ANN401 (as `ctx.ask`)
    """Ask, and write down what was answered to what."""
    prompt = f"{ctx.call} {word}?"
    value = await ctx.ask(prompt, **parts)
    STAGE.get().hear(ctx, prompt, value)
    return value


async def take_back(ctx: ToolContext, n: int) -> None:
    """Undo a tool's effect, not always at the first try."""
    stage = STAGE.get()
    before = stage.undo(ctx)
    await stage.hold(f"undoing {ctx.call}")
    if n == FAILS_ALWAYS or (n == FAILS_ONCE and before == 0):
        raise RuntimeError("not undone")


def take_back_plainly(ctx: ToolContext, n: int, result: object = None) -> None:
    """Undo a tool's effect, in a thread."""
    STAGE.get().undo(ctx)
    if n == FAILS_ALWAYS:
        raise RuntimeError(f"not undone: {result}")


@tool(idempotent=True, interruptible=True)
async def look(ctx: ToolContext, n: int) -> str:
    """Harmless."""
    return await perform(ctx, n)


@tool(compensate=take_back)
async def write(ctx: ToolContext, n: int) -> str:
    """Has an effect that can be undone."""
    return await perform(ctx, n)


@tool(approval=True, compensate=take_back)
async def pay(ctx: ToolContext, n: int) -> str:
    """Needs approval."""
    return await perform(ctx, n)


@tool(approval=lambda n: n > 1, idempotent=True, compensate=take_back)
async def pay_much(ctx: ToolContext, n: int) -> str:
    """Needs approval from 2 on."""
    return await perform(ctx, n)


@tool(approval=True, interruptible=True, compensate=take_back)
async def send(ctx: ToolContext, n: int) -> str:
    """Needs approval, and can be stopped half-way."""
    return await perform(ctx, n)


@tool(interruptible=True, compensate=take_back)
async def stoppable(ctx: ToolContext, n: int) -> str:
    """Can be stopped half-way, and undone."""
    return await perform(ctx, n)


@tool(compensate=take_back_plainly)
def plain(ctx: ToolContext, n: int) -> str:
    """Runs in a thread."""
    STAGE.get().enter(ctx, n)
    STAGE.get().take_effect(ctx)
    ctx.note(f"half of {n}")
    return f"did {n}"


@tool(approval=lambda args: args.n > 1)
def plain_pay(ctx: ToolContext, n: int) -> str:
    """Runs in a thread, and needs approval from 2 on."""
    STAGE.get().enter(ctx, n)
    STAGE.get().take_effect(ctx)
    return f"did {n}"


@tool(retries=2, compensate=take_back)
async def flaky(ctx: ToolContext, n: int) -> str:
    """Fails at first, and is tried again."""
    STAGE.get().enter(ctx, n)
    await STAGE.get().hold(f"tool {ctx.call}")
    tries = ATTEMPTS.get()
    tries[ctx.idempotency_key] = tries.get(ctx.idempotency_key, 0) + 1
    if tries[ctx.idempotency_key] <= n:
        raise ValueError(f"try {tries[ctx.idempotency_key]}")
    return await conclude(ctx, n)


ATTEMPTS: ContextVar[dict[str, int]] = ContextVar("ATTEMPTS")
"""How often each flaky call has been tried."""


class Unspeakable(Exception):
    """An exception that can't even be shown."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


@tool
async def broken(ctx: ToolContext, n: int) -> object:
    """Raises, each number something else."""
    STAGE.get().enter(ctx, n)
    await STAGE.get().hold(f"tool {ctx.call}")
    match n:
        case 0:
            raise asyncio.CancelledError
        case 1:
            raise Unspeakable
        case 2:
            return {"a set": {1}}
        case 3:
            raise TimeoutError
    raise ValueError("\ud800\0")


@tool
def plain_broken(ctx: ToolContext, n: int) -> object:
    """Raises in a thread, each number something else."""
    STAGE.get().enter(ctx, n)
    match n:
        case 0:
            raise StopIteration
        case 1:
            raise asyncio.CancelledError
        case 2:
            return object()
    raise ValueError("no")


@tool(timeout=5, compensate=take_back)
async def slow(ctx: ToolContext, n: int) -> str:
    """May run out of time."""
    return await perform(ctx, n)


@tool(timeout=5, retries=1, idempotent=True, compensate=take_back)
async def slow_again(ctx: ToolContext, n: int) -> str:
    """May run out of time, and is tried again."""
    return await perform(ctx, n)


@tool(compensate=take_back)
async def asks_once(ctx: ToolContext, n: int) -> str:
    """Asks before it acts."""
    STAGE.get().enter(ctx, n)
    await listen(ctx, "once")
    return await conclude(ctx, n)


@tool(approval=True, compensate=take_back)
async def asks_twice(ctx: ToolContext, n: int) -> str:
    """Needs approval, and asks two things, one after the other."""
    STAGE.get().enter(ctx, n)
    await listen(ctx, "first")
    await STAGE.get().hold(f"tool {ctx.call} between")
    await listen(ctx, "second", kind="yes/no")
    return await conclude(ctx, n)


@tool(compensate=take_back)
async def asks_both(ctx: ToolContext, n: int) -> str:
    """Asks two things at once."""
    STAGE.get().enter(ctx, n)
    await asyncio.gather(listen(ctx, "left"), listen(ctx, "right", kind="approval"))
    return await conclude(ctx, n)


@tool(retries=1)
async def asks_and_raises(ctx: ToolContext, n: int) -> str:
    """Asks, and fails at the same moment."""
    STAGE.get().enter(ctx, n)
    await asyncio.gather(listen(ctx, "meanwhile"), _raise())
    return await conclude(ctx, n)


async def _raise() -> None:
    raise ValueError("at the same moment")


@tool
async def asks_by_own_id(ctx: ToolContext, n: int) -> str:
    """Brings its question's id."""
    STAGE.get().enter(ctx, n)
    await listen(ctx, "mine", id=f"own-{n}")
    return await conclude(ctx, n)


@tool
async def asks_and_shrugs(ctx: ToolContext, n: int) -> str:
    """Catches what it should let through."""
    STAGE.get().enter(ctx, n)
    try:
        await listen(ctx, "so what")
    except asyncio.CancelledError:
        return "whatever"
    return await conclude(ctx, n)


@tool
async def posts_and_asks(ctx: ToolContext, n: int) -> str:
    """Asks one thing by the way, and one to wait for."""
    STAGE.get().enter(ctx, n)
    ctx.post(f"{ctx.call} by the way?")
    if n > 1:
        await listen(ctx, "now")
    return await conclude(ctx, n)


@tool(compensate=take_back)
async def hands_over(ctx: ToolContext, n: int) -> None:
    """Acts; the answer is its result."""
    await perform(ctx, n)
    await ctx.pause_for("form", {"prompt": f"{ctx.call} form?", "schema": {"type": "object"}})


@tool
async def hands_over_twice(ctx: ToolContext, n: int) -> None:
    """Pauses for two things at once, which no tool should."""
    await perform(ctx, n)
    await asyncio.gather(
        ctx.pause_for("text", f"{ctx.call} this?"), ctx.pause_for("text", f"{ctx.call} or that?")
    )


@tool(compensate=take_back)
async def comes_back(ctx: ToolContext, n: int) -> str:
    """Runs again with each answer, up to twice."""
    STAGE.get().enter(ctx, n)
    if ctx.resumed is None or ctx.resumed.count < n:
        await ctx.pause_for("text", f"{ctx.call} more?", resume_to="self", max_resumes=2)
    return await conclude(ctx, n)


@tool(compensate=take_back)
async def awaits_event(ctx: ToolContext, n: int) -> None:
    """Acts; a handler takes the answer."""
    await perform(ctx, n)
    await ctx.pause_for("event", f"{ctx.call} event?", resume_to={"event": "arrived"})


async def arrived(ctx: ToolContext, answer: object) -> object:
    """Take up what `awaits_event` waits for."""
    STAGE.get().enter(ctx, -1)
    await STAGE.get().hold(f"handler {ctx.call}")
    return answer


TOOLS: dict[str, Tool] = {
    one.name: one
    for one in (
        look,
        write,
        pay,
        pay_much,
        send,
        stoppable,
        plain,
        plain_pay,
        flaky,
        broken,
        plain_broken,
        slow,
        slow_again,
        asks_once,
        asks_twice,
        asks_both,
        asks_and_raises,
        asks_by_own_id,
        asks_and_shrugs,
        posts_and_asks,
        hands_over,
        hands_over_twice,
        comes_back,
        awaits_event,
        contact_human,
    )
}
