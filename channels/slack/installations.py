"""Installations: what a workspace gave us when somebody installed the app there.

Kept in the channel's memory, which seals it: a token is somebody else's key. An installation is
found by its workspace, or by the organisation (Enterprise Grid) that it was installed for; which
workspaces belong to that is learned as they write.
"""

from __future__ import annotations

from datetime import UTC, datetime
from logging import Logger, getLogger

import msgspec
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore

from channels.intake import Memory

_log = getLogger("parley.slack")
_INSTALLED = "installation:"
_MEMBER = "member:"


class Installations(AsyncInstallationStore):
    """Every installation, by workspace or organisation; the newest of each counts."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def logger(self) -> Logger:
        """Where Bolt's own flow writes."""
        return _log

    async def async_save(self, installation: Installation) -> None:
        """Keep an installation; it takes the place of an earlier one."""
        owner = _owner(installation)
        if owner:
            await self._memory.keep(_INSTALLED + owner, _written(installation))

    async def async_save_bot(self, bot: Bot) -> None:
        """Keep nothing apart: the bot is part of its installation."""

    async def find(self, team: str) -> Installation | None:
        """Give the installation that serves a workspace: its own, or its organisation's."""
        own = await self._recall(team)
        if own is not None:
            return own
        enterprise = await self._memory.recall(_MEMBER + team)
        return None if enterprise is None else await self._recall(enterprise.decode())

    async def meet(self, team: str, enterprise: str) -> None:
        """Learn that a workspace belongs to an organisation, from what Slack itself has signed."""
        if await self._memory.recall(_INSTALLED + enterprise) is not None:
            await self._memory.keep(_MEMBER + team, enterprise.encode())

    async def forget(self, owner: str) -> None:
        """Drop what a workspace or organisation gave us: it was uninstalled."""
        await self._memory.keep(_INSTALLED + owner, None)
        await self._memory.keep(_MEMBER + owner, None)

    async def owners(self) -> list[str]:
        """Name every workspace and organisation where we are installed."""
        return [key.removeprefix(_INSTALLED) for key in await self._memory.keys(_INSTALLED)]

    async def _recall(self, owner: str) -> Installation | None:
        kept = await self._memory.recall(_INSTALLED + owner)
        return None if kept is None else Installation(**msgspec.json.decode(kept))


def _owner(installation: Installation) -> str:
    if installation.is_enterprise_install:
        return installation.enterprise_id or ""
    return installation.team_id or installation.enterprise_id or ""


def _written(installation: Installation) -> bytes:
    told = installation.to_dict_for_copying()
    plain = {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in told.items()
    }
    return msgspec.json.encode(plain)
