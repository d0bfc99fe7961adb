"""Who wrote, as a channel knows them. Whether they are somebody we know is the gateway's to say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Somebody, or something, that wrote or clicked."""

    id: str
    """One string that names them for ever: `slack:T1:U2`, `email:otto@example.com`."""
    name: str = ""
    """How people call them; for showing only."""
    email: str = ""
    """Where the channel vouches for it; else empty."""
    is_bot: bool = False
    is_external: bool = False
    """They belong to another organisation than the place they write in."""
    is_authenticated: bool = True
    """The channel has proof of who they are, good enough for an approval."""
    how: str = ""
    """How the channel knows them, for the audit: `slack`, `dmarc example.com`, `link`."""
