"""TXT records from DNS, for the keys of DKIM signatures."""

from __future__ import annotations

from typing import Final

import dns.asyncresolver
import dns.exception
import dns.rdatatype
from dns.rdtypes.ANY.TXT import TXT

_SECONDS: Final = 1.0
_LONGEST: Final = 8_000


class DnsTxt:
    """Asks the machine's own name servers, or those that are given."""

    def __init__(self, *servers: str, port: int = 53, seconds: float = _SECONDS) -> None:
        self._servers = servers
        self._port = port
        self._seconds = seconds
        self._resolver: dns.asyncresolver.Resolver | None = None

    async def __call__(self, name: str) -> bytes | None:
        """Give the record under a name; whatever goes wrong, there is none."""
        try:
            answer = await self._asked().resolve(name, dns.rdatatype.TXT, lifetime=self._seconds)
        except (dns.exception.DNSException, OSError, ValueError):
            return None
        first = next(iter(answer), None)
        return b"".join(first.strings)[:_LONGEST] if isinstance(first, TXT) else None

    def _asked(self) -> dns.asyncresolver.Resolver:
        """Make the resolver when it is first needed: a machine without one can still read mail."""
        if self._resolver is None:
            self._resolver = dns.asyncresolver.Resolver(configure=not self._servers)
            if self._servers:
                self._resolver.nameservers = list(self._servers)
                self._resolver.port = self._port
        return self._resolver
