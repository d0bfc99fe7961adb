"""`parley callbacks`: what its commands do."""

from __future__ import annotations

import json
import secrets
from typing import Any

from channels.callback.signing import derive_key, show_secret
from gateway.cli.doing import calls, screen
from gateway.cli.doing.screen import Column
from gateway.control.keys import secret_key
from gateway.settings.callback_settings import CallbackSettings
from gateway.settings.environment import Settings, load

_PATH = "/v1/callbacks"
_SECRET_BYTES = 32
_COLUMNS = (
    Column("endpoint", whole=True),
    Column("status"),
    Column("since"),
    Column("failed"),
    Column("error"),
)


def list_(*, as_json: bool) -> None:
    """List the endpoints in trouble."""
    reply = calls.get(_PATH, {}, "asking the server")
    if as_json:
        return screen.data(reply.text)
    items = reply.data["items"]
    if not items:
        return screen.say("all callbacks are well: nothing has failed")
    return screen.print_table(_COLUMNS, [_row(one) for one in items])


def replay(thread: str, url: str, since: str, *, as_json: bool) -> None:
    """Send again what has failed."""
    wishes = {"thread": thread, "url": url, "since": since}
    body = {name: value for name, value in wishes.items() if value}
    reply = calls.post(f"{_PATH}/replay", body, "asking the server")
    if as_json:
        return screen.data(reply.text)
    screen.say("put back into the outbox, in their old order:")
    return screen.data(str(reply.data["replayed"]))


def enable(url: str, *, as_json: bool) -> None:
    """Send to an endpoint again."""
    reply = calls.post(f"{_PATH}/enable", {"url": url}, "asking the server")
    if as_json:
        return screen.data(reply.text)
    failed = reply.data["failed"]
    again = f"; `parley callbacks replay --url {url}` sends {failed} again" if failed else ""
    return screen.say(f"it is enabled{again}")


def secret(*, new: bool, as_json: bool) -> None:
    """Print the secrets that are used, or a new one."""
    shown = [show_secret(one) for one in _keys(new=new)]
    if as_json:
        return screen.data(json.dumps({"secrets": shown}))
    return screen.data("\n".join(shown))


def _keys(*, new: bool) -> tuple[bytes, ...]:
    if new:
        return (secrets.token_bytes(_SECRET_BYTES),)
    own = load(CallbackSettings).keys
    return own or (derive_key(secret_key(load(Settings))),)


def _row(endpoint: dict[str, Any]) -> list[str]:
    since = endpoint["disabled_at"] or endpoint["failing_since"] or ""
    return [
        endpoint["url"],
        endpoint["status"],
        since[:16].replace("T", " "),
        str(endpoint["failed"]),
        endpoint["error"] or "",
    ]
