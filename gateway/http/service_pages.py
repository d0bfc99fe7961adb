"""What machines ask that watch over us: alive, ready, how much. No key; nothing about threads."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict

from gateway.http import meters
from gateway.http.problems import UNAVAILABLE, slow_down
from gateway.http.queries import Query
from gateway.http.responses import Reply
from gateway.http.routes import Ask, NoBody


class Health(BaseModel):
    """It is well."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Literal["ok"] = "ok"


async def healthz(_ask: Ask[Query, NoBody]) -> Reply:
    """Tell that the process answers; nothing else is looked at."""
    return Reply(view=Health())


async def readyz(ask: Ask[Query, NoBody]) -> Reply:
    """Tell whether requests can be served: the store answers, and we aren't stopping."""
    if ask.desk.endings.closing:
        raise slow_down(UNAVAILABLE, "The server is stopping.", 1)
    try:
        async with asyncio.timeout(ask.desk.options.ready_within):
            await ask.gateway.ready()
    except TimeoutError:
        raise slow_down(UNAVAILABLE, "The store does not answer.", 1) from None
    return Reply(view=Health())


async def metrics(ask: Ask[Query, NoBody]) -> Reply:
    """Show the figures, as Prometheus reads them."""
    if ask.desk.callbacks is not None:
        ask.desk.meters.callbacks = await ask.desk.callbacks.figures()
    return Reply(text=ask.desk.meters.text(), content_type=meters.CONTENT_TYPE)
