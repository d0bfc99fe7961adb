"""Who asks, and what may they: API keys by their hash, and scopes.

A key is looked up by the hash of what was sent, so nothing secret is ever compared and no time
tells how near a guess was. Nothing else of a request is looked at before its key is known.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Protocol

from gateway.control.keys import key_hash
from gateway.http.options import HttpOptions
from gateway.http.problems import MISSING_SCOPE, RATE_LIMITED, UNAUTHENTICATED, Problem, slow_down
from gateway.rates.buckets import Buckets
from gateway.rates.ledger import Ledger
from storage.values import ApiKey, Scope

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]{1,256}=*)", re.IGNORECASE)
"""RFC 6750, section 2.1; a length that no key of ours has is not worth a look-up."""

_MOST_BELIEVED = 1000
_LOOKUPS_AT_ONCE = 16
"""Strangers' guesses queue up here, before the store's own connections are all taken."""


class KeyFinder(Protocol):
    """Whoever knows the keys: a store does."""

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        ...


class KeyRing:
    """Keys, each believed for a moment after it was looked up.

    Only keys that were found are remembered, so guesses cost no memory. Each guess is looked up,
    also when its address has made too many (it only hears 429 then): a real key that comes from
    the same address as a stranger's guesses is never locked out.
    """

    def __init__(
        self,
        finder: KeyFinder,
        options: HttpOptions,
        *,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._finder = finder
        self._ttl = options.key_ttl
        self._clock = clock
        self._believed: dict[str, tuple[ApiKey, float]] = {}
        self._lookups = asyncio.Semaphore(_LOOKUPS_AT_ONCE)
        self._failures = Buckets(
            ledger or Ledger(clock),
            "wrong keys",
            rate=options.failures_per_second,
            burst=options.failures_burst,
        )

    async def owner(self, authorization: str, address: str) -> ApiKey:
        """Give the key that this header holds, or raise 401 (429 after too many wrong ones)."""
        match = _BEARER.fullmatch(authorization.strip())
        if match is None:
            raise _unauthenticated("Send an API key as `Authorization: Bearer KEY`.", "")
        key = await self._find(key_hash(match[1]))
        if key is None:
            await self._count_failure(address)
            raise _unauthenticated("The key is unknown or was revoked.", ', error="invalid_token"')
        return key

    def believed(self, authorization: str) -> ApiKey | None:
        """Give the key that this header holds if it was looked up a moment ago, without waiting."""
        match = _BEARER.fullmatch(authorization)
        found = self._believed.get(key_hash(match[1])) if match else None
        return found[0] if found is not None and self._clock() < found[1] else None

    async def by_hash(self, digest: str) -> ApiKey | None:
        """Give the key of this hash if it was not revoked, for a session that began with it."""
        return await self._find(digest)

    async def is_valid(self, key: ApiKey) -> bool:
        """Tell whether a key that was good is so still, for whoever stays connected."""
        return await self._find(key.hash) is not None

    async def _find(self, digest: str) -> ApiKey | None:
        believed = self._believed.get(digest)
        if believed is not None and self._clock() < believed[1]:
            return believed[0]
        asked_at = self._clock()
        async with self._lookups:
            key = await self._finder.key_by_hash(digest)
        self._believed.pop(digest, None)
        if key is not None:
            self._believe(digest, key, asked_at)
        return key

    def _believe(self, digest: str, key: ApiKey, asked_at: float) -> None:
        if len(self._believed) >= _MOST_BELIEVED:
            self._believed.clear()
        self._believed[digest] = (key, asked_at + self._ttl)

    async def _count_failure(self, address: str) -> None:
        wait = await self._failures.take(address)
        if wait:
            raise slow_down(RATE_LIMITED, "Too many wrong keys came from this address.", wait)


def require_scope(key: ApiKey, scopes: tuple[Scope, ...]) -> None:
    """Refuse a key that has none of the scopes; `admin` has them all."""
    if "admin" in key.scopes or any(scope in key.scopes for scope in scopes):
        return
    needed = " or ".join(scopes)
    raise Problem(
        MISSING_SCOPE,
        f"This needs a key with the scope {needed}; yours has {', '.join(key.scopes) or 'none'}.",
        {"missing_scope": list(scopes)},
        {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scopes[0]}"'},
    )


def _unauthenticated(detail: str, error: str) -> Problem:
    return Problem(
        UNAUTHENTICATED, detail, headers={"WWW-Authenticate": f'Bearer realm="parley"{error}'}
    )
