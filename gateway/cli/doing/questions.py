"""`parley questions`: what its commands do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import typer

from gateway.cli.doing import calls, screen
from gateway.cli.doing.pairs import like, texts
from gateway.cli.doing.screen import Column, Progress
from gateway.cli.doing.threads import moment
from gateway.cli.doing.words import how_to_answer, outcome
from gateway.http.client import Client, Reply, question_path

Question = dict[str, Any]
_COLUMNS = (
    Column("question", whole=True),
    Column("kind"),
    Column("asked"),
    Column("what"),
    Column("thread"),
)


def list_(query: dict[str, object], *, as_json: bool) -> None:
    """List questions."""
    reply = calls.get("/v1/questions", query, "asking the server")
    if as_json:
        return screen.data(reply.text)
    page = reply.data
    rows = [_row(question) for question in page["items"]]
    if not rows:
        return screen.say("nobody is being asked anything")
    screen.print_table(_COLUMNS, rows)
    screen.say(f"for example: {how_to_answer(page['items'][0])}")
    if page["next_cursor"]:
        screen.say(f"there are more: --cursor {page['next_cursor']}")
    return None


def _row(question: Question) -> list[str]:
    became = "" if question["status"] == "open" else f" ({outcome(question)})"
    asked = moment(question["asked_at"])
    what = f"{question['prompt']}{became}"
    return [question["id"], question["kind"], asked, what, question["thread_id"]]


@dataclass(frozen=True)
class Decision:
    """An answer's value, and changes to the arguments of what is approved."""

    value: Any
    edits: dict[str, str] = field(default_factory=dict)

    def with_edits(self, question: Question) -> object:
        """Give the value with what the edits make of the question's arguments."""
        arguments = question["arguments"] or {}
        changed = {name: like(arguments.get(name), text) for name, text in self.edits.items()}
        return self.value | {"arguments": arguments | changed}


def decision(
    *, approve: bool, deny: bool, edit: list[str], value: str | None, text: str | None
) -> Decision:
    """Tell which answer was meant; exactly one must be."""
    if [approve, deny, value is not None, text is not None].count(True) != 1:
        raise typer.BadParameter("choose one of --approve, --deny, --value JSON and --text TEXT")
    if edit and not approve:
        raise typer.BadParameter("--edit goes with --approve")
    if approve or deny:
        return Decision({"approved": approve}, texts(edit, "--edit"))
    return Decision(text if value is None else _json(value))


def answer(question: str, decided: Decision, *, comment: str, as_json: bool) -> None:
    """Answer a question."""

    async def work(client: Client, _line: Progress) -> Reply:
        value = decided.value
        if decided.edits:
            value = decided.with_edits((await client.get(question_path(question))).data)
        body = {"value": value} | ({"comment": comment} if comment else {})
        return await client.post(f"{question_path(question)}/answer", body)

    reply = calls.with_client(work, "answering")
    if as_json:
        return screen.data(reply.text)
    became = "counted" if reply.data["status"] == "open" else "answered"
    screen.say(f"{became}: {outcome(reply.data)}")
    return screen.data(reply.data["id"])


def change(question: str, what: str, *, reason: str, as_json: bool) -> None:
    """Withdraw a question, or take its approval back."""

    async def work(client: Client, _line: Progress) -> Reply:
        return await client.post(f"{question_path(question)}/{what}", {"reason": reason})

    reply = calls.with_client(work, "asking the server")
    if as_json:
        return screen.data(reply.text)
    screen.say(f"question {outcome(reply.data)}")
    return screen.data(reply.data["id"])


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise typer.BadParameter(f"--value is not JSON: {exc}") from exc
