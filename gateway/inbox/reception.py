"""The reception: who comes in, by the cookie that their browser shows.

A session is only a claim: whether it still holds is looked up each time. A key that was revoked, a
person who is no more in `parley.toml`, or no more at that address, is signed out with their next
request.
"""

from __future__ import annotations

from dataclasses import replace

from aiohttp import web

from channels.people import Actor
from gateway.http.auth import KeyRing
from gateway.inbox.cookies import BROWSER, SESSION, Jar
from gateway.inbox.guarding import token_for
from gateway.inbox.secrets import digest
from gateway.inbox.sessions import Session, Sessions, short_name
from gateway.inbox.visitor import Visitor, scopes_of
from gateway.people.directory import Directory


class Reception:
    """Knows visitors."""

    def __init__(
        self, sessions: Sessions, ring: KeyRing, people: Directory, jar: Jar, secret: bytes
    ) -> None:
        self._sessions = sessions
        self._ring = ring
        self._people = people
        self._jar = jar
        self._secret = secret

    async def visitor(self, request: web.Request) -> Visitor:
        """Tell who asks; nobody, if no session of theirs holds."""
        token = self._jar.read(request, SESSION)
        session = await self._sessions.find(token)
        if session is not None:
            known = await self._known(session)
            if known is not None:
                return _with(known, short_name(token), token_for(self._secret, digest(token)))
            await self._sessions.end(token)
        return Visitor(csrf=token_for(self._secret, self._jar.read(request, BROWSER)))

    def holder(self, request: web.Request, visitor: Visitor) -> str:
        """Give what the token of this visitor's forms is bound to."""
        if visitor.is_somebody:
            return digest(self._jar.read(request, SESSION))
        return self._jar.read(request, BROWSER)

    async def is_still(self, visitor: Visitor, request: web.Request) -> bool:
        """Tell whether somebody who was signed in is so still, and as the same."""
        session = await self._sessions.look(self._jar.read(request, SESSION))
        now = await self._known(session) if session is not None else None
        return now is not None and now.name == visitor.name

    async def _known(self, session: Session) -> Visitor | None:
        if session.how == "key":
            key = await self._ring.by_hash(session.identity)
            if key is None:
                return None
            person = self._people.person(Actor(id=key.name))
            return Visitor(
                kind="key",
                name=key.name,
                scopes=frozenset(key.scopes),
                person=person,
                how="key",
            )
        person = self._people.person(Actor(id=session.identity))
        if person is None or person.name != session.name:
            return None
        return Visitor(
            kind="person",
            name=person.name,
            scopes=scopes_of(person),
            person=person,
            how=session.how,
        )


def _with(visitor: Visitor, session: str, csrf: str) -> Visitor:
    return replace(visitor, session=session, csrf=csrf)
