"""`parley email inspect`: mails from files, each as one line of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import typer

from channels.email.dns_records import DnsTxt
from channels.email.mail import Address, ReadingOptions, ReadMail
from channels.email.pool import MailReader
from gateway.cli.doing import screen
from gateway.control.keys import known_secret
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings, load


def inspect(files: list[str], *, verify: bool) -> None:
    """Read all mails, and fail at the end if a file could not be had."""
    settings = load(EmailSettings)
    options = ReadingOptions(
        address=settings.email_address,
        authserv_id=settings.email_authserv_id,
        secret=known_secret(load(Settings)),
        verify_dkim=verify,
    )
    if not asyncio.run(_inspect(files, options)):
        raise typer.Exit(1)


async def _inspect(files: list[str], options: ReadingOptions) -> bool:
    complete = True
    async with MailReader(options, size=1, lookup=DnsTxt()) as reader:
        for name in files:
            try:
                raw = _raw(name)
            except OSError as exc:
                screen.say(f"parley: {name} can't be read: {exc.strerror}")
                complete = False
            else:
                screen.data(json.dumps(_shown(name, await reader.read(raw)), ensure_ascii=False))
    return complete


def _raw(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def _shown(name: str, mail: ReadMail) -> dict[str, object]:
    token = next(iter(mail.tokens), None)
    return {
        "file": name,
        "from": mail.sender.email if mail.sender else None,
        "subject": mail.subject,
        "reply": mail.reply,
        "kind": mail.kind,
        "reason": mail.reason,
        "token": token.text if token else None,
        "names": token.reference if token else mail.delivery or None,
        "authenticated": mail.authentication.passed,
        "authentication": msgspec.to_builtins(mail.authentication),
        "attachments": [
            {"name": one.name, "type": one.type, "size": one.size} for one in mail.attachments
        ],
        "to": _emails(mail.to),
        "cc": _emails(mail.cc),
        "message_id": mail.message_id or None,
        "in_reply_to": list(mail.in_reply_to),
        "bounce": None if mail.bounce is None else msgspec.to_builtins(mail.bounce),
        "defects": list(mail.defects),
    }


def _emails(addresses: tuple[Address, ...]) -> list[str]:
    return [one.email for one in addresses]
