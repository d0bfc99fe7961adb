"""The pages' addresses."""

from __future__ import annotations

from typing import Final

from gateway.inbox.house import House
from gateway.inbox.pages import control_pages, question_pages, thread_pages
from gateway.inbox.pages.figure_page import FigurePage
from gateway.inbox.pages.live import Live
from gateway.inbox.pages.streams import Streams
from gateway.inbox.requests import PageRoute, Run
from storage.values import Scope

_MOST: Final = 4 << 20
"""Bytes of a form: letters beyond ASCII take up to twelve, and edits are carried along twice."""


def pages(house: House) -> tuple[PageRoute, ...]:
    """Give every page of a house, with what they share while people look."""
    streams, figures = Streams(Live(house)), FigurePage()
    return (
        _get("/", question_pages.queue, also="answer"),
        _get("/questions/{question}", question_pages.show, also="answer"),
        _post("/questions/{question}/answer", question_pages.answer, "answer"),
        _get("/questions/{question}/edit", question_pages.edit, "answer"),
        _post("/questions/{question}/edit", question_pages.review, "answer"),
        _get("/threads", thread_pages.listing),
        _get("/threads/{thread}", thread_pages.show),
        _post("/threads/{thread}/{action}", control_pages.act, "read"),
        _get("/figures", figures.show),
        _get("/halt", control_pages.halt_page, "admin"),
        _post("/halt", control_pages.pull, "admin"),
        _post("/halt/lift", control_pages.lift, "admin"),
        _get("/live/queue", streams.queue, also="answer"),
        _get("/live/threads/{thread}", streams.thread),
    )


def _get(path: str, run: Run, scope: Scope = "read", also: Scope | None = None) -> PageRoute:
    return PageRoute(method="GET", path=path, run=run, scope=scope, or_scope=also)


def _post(path: str, run: Run, scope: Scope) -> PageRoute:
    return PageRoute(method="POST", path=path, run=run, scope=scope, most=_MOST)
