"""Slack over HTTP: events, clicks and commands come to one address."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import parse_qs

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from channels.slack.parsing.payloads import is_readable
from channels.slack.signatures import Signatures
from channels.web_routes import WebRequest, WebResponse

_log = logging.getLogger("parley.slack")
PATH: Final = "/slack/events"
MOST_BYTES: Final = 2_000_000
"""Slack's largest payloads, of forms with long texts, stay far below."""
_FORM: Final = "application/x-www-form-urlencoded"
_NOT_YET: Final = WebResponse(status=503, headers={"Retry-After": "5"})


class HttpDoor:
    """Lets in what Slack has signed; before the channel is started, and after, nothing."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures
        self._app: AsyncApp | None = None

    def open(self, app: AsyncApp) -> None:
        """Take requests from now on."""
        self._app = app

    def close(self) -> None:
        """Take no more."""
        self._app = None

    async def __call__(self, request: WebRequest) -> WebResponse:
        """Answer one request."""
        if len(request.body) > MOST_BYTES:
            return WebResponse(status=413)
        if "content-encoding" in request.headers:
            return WebResponse(status=415)  # what was signed is not what arrived
        if not self._signatures.are_good(request):
            return WebResponse(status=200 if _is_ssl_check(request) else 401)
        if self._app is None:
            return _NOT_YET
        payload = _read(request)
        if payload is None:
            _log.warning("slack request unreadable")
            return WebResponse(status=400)
        answer = await self._app.async_dispatch(payload)
        return WebResponse(
            status=answer.status,
            body=answer.body.encode(),
            headers={name.title(): value for name, value in answer.first_headers().items()},
        )


def _read(request: WebRequest) -> AsyncBoltRequest | None:
    """Let Bolt read it; in a shape that Slack never sends, Bolt stumbles here or later."""
    try:
        read = AsyncBoltRequest(
            body=request.body.decode(), query=request.query, headers=dict(request.headers)
        )
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return None
    return read if is_readable(read.body) else None


def _is_ssl_check(request: WebRequest) -> bool:
    """Slack looks at times whether a command's address has a good certificate, without signing."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind == _FORM and parse_qs(request.body.decode(errors="replace")).get("ssl_check") == [
        "1"
    ]
