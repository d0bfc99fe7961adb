"""Callbacks over HTTP, for operators: what they do, and their part of the table."""

from __future__ import annotations

from typing import Any

from gateway.control.callback_views import CallbackList, CallbackView, Enable, Replay, ReplayView
from gateway.control.callbacks import Callbacks
from gateway.http.problems import NOT_FOUND, Problem
from gateway.http.queries import Query
from gateway.http.responses import Reply
from gateway.http.routes import AnyRoute, Ask, NoBody, Route


async def listing(ask: Ask[Query, NoBody]) -> Reply:
    """List the endpoints in trouble."""
    return Reply(view=await _callbacks(ask).show())


async def replay(ask: Ask[Query, Replay]) -> Reply:
    """Send again what has failed."""
    return Reply(view=await _callbacks(ask).replay(ask.body))


async def enable(ask: Ask[Query, Enable]) -> Reply:
    """Send to an endpoint again."""
    return Reply(view=await _callbacks(ask).enable(ask.body))


def _callbacks(ask: Ask[Any, Any]) -> Callbacks:
    if ask.desk.callbacks is None:
        raise Problem(NOT_FOUND, "This server sends no callbacks.")
    return ask.desk.callbacks


CALLBACKS: list[AnyRoute] = [
    Route(
        method="GET",
        path="/v1/callbacks",
        summary="List the endpoints of callbacks that fail, are disabled, or have missed something",
        run=listing,
        query=Query,
        body=NoBody,
        gives=CallbackList,
        scopes=("admin",),
        problems=(404,),
    ),
    Route(
        method="POST",
        path="/v1/callbacks/replay",
        summary="Send again, in order, what could not be sent to callbacks",
        run=replay,
        query=Query,
        body=Replay,
        gives=ReplayView,
        scopes=("admin",),
        problems=(404,),
    ),
    Route(
        method="POST",
        path="/v1/callbacks/enable",
        summary="Send to a disabled endpoint again",
        run=enable,
        query=Query,
        body=Enable,
        body_needed=True,
        gives=CallbackView,
        scopes=("admin",),
        problems=(404,),
    ),
]
