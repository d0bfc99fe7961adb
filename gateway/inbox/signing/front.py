"""The page for signing in: by which ways one can, and out again."""

from __future__ import annotations

from gateway.inbox.answers import Answer, Page, Redirect
from gateway.inbox.cookies import SESSION
from gateway.inbox.requests import InboxRequest
from gateway.inbox.signing.ways import SIGN_IN, safe_next


def front(request: InboxRequest, *, wrong: str = "", status: int = 200, mailed: str = "") -> Page:
    """Show the ways; `wrong` says what was wrong with the last try."""
    then = safe_next(request.asked("next") or request.posted("next"))
    context = {"next": then, "wrong": wrong, "mailed": mailed, **_offered(request)}
    return Page("signin.html", context, status=status)


async def show(request: InboxRequest) -> Answer:
    """Show the ways; whoever has signed in already goes on."""
    if request.visitor.is_somebody:
        return Redirect(safe_next(request.asked("next")))
    return front(request)


async def sign_out(request: InboxRequest) -> Answer:
    """End the session, here and in the store."""
    house = request.house
    await house.sessions.end(house.jar.read(request.http, SESSION))
    return Redirect(SIGN_IN, notice="You are signed out.", cookies={SESSION: ""})


def _offered(request: InboxRequest) -> dict[str, bool]:
    house = request.house
    return {"by_email": house.postbox is not None, "by_slack": house.slack is not None}
