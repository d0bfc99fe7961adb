"""Doing something to a thread, and the kill switch: forms that post, then the page again."""

from __future__ import annotations

from typing import Final

from agent_core.errors import Refused
from gateway.control.service import NotFound
from gateway.control.views import ThreadView
from gateway.http.problems import MISSING_SCOPE, REFUSED, Problem, misfit
from gateway.inbox.answers import Answer, Page, Redirect
from gateway.inbox.filters import segment
from gateway.inbox.pages.actions import ACTIONS, Action
from gateway.inbox.pages.thread_pages import actions_for
from gateway.inbox.requests import InboxRequest

_ACTIONS: Final = {one.name: one for one in ACTIONS}
_DONE: Final = {
    "say": "Said.",
    "pause": "Paused.",
    "resume": "It goes on.",
    "retry": "It tries again.",
    "cancel": "Cancelled. People are told, and what can be undone is undone.",
}
_MOST_WORDS: Final = 10_000


async def act(request: InboxRequest) -> Answer:
    """Do what a button says, if the state still allows it."""
    action = _ACTIONS.get(request.params["action"])
    if action is None:
        raise NotFound("there is no such thing to do")
    name = request.params["thread"]
    view = await request.house.sight.thread(request.visitor, name)
    _require(request, view, action)
    words = request.posted(action.field).strip() if action.field else ""
    if action.needs_words and not words:
        return Redirect(f"/threads/{segment(name)}#act", notice="Please write something first.")
    if action.is_grave and request.posted("sure") != "yes":
        return Page("pages/sure.html", {"thread": name, "action": action, "words": words})
    try:
        return await _done(request, name, action, words[:_MOST_WORDS])
    except Refused as exc:
        raise Problem(REFUSED, f"{exc}. Nothing has changed.") from exc


def _require(request: InboxRequest, view: ThreadView, action: Action) -> None:
    """Refuse what this person may not; what the state doesn't allow, the gateway refuses."""
    if action not in actions_for(request, view) and view.status in action.when:
        words = "Only whoever began this thread, and operators, may do that. Nothing has changed."
        raise Problem(MISSING_SCOPE, words)


async def _done(request: InboxRequest, name: str, action: Action, words: str) -> Answer:
    gateway, by = request.house.gateway, request.visitor.by
    match action.name:
        case "say":
            await gateway.say(name, words, by=by)
        case "pause":
            await gateway.pause(name, by=by, reason=words)
        case "resume":
            await gateway.resume(name, by=by, instruction=words)
        case "retry":
            await gateway.retry(name, by=by)
        case "cancel":
            await gateway.cancel(name, by=by, reason=words)
        case _:
            copy = await gateway.fork(name, by=by, at=_event(words))
            return Redirect(f"/threads/{segment(copy.id)}", notice=f"This is the copy of {name}.")
    return Redirect(f"/threads/{segment(name)}", notice=_DONE[action.name])


def _event(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10):  # noqa: PLR2004 (no log is longer)
        raise misfit("at", "a fork is made up to the number of an event, such as 12")
    return int(text)


# --- the kill switch ------------------------------------------------------------------------------


async def halt_page(request: InboxRequest) -> Answer:
    """Ask whether they are sure, or show that it is pulled."""
    return Page("pages/halt.html", {"halted": await request.house.gateway.halted(), "wrong": ""})


async def pull(request: InboxRequest) -> Answer:
    """Let no model or tool be called anywhere."""
    reason = request.posted("reason").strip()[:_MOST_WORDS]
    gateway = request.house.gateway
    if not reason or request.posted("sure") != "yes":
        wrong = "Please say why, and tick the box: everybody's agents stop."
        context = {"halted": await gateway.halted(), "wrong": wrong}
        return Page("pages/halt.html", context, status=422)
    await gateway.halt(reason, by=request.visitor.by)
    return Redirect("/halt", notice="Everything is halted.")


async def lift(request: InboxRequest) -> Answer:
    """Let everything go on."""
    await request.house.gateway.lift(by=request.visitor.by)
    return Redirect("/halt", notice="Everything goes on.")
