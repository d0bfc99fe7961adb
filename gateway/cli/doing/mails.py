"""`parley email raw` and `parley email aside`: mail as it was kept, from the database itself."""

from __future__ import annotations

import base64
import json
import sys

import msgspec

from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime, spoken
from channels.email.archive import Archive, Aside
from channels.email.mail import ReadingOptions
from channels.email.pool import MailReader
from gateway.cli.doing import screen
from gateway.cli.doing.local import with_store
from gateway.cli.doing.screen import Column
from gateway.control.keys import known_secret
from gateway.control.memory import SealedMemory
from gateway.control.service import NotFound
from gateway.settings.environment import Settings, load
from storage.store import Store

_COLUMNS = (
    Column("mail", whole=True),
    Column("came"),
    Column("from"),
    Column("subject"),
    Column("why"),
)
_SHOWN = 16


def raw(reference: str, *, file: int | None, as_json: bool) -> None:
    """Write a mail, or one of its files, as it came."""
    digest, content = with_store(lambda store: _found(_archive(store), reference, file))
    if as_json:
        encoded = base64.b64encode(content).decode()
        return screen.data(json.dumps({"digest": digest, "size": len(content), "base64": encoded}))
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return None


def aside(*, as_json: bool) -> None:
    """List what was put aside."""
    mails = with_store(lambda store: _archive(store).aside())
    if as_json:
        items = [_shown(mail) for mail in mails]
        return screen.data(json.dumps({"items": items, "next_cursor": None}, ensure_ascii=False))
    if not mails:
        return screen.say("no mail was put aside")
    screen.print_table(_COLUMNS, [_row(mail) for mail in mails])
    return screen.say("`parley email raw MAIL` shows one of them")


def _archive(store: Store) -> Archive:
    secret = known_secret(load(Settings))
    if not secret:
        raise NotFound("there is no secret key yet, so nothing was ever kept")
    return Archive(SealedMemory(store, "email", secret))


async def _found(archive: Archive, reference: str, file: int | None) -> tuple[str, bytes]:
    digests = await archive.digests(reference)
    if not digests:
        raise NotFound(
            f"no mail is kept as {reference!r}; name a digest (8 letters or more), a Message-ID or "
            "a thread. Mails are kept for 90 days."
        )
    if len(digests) > 1:
        listed = "\n".join(f"  {digest[:_SHOWN]}" for digest in digests)
        raise NotFound(f"{len(digests)} mails are kept for {reference}; name one:\n{listed}")
    content = await archive.raw(digests[0])
    if content is None:
        raise NotFound(f"the mail {digests[0][:_SHOWN]} is not kept any more")
    return digests[0], content if file is None else await _file(content, file)


async def _file(content: bytes, number: int) -> bytes:
    async with MailReader(ReadingOptions(), size=1) as reader:
        mail = await reader.read(content)
    chosen = mail.attachments[number - 1 : number] if number > 0 else ()
    if not chosen:
        raise NotFound(f"the mail has {len(mail.attachments)} files, and none is number {number}")
    if chosen[0].content is None:
        raise NotFound(f"file {number} is too large: take it out of the whole mail")
    return chosen[0].content


def _shown(mail: Aside) -> dict[str, object]:
    at = as_datetime(Millis(mail.at)).isoformat().replace("+00:00", "Z")
    return {**msgspec.structs.asdict(mail), "at": at}


def _row(mail: Aside) -> list[str]:
    digest = mail.digest[:_SHOWN] if mail.is_kept else f"{mail.digest[:_SHOWN]} (not kept)"
    return [digest, spoken(Millis(mail.at)), mail.sender, mail.subject, mail.reason]
