"""`parley halt`: what its commands do."""

from __future__ import annotations

import json

from gateway.cli.doing import calls, screen
from gateway.http.client import Client, Reply

_PATH = "/v1/halt"


def pull(reason: str, *, as_json: bool) -> None:
    """Stop everything."""
    content = json.dumps({"reason": reason})
    _change("PUT", content, "halted, until `parley halt off`", as_json=as_json)


def lift(*, as_json: bool) -> None:
    """Let everything go on."""
    _change("DELETE", None, "lifted: everything goes on", as_json=as_json)


def _change(method: str, content: str | None, done: str, *, as_json: bool) -> None:
    async def work(client: Client, _line: screen.Progress) -> Reply:
        return await client.send(method, _PATH, content=content)

    reply = calls.with_client(work, "asking the server")
    screen.say(done)
    if as_json:
        screen.data(reply.text)
