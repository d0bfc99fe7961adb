"""The playground put together: a Slack, a post office, a pipeline, and a real server among them.

What people do goes through here, from the page and from `--once` alike.
"""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from channels.email.double import Errand, Letter, PostOffice, reply, write
from channels.slack.double import SlackDouble, Workspace
from gateway.control.keys import key_in
from gateway.http.client import Client
from gateway.playground import premises
from gateway.playground.entrance import YOU, sign_in_link
from gateway.playground.pipeline import Pipeline
from gateway.playground.premises import ANN, BOT, CHANNEL, OLGA, TEAM, Premises
from gateway.playground.scene import Json, Scene
from gateway.playground.server_process import ServerProcess
from gateway.playground.watch import Watch

_Seen = TypeVar("_Seen")


@dataclass(frozen=True)
class Stage:
    """Everything that a visitor can see and do."""

    premises: Premises
    slack: SlackDouble
    team: Workspace
    office: PostOffice
    pipeline: Pipeline
    server: ServerProcess
    watch: Watch
    client: Client
    key: str
    model: str
    """What the real model is called; nothing, where it is the script."""

    @property
    def scene(self) -> Scene:
        """Give what has happened so far."""
        return self.watch.scene

    async def mention(self, text: str) -> None:
        """Let Ann mention the bot."""
        await self.team.says(ANN, CHANNEL, f"<@{BOT}> {text}")

    def letters(self) -> list[Letter]:
        """Give what has come to Olga, oldest first."""
        return self.office.letters(OLGA)

    def reply(self, letter: Letter, text: str) -> Errand:
        """Let Olga reply to a letter."""
        return self.office.send(reply(letter, text))

    def write(self, text: str, subject: str) -> Errand:
        """Let Olga write to the agents."""
        return self.office.send(write(OLGA, self.office.agent, text, subject=subject))

    async def answer(self, question: str, value: object, comment: str = "") -> None:
        """Answer as the inbox does, by the API."""
        body = {"value": value, "comment": comment}
        await self.client.post(f"/v1/questions/{question}/answer", body)

    async def inbox_link(self) -> str:
        """Give an address that opens the server's own inbox, signed in."""
        return await sign_in_link(self.premises, self.key)

    async def until(self, look: Callable[[Scene], _Seen | None], within: float = 30.0) -> _Seen:
        """Wait until something has happened, by what the server and the channels say."""
        return await self.slack.until(lambda: look(self.scene), within)

    def open_question(self, scene: Scene) -> Json | None:
        """Give the newest open question, once people have been told of it."""
        for seen in reversed(scene.threads):
            for question in seen.thread["questions"]:
                if seen.places(question["id"]) >= {"slack", "email"}:
                    return question  # type: ignore[no-any-return]
        return None


@asynccontextmanager
async def stage(*, model: Mapping[str, str], pace: float = 1.0) -> AsyncIterator[Stage]:
    """Set everything up and start the server; when it ends, nothing is left."""
    async with (
        furnished(model=model, pace=pace) as made,
        _beside(made.server.run()),
        _beside(made.watch.run()),
    ):
        yield made


@asynccontextmanager
async def furnished(*, model: Mapping[str, str], pace: float = 1.0) -> AsyncIterator[Stage]:
    """Set everything up in a folder of its own; the server does not run yet."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-demo-"))
        port, mail_port = _free_ports(2)
        place = Premises(Path(folder), port, mail_port)
        place.furnish()
        slack = await stack.enter_async_context(SlackDouble(signing_secret=place.signing_secret))
        bell = slack.world.changes.notify
        door = f"smtp://127.0.0.1:{mail_port}"
        office = PostOffice(password=place.mail_password, door=door, on_change=bell)
        await office.start()
        stack.push_async_callback(office.stop)
        environ = place.environment(
            os.environ, slack_api=slack.api_url.rstrip("/"), smtp_url=office.smtp_url, model=model
        )
        server = ServerProcess({**environ, "PLAYGROUND_PACE": str(pace)}, place.log, bell)
        key = await key_in(place.database_url, YOU)
        client = await stack.enter_async_context(Client(place.url, key, patience=5))
        yield Stage(
            premises=place,
            slack=slack,
            team=_furnish(slack, place),
            office=office,
            pipeline=Pipeline(f"{place.url}/hooks/{premises.HOOK}", place.hook_secret),
            server=server,
            watch=Watch(client, server, bell, lambda: (place.fleet(), place.refunds())),
            client=client,
            key=key,
            model=model.get("OPENAI_MODEL", "a real model") if model else "",
        )


def _furnish(slack: SlackDouble, place: Premises) -> Workspace:
    team = slack.workspace(TEAM, name="Acme", bot_user=BOT, bot_name="parley")
    team.user(ANN, name="ann", real_name="Ann Archer")
    team.channel(CHANNEL, name="releases", members=[ANN, BOT])
    slack.request_url = f"{place.url}/slack/events"
    slack.retries.delays = (0.3, 0.5, *(1.0,) * 30)  # while the server is away
    return team


@asynccontextmanager
async def _beside(part: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run a part beside the rest; if it breaks, whoever waits here is told."""
    task = asyncio.create_task(part)
    host = asyncio.current_task()
    task.add_done_callback(lambda done: _interrupt(done, host))
    try:
        yield
    except asyncio.CancelledError:
        if task.done() and not task.cancelled() and (error := task.exception()):
            raise error from None
        raise
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _interrupt(done: asyncio.Task[None], host: asyncio.Task[object] | None) -> None:
    if not done.cancelled() and done.exception() and host is not None:
        host.cancel()


def _free_ports(number: int) -> list[int]:
    """Find ports that nobody listens on; the server has the same ones in each of its lives."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports
