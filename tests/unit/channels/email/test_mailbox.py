"""Watching a mailbox: nothing is skipped, nothing is taken twice, and one mail blocks no other."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from channels.channel import TryLater
from channels.email.mail import Envelope
from channels.email.mailbox import Mailbox, Pace, Tokens
from channels.email.options import EmailOptions
from channels.recording import DictMemory
from tests.doubles.imap_folders import Stored
from tests.doubles.imap_server import ImapServer, imap_server
from tests.unit.channels.email.certificates import contexts

QUICK = Pace(
    call_seconds=5, look_seconds=0.3, retry_seconds=0.02, first_delay=0.02, longest_delay=0.1
)
SEEN = "\\Seen"


class Desk:
    """Takes mail; a copy has no second effect."""

    def __init__(self) -> None:
        """Take everything."""
        self.taken: list[bytes] = []
        self.tried: list[bytes] = []
        self.aside: list[str] = []
        self.trouble: Callable[[bytes], Exception | None] = lambda _raw: None
        self._changed = asyncio.Condition()

    async def ingest(self, raw: bytes, envelope: Envelope | None = None) -> None:
        """Take a mail, or fail."""
        assert envelope is None
        self.tried.append(raw)
        error = self.trouble(raw)
        if error is None and raw not in self.taken:
            self.taken.append(raw)
        await self._tell()
        if error is not None:
            raise error

    async def put_aside(self, raw: bytes, reason: str, digest: str) -> None:
        """Write the reason down."""
        assert (raw, len(digest)) == (b"", len(hashlib.sha256().hexdigest()))
        self.aside.append(reason)
        await self._tell()

    async def until(self, look: Callable[[], object]) -> None:
        """Wait until something holds of what came."""
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(look)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def watched(
    server: ImapServer,
    desk: Desk,
    memory: DictMemory | None = None,
    *,
    pace: Pace = QUICK,
    tokens: Tokens | None = None,
    tls: ssl.SSLContext | None = None,
    url: str = "",
) -> AsyncIterator[Mailbox]:
    """Watch a mailbox for a while."""
    options = EmailOptions(address=server.user, imap_url=url or server.url)
    memory = memory or DictMemory()
    mailbox = Mailbox(options, desk, memory, tokens, pace=pace, tls=tls)
    await mailbox.start()
    try:
        yield mailbox
    finally:
        async with asyncio.timeout(5):
            await mailbox.stop()


async def until(look: Callable[[], object]) -> None:
    """Wait until something holds that nobody tells of."""
    async with asyncio.timeout(20):
        while not look():  # noqa: ASYNC110 - a health that changes by itself
            await asyncio.sleep(0.01)


async def test_what_is_there_and_what_comes_is_taken_and_then_marked() -> None:
    """By the server's word, and never marked by the fetching."""
    desk = Desk()
    async with imap_server() as server:
        await server.deliver(b"one")
        async with watched(server, desk, pace=Pace()) as mailbox:
            await desk.until(lambda: desk.taken == [b"one"])
            await server.until(lambda: "IDLE" in server.commands)
            await server.deliver(b"two")
            await desk.until(lambda: desk.taken == [b"one", b"two"])
            await server.until(lambda: all(SEEN in one.flags for one in server.inbox.mails))
            assert mailbox.health() == ""
        assert "not watched" in mailbox.health()


async def test_mail_is_not_marked_before_it_is_durable() -> None:
    """What could not be taken stays unseen."""
    desk = Desk()
    desk.trouble = lambda _raw: TryLater("busy")
    async with imap_server() as server:
        await server.deliver(b"one")
        async with watched(server, desk):
            await desk.until(lambda: len(desk.tried) > 2)
            assert server.inbox.mails[0].flags == set()
            desk.trouble = lambda _raw: None
            await server.until(lambda: SEEN in server.inbox.mails[0].flags)


async def test_nothing_is_skipped_after_days_offline() -> None:
    """Also what somebody has looked at meanwhile; and nothing is taken again."""
    desk, memory = Desk(), DictMemory()
    async with imap_server() as server:
        async with watched(server, desk, memory):
            await server.deliver(b"one")
            await desk.until(lambda: desk.taken == [b"one"])
            await server.until(lambda: SEEN in server.inbox.mails[0].flags)
        for name in (b"two", b"three"):
            await server.deliver(name)
        server.inbox.mails[1].flags.add(SEEN)
        async with watched(server, desk, memory):
            await desk.until(lambda: len(desk.taken) == 3)

    assert desk.taken == [b"one", b"two", b"three"]


