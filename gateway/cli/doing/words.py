"""What the command line adds to events in words: deliveries, outcomes, and how to answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.cli.doing.plain import shown
from gateway.control.event_words import decision


def delivered(delivery: Mapping[str, Any]) -> str:
    """Tell what became of a message to somebody."""
    kind, _, what = delivery["kind"].partition(".")
    match delivery["status"]:
        case "failed":
            how = f"failed: {delivery.get('error') or 'nobody knows why'}"
        case "pending" if delivery.get("attempts"):
            how = f"tried {delivery['attempts']} times"
        case "pending":
            how = f"waits until {delivery['due_at']}" if delivery.get("due_at") else "waits"
        case status:
            how = str(status)
    return f"{what or kind}, {how}"


def how_to_answer(question: Mapping[str, Any]) -> str:
    """Give the command that answers a question."""
    how = {
        "approval": "--approve | --deny [--comment WHY]",
        "text": "--text TEXT",
        "choice": "--text CHOICE",
    }.get(question["kind"], "--value JSON")
    return f"parley questions answer {shown(question['id'])} {how}"


def outcome(question: Mapping[str, Any]) -> str:
    """Tell what became of a question."""
    if question.get("taken_back"):
        return "taken back; it is asked anew"
    if question["status"] == "open" and question.get("votes"):
        return f"still open: {len(question['votes'])} said, {question['quorum']} must agree"
    if question["status"] != "answered":
        return str(question["status"])
    return f"{decision(question['answer'])} by {question.get('answered_by') or 'somebody'}"
