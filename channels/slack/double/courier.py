"""How Slack tells the app: signed over HTTP, or through an open socket; and again when it must.

An event that isn't answered with a 2xx in time is sent again, up to three times. A click, a form
or a command is sent once: its person sees that it failed, and clicks again.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from channels.slack.double.changes import Changes
from channels.slack.double.delivery import Attempt, Delivery, Kind
from channels.slack.double.records import Payload
from channels.slack.double.sockets import Sockets

_OK = range(200, 300)


@dataclass(slots=True, kw_only=True)
class Retries:
    """How patient Slack is. Slack itself waits nothing, a minute and five minutes."""

    timeout: float = 3.0
    delays: tuple[float, ...] = (0.05, 0.2, 0.5)
    duplicates: int = 0
    """How many times more each event is sent although it was acknowledged."""


class Courier:
    """Carries deliveries to the app."""

    def __init__(
        self, *, signing_secret: str, clock: Callable[[], float], changes: Changes
    ) -> None:
        self.signing_secret = signing_secret
        self.request_url: str | None = None
        self.retries = Retries()
        self.deliveries: list[Delivery] = []
        self.sockets = Sockets(changes)
        self._clock = clock
        self._changes = changes
        self._session: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Be ready to send."""
        everyone_at_once = aiohttp.TCPConnector(limit=0)
        self._session = aiohttp.ClientSession(connector=everyone_at_once, trust_env=False)

    async def close(self) -> None:
        """Drop whatever is still to be sent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sockets.close()
        if self._session is not None:
            await self._session.close()

    # ------------------------------------------------------------------------ sending

    async def send(self, kind: Kind, payload: Payload) -> Delivery:
        """Send once and wait for the answer; the retries of an event go on by themselves."""
        delivery = Delivery(kind=kind, payload=payload)
        self.deliveries.append(delivery)
        await self._try(delivery, number=0, reason=None)
        if kind != "events_api" or self._is_settled(delivery):
            delivery.is_done = True
        else:
            self.background(self._retry(delivery))
        for _ in range(self.retries.duplicates if kind == "events_api" else 0):
            await self.resend(delivery)
        self._changes.notify()
        return delivery

    def send_later(self, kind: Kind, payload: Payload) -> None:
        """Send without making anyone wait: the echo of what the app itself did."""

        async def send() -> None:
            await self.send(kind, payload)

        self.background(send())

    async def resend(self, delivery: Delivery) -> Attempt:
        """Send the same event once more, as Slack does when it missed the answer."""
        number = len(delivery.attempts)
        return await self._try(delivery, number=number, reason="http_timeout")

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside everything else, for as long as the double runs."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_settled(self, delivery: Delivery) -> bool:
        return delivery.acked or delivery.last.no_retry

    async def _retry(self, delivery: Delivery) -> None:
        for number, delay in enumerate(self.retries.delays, start=1):
            await asyncio.sleep(delay)
            await self._try(delivery, number=number, reason=delivery.last.failure)
            if self._is_settled(delivery):
                break
        delivery.is_done = True
        self._changes.notify()

    async def _try(self, delivery: Delivery, *, number: int, reason: str | None) -> Attempt:
        over_socket = self.request_url is None or self.sockets.is_connected
        attempt = Attempt(
            number=number, started=self._clock(), over="socket" if over_socket else "http"
        )
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self.retries.timeout):
                if over_socket:
                    await self._over_socket(delivery, attempt, reason)
                else:
                    await self._over_http(delivery, attempt, reason)
        except TimeoutError:
            attempt.failure = "http_timeout"
        except (aiohttp.ClientError, ConnectionError):
            attempt.failure = "connection_failed"
        attempt.took = loop.time() - began
        delivery.attempts.append(attempt)
        self._changes.notify()
        return attempt

    async def _over_socket(self, delivery: Delivery, attempt: Attempt, reason: str | None) -> None:
        attempt.response = await self.sockets.ask(
            delivery.kind, delivery.payload, retry=attempt.number, reason=reason
        )
        attempt.status = 200

    # --------------------------------------------------------------------------- HTTP

    async def _over_http(self, delivery: Delivery, attempt: Attempt, reason: str | None) -> None:
        if self._session is None or self.request_url is None:
            raise RuntimeError("the double is not running, or knows no request_url")
        body, content_type = _body(delivery)
        headers = {"Content-Type": content_type, **self.signed(body)}
        if attempt.number:
            headers["X-Slack-Retry-Num"] = str(attempt.number)
            headers["X-Slack-Retry-Reason"] = reason or "unknown_error"
        async with self._session.post(
            self.request_url, data=body, headers=headers, allow_redirects=False
        ) as answer:
            attempt.status = answer.status
            attempt.text = await answer.text()
            attempt.no_retry = answer.headers.get("X-Slack-No-Retry") == "1"
        attempt.response = _parsed(attempt.text)
        if attempt.status not in _OK:
            attempt.failure = "http_error"

    def signed(self, body: bytes, *, timestamp: str | None = None) -> dict[str, str]:
        """Give the headers by which the app knows that this is from Slack, and from now."""
        timestamp = str(int(self._clock())) if timestamp is None else timestamp
        base = b"v0:" + timestamp.encode() + b":" + body
        digest = hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        return {
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": f"v0={digest}",
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }


def _body(delivery: Delivery) -> tuple[bytes, str]:
    form = "application/x-www-form-urlencoded"
    match delivery.kind:
        case "events_api":
            return json.dumps(delivery.payload).encode(), "application/json"
        case "interactive":
            return urlencode({"payload": json.dumps(delivery.payload)}).encode(), form
        case "slash_commands":
            return urlencode(delivery.payload).encode(), form


def _parsed(text: str) -> Payload:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {"text": text} if text else {}
    return parsed if isinstance(parsed, dict) else {}
