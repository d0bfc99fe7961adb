"""The kill switch over HTTP."""

from __future__ import annotations

from gateway.control.views import Halt
from gateway.http.queries import Query
from gateway.http.responses import Reply
from gateway.http.routes import Ask, NoBody


async def show(ask: Ask[Query, NoBody]) -> Reply:
    """Tell whether it is pulled."""
    return Reply(view=await ask.gateway.halted())


async def pull(ask: Ask[Query, Halt]) -> Reply:
    """Let no model or tool be called anywhere."""
    return Reply(view=await ask.gateway.halt(ask.body.reason, by=ask.by))


async def lift(ask: Ask[Query, NoBody]) -> Reply:
    """Let everything go on."""
    return Reply(view=await ask.gateway.lift(by=ask.by))
