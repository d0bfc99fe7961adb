"""What the SDK and the HTTP library under it raise, in our own words.

Imports `openai`, which takes a second: only the connection may import this module. Whether
another try may help is decided here and nowhere else.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2
import openai

from agent_core.errors import ModelError, ModelRejected, ModelUnavailable
from agent_core.models.retry_after import parse_retry_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_core.models.server import Server

_PASSING = frozenset({408, 409, 425, 429})  # and all 5xx: the next try may find it well
_SERVER_FAULT = 500
_LONGEST_QUOTE = 500

_HINTS = {
    401: "refused the key; check OPENAI_API_KEY",
    403: "doesn't let this key use the model; check OPENAI_API_KEY and OPENAI_MODEL",
    404: "has no such model or address; check OPENAI_MODEL and OPENAI_BASE_URL",
}


@contextmanager
def translated(server: Server) -> Iterator[None]:
    """Turn whatever goes wrong with the server into `ModelUnavailable` or `ModelRejected`."""
    try:
        yield
    # httpx2 and OSError: the SDK lets them out when the body of an error page breaks off.
    # ValueError and RecursionError: an event that is no JSON, no UTF-8, or nested without end.
    except (openai.OpenAIError, httpx2.HTTPError, OSError, ValueError, RecursionError) as exc:
        # A cause that quotes the key would carry it into the log.
        quotes_key = server.without_key(str(exc)) != str(exc)
        raise translate(exc, server) from (None if quotes_key else exc)


def translate(exc: Exception, server: Server) -> ModelError:
    """Say what happened, for people, without the key and without what was asked."""
    match exc:
        case openai.APIStatusError():
            return _from_status(exc, server)
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return ModelUnavailable(f"the model server {server.address} was silent for too long")
        case openai.APIConnectionError() | httpx2.HTTPError() | OSError():
            return ModelUnavailable(f"the connection to {server.address} failed or broke off")
        case openai.APIError():
            said = _quote(exc.message, server)
            return ModelUnavailable(f"the model server broke its reply off: {said}")
        case _:
            return ModelUnavailable(f"the model server {server.address} sent a malformed stream")


def refuses_stream_options(exc: openai.APIStatusError) -> bool:
    """Whether it was `stream_options` that the server didn't take (Groq: 400; Mistral: 422).

    Looks at the whole answer, because Mistral's message is an object and not a text.
    """
    return exc.status_code in {400, 422} and "stream_options" in exc.response.text


def _from_status(exc: openai.APIStatusError, server: Server) -> ModelError:
    status = exc.status_code
    said = _quote(_message(exc), server)
    if status in _PASSING or status >= _SERVER_FAULT:
        wait = parse_retry_after(exc.response.headers, now=time.time())
        text = f"the model server {server.address} is unavailable ({status}){said}"
        return ModelUnavailable(text, retry_after=wait)
    hint = _HINTS.get(status, "rejected the request")
    return ModelRejected(f"the model server {server.address} {hint} ({status}){said}")


def _message(exc: openai.APIStatusError) -> str:
    """Find the server's own words; FastAPI's servers call them `detail`.

    Never the whole body: it may be a proxy's HTML page, or quote the conversation.
    """
    body = exc.body if isinstance(exc.body, dict) else {}
    said = body.get("message") or body.get("detail")
    return f": {said}" if isinstance(said, str) else ""


def _quote(text: str, server: Server) -> str:
    return server.without_key(text)[:_LONGEST_QUOTE]
