"""The callback channel: what happens in a thread, told to a program; and that program's answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

import aiohttp
from aiohttp.abc import AbstractResolver

from agent_core.json_values import JsonObject
from channels.callback.addresses import NAME, BadCallback, Target, mark, parse_address
from channels.callback.endpoints import Endpoints, Trouble
from channels.callback.links import Link, sign_link
from channels.callback.options import CallbackOptions
from channels.callback.render import TOLD, render
from channels.callback.requests import Outcome, Requests
from channels.callback.responding import PATH, Responding
from channels.callback.schedule import failure
from channels.callback.signing import message_id, signed_headers
from channels.channel import Capabilities, GiveUp, Live, NoSuchAddress, Sent, TryLater
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.web_routes import WebHandler, WebRequest, WebResponse

_log = logging.getLogger("parley.callback")

_LASTS_MS = 30 * 24 * 3_600_000
_NOTICE = (
    "A callback endpoint at {host} is disabled ({why}): nothing more is sent there. "
    "`parley callbacks list` shows it; `parley callbacks enable` and `parley callbacks replay` "
    "take it up again."
)
"""How long a response URL is good where the question itself never expires."""


class CallbackChannel:
    """Addresses are `callback:URL`."""

    name = NAME
    capabilities = Capabilities(follows=True)
    live: Live | None = None

    def __init__(
        self,
        options: CallbackOptions,
        *,
        clock: Callable[[], float] = time.time,
        make_resolver: Callable[[], AbstractResolver] = aiohttp.ThreadedResolver,
    ) -> None:
        self._options = options
        self._clock = clock
        self._requests = Requests(
            options.guard, options.timeout_seconds, make_resolver=make_resolver
        )
        self._responding = Responding(options.secret_key, self._now)
        self._house: Gatehouse | None = None

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve response URLs."""
        return {("POST", PATH): self._receive, ("GET", PATH): self._responding.refuse}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:  # noqa: ARG002 (the server knocks only where it serves)
        """Take what to look at and to remember with."""
        self._house = house

    async def stop(self) -> None:
        """Let go: no connection outlives its request."""
        self._house = None

    async def _receive(self, request: WebRequest) -> WebResponse:
        assert self._house is not None, "routes are served between start and stop"  # noqa: S101 (ours)
        return await self._responding.receive(request, self._house)

    # Out

    async def send(self, message: Outgoing) -> Sent:
        """Send it as a signed webhook, in the order of the outbox."""
        try:
            target = parse_address(message.address)
            self._options.guard.check(target)
        except BadCallback as exc:
            raise NoSuchAddress(str(exc)) from exc
        if message.kind not in TOLD:
            return Sent(receipt={"told": False})
        house = self._house
        if house is None:
            raise TryLater("the channel is stopping")
        endpoints = Endpoints(house.memory, self._now)
        if await endpoints.disabled(target) is not None:
            raise GiveUp("the endpoint is disabled: `parley callbacks enable` turns it on again")
        body = await self._body(house, message, target)
        return await self._post(endpoints, target, message, body)

    async def _body(self, house: Gatehouse, message: Outgoing, target: Target) -> bytes:
        card = message.question
        thread = await house.desk.thread_view(message.thread)
        question = None if card is None else await house.desk.question_view(card.id)
        may_answer = message.kind == "question.asked" and card is not None
        is_open = question is not None and question["status"] == "open"
        url = self._response_url(message, target) if may_answer and is_open else ""
        return render(message, thread, question, url)

    def _response_url(self, message: Outgoing, target: Target) -> str:
        card = message.question
        assert card is not None, "a question is asked"  # noqa: S101 (ours)
        link = Link(
            question=card.id,
            callback=mark(target.address),
            host=target.host,
            expires_at=card.expires_at or card.asked_at + _LASTS_MS,
        )
        return f"{self._options.public_url}/r/{sign_link(link, self._options.secret_key)}"

    async def _post(
        self, endpoints: Endpoints, target: Target, message: Outgoing, body: bytes
    ) -> Sent:
        own = message_id(message.id)
        signed = signed_headers(self._options.signing_keys, own, int(self._clock()), body)
        headers = {"Content-Type": "application/json", "User-Agent": "Parley", **signed}
        outcome = await self._requests.post(target, headers, body)
        if outcome.is_taken:
            await endpoints.succeeded(target)
            return Sent(receipt={"status": outcome.status, "webhook_id": own})
        trouble = await self._note(endpoints, target, outcome)
        if trouble.disabled_at is not None:
            extra = {"endpoint": mark(target.endpoint), "thread_id": message.thread}
            _log.error("callback endpoint disabled", extra={**extra, "error": trouble.error})
            told = f"{outcome.why}; the endpoint is disabled from now on"
            raise GiveUp(told, notice=_NOTICE.format(host=target.host, why=outcome.why))
        raise failure(outcome.why, message.attempt, wished=outcome.wished)

    async def _note(self, endpoints: Endpoints, target: Target, outcome: Outcome) -> Trouble:
        """Note a failure; one who says that it is gone is taken at its word."""
        if outcome.is_unwanted:
            return await endpoints.disable(target, outcome.why)
        return await endpoints.failed(target, outcome.why)

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Change nothing: that a question is settled is a message of its own."""

    async def health(self) -> str:
        """Be well: an endpoint that fails is its owner's trouble, and is listed."""
        return ""

    def _now(self) -> int:
        return round(self._clock() * 1000)
