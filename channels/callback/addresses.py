"""Addresses of callbacks: `callback:URL`, and which URL can be one. Pure.

Only what means the same to every parser is taken: plain ASCII, no name and password, no fragment,
a host that is a name or a plainly written address. What a name stands for is seen when we connect.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from agent_core.errors import ParleyError

NAME: Final = "callback"
PREFIX: Final = f"{NAME}:"
LONGEST: Final = 1800
"""In characters: an address is part of an index, and those of PostgreSQL hold 2,704 bytes."""

_PORTS: Final = {"http": 80, "https": 443}
_FIRST_FREE_PORT: Final = 1024
_SANE: Final = re.compile(r"[!#-;=?-\[\]_a-z~]+", re.IGNORECASE)
"""What can stand in a URL (RFC 3986), without white space, quotes, braces and backslashes."""
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER: Final = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_LONGEST_HOST: Final = 253
_INSIDE: Final = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"}
)
"""Names that end so are of no use outside of somebody's network."""


class BadCallback(ParleyError):
    """The URL can't be a callback; the words are for whoever gave it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a callback goes."""

    url: str
    scheme: str
    host: str
    """In small letters, without the brackets of IPv6."""
    port: int
    endpoint: str
    """Scheme, host and path: what is disabled as a whole when it fails for days."""

    @property
    def address(self) -> str:
        """Give it as the outbox names it."""
        return f"{PREFIX}{self.url}"

    @property
    def literal(self) -> IPv4Address | IPv6Address | None:
        """Give the host where it is an address and not a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def is_usual_port(self) -> bool:
        """Tell whether a web server may listen there; below 1024 others do."""
        return self.port in _PORTS.values() or self.port >= _FIRST_FREE_PORT

    @property
    def is_plainly_inside(self) -> bool:
        """Tell whether the name alone says that it is of somebody's own network."""
        return "." not in self.host or self.host.rpartition(".")[2] in _INSIDE


def parse_target(url: str) -> Target:
    """Read a URL, or raise BadCallback with what is wrong."""
    if len(url) > LONGEST:
        raise BadCallback(f"a callback's URL has {LONGEST} characters at the most")
    if not _SANE.fullmatch(url):
        raise BadCallback(
            "a callback's URL is plain ASCII without spaces, quotes, braces and backslashes; "
            "write other letters as %XX, and a host in its xn-- form"
        )
    parts, port = _split(url)
    if parts.scheme not in _PORTS:
        raise BadCallback("a callback's URL begins with https:// or http://")
    if "@" in parts.netloc:
        raise BadCallback("a callback's URL holds no name and password: the signature is the proof")
    if "#" in url:
        raise BadCallback("a callback's URL has no fragment: it would never be sent")
    host = _host(parts)
    return Target(url, parts.scheme, host, port or _PORTS[parts.scheme], _endpoint(parts, host))


def parse_address(address: str) -> Target:
    """Read an address of the outbox, or raise BadCallback."""
    if not address.startswith(PREFIX):
        raise BadCallback("it is no address of a callback")
    return parse_target(address.removeprefix(PREFIX))


def mark(text: str) -> str:
    """Name a URL or an endpoint where the thing itself must not stand: it may hold a secret."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _split(url: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise BadCallback("the host or the port of the callback's URL can't be read") from exc
    if port == 0 or parts.netloc.endswith(":"):
        raise BadCallback("a callback's port is from 1 to 65535")
    return parts, port


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").lower()
    if "[" in parts.netloc:
        return _ipv6(host)
    if not host or len(host) > _LONGEST_HOST or not _HOST.fullmatch(host):
        raise BadCallback("the callback's URL has no host that can be used")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        _ipv4(host)
    return host


def _ipv4(host: str) -> None:
    """Take an address only as everybody writes it: not in hex, octal, or fewer parts."""
    try:
        IPv4Address(host)
    except ValueError as exc:
        raise BadCallback(
            "an address in a callback's URL is written in four decimal parts"
        ) from exc


def _ipv6(host: str) -> str:
    if "%" in host:
        raise BadCallback("an address in a callback's URL has no zone")
    try:
        return str(IPv6Address(host))
    except ValueError as exc:
        raise BadCallback("the callback's URL has no host that can be used") from exc


def _endpoint(parts: SplitResult, host: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, _PORTS[parts.scheme]) else ""
    return f"{parts.scheme}://{shown}{port}{parts.path or '/'}"
