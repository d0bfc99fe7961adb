"""The channel: its parts, put together. A way in that is not wanted is not even loaded."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from agent_core.errors import ParleyError
from agent_core.json_values import JsonObject
from channels.channel import Capabilities, Live, Sent, TryLater
from channels.email.conversations import Conversations
from channels.email.dns_records import DnsTxt
from channels.email.ingest import Ingest
from channels.email.link_door import LinkDoor
from channels.email.mail import ReadingOptions
from channels.email.oauth import AccessTokens
from channels.email.options import EmailOptions
from channels.email.pool import MailReader
from channels.email.posting import Postman
from channels.email.probing import Intake
from channels.email.providers.reception import MOST_BODY, Providers, provider_paths
from channels.email.smtp import SmtpClient
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.web_routes import WebHandler, WebRequest, WebResponse

_log = logging.getLogger("parley.email")

_CLOSED: Final = 503


class CannotListen(ParleyError):
    """The door for mail can't be opened: the operator must act."""


class WayIn(Protocol):
    """By which mail comes, while it is open."""

    async def start(self) -> None:
        """Open it."""
        ...

    async def stop(self) -> None:
        """Close it, after what is under way."""
        ...

    def health(self) -> str:
        """Give nothing when all is well, else what is wrong."""
        ...


class EmailChannel:
    """One mailbox of ours: mail goes out by SMTP, and comes in by one way or several."""

    name = "email"
    live: Live | None = None

    def __init__(self, options: EmailOptions, *, lease_seconds: float = 30.0) -> None:
        """Take for how long one process of many has the mailbox to itself, after it has died."""
        self._options = options
        self._paths = provider_paths(options)
        self.capabilities = Capabilities(largest_body=MOST_BODY if self._paths else 0)
        self._lease_seconds = lease_seconds
        self._tokens = AccessTokens(options.oauth) if options.oauth else None
        self._smtp = SmtpClient(options, tokens=self._tokens)
        self._postman: Postman | None = None
        self._reader: MailReader | None = None
        self._ingest: Ingest | None = None
        self._ways: list[WayIn] = []
        self._providers: Providers | None = None
        self._links = LinkDoor(options)

    # Coming and going

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve the links in mail, and providers that bring it; neither while we are stopped."""
        return {**self._links.routes(), **{("POST", path): self._take for path in self._paths}}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:
        """Get ready to send; and open the ways in, where this process receives."""
        self._postman = Postman(self._options, house.memory, house.desk, self._smtp)
        if receives:
            await self._receive(house, self._postman)

    async def stop(self) -> None:
        """Close the ways in, finish what was begun, and hang up."""
        self._links.close()
        self._providers = None
        while self._ways:
            await self._ways.pop().stop()
        if self._ingest is not None:
            await self._ingest.close()
        if self._reader is not None:
            await self._reader.close()
        self._ingest = self._reader = None
        await self._smtp.close()

    # What goes out

    async def send(self, message: Outgoing) -> Sent:
        """Mail it to everybody in the conversation."""
        return await self._sender().send(message)

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Tell those who were asked how it ended: a mail that was sent can't be changed."""
        await self._sender().settle(receipt, message)

    async def mail_link(self, email: str, *, subject: str, words: Sequence[str], url: str) -> None:
        """Mail somebody a link that they have asked for; no thread has to do with it."""
        await self._sender().mail_link(email, subject=subject, words=words, url=url)

    async def health(self) -> str:
        """Say what is wrong with the server that we send by, and with the ways in."""
        told = [way.health() for way in self._ways]
        try:
            await self._smtp.check()
        except TryLater as exc:
            told.append(f"SMTP_URL: {exc}")
        return "; ".join(filter(None, told))

    def _sender(self) -> Postman:
        if self._postman is None:
            raise TryLater("the channel was not started")
        return self._postman

    # What comes in

    async def _receive(self, house: Gatehouse, postman: Postman) -> None:
        options = self._options
        self._reader = MailReader(_reading(options), lookup=DnsTxt())
        conversations = Conversations(house.memory, options.address)
        self._ingest = Ingest(options, house, self._reader, conversations, postman)
        intake = Intake(self._ingest, house.memory, options.secret_key)
        self._links.open(house)
        self._providers = Providers(options, intake.ingest, house.memory)
        for way in self._ways_in(house, intake):
            await self._opened(way)

    def _ways_in(self, house: Gatehouse, intake: Intake) -> list[WayIn]:
        """Make those that are wanted."""
        options, ways = self._options, list[WayIn]()
        if options.listen:
            from channels.email.listener import Listener  # noqa: PLC0415 (only where it is wanted)

            ways.append(Listener(options.listen, options.address, intake.ingest))
        if options.imap_url:
            from channels.email.mailbox import Mailbox, Pace  # noqa: PLC0415 (the same)

            pace = Pace(lease_seconds=self._lease_seconds)
            ways.append(Mailbox(options, intake, house.memory, self._tokens, pace=pace))
        return ways

    async def _opened(self, way: WayIn) -> None:
        try:
            await way.start()
        except OSError as exc:
            await self.stop()
            raise CannotListen(f"EMAIL_LISTEN can't be opened: {exc.strerror or exc}") from exc
        self._ways.append(way)

    async def _take(self, request: WebRequest) -> WebResponse:
        """Take mail from a provider, who tries again while we are closed."""
        if self._providers is None:
            return WebResponse(status=_CLOSED, headers={"Retry-After": "10"})
        return await self._providers.receive(request)


def _reading(options: EmailOptions) -> ReadingOptions:
    return ReadingOptions(
        address=options.address,
        secret=options.secret_key,
        authserv_id=options.authserv_id,
        verify_dkim=options.verify_dkim,
    )
