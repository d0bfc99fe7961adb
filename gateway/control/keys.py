"""Secrets that we make: the keys of the API, and the server's own.

A key of the API is shown once and kept as a hash. It holds 256 bits of chance, so a plain SHA-256
can't be guessed from: a slow hash would only slow every request down.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from agent_core.thread.events import Millis
from gateway.settings.environment import Settings, SettingsError, sqlite_file
from storage.urls import open_store
from storage.values import ApiKey, KeyId, Scope

SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "pk_"
_BYTES = 32
_LONGEST_NAME = 200


class BadKey(SettingsError):
    """A key can't be made like this."""


def new_key(name: str, scopes: Sequence[str], *, now: Millis) -> tuple[str, ApiKey]:
    """Make a key: the text to show once, and the row to keep."""
    text = PREFIX + secrets.token_urlsafe(_BYTES)
    row = ApiKey(
        id=KeyId(f"key_{secrets.token_hex(8)}"),
        name=_checked_name(name),
        hash=key_hash(text),
        scopes=checked_scopes(scopes),
        created_at=now,
    )
    return text, row


async def key_in(database_url: str, name: str) -> str:
    """Make a key for everything in a database, beside its server or before it has any."""
    text, row = new_key(name, ["admin"], now=Millis(time.time_ns() // 1_000_000))
    store = open_store(database_url, shared=True)
    await store.open()
    try:
        await store.add_key(row)
    finally:
        await store.close()
    return text


def key_hash(text: str) -> str:
    """Give what is kept of a key."""
    return hashlib.sha256(text.encode()).hexdigest()


def checked_scopes(scopes: Sequence[str]) -> tuple[Scope, ...]:
    """Refuse scopes that mean nothing, and none at all."""
    choices = ", ".join(SCOPES)
    for scope in scopes:
        if scope not in SCOPES:
            raise BadKey(f"{scope!r} is no scope; the scopes are {choices}")
    if not scopes:
        raise BadKey(f"a key needs a scope: one or more of {choices}")
    return tuple(scope for scope in SCOPES if scope in scopes)


def secret_key(settings: Settings) -> bytes:
    """Give the server's secret: the one that was set, or the one kept beside the SQLite file."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    database = sqlite_file(settings.database_url)
    if database is None:  # in memory: nothing that it signs lasts longer than this process
        return secrets.token_bytes(_BYTES)
    return _kept(secret_file(database))


def known_secret(settings: Settings) -> bytes:
    """Give the server's secret if there is one: looking at something is no reason to make it."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    database = sqlite_file(settings.database_url)
    path = secret_file(database) if database else None
    return path.read_bytes().strip() if path and path.is_file() else b""


def kept_secret(settings: Settings) -> bytes:
    """Give the server's secret to a command, which makes none: a new one would fit nothing."""
    database = sqlite_file(settings.database_url)
    is_kept = database is not None and secret_file(database).exists()
    if settings.secret_key is None and not is_kept:
        raise SettingsError(
            "there is no secret key: set PARLEY_SECRET_KEY as it is for the server, or run this "
            "where the server keeps it, beside its SQLite file"
        )
    return secret_key(settings)


def secret_file(database: Path) -> Path:
    """Name the file that keeps the secret of an SQLite database."""
    return database.with_name(f"{database.name}.secret")


def _kept(path: Path) -> bytes:
    try:
        if not path.exists():
            _make(path)
        secret = path.read_bytes().strip()
    except OSError as exc:
        raise SettingsError(
            f"the secret key can't be kept in {path.absolute()} ({exc.strerror}): "
            "let the server write there, or set PARLEY_SECRET_KEY"
        ) from exc
    if not secret:
        raise SettingsError(f"{path.absolute()} is empty: remove it, or set PARLEY_SECRET_KEY")
    return secret


def _make(path: Path) -> None:
    """Make the file in one piece: a link can't replace what another process made first."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return
    except OSError:  # a file system without links: the last of two that race wins
        draft.replace(path)


def _checked_name(name: str) -> str:
    trimmed = name.strip()
    if not trimmed or len(trimmed) > _LONGEST_NAME or not trimmed.isprintable():
        raise BadKey(f"a key's name is one line of 1 to {_LONGEST_NAME} characters")
    return trimmed
