"""The model client: any server that speaks Chat Completions, streamed.

Chat Completions, because every compatible server has it (vLLM, Ollama, LiteLLM, …). Settings,
time limits and the way of one reply are here. The SDK is not: it is imported at the first call,
because that takes a second which a program without a model shouldn't pay.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent_core.errors import ModelUnavailable
from agent_core.models.assembly import Assembly
from agent_core.models.per_loop import PerLoop
from agent_core.models.server import Server, server_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_core.models.model import ModelReply, ModelRequest, OnText
    from agent_core.models.openai_connection import Connection
    from agent_core.models.prices import Prices

_VENDOR = "agent_core.models.openai_connection"


class OpenAIChat:
    """A model behind OpenAI's API or a compatible one.

    What is not given is read from OPENAI_MODEL, OPENAI_API_KEY and OPENAI_BASE_URL at the first
    call. `timeout` bounds the whole call, `idle_timeout` the silence within it. `options` are
    further fields of the request, like `temperature`, or one that only your server knows.

    Several tasks may use it at once, and so may one event loop after another: each has its own
    connections, which close with the loop, or earlier by `aclose`.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 120.0,
        idle_timeout: float = 60.0,
        prices: Prices | None = None,
        options: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._given = {"model": model, "api_key": api_key, "base_url": base_url}
        self._timeout = timeout
        self._idle_timeout = idle_timeout
        self._prices = prices
        self._options = dict(options or {})
        self._environ = os.environ if environ is None else environ
        self._server: Server | None = None
        self._connections = PerLoop(self._connect)

    async def reply(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Stream one reply; cancelling hangs up on the server at once."""
        server = self._known_server()
        connection = await self._connection()
        assembly = Assembly()
        try:
            await self._listen(connection, self._body(request, server), assembly, on_text)
        except ModelUnavailable:
            # Broken after its end: only the count of tokens is lost, and asking again costs more.
            if not assembly.is_finished:
                raise
        return assembly.reply(model=server.model, prices=self._prices)

    async def aclose(self) -> None:
        """Close the connections of the running loop; a later call opens new ones."""
        await self._connections.aclose()

    async def _listen(
        self,
        connection: Connection,
        body: dict[str, Any],
        assembly: Assembly,
        on_text: OnText | None,
    ) -> None:
        deadline = asyncio.timeout(self._timeout)
        try:
            async with deadline, aclosing(connection.chunks(body)) as chunks:
                async for chunk in chunks:
                    text = assembly.add(chunk)
                    if text and on_text is not None:
                        on_text(text)
        except TimeoutError as exc:
            if not deadline.expired():  # somebody else's, raised in `on_text`
                raise
            late = f"the model's reply was not complete after {self._timeout:g} seconds"
            raise ModelUnavailable(late) from exc

    def _body(self, request: ModelRequest, server: Server) -> dict[str, Any]:
        # An empty list of tools is an error to OpenAI, so it is left out.
        tools = {"tools": request.tools} if request.tools else {}
        own = {"model": server.model, "messages": request.messages, "stream": True}
        return {**self._options, **own, **tools}

    def _known_server(self) -> Server:
        if self._server is None:
            self._server = server_from(**self._given, environ=self._environ)
        return self._server

    async def _connection(self) -> Connection:
        # In a thread, so that the loop goes on with its other work while the SDK is imported.
        if _VENDOR not in sys.modules:
            await asyncio.to_thread(import_module, _VENDOR)
        return await self._connections.get()

    def _connect(self) -> Connection:
        from agent_core.models.openai_connection import Connection  # noqa: PLC0415  (see above)

        return Connection(self._known_server(), idle_timeout=self._idle_timeout)
