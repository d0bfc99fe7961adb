"""What an operator may turn: sizes, deadlines and rates of the HTTP side."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """Every figure in seconds or bytes; tests make them small."""

    max_body: int = 1 << 20
    max_import: int = 64 << 20
    """A whole thread comes at once, and only from an administrator."""

    header_deadline: float = 5.0
    """From the first byte of a request (or the connection's start) to the end of its headers."""
    body_deadline: float = 5.0
    body_rate: int = 16_384
    """A body may take `body_deadline`, and a second more for each `body_rate` bytes that came."""
    write_deadline: float = 30.0
    """How long a reader may leave our output standing before it is cut off."""
    keep_alive: float = 75.0
    shutdown_grace: float = 20.0

    requests_per_second: float = 100.0
    burst: int = 200
    failures_per_second: float = 5.0
    failures_burst: int = 50
    """Wrong keys from one address before it is told 429 in place of 401."""
    streams_per_key: int = 100

    key_ttl: float = 0.5
    """How long a key is believed after it was looked up: a revoked one dies within this."""
    wait_cap: float = 60.0
    heartbeat: float = 15.0
    ready_within: float = 2.0
    metrics: bool = True
