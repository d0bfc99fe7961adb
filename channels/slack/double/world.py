"""Everything there is: the workspaces, the tokens, the way to the app, and what the app did.

Whoever acts (a method of the API, a person) is given the world and changes it; nothing here acts
by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from channels.slack.double.changes import Changes
from channels.slack.double.consents import Consents
from channels.slack.double.courier import Courier
from channels.slack.double.delivery import Delivery
from channels.slack.double.errors import ApiError
from channels.slack.double.grants import Grants
from channels.slack.double.payloads import events
from channels.slack.double.records import Channel, Payload
from channels.slack.double.stamps import Stamps
from channels.slack.double.team import Team
from channels.slack.double.triggers import Triggers
from channels.slack.double.trouble import Trouble


@dataclass(slots=True, kw_only=True)
class Recorded:
    """One call of the Web API: what was asked, and what was answered."""

    method: str
    args: Payload
    token: str | None
    at: float
    response: Payload = field(default_factory=dict)
    status: int | None = None
    """None when the connection was cut instead."""

    @property
    def ok(self) -> bool:
        """Say whether it was done and the app was told so."""
        return self.status is not None and self.response.get("ok") is True


@dataclass(slots=True, kw_only=True)
class Credentials:
    """The app's own secrets."""

    signing_secret: str
    app_token: str
    client_id: str
    client_secret: str


class World:
    """Shared by the API, the people and the page."""

    def __init__(self, credentials: Credentials, clock: Callable[[], float]) -> None:
        self.credentials = credentials
        self.clock = clock
        self.url = ""
        self.stamps = Stamps(clock)
        self.changes = Changes()
        self.trouble = Trouble()
        self.grants = Grants()
        self.triggers = Triggers(self.stamps)
        self.consents = Consents(self.stamps)
        self.courier = Courier(
            signing_secret=credentials.signing_secret, clock=clock, changes=self.changes
        )
        self.teams: dict[str, Team] = {}
        self.calls: list[Recorded] = []
        self.subscriptions: frozenset[str] | None = None
        self.echoes = True
        self.stream_seconds = 300.0
        self.rotates_tokens = False
        self.redirect_uri: str | None = None

    # ------------------------------------------------------------------------ finding

    def find_team(self, team_id: str) -> Team:
        """Find a workspace, or say `team_not_found`."""
        if team_id not in self.teams:
            raise ApiError("team_not_found")
        return self.teams[team_id]

    def teams_of(self, *, team_id: str | None, enterprise_id: str | None) -> Iterable[Team]:
        """Give the workspaces that a token is good for."""
        for team in self.teams.values():
            if team.id == team_id or (team_id is None and team.enterprise_id == enterprise_id):
                yield team

    # ------------------------------------------------------------------------ telling

    def is_subscribed(self, event: Payload) -> bool:
        """Say whether the app asked for such events, like `message.channels`."""
        if self.subscriptions is None:
            return True
        kind = event["type"]
        if kind == "message":
            plural = {"channel": "channels", "group": "groups"}
            where = event["channel_type"]
            kind = f"message.{plural.get(where, where)}"
        return kind in self.subscriptions

    async def tell(
        self, team: Team, event: Payload, *, channel: Channel | None = None, home: str = ""
    ) -> Delivery | None:
        """Send an event and wait for the first answer; None when the app doesn't hear of it."""
        if not self._hears(team, event, channel):
            return None
        return await self.courier.send(
            "events_api", events.envelope(team, event, channel=channel, home=home)
        )

    def echo(self, team: Team, event: Payload, *, channel: Channel) -> None:
        """Tell the app of what it did itself: Slack sends a bot its own messages too."""
        if self.echoes and self._hears(team, event, channel):
            self.courier.send_later("events_api", events.envelope(team, event, channel=channel))

    def _hears(self, team: Team, event: Payload, channel: Channel | None) -> bool:
        is_there = channel is None or team.bot.user in channel.members
        has_ears = self.courier.request_url is not None or self.courier.sockets.was_connected
        return team.is_installed and is_there and has_ears and self.is_subscribed(event)

    def response_url(self, secret: str) -> str:
        """Give a response URL."""
        return f"{self.url}/actions/{secret}"