async def test_first_look_leaves_what_people_have_read() -> None:
    """Nobody expects an agent to answer the mails of last year."""
    desk = Desk()
    async with imap_server() as server:
        for name in (b"old", b"new"):
            await server.deliver(name)
        server.inbox.mails[0].flags.add(SEEN)
        async with watched(server, desk):
            await desk.until(lambda: desk.taken)
            await server.deliver(b"newer")
            await desk.until(lambda: len(desk.taken) == 2)

    assert desk.tried == [b"new", b"newer"]


async def test_other_numbers_lose_nothing() -> None:
    """After a restore the same mails have other numbers: all of them are looked at again."""
    desk, memory = Desk(), DictMemory()
    async with imap_server() as server:
        for name in (b"gone", b"one"):
            await server.deliver(name)
        async with watched(server, desk, memory):
            await desk.until(lambda: len(desk.taken) == 2)
        del server.inbox.mails[0]
        server.inbox.renumber()
        await server.deliver(b"two")
        async with watched(server, desk, memory):
            await desk.until(lambda: b"two" in desk.taken)

    assert desk.taken == [b"gone", b"one", b"two"]


async def test_server_that_goes_down_is_found_again() -> None:
    """It says so meanwhile, and mail of that time is taken."""
    desk = Desk()
    async with imap_server() as server, watched(server, desk) as mailbox:
        await until(lambda: mailbox.health() == "")
        await server.stop()
        await until(lambda: "mailbox" in mailbox.health())
        server.inbox.add(b"one")
        await server.start()
        await desk.until(lambda: desk.taken == [b"one"])
        await until(lambda: mailbox.health() == "")


async def test_watching_goes_on_after_a_defect() -> None:
    """A record that can't be read must not end it for ever: it says so, and tries again."""
    desk, memory = Desk(), DictMemory()
    async with imap_server() as server:
        async with watched(server, desk, memory=memory) as mailbox:
            await until(lambda: mailbox.health() == "")
        [key] = await memory.keys("imap:")
        good = await memory.recall(key)
        await memory.keep(key, b"nonsense")
        server.inbox.add(b"one")

        async with watched(server, desk, memory=memory) as mailbox:
            await until(lambda: "defect" in mailbox.health())
            await memory.keep(key, good)
            await desk.until(lambda: desk.taken == [b"one"])


async def test_silent_server_is_noticed_and_left() -> None:
    """A dead connection often shows only as silence."""
    desk = Desk()
    pace = Pace(
        call_seconds=0.2, look_seconds=0.1, retry_seconds=0.02, first_delay=0.02, longest_delay=0.1
    )
    async with imap_server() as server, watched(server, desk, pace=pace) as mailbox:
        await until(lambda: mailbox.health() == "")
        server.speaks.clear()
        await until(mailbox.health)
        server.inbox.add(b"one")
        server.speaks.set()
        await desk.until(lambda: desk.taken == [b"one"])


async def test_poisonous_mail_blocks_no_other_and_is_put_aside() -> None:
    """After a few tries it is left in the mailbox, and the operator can see it."""
    desk, memory = Desk(), DictMemory()
    desk.trouble = lambda raw: ValueError("a bug") if raw == b"poison" else None
    async with imap_server() as server:
        for name in (b"one", b"poison", b"two"):
            await server.deliver(name)
        async with watched(server, desk, memory):
            await desk.until(lambda: desk.aside)
            await server.deliver(b"three")
            await desk.until(lambda: len(desk.taken) == 3)

    assert desk.taken == [b"one", b"two", b"three"]
    assert desk.tried.count(b"poison") == 5
    assert desk.aside == ["failed 5 times: left in the mailbox, as number 2 of INBOX"]


class Deadly(Stored):
    """A mail that ends the connection of whoever looks at it."""

    def __getattribute__(self, name: str) -> object:
        """Break where the server looks into it."""
        if name == "raw":
            raise ConnectionResetError
        return super().__getattribute__(name)


