"""What the operator allows: networks and hosts inside that callbacks may reach all the same. Pure.

An entry is a network (`10.1.0.0/16`), an address or the name of a host, each with a port if it is
for that one only: `127.0.0.1:9000`, `ci.internal:8443`, `[fd00::1]:443`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

_ENTRY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]+)):([0-9]{1,5})", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?", re.IGNORECASE)
_HIGHEST_PORT = 65_535

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Allowance:
    """One entry."""

    network: IPv4Network | IPv6Network | None
    host: str
    """Empty for a network."""
    port: int | None


class AllowList:
    """What is allowed, beside everything outside."""

    def __init__(self, allowed: Iterable[Allowance] = ()) -> None:
        self._allowed = tuple(allowed)

    def has_host(self, host: str, port: int) -> bool:
        """Tell whether a name is allowed, whatever it stands for."""
        return any(
            one.host == host and one.port in (None, port) for one in self._allowed if one.host
        )

    def has_address(self, address: Address, port: int) -> bool:
        """Tell whether an address is allowed."""
        return any(
            address in one.network and one.port in (None, port)
            for one in self._allowed
            if one.network is not None and one.network.version == address.version
        )


def parse_allowance(entry: str) -> Allowance:
    """Read one entry; ValueError if it is none."""
    host, port = entry.strip().lower(), None
    if found := _ENTRY.fullmatch(host):
        host, port = found[1] or found[2], int(found[3])
        if not 0 < port <= _HIGHEST_PORT:
            raise ValueError("a port is from 1 to 65535")
    try:
        return Allowance(ip_network(host, strict=False), "", port)
    except ValueError:
        pass
    if not _HOST.fullmatch(host) or host.rpartition(".")[2].isdecimal():
        raise ValueError("it is neither a network nor the name of a host")
    return Allowance(None, host, port)
