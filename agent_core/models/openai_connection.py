"""One SDK client, in one event loop: sends a request, gives back checked chunks.

Imports `openai`, which takes a second: `OpenAIChat` imports this module when it is first used,
and nobody else does. Retries are not here (the SDK's own are off), nor is the reply's assembly.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2
import openai

from agent_core.errors import ModelRejected, ModelUnavailable
from agent_core.models.chunk import parse_chunk, parse_whole_answer
from agent_core.models.openai_errors import refuses_stream_options, translated

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator

    from agent_core.models.chunk import Chunk
    from agent_core.models.server import Server

_LONGEST_CONNECT = 10.0
_MOST_BYTES_UNSTREAMED = 16_000_000


class Connection:
    """Talks to the server; its connections are kept open between calls."""

    def __init__(self, server: Server, *, idle_timeout: float) -> None:
        self._server = server
        try:
            self._client = _client(server, idle_timeout)
        except httpx2.InvalidURL as exc:
            raise ModelRejected(f"OPENAI_BASE_URL is not an address: {exc}") from exc

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        await self._client.close()

    async def chunks(self, body: dict[str, Any]) -> AsyncGenerator[Chunk, None]:
        """Send the request and give its chunks; close the generator to hang up."""
        with translated(self._server):
            async with await self._open(body) as stream:
                kind = stream.response.headers.get("content-type", "")
                if "json" in kind:
                    yield parse_whole_answer(await _whole(stream))
                    return
                if "html" in kind:
                    raise ModelUnavailable(
                        f"{self._server.address} answered with a web page: is a proxy in between, "
                        "or does OPENAI_BASE_URL lack its /v1?"
                    )
                async for data in stream:
                    yield parse_chunk(data)

    async def _open(self, body: dict[str, Any]) -> openai.AsyncStream[object]:
        if self._server.takes_stream_options:
            try:
                return await self._post({"stream_options": {"include_usage": True}, **body})
            except openai.APIStatusError as exc:
                if not refuses_stream_options(exc):
                    raise
                self._server.takes_stream_options = False
        return await self._post({k: v for k, v in body.items() if k != "stream_options"})

    async def _post(self, body: dict[str, Any]) -> openai.AsyncStream[object]:
        """Post as the SDK's `chat.completions.create` does, but for two things.

        Parameters that only other servers know (`top_k`) pass, and chunks come as plain JSON: the
        SDK's models check nothing, so checking them ourselves needs no detour over its classes.
        """
        headers = {} if self._server.api_key else {"Authorization": openai.Omit()}
        try:
            return await self._client.post(
                "/chat/completions",
                cast_to=object,
                body=body,
                options={"headers": headers, "security": {"bearer_auth": True}},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except (TypeError, ValueError, RecursionError) as exc:
            # Raised before anything is sent, by a NaN, a lone surrogate or an object.
            raise ModelRejected(f"the request can't be written as JSON: {exc}") from exc


def _client(server: Server, idle_timeout: float) -> openai.AsyncOpenAI:
    connect = min(idle_timeout, _LONGEST_CONNECT)
    timeout = httpx2.Timeout(idle_timeout, connect=connect)
    return openai.AsyncOpenAI(
        api_key=server.api_key or "none",
        base_url=server.base_url or "https://api.openai.com/v1",
        max_retries=0,
        timeout=timeout,
        # The SDK's default client closes itself in whatever loop runs when it is collected.
        http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, verify=_tls()),
    )


@cache
def _tls() -> ssl.SSLContext:
    # Reading the certificates takes 30 ms, all the rest of a client 0.2: read them once.
    return httpx2.create_ssl_context()


async def _whole(stream: openai.AsyncStream[object]) -> bytes:
    body = bytearray()
    async for piece in stream.response.aiter_bytes():
        body += piece
        if len(body) > _MOST_BYTES_UNSTREAMED:
            raise ModelRejected(f"the answer is longer than {_MOST_BYTES_UNSTREAMED:,} bytes")
    return bytes(body)
