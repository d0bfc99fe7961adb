"""Checking DKIM signatures ourselves, where no server of ours does it.

The keys come through a function that is passed in: the child process that reads mail has no need of
a network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import dkim

from channels.email.alignment import is_aligned
from channels.email.authentication import signatures
from channels.email.headers import Headers
from channels.email.mail import Authentication

TxtLookup: TypeAlias = Callable[[str], bytes | None]
"""Gives the TXT record under a name, or nothing."""

_MOST_SIGNATURES: Final = 5
_SHORTEST_KEY: Final = 1024
_ALGORITHMS: Final = frozenset({"rsa-sha256", "ed25519-sha256"})


def check(raw: bytes, headers: Headers, domain: str, lookup: TxtLookup) -> Authentication:
    """Look for a good signature of the From's own domain."""
    reason = "it has no DKIM signature of its From's domain"
    for place, tags in enumerate(signatures(headers)[:_MOST_SIGNATURES]):
        signer = tags.get("d", "")
        if not is_aligned(signer, domain):
            continue
        if "l" in tags:
            reason = "its DKIM signature covers only a part of it (l=)"
        elif tags.get("a", "").lower() not in _ALGORITHMS:
            reason = "its DKIM signature is of a kind that is no longer safe"
        elif _is_good(raw, place, lookup):
            return Authentication(passed=True, method="dkim", domain=signer, by="parley")
        else:
            reason = "its DKIM signature is not good"
    return Authentication(reason=reason, by="parley")


def _is_good(raw: bytes, place: int, lookup: TxtLookup) -> bool:
    def ask(name: bytes | str, timeout: float = 0) -> bytes | None:  # noqa: ARG001 - dkimpy passes it; ours has one limit for all
        return lookup(name.decode("ascii", "replace") if isinstance(name, bytes) else name)

    try:
        return bool(dkim.DKIM(raw, minkey=_SHORTEST_KEY).verify(idx=place, dnsfunc=ask))
    except Exception:  # noqa: BLE001 - a signature that dkimpy stumbles over is not good
        return False
