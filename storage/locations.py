"""What a database URL means; how it is opened is the adapters' business.

`sqlite:///parley.db` is a file, relative to where the program was started, and
`sqlite:////srv/parley.db` one by its whole path; `file:parley.db` and `file:///srv/parley.db` mean
the same. `postgresql://user@host/name` is a database on a server. `memory:` lasts no longer than
the process.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from storage.errors import BadStoreUrl

_SHAPE = "it should look like sqlite:///parley.db or postgresql://user:password@host/name"


@dataclass(frozen=True, slots=True)
class File:
    """A SQLite file."""

    path: Path


@dataclass(frozen=True, slots=True)
class Server:
    """A database on a PostgreSQL server."""

    url: str


@dataclass(frozen=True, slots=True)
class Memory:
    """The process itself."""


Location: TypeAlias = File | Server | Memory


def locate(url: str) -> Location:
    """Understand a URL, or raise BadStoreUrl; the error never repeats a password."""
    scheme, colon, rest = url.partition(":")
    if not colon:
        raise BadStoreUrl(f"{url!r} is not a database URL: {_SHAPE}")
    match scheme.lower():
        case "sqlite":
            return File(_path(rest, after="///"))
        case "file":
            return File(_path(rest, after="//" if rest.startswith("///") else ""))
        case "postgresql" | "postgres":
            return Server(_server(rest))
        case "memory" if rest.strip("/") == "":
            return Memory()
    raise BadStoreUrl(f"there is no store of the kind {scheme!r}: {_SHAPE}")


def _path(rest: str, *, after: str) -> Path:
    name = unquote(rest.removeprefix(after))
    if not rest.startswith(after) or not name or name.startswith("//") or name == "/":
        raise BadStoreUrl(f"this names no file: {_SHAPE}")
    if "?" in name or "\0" in name or name == ":memory:":
        raise BadStoreUrl(f"a plain path is wanted, without options: {_SHAPE}")
    return Path(name)


def _server(rest: str) -> str:
    url = f"postgresql:{rest}"
    try:
        port = urlsplit(url).port
    except ValueError as exc:
        raise BadStoreUrl(f"the port in this URL is not a number: {_SHAPE}") from exc
    if not rest.startswith("//") or port == 0:
        raise BadStoreUrl(f"this names no database: {_SHAPE}")
    return url
