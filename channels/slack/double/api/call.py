"""One call of a method: its arguments, however they were sent, and whose token it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from channels.slack.double.errors import ApiError
from channels.slack.double.grants import Grant
from channels.slack.double.records import Channel, Payload
from channels.slack.double.team import Team
from channels.slack.double.world import World

_TRUE = {"1", "true", "True"}


class Args:
    """Arguments from the query, a form or JSON, read by what they should be."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = dict(raw)

    def has(self, name: str) -> bool:
        """Say whether it was given at all, with something in it."""
        return self.raw.get(name) not in (None, "")

    def text(self, name: str, default: str = "") -> str:
        """Give a string."""
        value = self.raw.get(name)
        return default if value is None else str(value)

    def need(self, name: str, error: str = "invalid_arguments") -> str:
        """Give a string that must be there."""
        if not self.has(name):
            raise ApiError(error, f"[ERROR] missing required field: {name}")
        return self.text(name)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Give a boolean: forms and queries write `1`, `true` or `0`."""
        value = self.raw.get(name)
        return default if value is None else str(value) in _TRUE

    def number(self, name: str, default: int) -> int:
        """Give an integer."""
        try:
            return int(self.raw.get(name, default))
        except (TypeError, ValueError) as exc:
            raise ApiError("invalid_arguments", f"[ERROR] must be an integer: {name}") from exc

    def json(self, name: str, error: str = "invalid_arguments") -> Any:  # noqa: ANN401 (it is JSON)
        """Give a JSON value: as itself, or as a string with JSON in it, which forms need."""
        value = self.raw.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError as exc:
            raise ApiError(error) from exc


@dataclass(slots=True, kw_only=True)
class Call:
    """A method's whole world."""

    world: World
    method: str
    args: Args
    grant: Grant

    @property
    def teams(self) -> list[Team]:
        """Give the workspaces that the token is good for."""
        found = list(
            self.world.teams_of(team_id=self.grant.team_id, enterprise_id=self.grant.enterprise_id)
        )
        named = self.args.text("team_id")
        return [team for team in found if team.id == named] if named else found

    @property
    def team(self) -> Team:
        """Give the workspace; an organisation's token must say which."""
        teams = self.teams
        if not teams:
            raise ApiError("team_not_found")
        if len(teams) > 1:
            raise ApiError("missing_argument", "[ERROR] missing required field: team_id")
        return teams[0]

    def place(self, argument: str = "channel") -> tuple[Team, Channel]:
        """Find the channel that the call is about, in whichever workspace it is."""
        channel_id = self.args.need(argument)
        for team in self.teams:
            found = _resolve(team, channel_id)
            if found is not None:
                return team, team.find_channel(found)
        raise ApiError("channel_not_found")

    def team_of_user(self, user_id: str) -> Team:
        """Find the workspace where this person is known."""
        for team in self.teams:
            if user_id in team.users:
                return team
        raise ApiError("user_not_found")

    def wants(self, name: str) -> Payload | None:
        """Give an object argument, if it is there."""
        value = self.args.json(name)
        if value is not None and not isinstance(value, dict):
            raise ApiError("invalid_arguments", f"[ERROR] must be an object: {name}")
        return value


def _resolve(team: Team, name: str) -> str | None:
    """Find a channel by id, by `#name`, or by a person: then it is their direct messages."""
    if name in team.channels:
        return name
    if name in team.users:
        return team.dm_with(name).id
    for channel in team.channels.values():
        if channel.name and channel.name == name.removeprefix("#"):
            return channel.id
    return None
