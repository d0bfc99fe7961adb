"""What an interaction hands to the app for a short time: trigger ids and response URLs."""

from __future__ import annotations

from dataclasses import dataclass

from channels.slack.double.errors import ApiError
from channels.slack.double.records import Message
from channels.slack.double.stamps import Stamps

TRIGGER_SECONDS = 3.0
RESPONSE_SECONDS = 30 * 60.0
RESPONSE_USES = 5


@dataclass(slots=True, kw_only=True)
class Trigger:
    """The right to open one modal for the person who just did something."""

    team_id: str
    user: str
    made: float
    is_used: bool = False


@dataclass(slots=True, kw_only=True)
class Hook:
    """A response URL: five answers in half an hour, without a token."""

    team_id: str
    user: str
    channel: str
    made: float
    message: Message | None
    uses: int = 0


class Triggers:
    """All of them, by id."""

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._triggers: dict[str, Trigger] = {}
        self._hooks: dict[str, Hook] = {}

    def trigger(self, *, team_id: str, user: str) -> str:
        """Make a trigger id for what this person just did."""
        trigger_id = self._stamps.trigger()
        made = self._stamps.clock()
        self._triggers[trigger_id] = Trigger(team_id=team_id, user=user, made=made)
        return trigger_id

    def exchange(self, trigger_id: str) -> Trigger:
        """Use a trigger id up."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise ApiError("invalid_trigger_id")
        if trigger.is_used:
            raise ApiError("exchanged_trigger_id")
        if self._stamps.clock() - trigger.made > TRIGGER_SECONDS:
            raise ApiError("expired_trigger_id")
        trigger.is_used = True
        return trigger

    def hook(self, *, team_id: str, user: str, channel: str, message: Message | None) -> str:
        """Make the secret part of a response URL."""
        made = self._stamps.clock()
        hook = Hook(team_id=team_id, user=user, channel=channel, made=made, message=message)
        secret = self._stamps.secret()
        self._hooks[secret] = hook
        return secret

    def use(self, secret: str) -> Hook | None:
        """Use a response URL once more; None when it has run out."""
        hook = self._hooks.get(secret)
        if hook is None or self._stamps.clock() - hook.made > RESPONSE_SECONDS:
            return None
        if hook.uses >= RESPONSE_USES:
            return None
        hook.uses += 1
        return hook
