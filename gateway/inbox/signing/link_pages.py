"""The page behind a link: GET shows one button and changes nothing, POST signs in."""

from __future__ import annotations

from gateway.http.problems import Kind, Problem
from gateway.inbox.answers import Answer, Page
from gateway.inbox.cookies import BROWSER
from gateway.inbox.links import Link
from gateway.inbox.requests import InboxRequest
from gateway.inbox.signing.arrival import arrive

_GONE = Kind("link-gone", 410, "This link can't be used any more")
_ELSEWHERE = Kind("other-browser", 403, "This link is for another browser")


async def show(request: InboxRequest) -> Answer:
    """Show who would be signed in."""
    link = _checked(await request.house.links.look(request.params["token"]), request)
    return Page("link.html", {"name": link.name, "token": request.params["token"]})


async def sign_in(request: InboxRequest) -> Answer:
    """Use the link up, but only where it fits: a stranger's try costs nobody their link."""
    token = request.params["token"]
    _checked(await request.house.links.look(token), request)
    link = _checked(await request.house.links.use(token), request)
    return await arrive(request, link.how, identity=link.identity, name=link.name, then=link.then)


def _checked(link: Link | None, request: InboxRequest) -> Link:
    if link is None:
        raise Problem(_GONE, "It was used before, or is older than 15 minutes. Ask for a new one.")
    if not link.fits(request.house.jar.read(request.http, BROWSER)):
        raise Problem(
            _ELSEWHERE,
            "Open it in the browser where you asked for it, or ask for a new one in this browser.",
        )
    return link
