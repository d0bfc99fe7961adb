"""Signing in with an API key: shown once, exchanged for a session, and kept nowhere else."""

from __future__ import annotations

from gateway.http.problems import UNAUTHENTICATED, Problem
from gateway.inbox.answers import Answer
from gateway.inbox.requests import InboxRequest
from gateway.inbox.signing.arrival import arrive
from gateway.inbox.signing.front import front

_UNKNOWN = "The key is unknown or was revoked."


async def sign_in(request: InboxRequest) -> Answer:
    """Take a key; guesses are counted and slowed down as over the API."""
    given = request.posted("key").strip()
    try:
        key = await request.house.desk.ring.owner(f"Bearer {given}", request.http.remote or "")
    except Problem as problem:
        words = _UNKNOWN if problem.kind is UNAUTHENTICATED else problem.detail
        return front(request, wrong=words, status=problem.kind.status)
    then = request.posted("next")
    return await arrive(request, "key", identity=key.hash, name=key.name, then=then)
