"""What a channel remembers, sealed: a copy of the database gives no token away.

The key is derived from the secret key, so every machine that has the same secret opens what
another has sealed. Names are not sealed: they are listed, and must not be secret themselves. What
a value means is the channel's business, and how it is stored the store's. The library for it is
loaded with the first value: it takes 6 MB, and a server without such channels needs none of them.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import cached_property
from typing import TYPE_CHECKING

from agent_core.loop.world import World
from agent_core.thread.events import Millis
from channels.intake import SealBroken
from storage.store import Keeping

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_PURPOSE = b"parley memory v1"
"""Another purpose gives another key; another way of sealing would need another version."""
_KEY_BYTES = 32


class SealedMemory:
    """The memory of one channel, as `channels.intake.Memory` has it."""

    def __init__(
        self, store: Keeping, channel: str, secret: bytes, *, world: World | None = None
    ) -> None:
        """Keep under the channel's name, sealed with the server's secret key."""
        self._store = store
        self._channel = channel
        self._secret = secret
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

    @cached_property
    def _seal(self) -> Fernet:
        return _seal(self._secret)

    def _now(self) -> Millis:
        return self._world.now()

    def _opened(self, key: str, sealed: bytes | None) -> bytes | None:
        if sealed is None:
            return None
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - see above

        try:
            return self._seal.decrypt(sealed)
        except InvalidToken as exc:
            raise SealBroken(
                f"what the channel {self._channel} keeps as {key!r} can't be opened: it is damaged,"
                " or was sealed with another PARLEY_SECRET_KEY. Set the secret key that it was"
                " sealed with, or set the channel up again."
            ) from exc


def _seal(secret: bytes) -> Fernet:
    from cryptography.fernet import Fernet  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    derived = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=_PURPOSE).derive(secret)
    return Fernet(urlsafe_b64encode(derived))
