"""The double itself: start it, furnish it, look at what the app did, make trouble."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self, TypeVar

from aiohttp import web

from channels.slack.double.courier import Retries
from channels.slack.double.delivery import Attempt, Delivery
from channels.slack.double.grants import ALL_SCOPES, Grant
from channels.slack.double.page.authorize import Authorize
from channels.slack.double.page.identify import Identify
from channels.slack.double.page.site import Site
from channels.slack.double.records import Bot, User
from channels.slack.double.server import Server
from channels.slack.double.sockets import Sockets
from channels.slack.double.team import Team
from channels.slack.double.trouble import Drop, Fault
from channels.slack.double.workspace import Workspace
from channels.slack.double.world import Credentials, Recorded, World

T = TypeVar("T")
_MAX_BODY = 20 * 1024 * 1024


class SlackDouble:
    """A Slack on loopback, for one app in as many workspaces as you like.

    `async with SlackDouble(…) as slack:` listens on a port that the system chooses.
    """

    def __init__(
        self,
        *,
        signing_secret: str = "signing-secret",  # noqa: S107 (it guards nothing)
        app_token: str = "xapp-1",  # noqa: S107
        client_id: str = "111.222",
        client_secret: str = "client-secret",  # noqa: S107
        clock: Callable[[], float] = time.time,
        port: int = 0,
    ) -> None:
        credentials = Credentials(
            signing_secret=signing_secret,
            app_token=app_token,
            client_id=client_id,
            client_secret=client_secret,
        )
        self.world = World(credentials, clock)
        self.workspaces: dict[str, Workspace] = {}
        self.site = Site(self.world, self.workspaces)
        self._port = port
        self._runner: web.AppRunner | None = None

    # ---------------------------------------------------------------------- lifecycle

    async def __aenter__(self) -> Self:
        """Listen."""
        await self.world.courier.open()
        listening = socket.create_server(("127.0.0.1", self._port))
        self.world.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = web.Application(client_max_size=_MAX_BODY)
        for part in (
            Server(self.world),
            Authorize(self.world),
            Identify(self.world),
            self.site,
        ):
            app.add_routes(part.routes())
        self._runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None
        )
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and drop what is still on its way."""
        await self.world.courier.close()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Give where it listens."""
        return self.world.url

    @property
    def api_url(self) -> str:
        """Give what the SDK calls `base_url`."""
        return f"{self.world.url}/api/"

    @property
    def request_url(self) -> str | None:
        """Give where the app takes events, clicks and commands over HTTP. None: Socket Mode."""
        return self.world.courier.request_url

    @request_url.setter
    def request_url(self, url: str | None) -> None:
        self.world.courier.request_url = url

    @property
    def redirect_uri(self) -> str | None:
        """Give where OAuth leads back to, as the app's settings have it. None: anywhere."""
        return self.world.redirect_uri

    @redirect_uri.setter
    def redirect_uri(self, uri: str | None) -> None:
        self.world.redirect_uri = uri

    # --------------------------------------------------------------------- furnishing

    def workspace(
        self,
        team_id: str,
        *,
        name: str = "Acme",
        bot_token: str | None = "xoxb-1",  # noqa: S107
        bot_user: str = "UBOT",
        bot_id: str = "BBOT",
        bot_name: str = "parley",
        app_id: str = "A1",
        scopes: Iterable[str] = ALL_SCOPES,
        enterprise_id: str | None = None,
    ) -> Workspace:
        """Add a workspace. Without a token the app is not in it yet: OAuth brings it there."""
        bot = Bot(user=bot_user, bot_id=bot_id, app_id=app_id, name=bot_name)
        team = Team(
            team_id, name=name, bot=bot, stamps=self.world.stamps, enterprise_id=enterprise_id
        )
        team.is_installed = bot_token is not None
        team.users[bot_user] = User(
            id=bot_user,
            team_id=team_id,
            name=bot_name,
            real_name=bot_name.title(),
            is_bot=True,
            bot_id=bot_id,
        )
        self.world.teams[team_id] = team
        if bot_token is not None:
            self._grant(team, bot_token, tuple(scopes))
        self._grant_app_token(app_id)
        self.workspaces[team_id] = Workspace(self.world, team)
        return self.workspaces[team_id]

    def _grant(self, team: Team, token: str, scopes: tuple[str, ...]) -> None:
        grant = Grant(
            token=token,
            app_id=team.bot.app_id,
            scopes=scopes,
            team_id=team.id,
            enterprise_id=team.enterprise_id,
        )
        self.world.grants.add(grant)

    def _grant_app_token(self, app_id: str) -> None:
        token = self.world.credentials.app_token
        scopes = ("connections:write",)
        self.world.grants.add(Grant(token=token, app_id=app_id, scopes=scopes, is_app_level=True))

    # ------------------------------------------------------------------------ looking

    def calls(self, method: str | None = None) -> list[Recorded]:
        """Give what the app has called, oldest first; `response_url` is a method here too."""
        return [call for call in self.world.calls if method in (None, call.method)]

    @property
    def deliveries(self) -> list[Delivery]:
        """Give everything that the app was told, oldest first, with each try at it."""
        return self.world.courier.deliveries

    @property
    def sockets(self) -> Sockets:
        """Give the Socket Mode connections."""
        return self.world.courier.sockets

    def signed(self, body: bytes, *, timestamp: str | None = None) -> dict[str, str]:
        """Give the headers that sign a body of your own, at any time, even at none."""
        return self.world.courier.signed(body, timestamp=timestamp)

    async def verifies_url(self) -> bool:
        """Ask the app for its challenge, as Slack does when someone enters a request URL."""
        challenge = self.world.stamps.secret()
        payload = {"token": "", "type": "url_verification", "challenge": challenge}
        answer = await self.world.courier.send("events_api", payload)
        return answer.last.text == challenge or answer.response.get("challenge") == challenge

    async def until(self, condition: Callable[[], T | None], within: float = 10.0) -> T:
        """Wait until the condition gives something true; each change has it looked at again."""
        return await self.world.changes.until(condition, within)

    async def settled(self, within: float = 10.0) -> None:
        """Wait until everything on its way to the app is acknowledged or given up."""
        await self.until(lambda: all(delivery.is_done for delivery in self.deliveries), within)

    # ------------------------------------------------------------------------ trouble

    @property
    def retries(self) -> Retries:
        """Give how patient Slack is; change its fields to change that."""
        return self.world.courier.retries

    async def resend(self, delivery: Delivery) -> Attempt:
        """Send an event once more although the app took it."""
        return await self.world.courier.resend(delivery)

    def fail(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        hang: float | None = None,
        drop: Drop | None = None,
        times: int = 1,
    ) -> None:
        """Let the next calls of a method go wrong: `*`, `response_url` and `files` do too."""
        self.world.trouble.order(
            Fault(
                method=method,
                times=times,
                error=error,
                status=status,
                retry_after=retry_after,
                hang=hang,
                drop=drop,
            )
        )

    def heal(self) -> None:
        """Forget the trouble that was ordered and hasn't come yet."""
        self.world.trouble.clear()

    def down(self, status: int | None = None) -> None:
        """Be away: cut every connection, or answer each call with a status; cut the sockets too."""
        self.world.trouble.is_down, self.world.trouble.down_status = True, status
        self.sockets.cut()

    def up(self) -> None:
        """Be there again."""
        self.world.trouble.is_down = False

    def rate_limit(self, *, per_channel_per_second: float | None) -> None:
        """Allow so many posts a second in each channel."""
        self.world.trouble.limit(per_channel_per_second)
