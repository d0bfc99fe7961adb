"""What a response URL tells: the question as it is now, or a problem as RFC 9457 has it. Pure."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from agent_core.json_values import JsonObject
from channels.web_routes import WebResponse

_JSON = {"Content-Type": "application/json", "Cache-Control": "no-store"}
_PROBLEM = {"Content-Type": "application/problem+json", "Cache-Control": "no-store"}


def answered(question: JsonObject | None) -> WebResponse:
    """Show the question that was answered."""
    return WebResponse(body=to_json(question), headers=_JSON)


def problem(
    status: int, name: str, title: str, detail: str, members: JsonObject | None = None
) -> WebResponse:
    """Tell why not."""
    body: dict[str, Any] = {
        "type": f"/problems/{name}",
        "title": title,
        "status": status,
        "detail": detail,
        **(members or {}),
    }
    allow = {"Allow": "POST"} if status == 405 else {}  # noqa: PLR2004 (RFC 9110, section 15.5.6)
    return WebResponse(status=status, body=to_json(body), headers={**_PROBLEM, **allow})


ONLY_POST = problem(
    405,
    "method-not-allowed",
    "This method is not offered here",
    'Looking changes nothing here: POST {"value": …} to answer the question.',
)
UNKNOWN = problem(
    404, "not-found", "There is no such thing", "There is no such response URL, or no question."
)
EXPIRED = problem(
    410,
    "question-closed",
    "The question can no longer be answered",
    "This response URL has expired. Answer over the API, or ask for a new one.",
)


def malformed(detail: str) -> WebResponse:
    """Tell that the body can't be read."""
    return problem(400, "malformed-json", "The body is not JSON", detail)


def misfit(detail: str) -> WebResponse:
    """Tell that the body is not what it should be."""
    return problem(422, "invalid", "The request does not fit", detail)


def wrong_shape(detail: str) -> WebResponse:
    """Tell that the answer does not fit the question, which stays open."""
    return problem(422, "wrong-shape", "The answer does not fit the question", detail)


def forbidden(detail: str) -> WebResponse:
    """Tell that the question is not the callback's to answer."""
    return problem(403, "not-yours", "The question is for somebody else", detail)


def settled(question: JsonObject, detail: str) -> WebResponse:
    """Tell who was first: 410 if nobody can answer any more; where others must too, it is open."""
    members = {"question_status": question["status"], "answered_by": question["answered_by"]}
    if question["status"] in {"answered", "open"}:
        title = "The question was answered before"
        return problem(409, "already-settled", title, detail, members)
    title = "The question can no longer be answered"
    return problem(410, "question-closed", title, detail, members)
