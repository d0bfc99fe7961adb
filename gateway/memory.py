"""What a channel remembers, sealed: a copy of the database gives no token away.

The key is derived from the secret key, so every machine that has the same secret opens what
another has sealed. Names are not sealed: they are listed, and must not be secret themselves. What
a value means is the channel's business, and how it is stored the store's.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agent_core.errors import ParleyError
from agent_core.loop.world import World
from agent_core.thread.events import Millis
from storage.store import Keeping

_PURPOSE = b"parley memory v1"
"""Another purpose gives another key; another way of sealing would need another version."""
_KEY_BYTES = 32


class SealBroken(ParleyError):
    """What was kept can't be opened: the operator must act, and no value is made up."""


class SealedMemory:
    """The memory of one channel, as `channels.intake.Memory` has it."""

    def __init__(
        self, store: Keeping, channel: str, secret: bytes, *, world: World | None = None
    ) -> None:
        """Keep under the channel's name, sealed with the server's secret key."""
        self._store = store
        self._channel = channel
        self._seal = _seal(secret)
        self._world = World() if world is None else world

    async def recall(self, key: str) -> bytes | None:
        """Give what was kept, or raise SealBroken."""
        return self._opened(key, await self._store.recall(self._channel, key, now=self._now()))

    async def keep(self, key: str, value: bytes | None, *, seconds: float | None = None) -> None:
        """Keep it (for so long); None forgets."""
        now = self._now()
        expires_at = None if seconds is None else Millis(now + round(seconds * 1000))
        sealed = None if value is None else self._seal.encrypt(value)
        await self._store.keep(self._channel, key, sealed, now=now, expires_at=expires_at)

    async def take(self, key: str) -> bytes | None:
        """Give it to exactly one caller and forget it, also where it raises SealBroken."""
        return self._opened(key, await self._store.take(self._channel, key, now=self._now()))

    async def keys(self, prefix: str = "") -> list[str]:
        """Name what is kept."""
        return await self._store.kept(self._channel, prefix=prefix, now=self._now())

    def _now(self) -> Millis:
        return self._world.now()

    def _opened(self, key: str, sealed: bytes | None) -> bytes | None:
        if sealed is None:
            return None
        try:
            return self._seal.decrypt(sealed)
        except InvalidToken as exc:
            raise SealBroken(
                f"what the channel {self._channel} keeps as {key!r} can't be opened: it is damaged,"
                " or was sealed with another PARLEY_SECRET_KEY. Set the secret key that it was"
                " sealed with, or set the channel up again."
            ) from exc


def _seal(secret: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=_PURPOSE).derive(secret)
    return Fernet(urlsafe_b64encode(derived))
