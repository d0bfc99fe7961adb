"""The files of a message, as Slack describes them. Pure: nothing is fetched here."""

from __future__ import annotations

from typing import Final

from channels.slack.parsing.fields import Payload, number, parts, text
from channels.slack.parsing.meanings import SharedFile

_MOST: Final = 20
"""Slack takes ten in one message."""


def shared_files(message: Payload) -> tuple[SharedFile, ...]:
    """Read the list that comes with a message."""
    return tuple(shared_file(one) for one in parts(message, "files")[:_MOST])


def shared_file(described: Payload) -> SharedFile:
    """Read one description; also the answer of `files.info`."""
    mode = text(described, "mode")
    return SharedFile(
        id=text(described, "id"),
        name=text(described, "name") or text(described, "title") or text(described, "id"),
        media_type=text(described, "mimetype"),
        kind=text(described, "filetype"),
        size=number(described, "size"),
        url=text(described, "url_private_download") or text(described, "url_private"),
        is_hidden=text(described, "file_access") == "check_file_info",
        is_gone=mode in ("tombstone", "hidden_by_limit"),
    )
