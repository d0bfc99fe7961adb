"""What the page's forms do: each asks the workspace as a test would, then shows the page again."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from channels.slack.double.clicking import AppDidNotAnswer
from channels.slack.double.delivery import Delivery
from channels.slack.double.forms import FormRefused, value_field
from channels.slack.double.records import Payload, View
from channels.slack.double.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Form:
    """What a form of the page sent."""

    fields: dict[str, list[str]]

    def __getitem__(self, name: str) -> str:
        """Give a field that the page always sends."""
        return self.fields[name][0]

    def get(self, name: str) -> str | None:
        """Give a field that has something in it."""
        return next((value for value in self.fields.get(name, []) if value), None)

    def all(self, name: str) -> list[str]:
        """Give every tick of a field."""
        return [value for value in self.fields.get(name, []) if value]


Act: TypeAlias = Callable[[Workspace, Form], Awaitable[object]]
_MANY = {"selected_options", "selected_users"}
_AT = re.compile(r"@([\w.-]+)")


async def _say(team: Workspace, form: Form) -> object:
    text, channel = form["text"], form["channel"]
    if text.startswith("/"):
        name, _, rest = text.partition(" ")
        return await team.command(form["as"], channel, name, rest)
    ids = {user.name: user.id for user in team.users}

    def mention(match: re.Match[str]) -> str:
        return f"<@{ids[match[1]]}>" if match[1] in ids else match[0]

    # Slack's three escapes; a mention is made after them, so nobody can type one in its raw form.
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    written = _AT.sub(mention, escaped)
    thread_ts = form.get("thread_ts")
    return await team.says(form["as"], channel, written, thread_ts=thread_ts)


def _target(form: Form) -> Payload:
    """Read which button or menu of which block it was, and what was chosen in it."""
    named = dict(parse_qsl(form["action"]))
    return {
        "action_id": named["action"],
        "block_id": named["block"],
        "value": form.get(f"value:{form['action']}"),
    }


async def _click(team: Workspace, form: Form) -> object:
    return await team.clicks(form["as"], form["ts"], channel=form["channel"], **_target(form))


async def _home_click(team: Workspace, form: Form) -> object:
    return await team.clicks_view(form["as"], view=team.home(form["as"]), **_target(form))


async def _submit(team: Workspace, form: Form) -> object:
    """Send the modal off; a button inside it is a click of its own."""
    view = team.open_view(form["as"])
    if view is None:
        raise LookupError("the modal is no longer open")
    if form.get("action"):
        return await team.clicks_view(form["as"], **_target(form))
    return await team.submits(form["as"], _typed(view, form))


def _typed(view: View, form: Form) -> Payload:
    """Read what a person typed: `input:BLOCK:ACTION` for each input of the modal."""
    values: Payload = {}
    for block in view.blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        given = form.all(f"input:{block['block_id']}:{element['action_id']}")
        is_many = value_field(element["type"]) in _MANY
        value = given if is_many else (given[0] if given else None)
        values[block["block_id"]] = {element["action_id"]: value}
    return values


async def _close(team: Workspace, form: Form) -> object:
    return await team.closes_view(form["as"])


async def _stop(team: Workspace, form: Form) -> object:
    return await team.stops_session(form["as"], form["channel"], form["thread_ts"])


ACTS: dict[str, Act] = {
    "say": _say,
    "click": _click,
    "home-click": _home_click,
    "submit": _submit,
    "close": _close,
    "stop": _stop,
}


async def perform(team: Workspace, name: str, form: Form) -> web.Response:
    """Do it, and lead back to the page, with a note when it failed."""
    note = ""
    try:
        outcome = await ACTS[name](team, form)
        if isinstance(outcome, Delivery) and not outcome.acked:
            note = f"The app did not answer: {outcome.last.failure}."
    except (AppDidNotAnswer, FormRefused, LookupError, ValueError) as exc:
        note = f"{exc}"
    query = {key: form.get(key) or "" for key in ("team", "as", "channel")}
    if not query["channel"]:
        query["home"] = "1"
    if note:
        query["note"] = note
    return web.Response(status=303, headers={"Location": f"/?{urlencode(query)}"})
