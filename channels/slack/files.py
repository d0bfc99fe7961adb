"""Files that come with a message: named always, fetched where they are small text.

Within two seconds in all, for Slack waits. The bot's token goes to Slack's own hosts alone, and no
redirect is followed: where the token may not read a file, Slack shows a login page instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from agent_core.thread.events import Attachment
from channels.file_texts import decoded
from channels.slack.clients import UNREACHABLE
from channels.slack.connections import Connections
from channels.slack.parsing.fields import part
from channels.slack.parsing.file_texts import is_text
from channels.slack.parsing.meanings import SharedFile
from channels.slack.parsing.shared_files import shared_file

MOST_BYTES: Final = 1_000_000
MOST_BYTES_TOGETHER: Final = 3_000_000
_SECONDS: Final = 2.0
_FILES_HOST: Final = "https://files.slack.com"
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)

_NOT_ALLOWED = "named only: not allowed to read it (add the scope files:read)"
_TOO_LARGE = "named only: larger than 1 MB"
_TOO_MANY = "named only: the files of this message are larger than 3 MB together"
_TOO_SLOW = "named only: it took too long to fetch"
_NOT_TEXT = "named only: not text"
_ELSEWHERE = "named only: it is not kept in Slack"
_GONE = "named only: it was deleted"
_FAILED = "named only: it could not be fetched"


class _Unreadable(Exception):
    """Why a file is only named; the message is for the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origins:
    """Where the token may go."""

    api_url: str

    def allow(self, url: str) -> bool:
        """Say whether an address is one of Slack's own, whatever else it pretends."""
        try:
            found, own = urlsplit(url), urlsplit(self.api_url)
        except ValueError:
            return False
        origin = f"{found.scheme}://{found.netloc}"
        return origin in (_FILES_HOST, f"{own.scheme}://{own.netloc}")


class Files:
    """Fetches what a message brought."""

    def __init__(self, connections: Connections, *, seconds: float = _SECONDS) -> None:
        self._connections = connections
        self._origins = _Origins(api_url=connections.api_url)
        self._seconds = seconds

    async def attachments(
        self, client: AsyncWebClient, files: Sequence[SharedFile]
    ) -> tuple[Attachment, ...]:
        """Give every file by name, and the text of those that can be read in time."""
        if not files:
            return ()
        deadline = asyncio.get_running_loop().time() + self._seconds
        room = _Room()
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(self._attachment(client, file, room, deadline)) for file in files
            ]
        return tuple(one.result() for one in running)

    async def _attachment(
        self, client: AsyncWebClient, file: SharedFile, room: _Room, deadline: float
    ) -> Attachment:
        try:
            async with asyncio.timeout_at(deadline):
                if file.is_hidden:
                    file = await _disclosed(client, file)
                _require_readable(file)
                room.take(_weight(file))
                text, note = decoded(await self._fetched(client, file))
        except TimeoutError:
            text, note = "", _TOO_SLOW
        except _Unreadable as exc:
            text, note = "", str(exc)
        return Attachment(
            name=file.name, media_type=file.media_type, size=file.size, text=text, note=note
        )

    async def _fetched(self, client: AsyncWebClient, file: SharedFile) -> bytes:
        if not self._origins.allow(file.url):
            raise _Unreadable(_ELSEWHERE)
        heads = {"Authorization": f"Bearer {client.token}"}
        try:
            async with self._connections.session().get(
                file.url, headers=heads, allow_redirects=False
            ) as response:
                _require_file(response, file)
                return await _limited(response, _weight(file))
        except aiohttp.ClientError as exc:
            raise _Unreadable(_FAILED) from exc


class _Room:
    """What the files of one message may weigh together."""

    def __init__(self) -> None:
        self._left = MOST_BYTES_TOGETHER

    def take(self, size: int) -> None:
        if size > self._left:
            raise _Unreadable(_TOO_MANY)
        self._left -= size


async def _disclosed(client: AsyncWebClient, file: SharedFile) -> SharedFile:
    """Ask for a file of another organisation: its message tells nothing but the id."""
    try:
        said = await client.files_info(file=file.id)
    except UNREACHABLE as exc:
        raise _Unreadable(_NOT_ALLOWED) from exc
    described = part(said.data, "file") if isinstance(said.data, dict) else {}
    return replace(shared_file(described), is_hidden=False)


def _require_readable(file: SharedFile) -> None:
    if file.is_gone:
        raise _Unreadable(_GONE)
    if not is_text(file):
        raise _Unreadable(_NOT_TEXT)
    if file.size > MOST_BYTES:
        raise _Unreadable(_TOO_LARGE)


def _require_file(response: aiohttp.ClientResponse, file: SharedFile) -> None:
    """Tell a file from the login page that Slack shows when the token may not read it."""
    is_page = response.content_type == "text/html" and not _is_page(file)
    if response.status in _REDIRECTS or is_page:
        raise _Unreadable(_NOT_ALLOWED)
    if response.status != _OK:
        raise _Unreadable(_FAILED)


def _is_page(file: SharedFile) -> bool:
    return file.kind == "html" or file.media_type == "text/html"


def _weight(file: SharedFile) -> int:
    """Give what a file may weigh: as much as was announced, and all we take where nothing was."""
    return file.size or MOST_BYTES


async def _limited(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read no more than was announced, whatever comes."""
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > most:
            raise _Unreadable(_TOO_LARGE)
    return bytes(content)