async def test_mail_that_ends_the_connection_lets_the_others_pass() -> None:
    """They come first after the next connection, and it is given up in the end."""
    desk = Desk()
    async with imap_server() as server:
        for name in (b"deadly", b"one", b"two"):
            await server.deliver(name)
        server.inbox.mails[0] = Deadly(uid=1, raw=b"")
        async with watched(server, desk):
            await desk.until(lambda: desk.aside)

    assert desk.taken == [b"one", b"two"]
    assert desk.aside == ["failed 5 times: left in the mailbox, as number 1 of INBOX"]


async def test_outage_of_our_own_is_held_against_no_mail() -> None:
    """However long it takes: nothing is put aside, and all is taken in the end."""
    desk = Desk()
    desk.trouble = lambda _raw: TryLater("the database is away")
    async with imap_server() as server:
        for number in range(5):
            await server.deliver(b"mail %d" % number)
        async with watched(server, desk):
            await desk.until(lambda: len(desk.tried) > 40)
            desk.trouble = lambda _raw: None
            await desk.until(lambda: len(desk.taken) == 5)

    assert desk.aside == []


async def test_mail_that_is_too_large_is_not_even_fetched() -> None:
    """It stays where it is, with a note."""
    desk = Desk()
    async with imap_server() as server:
        await server.deliver(b"x" * 10_000_001)
        await server.deliver(b"one")
        async with watched(server, desk):
            await desk.until(lambda: desk.taken == [b"one"])

    assert desk.aside == ["larger than 10 MB: left in the mailbox, as number 1 of INBOX"]


async def test_wrong_password_is_told_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    """In words for the operator."""
    async with imap_server() as server:
        url = server.url.replace("secret", "wrong-one")
        async with watched(server, Desk(), url=url) as mailbox:
            await until(lambda: "refuses" in mailbox.health())

    [line, *_] = caplog.records
    assert "user name or password" in str(vars(line))
    assert "wrong-one" not in str([vars(one) for one in caplog.records])


class Granting:
    """Gives the first of its tokens until it is forgotten."""

    def __init__(self, *tokens: str) -> None:
        """Hold some."""
        self.tokens = list(tokens)

    async def token(self) -> str:
        """Give one."""
        return self.tokens[0]

    def forget(self) -> None:
        """Go to the next."""
        self.tokens = self.tokens[1:] or self.tokens


async def test_logging_in_is_by_token_where_there_is_one() -> None:
    """One that the server refuses is fetched anew."""
    desk = Desk()
    async with imap_server(token="good") as server:
        await server.deliver(b"one")
        url = server.url.replace(":secret", "")
        async with watched(server, desk, tokens=Granting("stale", "good"), url=url):
            await desk.until(lambda: desk.taken == [b"one"])


@pytest.mark.parametrize("implicit", [True, False])
async def test_server_is_trusted_only_by_its_certificate(tmp_path: Path, *, implicit: bool) -> None:
    """With TLS from the start, and with STARTTLS."""
    theirs, ours = contexts(tmp_path)
    desk = Desk()
    async with imap_server(tls=theirs, implicit_tls=implicit) as server:
        await server.deliver(b"one")
        async with watched(server, desk) as mailbox:
            await until(lambda: "reached" in mailbox.health())
        async with watched(server, desk, tls=ours):
            await desk.until(lambda: desk.taken == [b"one"])

    assert desk.tried == [b"one"]
    assert server.logins == 1


async def test_one_process_of_two_watches_until_it_stops() -> None:
    """Then the other does."""
    desk, memory = Desk(), DictMemory()
    pace = Pace(look_seconds=0.3, retry_seconds=0.02, first_delay=0.02, lease_seconds=0.3)
    async with imap_server() as server, watched(server, desk, memory, pace=pace) as first:
        await until(lambda: first.health() == "")
        async with watched(server, desk, memory, pace=pace) as second:
            await until(lambda: second.health() == "")
            assert server.logins == 1
            await first.stop()
            await server.deliver(b"one")
            await desk.until(lambda: desk.taken == [b"one"])

    assert server.logins == 2


async def test_stopping_takes_no_time_whatever_the_server_does() -> None:
    """Also in the middle of a wait for a server that is silent."""
    async with imap_server() as server, watched(server, Desk(), pace=Pace()) as mailbox:
        await server.until(lambda: "IDLE" in server.commands)
        server.speaks.clear()
        began = asyncio.get_running_loop().time()
        await mailbox.stop()

    assert asyncio.get_running_loop().time() - began < 3
