"""Light or dark, as somebody has chosen for their browser; without a choice the system says."""

from __future__ import annotations

from gateway.inbox.answers import Answer, Redirect
from gateway.inbox.cookies import THEME
from gateway.inbox.requests import InboxRequest
from gateway.inbox.signing.ways import safe_next

_CHOICES = ("light", "dark")


async def choose(request: InboxRequest) -> Answer:
    """Keep the choice, and go back to where it was made."""
    chosen = request.posted("theme")
    kept = chosen if chosen in _CHOICES else ""
    return Redirect(safe_next(request.posted("next")), cookies={THEME: kept})
