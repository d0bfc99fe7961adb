"""What a delivery would do, without doing it: for whoever sets a source up. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from channels.webhook.declaration import Source
from channels.webhook.mapping import Happened, Mapped, map_payload
from channels.webhook.payloads import Malformed, read_payload
from channels.webhook.schemes import Sealed, body_digest, verify
from channels.webhook.signatures import Forged, Unsigned
from channels.webhook.templates import Unmapped

Proof = Literal["yes", "no", "not signed"]
Effect = Literal["say", "report", "ignore", "refuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """How it would go."""

    verified: Proof
    effect: Effect
    why: str = ""
    """Why it is not verified, ignored, or refused."""
    delivery: str = ""
    mapped: Mapped | None = None
    happened: Happened | None = None


def rehearse(source: Source, headers: Mapping[str, str], body: bytes, now: float) -> Rehearsal:
    """Go through it as the channel does; without a signature, as if there were one."""
    proof: Proof = "yes"
    why = ""
    try:
        delivery = verify(source.lock, Sealed(headers, body, now))
    except Unsigned as exc:
        proof, why, delivery = "not signed", str(exc), body_digest(body)
    except Forged as exc:
        return Rehearsal(verified="no", effect="refuse", why=str(exc))
    try:
        mapped = map_payload(source, read_payload(headers, body), headers)
    except (Malformed, Unmapped) as exc:
        return Rehearsal(verified=proof, effect="refuse", why=str(exc), delivery=delivery)
    if mapped is None:
        why = _unwanted(source)
        return Rehearsal(verified=proof, effect="ignore", why=why, delivery=delivery)
    if isinstance(mapped, Happened):
        return Rehearsal(
            verified=proof, effect="report", why=why, delivery=delivery, happened=mapped
        )
    return Rehearsal(verified=proof, effect="say", why=why, delivery=delivery, mapped=mapped)


def _unwanted(source: Source) -> str:
    if source.message.source:
        return "`when` does not hold"
    return "`when` does not hold, or `event_key` is empty, and there is no `message`"
