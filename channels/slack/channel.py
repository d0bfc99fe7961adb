"""The channel: its parts, put together."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from agent_core.json_values import JsonObject
from channels.channel import Capabilities, ChannelError, Sent
from channels.channel import Live as LiveProtocol
from channels.errands import Errands
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.slack.addresses import NAME
from channels.slack.answers import Answers
from channels.slack.app import new_app
from channels.slack.clients import UNREACHABLE, Clients, SingleWorkspace
from channels.slack.connections import Connections
from channels.slack.examination import examine
from channels.slack.files import Files
from channels.slack.forms import Forms
from channels.slack.homes import Homes
from channels.slack.http import PATH, HttpDoor
from channels.slack.live import Live
from channels.slack.oauth import Installing
from channels.slack.options import SlackOptions
from channels.slack.pacing import Pace
from channels.slack.people import People
from channels.slack.reception import Reception, Staff
from channels.slack.sending import Sending
from channels.slack.signatures import Signatures
from channels.slack.socket_mode import SocketMode
from channels.slack.telling import Teller
from channels.slack.workspaces import InstalledWorkspaces
from channels.web_routes import WebHandler

_log = logging.getLogger("parley.slack")


class SlackChannel:
    """Slack, over HTTP, over Socket Mode, or over both."""

    name = NAME
    capabilities = Capabilities(edits=True)

    def __init__(
        self,
        options: SlackOptions,
        *,
        connections: Connections | None = None,
    ) -> None:
        """Serve one workspace by its token, or those that install the app, by a client id."""
        self._options = options
        self._connections = connections or Connections(options.api_url)
        self._clients = _clients(options, self._connections)
        self._pages = _pages(options, self._connections)
        self._door = (
            HttpDoor(Signatures(options.signing_secret)) if options.signing_secret else None
        )
        self._errands = Errands(_log, (*UNREACHABLE, ChannelError))
        self._socket: SocketMode | None = None
        pace = Pace()
        self._shows = Live(self._clients, pace=pace)
        self._sending = Sending(
            self._clients, secret=options.secret_key, live=self._shows, pace=pace
        )
        self.live: LiveProtocol | None = self._shows

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve Slack's requests, where we could tell that they are Slack's; and OAuth's pages."""
        events = {("POST", PATH): self._door} if self._door else {}
        return {**events, **(self._pages.routes() if self._pages else {})}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:
        """Open the doors; Slack is called when there is something to call it for."""
        self._shows.begin(house.memory)
        self._clients.begin(house.memory)
        if self._pages is not None:
            self._pages.begin(house.memory)
        if not receives:
            return
        app = new_app(self._reception(house), self._connections.bare())
        if self._door is not None:
            self._door.open(app)
        if self._options.app_token:
            self._socket = SocketMode(
                app, self._options.app_token, ping_seconds=self._options.ping_seconds
            )
            self._socket.start()

    async def stop(self) -> None:
        """Take no more, finish what was begun, and hang up."""
        if self._door is not None:
            self._door.close()
        if self._socket is not None:
            await self._socket.stop()
            self._socket = None
        await self._errands.close()
        await self._shows.close()
        await self._connections.close()

    async def send(self, message: Outgoing) -> Sent:
        """Post it, and give a receipt by which it can be found again."""
        return await self._sending.send(message)

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Show in what was posted how the question ended."""
        await self._sending.settle(receipt, message)

    async def health(self) -> str:
        """Say what is wrong with the token, its scopes or the socket, and what to do."""
        options = self._options
        found = await examine(bot_token=options.bot_token, app_token="", api_url=options.api_url)
        told = [f"{one.told}: {one.todo}" for one in found if not one.is_good]
        if self._socket is not None and not await self._socket.is_connected():
            told.append("Socket Mode is not connected: see SLACK_APP_TOKEN and the network")
        return "; ".join(told)

    def _reception(self, house: Gatehouse) -> Reception:
        secret = self._options.secret_key
        people = People(self._clients)
        staff = Staff(
            intake=house.intake,
            clients=self._clients,
            people=people,
            files=Files(self._connections),
            answers=Answers(house, people, Forms(self._clients, people, house.memory, secret)),
            homes=Homes(self._clients, people, house.desk, secret),
            teller=Teller(self._clients, self._connections),
            errands=self._errands,
        )
        return Reception(staff, secret=secret, require_mention=self._options.require_mention)


def _clients(options: SlackOptions, connections: Connections) -> Clients:
    if not options.client_id:
        return SingleWorkspace(options.bot_token, connections)
    return InstalledWorkspaces(
        connections, client_id=options.client_id, client_secret=options.client_secret
    )


def _pages(options: SlackOptions, connections: Connections) -> Installing | None:
    if not options.client_id:
        return None
    return Installing(
        connections,
        client_id=options.client_id,
        client_secret=options.client_secret,
        public_url=options.public_url,
    )
