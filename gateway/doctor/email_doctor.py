"""Email under the doctor's eyes: set up as the channel is, and beside the server that runs."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from channels.email.examination import Arrived, Finding, examine
from channels.email.options import EmailOptions
from channels.email.probe import memory_key
from gateway.control.keys import known_secret
from gateway.control.memory import SealedMemory
from gateway.settings.config import load_config
from gateway.settings.email_options import email_options
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings, sqlite_file
from storage.errors import StoreError
from storage.migrations.upgrades import check
from storage.store import Store
from storage.urls import open_store

_SECONDS = 60.0


def examine_email(
    settings: Settings, email: EmailSettings, *, seconds: float = _SECONDS
) -> Iterator[Finding]:
    """Look at everything, and tell each finding as it is made."""
    secret = known_secret(settings)
    # Without one no server has ever run here, so nobody else must understand our mail.
    options = email_options(settings, email, load_config(settings.config), secret or _any_secret())
    if not settings.public_url:
        yield Finding(
            "warn", f"links in mail lead to {settings.url}", "set PARLEY_PUBLIC_URL for others"
        )
    with asyncio.Runner() as runner:
        findings = _examine(options, settings, secret, seconds)
        while (one := runner.run(anext(findings, None))) is not None:
            yield one


async def _examine(
    options: EmailOptions, settings: Settings, secret: bytes, seconds: float
) -> AsyncIterator[Finding]:
    async with _told_by_server(settings, secret) as arrived:
        async for one in examine(options, arrived, seconds=seconds):
            yield one


@asynccontextmanager
async def _told_by_server(settings: Settings, secret: bytes) -> AsyncIterator[Arrived | None]:
    """Ask the database what a server has taken, if there is one."""
    file = sqlite_file(settings.database_url)
    if not secret or (file is not None and not file.exists()):
        yield None
        return
    store = open_store(settings.database_url, shared=True)
    try:
        check(settings.database_url)  # opening an old file would upgrade it
        await store.open()
    except StoreError:  # told already, by its own check
        yield None
        return
    try:
        yield _arrived(store, secret)
    finally:
        await store.close()


def _arrived(store: Store, secret: bytes) -> Arrived:
    memory = SealedMemory(store, "email", secret)

    async def arrived(name: str) -> bool:
        try:
            return await memory.recall(memory_key(name)) is not None
        except StoreError:
            return False

    return arrived


def _any_secret() -> bytes:
    return secrets.token_bytes(32)
