"""What the channel is made with."""

from __future__ import annotations

from dataclasses import dataclass, field

from channels.callback.guard import Guard
from channels.callback.signing import derive_key


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackOptions:
    """Secrets, where we are reached, and how patient we are."""

    secret_key: bytes
    """Signs response URLs; and what goes out, where there are no keys for that."""
    public_url: str = "http://127.0.0.1:8080"
    """Without a slash at its end: response URLs begin with it."""
    keys: tuple[bytes, ...] = ()
    """Sign what goes out, each of them: several while one is rotated."""
    guard: Guard = field(default_factory=Guard)
    timeout_seconds: float = 15.0
    """For all of one try: looking the name up, connecting, sending, and the answer."""

    @property
    def signing_keys(self) -> tuple[bytes, ...]:
        """Give the keys that sign what goes out; there is always one."""
        return self.keys or (derive_key(self.secret_key),)
