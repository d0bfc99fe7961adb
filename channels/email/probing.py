"""Takes the doctor's mails out of what comes in, and writes down that they came."""

from __future__ import annotations

import logging
from hashlib import sha256
from typing import Final

from channels.email.ingest import Ingest, Ingested
from channels.email.mail import Envelope
from channels.email.probe import memory_key, probe_name
from channels.intake import Memory

_log = logging.getLogger("parley.email")
_KEPT_SECONDS: Final = 3_600.0


class Intake:
    """The first to see a mail, whichever way it came."""

    def __init__(self, ingest: Ingest, memory: Memory, secret: bytes) -> None:
        self._ingest = ingest
        self._memory = memory
        self._secret = secret

    async def ingest(self, raw: bytes, envelope: Envelope | None = None) -> Ingested:
        """Take a mail, or raise what says that it could not be taken now."""
        name = probe_name(raw, self._secret)
        if not name:
            return await self._ingest.ingest(raw, envelope)
        await self._memory.keep(memory_key(name), b"1", seconds=_KEPT_SECONDS)
        _log.info("mail of the doctor has come")
        return Ingested(effect="ignored", digest=sha256(raw).hexdigest(), reason="of the doctor")

    async def put_aside(self, raw: bytes, reason: str, digest: str) -> Ingested:
        """Put a mail aside that could not even be looked at."""
        return await self._ingest.put_aside(raw, reason, digest)
