"""The same mail by two ways, or twice, at once or later: one effect, and nobody hears it twice.

A mail is copied by servers, fetched by two watchers, posted again by a provider. Each way adds
headers of its own, so the bytes differ. The gateway is whole, on a store in memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from urllib.parse import urlencode

import aiosmtplib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.thread.events import MessageReceived
from channels.email.listener import Listener
from channels.email.mailbox import Mailbox, Pace
from channels.email.options import EmailOptions
from channels.email.providers.reception import Providers
from channels.web_routes import WebRequest
from tests.doubles.imap_server import imap_server
from tests.unit.channels.email.letterbox import PROVEN, InProcess
from tests.unit.channels.email.letters import OURS, letter
from tests.unit.gateway.post_room import PostRoom, post_room

copies = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=12)
"""Which mail, and by which way; the second mail replies to the first, and so on."""


def a_mail(number: int, way: int = 0) -> bytes:
    """Write one mail of a conversation, as it arrives by some way."""
    answers = [f"In-Reply-To: <m{number - 1}@example.org>"] if number else []
    return letter(
        f"Received: by way {way}",
        PROVEN,
        f"Message-ID: <m{number}@example.org>",
        *answers,
        f"X-Way: {way}",
        body=f"words {number}\n",
    )


async def said(room: PostRoom) -> list[str]:
    """Give all that was said, in whichever thread."""
    logs = [await room.door.here.log(thread) for thread in await room.threads()]
    return sorted(one.text for log in logs for one in log if isinstance(one, MessageReceived))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=copies, second=copies)
def test_each_mail_is_said_once(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    """Whatever comes at once, and whatever comes again."""

    async def story() -> list[str]:
        async with post_room(works=False) as room:
            for some in (first, second):
                await asyncio.gather(*(room.box.drop(a_mail(*one)) for one in some))
            return await said(room)

    mails = {number for number, _ in (*first, *second)}
    assert asyncio.run(story()) == sorted(f"words {number}" for number in mails)


async def test_mail_by_every_door_is_one_message() -> None:
    """SMTP, LMTP, a mailbox and a provider at the same time, on real sockets."""
    async with post_room(works=False) as room, imap_server() as server:
        ingest = room.box.ingest
        ingest._reader = InProcess()
        options = EmailOptions(address=OURS, imap_url=server.url, mailgun_key="k")
        doors = [
            Listener(f"{kind}://127.0.0.1:0", OURS, ingest.ingest) for kind in ("smtp", "lmtp")
        ]
        mailbox = Mailbox(options, ingest, room.memory, pace=Pace(look_seconds=0.5))
        open_: list[Listener | Mailbox] = [*doors, mailbox]
        providers = Providers(options, ingest.ingest, room.memory)
        for door in open_:
            await door.start()
        try:
            async with asyncio.timeout(20):
                await asyncio.gather(
                    _send(doors[0]),
                    _hand_over(doors[1]),
                    _post(providers),
                    server.deliver(a_mail(0, 3)),
                )
                await server.until(lambda: "\\Seen" in server.inbox.mails[0].flags)
            words = await said(room)
        finally:
            for door in open_:
                await door.stop()

    assert words == ["words 0"]


async def _send(door: Listener) -> None:
    await aiosmtplib.send(
        a_mail(0, 1),
        sender="ada@example.org",
        recipients=[OURS],
        hostname="127.0.0.1",
        port=door.port,
        start_tls=False,
    )


async def _hand_over(door: Listener) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    lines = ["LHLO x", "MAIL FROM:<ada@example.org>", f"RCPT TO:<{OURS}>", "DATA"]
    await reader.readline()
    for line in lines:
        writer.write(f"{line}\r\n".encode())
        while (await reader.readline())[3:4] == b"-":
            pass
    writer.write(a_mail(0, 2) + b"\r\n.\r\n")
    assert (await reader.readline()).startswith(b"250")
    writer.close()


async def _post(providers: Providers) -> None:
    at = str(int(time.time()))
    mac = hmac.new(b"k", f"{at}token".encode(), hashlib.sha256).hexdigest()
    form = {"timestamp": at, "token": "token", "signature": mac, "body-mime": a_mail(0, 4)}
    answer = await providers.receive(
        WebRequest(
            method="POST",
            path="/email/inbound/mailgun/mime",
            headers={"content-type": "application/x-www-form-urlencoded"},
            body=urlencode(form).encode(),
        )
    )
    assert answer.status == 200
