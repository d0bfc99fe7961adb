"""What all pages share: who does things, who keeps them, and who may see what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_core.thread.events import Millis
from channels.identity import IdentityProvider
from channels.intake import Memory
from gateway.control.service import Gateway
from gateway.http.routes import Desk
from gateway.inbox.assets import Assets
from gateway.inbox.cookies import Jar
from gateway.inbox.limits import Limits
from gateway.inbox.links import Links
from gateway.inbox.postbox import Postbox
from gateway.inbox.reception import Reception
from gateway.inbox.rendering import Rendering
from gateway.inbox.sessions import Sessions
from gateway.inbox.sight import Sight
from gateway.people.directory import Directory
from storage.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Put together once, with the first page."""

    gateway: Gateway
    store: Store
    people: Directory
    sight: Sight
    """Who may see what."""
    desk: Desk
    """What the API's routes share, too: keys, rates, seats for streams, endings, meters."""
    memory: Memory
    """What the pages remember, sealed: sessions, links, who is on their way to Slack."""
    sessions: Sessions
    links: Links
    limits: Limits
    postbox: Postbox | None
    """None where no mail is sent."""
    slack: IdentityProvider | None
    """None where nobody can sign in with Slack."""
    reception: Reception
    rendering: Rendering
    assets: Assets
    jar: Jar
    secret: bytes
    public_url: str
    now: Callable[[], Millis]

    async def close(self) -> None:
        """End what is under way beside requests."""
        if self.postbox is not None:
            await self.postbox.close()
        if self.slack is not None:
            await self.slack.close()
