"""Wiring of the inbox: what its pages are given. Called with the first page."""

from __future__ import annotations

from agent_core.loop.world import World
from channels.identity import IdentityProvider, Mailer
from channels.intake import Memory
from gateway.http.routes import Desk
from gateway.inbox.assets import Assets
from gateway.inbox.cookies import Jar
from gateway.inbox.house import House
from gateway.inbox.limits import Limits
from gateway.inbox.links import Links
from gateway.inbox.postbox import Postbox
from gateway.inbox.reception import Reception
from gateway.inbox.rendering import Rendering
from gateway.inbox.sessions import Sessions
from gateway.inbox.sight import Sight
from gateway.inbox.site import Site
from gateway.people.directory import Directory
from storage.store import Store


def make_site(
    desk: Desk,
    store: Store,
    people: Directory,
    memory: Memory,
    *,
    secret: bytes,
    public_url: str,
    world: World,
    mailer: Mailer | None = None,
    slack: IdentityProvider | None = None,
) -> Site:
    """Put the pages together."""
    jar, assets = Jar(public_url), Assets()
    sessions = Sessions(memory, world.now)
    return Site(
        House(
            gateway=desk.gateway,
            store=store,
            people=people,
            sight=Sight(store, people, world),
            desk=desk,
            memory=memory,
            sessions=sessions,
            links=Links(memory),
            limits=Limits(desk.ledger),
            postbox=None if mailer is None else Postbox(mailer, desk.ledger, public_url),
            slack=slack,
            reception=Reception(sessions, desk.ring, people, jar, secret),
            rendering=Rendering(assets),
            assets=assets,
            jar=jar,
            secret=secret,
            public_url=public_url,
            now=world.now,
        )
    )
