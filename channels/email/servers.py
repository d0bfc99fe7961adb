"""A mail server's address as one string: `smtp://USER:PASSWORD@host:587`. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

Security = Literal["starttls", "tls", "plain"]
_SCHEMES: Final[dict[str, tuple[Security, int]]] = {
    "smtp": ("starttls", 587),
    "smtps": ("tls", 465),
    "smtp+plain": ("plain", 25),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where to, how it is secured, and as whom."""

    host: str
    port: int
    security: Security
    username: str = ""
    password: str = field(default="", repr=False)


def parse_smtp_url(url: str) -> Server:
    """Read where mail is handed in, or raise ValueError with what it should look like."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as exc:
        raise ValueError(_EXPECTED) from exc
    known = _SCHEMES.get(parts.scheme)
    if known is None or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError(_EXPECTED)
    return Server(
        host=parts.hostname,
        port=port or known[1],
        security=known[0],
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


_EXPECTED: Final = (
    "it looks like smtp://USER:PASSWORD@mail.example.com:587 (STARTTLS), smtps://… (TLS) or"
    " smtp+plain://… (neither, inside one's own network); special letters are percent-encoded"
)
