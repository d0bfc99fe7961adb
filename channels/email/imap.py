"""One connection to a mailbox, in the words of whoever watches it. It blocks: a thread owns it.

What the library or the server raises becomes `MailboxTrouble`: connect again. Only `cut` may be
called from another thread, to end a call that takes too long.
"""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

from imap_tools.errors import ImapToolsError, MailboxLoginError
from imap_tools.mailbox import BaseMailBox, MailBox, MailBoxStartTls, MailBoxUnencrypted

from agent_core.errors import ParleyError

Security = Literal["tls", "starttls", "plain"]
_SCHEMES: Final[dict[str, tuple[Security, int]]] = {
    "imaps": ("tls", 993),
    "imap": ("starttls", 143),
    "imap+plain": ("plain", 143),
}
_SIZE: Final = re.compile(rb"RFC822\.SIZE (\d+)")
_OK: Final = "OK"


class MailboxTrouble(ParleyError):
    """The mailbox can't be reached, or does not answer: connect again."""


class LoginRefused(MailboxTrouble):
    """The server knows us not: the operator must act, and we go on trying, seldom."""


class Unfetchable(ParleyError):
    """The server does not give this one mail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImapServer:
    """Where a mailbox is."""

    host: str
    port: int
    security: Security
    username: str
    password: str = field(default="", repr=False)
    folder: str = "INBOX"


def parse_imap_url(url: str) -> ImapServer:
    """Read `imaps://USER:PASSWORD@host/INBOX`, or raise ValueError."""
    parts = urlsplit(url)
    security, port = _SCHEMES[parts.scheme]
    return ImapServer(
        host=parts.hostname or "",
        port=parts.port or port,
        security=security,
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        folder=unquote(parts.path.strip("/")) or "INBOX",
    )


class ImapLine:
    """A connection, with the folder selected."""

    def __init__(
        self, server: ImapServer, *, seconds: float, tls: ssl.SSLContext | None = None
    ) -> None:
        """Take how long the server may be silent, and whom to trust (by default, the world)."""
        self._server = server
        self._seconds = seconds
        self._tls = tls
        self._box: BaseMailBox | None = None
        self.validity = 0
        self.next_uid = 1

    # Coming and going

    def open(self, access_token: str = "") -> None:
        """Connect, log in and select the folder."""
        with _translated("the mailbox can't be reached"):
            self._box = self._connected()
        with _translated("the mail server does not let us in"):
            self._log_in(access_token)
        with _translated("the folder can't be opened"):
            self._mailbox.folder.set(self._server.folder)
            self.validity = self._told("UIDVALIDITY")
            self.next_uid = self._told("UIDNEXT") or self._highest() + 1

    def _connected(self) -> BaseMailBox:
        where, limit = (self._server.host, self._server.port), self._seconds
        # Without a context of our own the library trusts everybody.
        tls = self._tls or ssl.create_default_context()
        make: dict[Security, Callable[[], BaseMailBox]] = {
            "tls": lambda: MailBox(*where, timeout=limit, ssl_context=tls),
            "starttls": lambda: MailBoxStartTls(*where, timeout=limit, ssl_context=tls),
            "plain": lambda: MailBoxUnencrypted(*where, timeout=limit),
        }
        return make[self._server.security]()

    def _log_in(self, access_token: str) -> None:
        user, password = self._server.username, self._server.password
        try:
            if access_token:
                self._mailbox.xoauth2(user, access_token, None)
            elif (user + password).isascii():
                self._mailbox.login(user, password, None)
            else:
                self._mailbox.login_utf8(user, password, None)
        except (MailboxLoginError, imaplib.IMAP4.error) as exc:
            if isinstance(exc, imaplib.IMAP4.abort):
                raise
            raise LoginRefused("the mail server refuses our user name or password") from exc

    def close(self) -> None:
        """Let go of the connection, when no call is under way; nobody waits for a goodbye."""
        self.cut()
        box, self._box = self._box, None
        if box is not None:
            with suppress(OSError):
                box.client.shutdown()

    def cut(self) -> None:
        """End the connection, and with it whatever call is under way."""
        if self._box is not None:
            with suppress(OSError):
                self._box.client.sock.shutdown(socket.SHUT_RDWR)

    # Mails

    def uids_after(self, uid: int) -> list[int]:
        """Give the numbers of mails after one, in order."""
        # `n:*` always names the last mail, also where it is before n (RFC 3501, 6.4.8).
        return [one for one in self._search(f"UID {uid + 1}:*") if one > uid]

    def uids_since(self, seconds: float, *, unseen: bool) -> list[int]:
        """Give the numbers of mails that came since a moment; IMAP knows only days."""
        day = time.strftime("%d-%b-%Y", time.gmtime(seconds))
        return self._search(f"SINCE {day} UNSEEN" if unseen else f"SINCE {day}")

    def size(self, uid: int) -> int | None:
        """Tell how large a mail is; nothing if it is gone."""
        for piece in self._fetch(uid, "(RFC822.SIZE)"):
            head = piece[0] if isinstance(piece, tuple) else piece
            if isinstance(head, bytes) and (found := _SIZE.search(head)):
                return int(found[1])
        return None

    def raw(self, uid: int) -> bytes | None:
        """Fetch a mail and leave it unseen; nothing if it is gone."""
        for piece in self._fetch(uid, "(BODY.PEEK[])"):
            if isinstance(piece, tuple) and isinstance(piece[1], bytes):
                return piece[1]
        return None

    def mark_seen(self, uid: int) -> None:
        """Show people who look into the mailbox that it was taken."""
        with _translated("a mail can't be marked"):
            self._mailbox.client.uid("STORE", str(uid), "+FLAGS", r"(\Seen)")

    def wait(self, seconds: float) -> bool:
        """Wait until something happens in the mailbox; False at once if the server can't tell."""
        with _translated("the mailbox went silent"):
            if "IDLE" not in self._mailbox.client.capabilities:
                return False
            idle: Any = self._mailbox.idle  # the library has no types
            idle.start()
            if not self._has_more():
                idle.poll(timeout=seconds)
            idle.stop()
            return True

    # Talking

    @property
    def _mailbox(self) -> BaseMailBox:
        if self._box is None:
            raise MailboxTrouble("the connection to the mailbox was ended")
        return self._box

    def _search(self, criteria: str) -> list[int]:
        with _translated("the mailbox can't be searched"):
            status, data = self._mailbox.client.uid("SEARCH", criteria)
        if status != _OK:
            raise MailboxTrouble("the mail server refuses to search")
        return sorted(int(one) for line in data if line for one in line.split())

    def _fetch(self, uid: int, items: str) -> list[object]:
        with _translated("a mail can't be fetched"):
            status, data = self._mailbox.client.uid("FETCH", str(uid), items)
        if status != _OK:
            raise Unfetchable("the mail server refuses to give a mail")
        return list(data)

    def _told(self, name: str) -> int:
        """Give a number that the server told with the folder."""
        _, data = self._mailbox.client.response(name)
        return int(data[-1]) if data and data[-1] else 0

    def _highest(self) -> int:
        return max(self._search("ALL"), default=0)

    def _has_more(self) -> bool:
        """Tell whether the server has said more than the go-ahead: no poll would show that."""
        client = self._mailbox.client
        file: Any = getattr(client, "_file", None) or client.file
        client.sock.settimeout(0)
        try:
            return bool(file.peek(1))
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            client.sock.settimeout(self._seconds)


@contextmanager
def _translated(told: str) -> Iterator[None]:
    """Turn what goes wrong with a server into one error, with what we wanted."""
    try:
        yield
    except (ImapToolsError, imaplib.IMAP4.error, OSError, ValueError, AttributeError) as exc:
        # ValueError, AttributeError: the library's own, on answers that no server should give,
        # and on a connection that was cut meanwhile.
        raise MailboxTrouble(f"{told} ({type(exc).__name__})") from exc
