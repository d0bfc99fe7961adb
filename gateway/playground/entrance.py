"""Links that sign the visitor in to the inbox: made in the server's own database, beside it."""

from __future__ import annotations

from gateway.control.keys import key_hash
from gateway.control.memory import SealedMemory
from gateway.inbox.links import Links
from gateway.inbox.sessions import OWNER
from gateway.playground.premises import Premises
from storage.urls import open_store

YOU = "you"
"""What the log calls whoever answers in the inbox."""


async def sign_in_link(place: Premises, key: str) -> str:
    """Make a link that signs the visitor in, once."""
    store = open_store(place.database_url, shared=True)
    await store.open()
    try:
        links = Links(SealedMemory(store, OWNER, place.secret_key.encode()))
        return place.url + await links.make("key", identity=key_hash(key), name=YOU)
    finally:
        await store.close()
