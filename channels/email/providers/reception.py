"""The doors for providers: verify, parse, take; 2xx when the mail is durable, not before.

Whatever is forged hears the same 401, so that nobody learns which part of it was wrong.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias
from urllib.parse import parse_qs

import msgspec

from agent_core.errors import ParleyError
from channels.email.mail import Envelope
from channels.email.options import EmailOptions
from channels.email.providers import mailgun, postmark, sendgrid, ses
from channels.email.providers.brought import Brought, Forged, Unusable, WrongType
from channels.email.providers.fetching import fetch
from channels.email.providers.forms import parse_form
from channels.intake import Memory
from channels.web_routes import WebRequest, WebResponse

_log = logging.getLogger("parley.email")

Take: TypeAlias = Callable[[bytes, Envelope | None], Awaitable[object]]
Fetch: TypeAlias = Callable[[str], Awaitable[bytes]]

MOST_BODY: Final = 16_000_000
"""A mail of 10 MB, in Base64 or JSON, and what stands around it."""
_MOST_CERTIFICATES: Final = 10


def provider_paths(options: EmailOptions) -> tuple[str, ...]:
    """Name the doors that are open: those of providers that can prove who they are."""
    signed = ("mailgun", "mailgun/mime") if options.mailgun_key else ()
    secret = ("postmark", "sendgrid") if options.inbound_secret else ()
    topics = ("ses",) if options.sns_topics else ()
    return tuple(f"/email/inbound/{name}" for name in (*signed, *secret, *topics))


class Providers:
    """Takes what providers post."""

    def __init__(
        self,
        options: EmailOptions,
        take: Take,
        memory: Memory,
        *,
        fetch: Fetch = fetch,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take who fetches certificates, and a clock that gives seconds since 1970."""
        self._options = options
        self._take = take
        self._memory = memory
        self._fetch = fetch
        self._clock = clock
        self._used: set[str] = set()
        self._certificates: dict[str, bytes] = {}
        self._fetching = asyncio.Lock()
        self._open = provider_paths(options)

    async def receive(self, request: WebRequest) -> WebResponse:
        """Answer a provider."""
        if request.path not in self._open:
            return _said(404, "there is no such door")
        if request.headers.get("content-encoding", "identity") != "identity":
            return _said(415, "the body must not be compressed")
        try:
            await self._received(request)
        except Forged:
            _log.warning("mail refused: its provider is not proven", extra={"path": request.path})
            return _said(401, "this does not prove that it comes from the provider")
        except WrongType as exc:
            return _said(415, str(exc))
        except Unusable as exc:
            _log.error("mail of a provider unusable", extra={"error": str(exc)})
            return _said(422, str(exc))
        except ParleyError as exc:
            _log.warning("mail not taken now", extra={"error": type(exc).__name__})
            return _said(503, "not taken just now; please try again later", retry=30)
        return _said(200, "taken")

    async def _received(self, request: WebRequest) -> None:
        match request.path.split("/")[3]:
            case "mailgun":
                await self._mailgun(request)
            case "postmark":
                self._require_secret(request)
                await self._hand_in(postmark.parse(_json(request)))
            case "sendgrid":
                self._require_secret(request)
                await self._hand_in(sendgrid.parse(_form(request)))
            case _:
                await self._sns(request)

    async def _hand_in(self, brought: Brought, *, checked_by: str = "") -> None:
        """Hand a mail in; unless its provider writes them, its Authentication-Results are brought.

        Then they are the writer's own, whatever name they bear.
        """
        is_direct = not checked_by or self._options.authserv_id.lower() != checked_by
        envelope = msgspec.structs.replace(brought.envelope, is_direct=is_direct)
        await self._take(brought.raw, envelope)

    def _require_secret(self, request: WebRequest) -> None:
        wanted = self._options.inbound_secret.encode()
        given = [*_in_query(request.query), *_in_basic(request.headers.get("authorization", ""))]
        # All are compared, so that the time taken tells nothing.
        fitting = [hmac.compare_digest(wanted, one) for one in given]
        if not wanted or not any(fitting):
            raise Forged

    # Mailgun

    async def _mailgun(self, request: WebRequest) -> None:
        fields = _form(request)
        token = mailgun.verify(fields, self._options.mailgun_key, self._clock())
        key = f"mailgun:{hashlib.sha256(token.encode()).hexdigest()[:32]}"
        brought = mailgun.parse(fields)
        digest = hashlib.sha256(brought.raw).digest()
        kept = await self._memory.recall(key)
        if kept == digest:
            return  # they have not heard that we took it
        if key in self._used or kept is not None:
            raise Forged  # somebody uses a signature again, with another mail
        self._used.add(key)
        try:
            await self._hand_in(brought)
            await self._memory.keep(key, digest, seconds=3 * mailgun.FRESH_SECONDS)
        finally:
            self._used.discard(key)

    # Amazon

    async def _sns(self, request: WebRequest) -> None:
        notice = ses.parse_notice(request.body)
        url = ses.certificate_url(notice, self._options.sns_topics, self._clock())
        ses.verify(notice, await self._certificate(url), self._clock())
        if notice["Type"] == "Notification":
            brought = ses.parse(notice)
            if brought is not None:
                await self._hand_in(brought, checked_by=ses.AUTHSERV_ID)
        elif notice["Type"] == "SubscriptionConfirmation":
            await self._confirm(notice.get("SubscribeURL", ""))

    async def _confirm(self, url: str) -> None:
        """Say yes to a topic that the operator has named."""
        if not ses.is_amazons(url):
            raise Forged
        await self._fetch(url)
        _log.info("topic of Amazon SNS confirmed")

    async def _certificate(self, url: str) -> bytes:
        async with self._fetching:  # one at a time: anybody may name us a certificate
            if url not in self._certificates:
                if len(self._certificates) >= _MOST_CERTIFICATES:
                    self._certificates.clear()
                self._certificates[url] = await self._fetch(url)
            return self._certificates[url]


def _form(request: WebRequest) -> dict[str, bytes]:
    return parse_form(request.body, request.headers.get("content-type", ""))


def _json(request: WebRequest) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise WrongType("JSON is expected")
    return request.body


def _in_query(query: str) -> list[bytes]:
    try:
        found = parse_qs(query, max_num_fields=20).get("secret", [])
    except ValueError:
        return []
    return [one.encode("utf-8", "replace") for one in found]


def _in_basic(authorization: str) -> list[bytes]:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "basic":
        return []
    try:
        _, found, password = base64.b64decode(given.strip(), validate=True).partition(b":")
    except (ValueError, binascii.Error):
        return []
    return [password] if found else []


def _said(status: int, words: str, *, retry: int = 0) -> WebResponse:
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    if retry:
        headers["Retry-After"] = str(retry)
    return WebResponse(status=status, body=f"{words}\n".encode(), headers=headers)
