"""Dovecot and OpenSMTPD, started by hand on high ports: the servers that people really have.

OpenSMTPD takes mail for `example.com` and hands it over by LMTP: to Dovecot's mailboxes, or for the
agents to Parley's own door. Both need root, and OpenSMTPD allows one of itself on a machine.
"""

from __future__ import annotations

import asyncio
import fcntl
import mailbox
import os
import signal
import smtplib
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

from channels.email.double.letters import Letter
from tests.scenario.gateway.cli_installation import free_port

_LOCK = Path("/tmp/parley-opensmtpd.lock")  # noqa: S108 (shared on purpose: one at a time)
_NOBODY = 65534
DOVECOT, OPENSMTPD = Path("/usr/sbin/dovecot"), Path("/usr/sbin/smtpd")
"""Not always on the path."""

_DOVECOT = """
base_dir = {folder}/run
log_path = {folder}/dovecot.log
instance_name = parley-{imap}
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
recipient_delimiter = +
mail_location = maildir:{folder}/mail/%u
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={uid} gid={uid} home={folder}/mail/%u
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
"""

_OPENSMTPD = """
listen on 127.0.0.1 port {smtp} hostname mx.example.com
action "agents" relay host "lmtp://127.0.0.1:{agents}"
action "people" relay host "lmtp://127.0.0.1:{lmtp}"
match from any for rcpt-to regex "^agent(\\+.*)?@example\\.com$" action "agents"
match from any for domain "example.com" action "people"
"""


def why_not() -> str:
    """Say why they can't be had here, or nothing."""
    if os.geteuid() != 0:
        return "Dovecot and OpenSMTPD need root"
    missing = [one.name for one in (DOVECOT, OPENSMTPD) if not one.exists()]
    if missing:
        return f"not installed: {', '.join(missing)} (.ci/run installs them)"
    version = subprocess.run([DOVECOT, "--version"], capture_output=True, check=True).stdout
    return (
        ""
        if version.startswith(b"2.3")
        else f"the configuration is for Dovecot 2.3, not {version!r}"
    )


@dataclass(frozen=True)
class RealMail:
    """Where the servers are."""

    folder: Path
    smtp: int
    imap: int

    @property
    def smtp_url(self) -> str:
        """Where Parley sends."""
        return f"smtp+plain://127.0.0.1:{self.smtp}"

    @property
    def imap_url(self) -> str:
        """Where Parley finds the agents' mail."""
        return f"imap+plain://agent%40example.com:secret@127.0.0.1:{self.imap}/INBOX"

    async def post(self, mail: EmailMessage) -> None:
        """Hand a mail in, as anybody's server does."""
        await asyncio.to_thread(self._post, mail)

    def _post(self, mail: EmailMessage) -> None:
        with smtplib.SMTP("127.0.0.1", self.smtp, timeout=20) as client:
            client.send_message(mail)

    async def letter(self, email: str, words: str, within: float = 40) -> Letter:
        """Wait for a mail with these words in somebody's mailbox."""
        async with asyncio.timeout(within):
            while True:
                found = [one for one in self._letters(email) if words in one.text]
                if found:
                    return found[0]
                await asyncio.sleep(0.05)

    def _letters(self, email: str) -> list[Letter]:
        place = self.folder / "mail" / email
        if not (place / "new").is_dir():
            return []
        box = mailbox.Maildir(place, create=False)
        return [Letter(box.get_bytes(key), "", email) for key in box.keys()]  # noqa: SIM118 (a Maildir)


@asynccontextmanager
async def real_mail(*, agents: int = 0) -> AsyncIterator[RealMail]:
    """Run both; with `agents`, the agents' mail goes to the LMTP server at that port."""
    with tempfile.TemporaryDirectory(prefix="mail-") as name:  # sockets need a short path
        folder = Path(name)
        _open_to_others(folder)
        async with _locked(), _servers(folder, agents) as running:
            yield running


@asynccontextmanager
async def _servers(folder: Path, agents: int) -> AsyncIterator[RealMail]:
    smtp, imap, lmtp = free_port(), free_port(), free_port()
    ports = {"folder": folder, "smtp": smtp, "imap": imap, "lmtp": lmtp, "uid": _NOBODY}
    dovecot, opensmtpd = folder / "dovecot.conf", folder / "smtpd.conf"
    dovecot.write_text(_DOVECOT.format(**ports))
    opensmtpd.write_text(_OPENSMTPD.format(**ports, agents=agents or lmtp))
    async with (
        _running(str(DOVECOT), "-F", "-c", str(dovecot), log=folder / "dovecot.out"),
        _running(str(OPENSMTPD), "-d", "-f", str(opensmtpd), log=folder / "smtpd.out"),
    ):
        try:
            for port in (smtp, imap, lmtp):
                await _until_open(port)
        except TimeoutError:
            logs = [(folder / name).read_text() for name in ("smtpd.out", "dovecot.out")]
            raise AssertionError("\n".join(["the servers don't start:", *logs])) from None
        yield RealMail(folder, smtp, imap)


def _open_to_others(folder: Path) -> None:
    """Let Dovecot's users in, who are nobody."""
    folder.chmod(0o755)
    (folder / "mail").mkdir()
    os.chown(folder / "mail", _NOBODY, _NOBODY)


@asynccontextmanager
async def _locked() -> AsyncIterator[None]:
    """Wait until nobody else on this machine runs them."""
    lock = os.open(_LOCK, os.O_CREAT | os.O_RDWR)
    try:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@asynccontextmanager
async def _running(*command: str, log: Path) -> AsyncIterator[None]:
    with log.open("wb") as out:
        server = await asyncio.create_subprocess_exec(*command, stdout=out, stderr=out)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            server.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(10):
                await server.wait()
        except TimeoutError:
            server.kill()


async def _until_open(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
