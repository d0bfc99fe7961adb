"""Files are named always, and read only where that is safe, small and quick."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.connections import Connections
from channels.slack.double import SlackDouble
from channels.slack.files import MOST_BYTES, Files
from channels.slack.parsing.meanings import SharedFile
from tests.unit.channels.slack.premises import BOT_TOKEN


class Shelf:
    """A server of files that does as a test says."""

    def __init__(self) -> None:
        self.url = ""
        self.answer: Callable[[], web.Response] = lambda: web.Response(text="hello")
        self.tokens: list[str | None] = []

    async def serve(self, request: web.Request) -> web.Response:
        """Give the answer, and write down who came."""
        self.tokens.append(request.headers.get("Authorization"))
        return self.answer()


@pytest.fixture
async def shelf() -> AsyncIterator[Shelf]:
    """Serve files on a port of their own."""
    shelf = Shelf()
    app = web.Application()
    app.router.add_get("/{name}", shelf.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    shelf.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield shelf
    await runner.cleanup()


@pytest.fixture
async def connections(shelf: Shelf) -> AsyncIterator[Connections]:
    """Take the shelf for Slack."""
    opened = Connections(f"{shelf.url}/api/")
    yield opened
    await opened.close()


def file(url: str, **changes: object) -> SharedFile:
    """Describe a small text."""
    fields: dict[str, object] = {
        "id": "F1",
        "name": "f.txt",
        "media_type": "text/plain",
        "size": 5,
        "url": url,
    }
    return SharedFile(**{**fields, **changes})  # type: ignore[arg-type]  # a test's fields


async def read(connections: Connections, *files: SharedFile) -> list[tuple[str, str]]:
    """Fetch them, and give text and note of each."""
    client = connections.client(BOT_TOKEN)
    found = await Files(connections, seconds=0.5).attachments(client, files)
    return [(one.text, one.note) for one in found]


async def test_a_file_is_fetched_with_the_bots_token(
    shelf: Shelf, connections: Connections
) -> None:
    """From where Slack keeps it."""
    assert await read(connections, file(f"{shelf.url}/f")) == [("hello", "")]
    assert shelf.tokens == [f"Bearer {BOT_TOKEN}"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/f",
        "http://localhost:{port}/f",
        "http://127.0.0.1:{port}@127.0.0.1:9/f",
        "https://127.0.0.1:{port}/f",
        "http://files.slack.com/f",
        "https://files.slack.com.evil.example/f",
        "https://files.slack.com@evil.example/f",
        "https://files.slack.com:444/f",
        "file:///etc/passwd",
        "//127.0.0.1:{port}/f",
        "http://[::1",
        "",
    ],
)
async def test_the_token_goes_to_slacks_own_hosts_alone(
    shelf: Shelf, connections: Connections, url: str
) -> None:
    """A file that is kept elsewhere is named, and nobody is called."""
    where = url.replace("{port}", shelf.url.rpartition(":")[2])

    assert await read(connections, file(where)) == [("", "named only: it is not kept in Slack")]
    assert not shelf.tokens


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.Response(status=302, headers={"Location": "/login"}),
        lambda: web.Response(text="<html>Sign in</html>", content_type="text/html"),
    ],
)
async def test_a_login_page_is_not_the_file(
    shelf: Shelf,
    connections: Connections,
    answer: Callable[[], web.Response],
) -> None:
    """Slack shows one where the token may not read: the operator learns what is missing."""
    shelf.answer = answer

    [(text, note)] = await read(connections, file(f"{shelf.url}/f"))
    assert text == ""
    assert "files:read" in note
    assert len(shelf.tokens) == 1


async def test_a_page_that_is_the_file_is_read(shelf: Shelf, connections: Connections) -> None:
    """People share HTML too."""
    shelf.answer = lambda: web.Response(text="<p>1</p>", content_type="text/html")
    page = file(f"{shelf.url}/f", media_type="text/html", kind="html", size=8)

    assert await read(connections, page) == [("<p>1</p>", "")]


async def test_a_failing_server_costs_the_text_alone(
    shelf: Shelf, connections: Connections
) -> None:
    """The message itself is taken in any case."""
    shelf.answer = lambda: web.Response(status=500)

    assert await read(connections, file(f"{shelf.url}/f")) == [
        ("", "named only: it could not be fetched")
    ]


async def test_what_is_too_large_is_not_fetched(shelf: Shelf, connections: Connections) -> None:
    """One megabyte each, three together."""
    large = file(f"{shelf.url}/f", size=MOST_BYTES + 1)
    many = [file(f"{shelf.url}/f", size=MOST_BYTES) for _ in range(4)]

    assert await read(connections, large) == [("", "named only: larger than 1 MB")]
    assert not shelf.tokens
    notes = [note for _, note in await read(connections, *many)]
    assert notes == [
        "",
        "",
        "",
        "named only: the files of this message are larger than 3 MB together",
    ]


async def test_a_file_that_is_larger_than_it_says_is_not_read_to_its_end(
    shelf: Shelf, connections: Connections
) -> None:
    """Nobody's word counts for the memory of the server."""
    assert await read(connections, file(f"{shelf.url}/f", size=4)) == [
        ("", "named only: larger than 1 MB")
    ]


async def test_a_slow_file_is_not_waited_for(slack: SlackDouble) -> None:
    """Two seconds for all of them: Slack waits three."""
    team = slack.workspace("T1", bot_token=BOT_TOKEN)
    slow = team.file("slow.txt", b"hello", user="U1")
    slack.fail("files", hang=30)
    connections = Connections(slack.api_url)
    try:
        found = await read(connections, file(slow.url_private))
    finally:
        await connections.close()

    assert found == [("", "named only: it took too long to fetch")]


async def test_a_file_of_elsewhere_that_slack_does_not_disclose_is_named(
    slack: SlackDouble,
) -> None:
    """Without the scope, `files.info` says no."""
    slack.workspace("T1", bot_token=BOT_TOKEN, scopes=["chat:write"])
    connections = Connections(slack.api_url)
    client: AsyncWebClient = connections.client(BOT_TOKEN)
    try:
        [found] = await Files(connections).attachments(
            client, [SharedFile(id="F1", name="F1", is_hidden=True)]
        )
    finally:
        await connections.close()

    assert (found.name, found.text) == ("F1", "")
    assert "files:read" in found.note
