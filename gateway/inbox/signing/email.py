"""Signing in by mail: a link to whoever is listed with an address; the page says the same to all.

The link goes out beside the request, so that not even the time tells who is listed.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from channels.people import Actor
from gateway.http.problems import NOT_FOUND, RATE_LIMITED, Problem, slow_down
from gateway.inbox.answers import Answer
from gateway.inbox.cookies import BROWSER
from gateway.inbox.requests import InboxRequest
from gateway.inbox.signing.front import front
from gateway.inbox.signing.ways import safe_next

_MAILED: Final = (
    "If this address is listed here, a link is on its way to it. "
    "Open it in this browser, within 15 minutes."
)
_LONGEST: Final = 254
"""Of an address: RFC 5321, section 4.5.3.1.3, without its brackets."""


async def ask(request: InboxRequest) -> Answer:
    """Mail a link to a person, and tell everybody the same."""
    house, email = request.house, request.posted("email").strip().lower()
    if house.postbox is None:
        raise Problem(NOT_FOUND, "Signing in by mail is not offered here.")
    if not 3 <= len(email) <= _LONGEST or "@" not in email:  # noqa: PLR2004 (a@b)
        return front(request, wrong="This is no mail address.", status=422)
    wait = await house.postbox.too_many_from(request.http.remote or "")
    if wait:
        words = "Too many links were asked for from your network. Please wait a little."
        raise slow_down(RATE_LIMITED, words, wait)
    is_too_much = await house.postbox.too_many_to(email)
    person = house.people.person(Actor(id=f"email:{email}"))
    if person is not None and email in person.email and not is_too_much:
        make = partial(
            house.links.make,
            "email",
            identity=f"email:{email}",
            name=person.name,
            then=safe_next(request.posted("next")),
            browser=house.jar.read(request.http, BROWSER),
        )
        house.postbox.mail(email, make)
    return front(request, mailed=_MAILED)
