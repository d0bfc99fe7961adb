"""Files that come with a mail: named always, and given as text where they are small text. Pure.

Others stay in the mail, which is kept as it came: the note says how to get at them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent_core.thread.events import Attachment
from channels.email.links import without_links
from channels.email.mail import Attachment as Enclosed
from channels.email.mail import ReadMail
from channels.file_texts import decoded, is_text_type

MOST_BYTES: Final = 1_000_000
MOST_BYTES_TOGETHER: Final = 3_000_000
_MOST_FILES: Final = 50
_DECORATION: Final = 20_000
"""Pictures inside the text up to this size are logos and icons of signatures."""
_ENDINGS: Final = """
c cfg conf cpp cs css csv diff eml go h html ics ini java js json jsonl log lua md patch php pl ps1
py r rb rs rst sh sql svg swift tex toml ts tsv txt vcf xml yaml yml
"""
_TEXT_ENDINGS: Final = frozenset(_ENDINGS.split())
_GUESSED: Final = frozenset({"", "application/octet-stream"})
"""Types that say nothing: then the name decides."""


def attachments(mail: ReadMail, size: int) -> tuple[Attachment, ...]:
    """Give the files of a mail of some size; and the mail itself, if not all of it was read."""
    files = tuple(_files(mail))
    if not mail.is_truncated:
        return files
    note = f"longer than what is read: `parley email raw {mail.digest[:16]}` shows all of it"
    whole = Attachment(name="original mail", media_type="message/rfc822", size=size, note=note)
    return (*files, whole)


def storable(text: str) -> str:
    """Take out what no database keeps, and links that answer in somebody's name."""
    return without_links(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def _files(mail: ReadMail) -> Iterator[Attachment]:
    left = MOST_BYTES_TOGETHER
    for number, file in enumerate(mail.attachments[:_MOST_FILES], start=1):
        if _is_decoration(file):
            continue
        text, note = _read(file, left)
        if text:
            left -= file.size
        elif note:
            note = f"{note}; `parley email raw {mail.digest[:16]} --file {number}` gives it"
        name = storable(file.name) or f"file {number}"
        yield Attachment(
            name=name, media_type=file.type, size=file.size, text=storable(text), note=note
        )


def _is_decoration(file: Enclosed) -> bool:
    return file.inline and file.type.startswith("image/") and file.size <= _DECORATION


def _read(file: Enclosed, left: int) -> tuple[str, str]:
    """Give the text of a file, or why there is none."""
    if file.content is None or not is_text(file):
        return "", "named only: not text" if file.content is not None else "named only: too large"
    if file.size > MOST_BYTES:
        return "", "named only: larger than 1 MB"
    if file.size > left:
        return "", "named only: the files of this mail are larger than 3 MB together"
    return decoded(file.content)


def is_text(file: Enclosed) -> bool:
    """Say whether a file can be given to an agent as text."""
    media_type = file.type.partition(";")[0].strip().lower()
    ending = file.name.rpartition(".")[2].lower() if "." in file.name else ""
    return is_text_type(file.type) or (media_type in _GUESSED and ending in _TEXT_ENDINGS)
