"""Threads: the list with its filters, and one thread as a timeline."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from agent_core.thread.events import ThreadId
from gateway.control.showing import show_thread
from gateway.control.views import ThreadView
from gateway.inbox.answers import Answer, Page
from gateway.inbox.filters import segment
from gateway.inbox.house import House
from gateway.inbox.pages.actions import Action, offered
from gateway.inbox.pages.filters import CHANNELS, STATUSES, read_filter
from gateway.inbox.pages.pieces import tell
from gateway.inbox.pages.search import find
from gateway.inbox.pages.texts import Shown, channel_of, clock, iso, millis, one_line, prose, span
from gateway.inbox.requests import InboxRequest
from storage.values import Scope

_PAGE: Final = 100
"""So many events stand on one page of a timeline."""


class Listed(Struct, frozen=True, kw_only=True, gc=False):
    """A thread in a list."""

    id: str
    title: str
    agent: str
    status: str
    requester: str
    channel: str
    waiting: int
    began: str
    began_iso: str
    moved: str
    """How long ago something happened."""
    cost: float
    tokens: int


class Opened(Struct, frozen=True, kw_only=True, gc=False):
    """A thread above its timeline."""

    listed: Listed
    key: str
    result: Shown | None
    error: Shown | None
    questions: tuple[tuple[str, str], ...]
    """Those that are open: their ids, and what they ask."""
    input_tokens: int
    output_tokens: int


async def listing(request: InboxRequest) -> Answer:
    """List threads, newest first."""
    house, visitor = request.house, request.visitor
    wanted, troubles = read_filter({name: values[0] for name, values in request.query.items()})
    found = await find(
        wanted,
        house.now(),
        rows=lambda wish: house.sight.rows(visitor, wish),
        name=house.people.name,
    )
    threads = [_listed(show_thread(row, house.now()), house) for row in found.rows]
    return Page(
        "pages/threads.html",
        {
            "threads": threads,
            "filter": wanted,
            "troubles": troubles,
            "statuses": STATUSES,
            "channels": CHANNELS,
            "next": f"/threads?{wanted.query(cursor=found.next_cursor)}"
            if found.next_cursor
            else "",
            "first": f"/threads?{wanted.query(cursor='')}" if wanted.cursor else "",
            "looked_back_to": clock(found.looked_back_to) if found.looked_back_to else "",
        },
        status=422 if troubles else 200,
    )


async def show(request: InboxRequest) -> Answer:
    """Show a thread: its newest events, or those before the one that was asked for."""
    house, name = request.house, request.params["thread"]
    view = await house.sight.thread(request.visitor, name)
    row = await house.store.thread(ThreadId(name))
    last = row.seq if row else 0
    end = _number(request.asked("to"), last)
    begin = max(1, end - _PAGE + 1)
    events = await house.store.events(ThreadId(name), after=begin - 1, limit=end - begin + 1)
    entries = await tell(house, ThreadId(name), view.agent, events, begin)
    context: dict[str, Any] = {
        "thread": _opened(view, house),
        "entries": entries,
        "first": begin,
        "last": last,
        "end": end,
        "earlier": f"/threads/{segment(name)}?to={begin - 1}#e{begin - 1}" if begin > 1 else "",
        "later": _later(name, end, last),
        "is_newest": end == last,
        "actions": actions_for(request, view),
    }
    return Page("pages/thread.html", context)


def actions_for(request: InboxRequest, view: ThreadView) -> tuple[Action, ...]:
    """Give the buttons that this visitor may press, now."""
    visitor, sight = request.visitor, request.house.sight

    def may(scope: Scope) -> bool:
        return sight.may_control(visitor, view) if scope == "control" else visitor.may(scope)

    return offered(view.status, may)


def _later(name: str, end: int, last: int) -> str:
    if end >= last:
        return ""
    to = min(last, end + _PAGE)
    query = "" if to == last else f"?to={to}"
    return f"/threads/{segment(name)}{query}#e{end + 1}"


def _number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004 (no log is longer)
        return most
    return max(1, min(int(text), most))


def _listed(view: ThreadView, house: House) -> Listed:
    return Listed(
        id=view.id,
        title=one_line(view.title, 120),
        agent=one_line(view.agent, 80),
        status=view.status,
        requester=one_line(house.people.name(view.requester), 80),
        channel=channel_of(view.origin),
        waiting=len(view.questions),
        began=clock(millis(view.created_at)),
        began_iso=iso(millis(view.created_at)),
        moved=span(house.now() - millis(view.updated_at)),
        cost=view.usage.cost,
        tokens=view.usage.input_tokens + view.usage.output_tokens,
    )


def _opened(view: ThreadView, house: House) -> Opened:
    return Opened(
        listed=_listed(view, house),
        key=one_line(view.thread_key),
        result=prose(view.result) if view.result else None,
        error=prose(view.error) if view.error else None,
        questions=tuple((one.id, one_line(one.prompt, 120)) for one in view.questions),
        input_tokens=view.usage.input_tokens,
        output_tokens=view.usage.output_tokens,
    )
