"""The App Home: what waits for whoever looks at it, as of now."""

from __future__ import annotations

from channels.intake import Desk
from channels.slack.clients import Clients
from channels.slack.parsing.origin import Who
from channels.slack.people import People
from channels.slack.render.home import home_view


class Homes:
    """Publishes them."""

    def __init__(self, clients: Clients, people: People, desk: Desk, secret: bytes) -> None:
        self._clients = clients
        self._people = people
        self._desk = desk
        self._secret = secret

    async def publish(self, who: Who) -> None:
        """Show somebody the questions that wait for them."""
        actor = await self._people.actor(who)
        cards = await self._desk.waiting_for(actor)
        client = await self._clients.client(who.workspace)
        view = home_view(cards, team=who.workspace, secret=self._secret)
        await client.views_publish(user_id=who.user, view=view)
