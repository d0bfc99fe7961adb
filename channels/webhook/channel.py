"""The webhook channel: whatever can POST begins and resumes threads. Verify, map, hand over.

Nothing goes back by itself: who wants the result reads it by the API. Times and secrets are
checked before a byte of the body is parsed; it is durable when the sender is told 202.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from agent_core.json_values import JsonObject
from channels.channel import Capabilities, Live, NoSuchAddress, Sent
from channels.inbound import Message
from channels.intake import Gatehouse, Received
from channels.occurrences import Events, Occurred, Occurrence
from channels.outgoing import Outgoing
from channels.people import Actor
from channels.web_routes import WebHandler, WebRequest, WebResponse
from channels.webhook import answers
from channels.webhook.declaration import Source
from channels.webhook.mapping import Happened, Mapped, map_payload
from channels.webhook.payloads import Malformed, read_payload
from channels.webhook.schemes import Sealed, verify
from channels.webhook.signatures import Forged
from channels.webhook.templates import Unmapped
from channels.webhook.waiting import WaitingRoom

_log = logging.getLogger("parley.webhook")

_PATH = "/hooks/{name}"
_ADDRESS = re.compile(r"webhook:[^:]+:.")
_RESTED = frozenset({"thread.finished", "thread.failed", "thread.cancelled"})


class Limit(Protocol):
    """So many at once, and so many a second after that."""

    async def take(self, name: str) -> float:
        """Take one: 0.0 if there was one left, else the seconds until there is."""
        ...


class WebhookChannel:
    """Addresses are `webhook:SOURCE:KEY`: a conversation of events, which nobody reads."""

    name = "webhook"
    capabilities = Capabilities(shows_questions=False)
    live: Live | None = None

    def __init__(
        self,
        sources: Iterable[Source],
        *,
        events: Events | None = None,
        limits: Mapping[str, Limit] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Serve these, each as often as its limit says; what they report goes to `events`."""
        self._sources = {source.name: source for source in sources}
        self._events = events
        self._limits = limits or {}
        self._clock = clock
        self._house: Gatehouse | None = None

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve all sources."""
        return {("POST", _PATH): self._receive}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:  # noqa: ARG002 (the server knocks only where it serves)
        """Take what messages are handed to."""
        self._house = house

    async def stop(self) -> None:
        """Let go."""
        self._house = None

    async def _receive(self, request: WebRequest) -> WebResponse:
        source = self._sources.get(request.path.rpartition("/")[2])
        if source is None:
            return answers.UNKNOWN
        try:
            delivery = verify(source.lock, Sealed(request.headers, request.body, self._clock()))
            if wait := await self._wait(source):
                return answers.slow_down(wait)
            payload = read_payload(request.headers, request.body)
            mapped = map_payload(source, payload, request.headers)
        except Forged as exc:
            _log.info("hook refused", extra={"source": source.name, "error": str(exc)})
            return answers.UNPROVEN
        except Malformed as exc:
            return answers.malformed(str(exc))
        except Unmapped as exc:
            return answers.unmapped(f"hooks.{source.name}.{exc}")
        if mapped is None:
            return answers.told("ignored", status=200)
        if isinstance(mapped, Happened):
            return await self._report(occurrence_of(source, delivery, mapped))
        return _answer(await self._hand_over(message_of(source, delivery, mapped)))

    async def _wait(self, source: Source) -> float:
        """Tell how long a sender must wait. Only who has proved to be one is counted."""
        limit = self._limits.get(source.name)
        return 0.0 if limit is None else await limit.take(source.name)

    async def _report(self, occurrence: Occurrence) -> WebResponse:
        """Hand an event to whoever waits for it."""
        if self._events is None:
            return answers.refused("This server keeps no events.")
        return _occurred(await self._events.occur(occurrence))

    async def _hand_over(self, message: Message) -> Received:
        """Hand over; if that can't be now, it raises, and the sender is told to come again."""
        assert self._house is not None, "routes are served between start and stop"  # noqa: S101 (ours)
        if message.repeat == "wait":
            return await WaitingRoom(self._house, self._clock).receive(message)
        return await self._house.intake.receive(message)

    async def send(self, message: Outgoing) -> Sent:
        """Say where to read it; and who waited for the thread's rest goes in now."""
        if not _ADDRESS.match(message.address):
            raise NoSuchAddress(f"{message.address!r} is no conversation of a hook")
        if message.kind in _RESTED and self._house is not None and self._lets_wait(message):
            await WaitingRoom(self._house, self._clock).let_in(message.address)
        return Sent(receipt={"url": f"/v1/threads/{message.thread}"})

    def _lets_wait(self, message: Outgoing) -> bool:
        source = self._sources.get(message.address.split(":")[1])
        return source is not None and source.on_repeat == "wait"

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Change nothing: nothing was shown."""

    async def health(self) -> str:
        """Be well."""
        return ""


def message_of(source: Source, delivery: str, mapped: Mapped) -> Message:
    """Give what a delivery says, as every channel does."""
    requester = mapped.requester or f"webhook:{source.name}"
    return Message(
        key=f"{source.name}:{delivery}",
        place=f"webhook:{source.name}:{mapped.thread_key or delivery}",
        actor=Actor(id=requester, is_authenticated=False),
        text=mapped.text,
        is_addressed=True,
        agent=mapped.agent,
        audience=mapped.audience,
        watchers=source.watchers,
        may_answer=False,
        is_alone=not mapped.thread_key,
        repeat=source.on_repeat if mapped.thread_key else "resume",
    )


def occurrence_of(source: Source, delivery: str, happened: Happened) -> Occurrence:
    """Give what a delivery reports, as every channel does."""
    return Occurrence(
        key=happened.key,
        delivery=f"webhook:{source.name}:{delivery}",
        value=happened.value,
        how=f"webhook {source.name} ({source.lock.scheme})",
    )


def _occurred(occurred: Occurred) -> WebResponse:
    match occurred.effect:
        case "full" | "conflict":
            return answers.refused(occurred.words)
        case effect:
            return answers.told(effect, occurred.thread)


def _answer(received: Received) -> WebResponse:
    """Tell the sender; a copy gets the answer that the first one got."""
    match received.effect:
        case "refused":
            return answers.refused(received.words)
        case "ignored":
            return answers.told("ignored", status=200)
        case "waiting":
            return answers.told("waiting", received.thread)
        case "taken" | "copy":
            return answers.told("taken", received.thread)
