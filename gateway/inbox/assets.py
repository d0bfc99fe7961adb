"""Our own files: styles, the script, the icon. Their addresses hold their digests.

So a browser keeps them for ever, and asks for a new one when it has changed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

PREFIX: Final = "/static/"

_KINDS: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Asset:
    """One file."""

    body: bytes
    content_type: str


class Assets:
    """Everything under `static`, read once."""

    def __init__(self) -> None:
        folder = files("gateway.inbox").joinpath("static")
        read = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        self._addresses = {name: _addressed(name, body) for name, body in read.items()}
        self._found = {
            self._addresses[name]: Asset(body, _KINDS[name.rpartition(".")[2]])
            for name, body in read.items()
        }

    def address(self, name: str) -> str:
        """Give where a file is served; a template that names none of ours is our bug."""
        return PREFIX + self._addresses[name]

    def find(self, address: str) -> Asset | None:
        """Give the file at an address below the prefix."""
        return self._found.get(address)


def _addressed(name: str, body: bytes) -> str:
    stem, _, kind = name.rpartition(".")
    return f"{stem}.{hashlib.sha256(body).hexdigest()[:_DIGITS]}.{kind}"
