"""That the agent is at work: a line below the thread, and the session's state where Slack has one.

A workspace that can't show such things is asked again only after an hour.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.channel import ChannelError
from channels.slack.calling import Line
from channels.slack.streams import said

_log = logging.getLogger("parley.slack")

UNABLE: Final = frozenset(
    {"unknown_method", "method_deprecated", "missing_scope", "not_allowed_token_type"}
    | {"access_denied", "no_permission", "not_allowed", "feature_not_enabled", "paid_teams_only"}
    | {"channel_type_not_supported", "method_not_supported_for_channel_type", "invalid_arguments"}
    | {"missing_recipient_user_id", "missing_recipient_team_id", "team_not_found"}
)
THINKING: Final = "is thinking…"
_ASK_AGAIN: Final = 3_600.0


class Abilities:
    """What a workspace has turned out not to be able to show."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unable_until: dict[tuple[str, str], float] = {}

    def can(self, team: str, method: str) -> bool:
        """Tell whether it is worth trying."""
        return self._clock() >= self._unable_until.get((team, method), 0.0)

    def learn(self, team: str, method: str, error: ChannelError) -> None:
        """Remember what an error tells about the workspace."""
        if said(error) in UNABLE:
            self._unable_until[team, method] = self._clock() + _ASK_AGAIN


async def show_working(line: Line, root: str, abilities: Abilities) -> None:
    """Say that the agent is thinking; Slack takes it away after two minutes."""
    await _show(line, root, THINKING, "processing", abilities)


async def show_resting(line: Line, root: str, abilities: Abilities) -> None:
    """Take it back."""
    await _show(line, root, "", "active", abilities)


async def _show(line: Line, root: str, words: str, state: str, abilities: Abilities) -> None:
    client, at, under = line.client, line.channel, root
    calls: dict[str, Callable[[], Awaitable[AsyncSlackResponse]]] = {
        "agents.sessions.setStatus": lambda: client.agents_sessions_setStatus(
            status=state, channel_id=at, thread_ts=under
        ),
        "assistant.threads.setStatus": lambda: client.assistant_threads_setStatus(
            status=words, channel_id=at, thread_ts=under
        ),
    }
    for method, call in calls.items():
        if not abilities.can(line.team, method):
            continue
        try:
            line.pace.check(method, line.key)
            await line.call(method, call())
        except ChannelError as exc:
            abilities.learn(line.team, method, exc)
            _log.debug("status not shown", extra={"reason": str(exc)})
