"""What the tests of the client share: a request, and a client that is closed at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import pytest

from agent_core.models import ModelRequest, OpenAIChat
from tests.doubles.openai_server import OpenAIServer

Connect: TypeAlias = Callable[..., OpenAIChat]

KEY = "sk-very-secret-123"


@pytest.fixture
def request_() -> ModelRequest:
    """Give an ordinary request."""
    return ModelRequest(messages=[{"role": "user", "content": "hi"}])


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Make clients of a server, and close them after the test."""
    clients: list[OpenAIChat] = []

    def make(server: OpenAIServer | str, **settings: Any) -> OpenAIChat:  # noqa: ANN401
        url = server if isinstance(server, str) else server.url
        client = OpenAIChat(**{"base_url": url, "api_key": KEY, "environ": {}, **settings})
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.aclose()
