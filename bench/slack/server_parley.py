"""Our Slack channel: over a gatehouse that writes into a list, or over the gateway on SQLite.

Both have a Slack double beside them in the same process, for `auth.test` and the people's names.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.gateway.desk import desk
from bench.slack.mentions import BOT, BOT_TOKEN, CHANNEL, PERSON, SIGNING_SECRET, TEAM
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble
from channels.slack.options import SlackOptions
from gateway.audit.key import audit_seal
from gateway.channel_wiring import open_channels
from gateway.control.local import LocalGateway
from gateway.http.app import make_app, run_app
from gateway.http.channel_routes import mount
from gateway.http.options import HttpOptions
from gateway.people.directory import Directory
from gateway.shortcuts.hints import Hints
from gateway.telemetry import logs
from storage.store import Store
from storage.urls import open_store

_NO_LIMIT = 1_000_000_000
_KEY = b"key"


async def main(folder: Path, port: int, way: str) -> None:
    """Serve until killed, as `parley serve --role web` does."""
    store = open_store(f"sqlite:///{folder / 'parley.db'}", seal=audit_seal(b"as it is served"))
    await store.open()
    gateway = LocalGateway(store, {desk.name: desk}, Hints(store), most_queued=_NO_LIMIT)
    async with SlackDouble() as slack:
        channel = SlackChannel(_furnished(slack))
        http = HttpOptions()
        app = make_app(gateway, store, http)
        mount(app, [channel], http)
        async with _started(channel, gateway, store, way):
            await run_app(app, "127.0.0.1", port)
            await asyncio.Event().wait()


def _furnished(slack: SlackDouble) -> SlackOptions:
    team = slack.workspace(TEAM, bot_token=BOT_TOKEN, bot_user=BOT)
    team.user(PERSON, name="ann", email="ann@example.com")
    team.channel(CHANNEL, members=[PERSON, BOT])
    return SlackOptions(
        secret_key=_KEY,
        signing_secret=SIGNING_SECRET,
        bot_token=BOT_TOKEN,
        api_url=slack.api_url,
    )


@asynccontextmanager
async def _started(
    channel: SlackChannel, gateway: LocalGateway, store: Store, way: str
) -> AsyncIterator[None]:
    """Hand the channel what takes the mentions."""
    if way == "list":
        await channel.start(Recording().house())
        yield
        return
    channels, routed = {channel.name: channel}, {channel.name: desk.name}
    async with open_channels(
        channels, gateway, store, Directory(), routed, secret=_KEY, receives=True
    ):
        yield


if __name__ == "__main__":
    logs.configure("warning", "json")
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
