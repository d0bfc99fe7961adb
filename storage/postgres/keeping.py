"""What is kept for others, API keys, and the kill switch: rows that belong to no thread."""

from __future__ import annotations

from agent_core.thread.events import Millis
from storage.errors import IdTaken
from storage.postgres import rows, statements
from storage.postgres.asking import Asking
from storage.postgres.failures import Clash
from storage.texts import after_prefix, check_names, check_text, is_storable
from storage.values import ApiKey, KeyId


class Keeping(Asking):
    """The part of the store that knows nothing of threads."""

    # --- what is kept for others

    async def recall(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give what was kept."""
        found = await self._find(statements.RECALL, owner, key, now)
        return found[0]["value"] if found else None

    async def keep(
        self,
        owner: str,
        key: str,
        value: bytes | None,
        *,
        now: Millis,
        expires_at: Millis | None = None,
    ) -> None:
        """Keep it, or forget it."""
        check_text(owner, "owner")
        check_text(key, "key")
        check_names("key", key, owner)
        if value is None or (expires_at is not None and expires_at <= now):
            await self._again(statements.FORGET, owner, key)
        else:
            await self._again(statements.KEEP, owner, key, value, expires_at)

    async def take(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give it to one, and forget it; never twice, so a lost connection loses it."""
        if not is_storable(owner + key):
            return None
        found = await self._driver.fetch(statements.TAKE, owner, key, now, again=False)
        return found[0]["value"] if found else None

    async def kept(self, owner: str, *, prefix: str = "", now: Millis) -> list[str]:
        """Give the keys of an owner."""
        end = after_prefix(prefix)
        if end:
            found = await self._find(statements.KEPT_FROM, owner, prefix, end, now)
        else:
            found = await self._find(statements.KEPT, owner, now)
        return [row["key"] for row in found]

    # --- keys and the kill switch

    async def add_key(self, key: ApiKey) -> None:
        """Keep a key's hash."""
        check_text(key.name, "name")
        scopes = " ".join(key.scopes)
        arguments = (key.id, key.name, key.hash, scopes, key.created_at, key.revoked_at)
        try:
            await self._driver.fetch(statements.ADD_KEY, *arguments, again=False)
        except Clash as clash:
            raise IdTaken(f"there is an API key {key.id} already") from clash

    async def keys(self) -> list[ApiKey]:
        """List all keys."""
        return [rows.key(row) for row in await self._again(statements.KEYS)]

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        found = await self._find(statements.KEY_BY_HASH, digest)
        return rows.key(found[0]) if found else None

    async def revoke_key(self, key: KeyId, *, now: Millis) -> bool:
        """Make a key useless."""
        if not is_storable(key):
            return False
        return bool(await self._driver.fetch(statements.REVOKE_KEY, key, now, again=False))

    async def halted(self) -> str:
        """Give the reason of the kill switch."""
        found = await self._again(statements.HALTED)
        return str(found[0]["value"]) if found else ""

    async def set_halt(self, reason: str) -> None:
        """Pull or lift the kill switch."""
        check_text(reason, "reason")
        await self._again(statements.SET_HALT, reason)
