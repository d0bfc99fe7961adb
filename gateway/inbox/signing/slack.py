"""Signing in with Slack: out to its page and back, with a state that one browser can use once."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from channels.identity import IdentityProvider, Unidentified
from channels.intake import SealBroken
from channels.people import Actor
from gateway.http.problems import NOT_FOUND, Kind, Problem
from gateway.inbox.answers import Answer, Redirect
from gateway.inbox.cookies import BROWSER
from gateway.inbox.requests import InboxRequest
from gateway.inbox.secrets import digest, new_token
from gateway.inbox.signing.arrival import arrive
from gateway.inbox.signing.front import front
from gateway.inbox.signing.ways import safe_next

_PREFIX: Final = "slack state:"
_SECONDS: Final = 600
_STRANGER: Final = Kind("unlisted", 403, "You are not listed here")


class _Under(Struct, frozen=True):
    """Somebody who is on their way to Slack and back."""

    nonce: str
    browser: str
    then: str


async def leave(request: InboxRequest) -> Answer:
    """Lead to Slack's page."""
    provider, house = _provider(request), request.house
    await house.limits.check_leaving(request.http.remote or "")
    browser = house.jar.read(request.http, BROWSER) or new_token()
    state, nonce = new_token(), new_token()
    under = _Under(nonce, digest(browser), safe_next(request.asked("next")))
    key = _PREFIX + digest(state)
    await house.memory.keep(key, msgspec.json.encode(under), seconds=_SECONDS)
    return Redirect(provider.address(state=state, nonce=nonce), cookies={BROWSER: browser})


async def come_back(request: InboxRequest) -> Answer:
    """Take who Slack says that it is."""
    provider = _provider(request)
    under = await _taken(request)
    if under is None:
        words = "That took too long, or began in another browser. Please try again."
        return front(request, wrong=words, status=403)
    if request.asked("error"):
        return front(request, wrong="You did not sign in with Slack. Nothing has changed.")
    try:
        actor = await provider.identify(request.asked("code"), nonce=under.nonce)
    except Unidentified as exc:
        return front(request, wrong=str(exc), status=403)
    person = request.house.people.person(Actor(id=actor.id))
    if person is None:
        raise Problem(_STRANGER, _polite(actor))
    return await arrive(request, "slack", identity=actor.id, name=person.name, then=under.then)


async def _taken(request: InboxRequest) -> _Under | None:
    """Use the state up, if there is one; it counts only in the browser that has left with it."""
    house = request.house
    try:
        kept = await house.memory.take(_PREFIX + digest(request.asked("state")))
    except SealBroken:
        return None
    under = None if kept is None else msgspec.json.decode(kept, type=_Under)
    browser = house.jar.read(request.http, BROWSER)
    return under if under and browser and digest(browser) == under.browser else None


def _provider(request: InboxRequest) -> IdentityProvider:
    if request.house.slack is None:
        raise Problem(NOT_FOUND, "Signing in with Slack is not offered here.")
    return request.house.slack


def _polite(actor: Actor) -> str:
    who = actor.id.removeprefix("slack:")
    name = f"{actor.name} " if actor.name else ""
    return (
        f"Slack says that you are {name}({who}), and nobody with this account is listed here. "
        f'An operator can add it to parley.toml: slack = "{who}".'
    )
