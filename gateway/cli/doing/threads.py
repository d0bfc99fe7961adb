"""`parley threads`: what its commands do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gateway.cli.doing import calls, screen
from gateway.cli.doing.following import follow
from gateway.cli.doing.screen import Column, Progress
from gateway.http.client import ApiError, Client, thread_path
from gateway.settings.environment import SettingsError

_COLUMNS = (
    Column("thread", whole=True),
    Column("agent"),
    Column("status"),
    Column("updated"),
    Column("waits for, or result"),
)
_PAGE = 1000
_NOT_FOUND = 404


def list_(query: dict[str, object], *, as_json: bool) -> None:
    """List threads."""
    reply = calls.get("/v1/threads", query, "asking the server")
    if as_json:
        return screen.data(reply.text)
    page = reply.data
    rows = [_row(thread) for thread in page["items"]]
    if rows:
        screen.print_table(_COLUMNS, rows)
    else:
        screen.say("no threads")
    if page["next_cursor"]:
        screen.say(f"there are more: --cursor {page['next_cursor']}")
    return None


def _row(thread: dict[str, Any]) -> list[str]:
    asked = [question["prompt"] for question in thread["questions"]]
    last = asked[0] if asked else thread["error"] or thread["result"] or ""
    return [thread["id"], thread["agent"], thread["status"], moment(thread["updated_at"]), last]


def moment(iso: str) -> str:
    """Write a moment short enough for a table."""
    return iso[:16].replace("T", " ")


def show(thread: str, *, follow: bool, as_json: bool) -> None:
    """Tell a thread."""
    if follow:
        return _follow(thread, as_json=as_json)
    if as_json:
        return screen.data(calls.get(thread_path(thread), {}, "asking the server").text)
    return calls.with_client(lambda client, line: _tell(client, line, thread), "reading")


async def _tell(client: Client, line: Progress, thread: str) -> None:
    from gateway.cli.doing.timeline import Timeline, foot, head  # noqa: PLC0415 - it needs rich

    found = (await client.get(thread_path(thread))).data
    console = screen.data_console()
    timeline = Timeline(console)
    events, told = await _log(client, thread), await _told(client, thread)
    line.hide()
    console.print(head(found))
    for event in events:
        timeline.print(event)
        for delivery in told.get(event["seq"], ()):
            timeline.tell(delivery)
    console.print(foot(found))


async def _told(client: Client, thread: str) -> dict[int, list[dict[str, Any]]]:
    """Give who heard where, by the event; a server of an earlier version can't tell."""
    try:
        page = (await client.get(f"{thread_path(thread)}/deliveries")).data
    except ApiError as exc:
        if exc.status != _NOT_FOUND:
            raise
        return {}
    found: dict[int, list[dict[str, Any]]] = {}
    for one in page["items"]:
        if not one["address"].startswith("web:"):  # that is this very log
            found.setdefault(one["event"], []).append(one)
    return found


async def _log(client: Client, thread: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while True:
        query = {"after": len(events), "limit": _PAGE}
        page = (await client.get(f"{thread_path(thread)}/events", query)).data
        events += page["items"]
        if len(page["items"]) < _PAGE:
            return events


def _follow(thread: str, *, as_json: bool) -> None:
    from gateway.cli.doing.timeline import Timeline, foot  # noqa: PLC0415 - it needs rich

    console = screen.data_console()
    timeline = Timeline(console)

    def hear(event: dict[str, Any]) -> None:
        if as_json:
            screen.data(json.dumps(event, ensure_ascii=False))
        else:
            timeline.print(event)

    async def work(client: Client, line: Progress) -> dict[str, Any]:
        return await follow(client, thread, hear, line)

    over = calls.with_client(work, "reading")
    if not as_json:
        console.print(foot(over))


def steer(verb: str, thread: str, body: dict[str, object], *, as_json: bool) -> None:
    """Pause, resume, cancel, retry or fork."""
    given = {name: value for name, value in body.items() if value not in ("", None)}
    reply = calls.post(f"{thread_path(thread)}/{verb}", given or None, "asking the server")
    _acknowledge(reply.text, reply.data, as_json=as_json)


def _acknowledge(text: str, thread: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return screen.data(text)
    screen.say(f"the thread is {thread['status']}")
    return screen.data(thread["id"])


def export(thread: str, *, markdown: bool) -> None:
    """Print a whole thread."""
    reply = calls.get(f"{thread_path(thread)}/export", {}, "reading")
    screen.data(_as_markdown(reply.text) if markdown else reply.text)


def _as_markdown(checkpoint: str) -> str:
    from agent_core.context.markdown import thread_as_markdown  # noqa: PLC0415
    from agent_core.thread.checkpoint import Log  # noqa: PLC0415

    return thread_as_markdown(Log.read(checkpoint)[0].events)


def import_(file: Path, *, as_json: bool) -> None:
    """Take over a thread."""
    text = _read(file)

    async def work(client: Client, _line: Progress) -> None:
        reply = await client.send("POST", "/v1/threads/import", content=text)
        _acknowledge(reply.text, reply.data, as_json=as_json)

    calls.with_client(work, "importing")


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as exc:
        raise SettingsError(f"{file} can't be read: {exc.strerror}") from exc
    except UnicodeError as exc:
        raise ApiError(f"{file} is no exported thread: it is not text") from exc
