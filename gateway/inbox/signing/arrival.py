"""Arriving: a new session for somebody who has shown who they are, and on to where they wanted."""

from __future__ import annotations

from gateway.inbox.answers import Redirect
from gateway.inbox.cookies import BROWSER, SESSION
from gateway.inbox.requests import InboxRequest
from gateway.inbox.sessions import How
from gateway.inbox.signing.ways import safe_next


async def arrive(
    request: InboxRequest, how: How, *, identity: str, name: str, then: str
) -> Redirect:
    """Begin a session under a new secret; whatever the browser held before is worth nothing."""
    house = request.house
    await house.sessions.end(house.jar.read(request.http, SESSION))
    token = await house.sessions.begin(how, identity=identity, name=name)
    return Redirect(safe_next(then), cookies={SESSION: token, BROWSER: ""})
