"""`POST /r/TOKEN`: the answer of a program that was asked by a callback. The token is its right.

GET and HEAD change nothing, so that no scanner of links ever answers. Whether the callback may
decide is the intake's to say; here it is only known that the token is ours, and not too old.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from pydantic_core import from_json

from agent_core.json_values import Json, JsonObject
from channels.callback import answers
from channels.callback.addresses import PREFIX
from channels.callback.links import Link, NoSuchLink, read_link
from channels.inbound import Decision
from channels.intake import Gatehouse, Received
from channels.people import Actor
from channels.web_routes import WebRequest, WebResponse

PATH = "/r/{token}"
HOW = "response_url"
_LONGEST_COMMENT = 100_000
_FIELDS = frozenset({"value", "comment"})


class _Misfit(ValueError):
    """The body is JSON, and not what it should be."""


@dataclass(frozen=True, slots=True)
class Responding:
    """Takes answers for the gateway."""

    secret: bytes
    now: Callable[[], int]

    async def refuse(self, _request: WebRequest) -> WebResponse:
        """Say how to answer to somebody who only looks."""
        return answers.ONLY_POST

    async def receive(self, request: WebRequest, house: Gatehouse) -> WebResponse:
        """Answer the question that the token names."""
        token = request.path.rpartition("/")[2]
        try:
            link = read_link(token, self.secret)
            value, comment = _read(request.body)
        except NoSuchLink:
            return answers.UNKNOWN
        except _Misfit as exc:
            return answers.misfit(str(exc))
        except ValueError as exc:
            return answers.malformed(f"The body is not JSON: {exc}.")
        if link.expires_at <= self.now():
            return answers.EXPIRED
        received = await house.intake.receive(_decision(link, token, value, comment))
        return _told(received, await house.desk.question_view(link.question))


def _read(body: bytes) -> tuple[Json, str]:
    """Read `{value, comment?}`, as the API takes it."""
    given = from_json(body, allow_inf_nan=False)
    if not isinstance(given, dict) or "value" not in given or not given.keys() <= _FIELDS:
        raise _Misfit("The body is an object with value, and perhaps comment.")
    comment = given.get("comment") or ""
    if not isinstance(comment, str) or len(comment) > _LONGEST_COMMENT:
        raise _Misfit(f"comment is a text of {_LONGEST_COMMENT} characters at the most.")
    return given["value"], comment


def _decision(link: Link, token: str, value: Json, comment: str) -> Decision:
    return Decision(
        key=f"response:{hashlib.sha256(token.encode()).hexdigest()}",
        place=f"{PREFIX}{link.callback}",
        actor=Actor(id=f"{PREFIX}{link.host}", name=link.host, how=HOW),
        question=link.question,
        value=value,
        comment=comment,
    )


def _told(received: Received, question: JsonObject | None) -> WebResponse:
    if question is None:
        return answers.UNKNOWN
    if received.effect == "taken":
        return answers.answered(question)
    if received.effect == "copy":
        by = question["answered_by"]
        since = f"the question was answered by {by}" if by else "it decided as far as it could"
        return answers.settled(question, f"This response URL was used before: {since}.")
    if received.is_shape:
        return answers.wrong_shape(received.words)
    if question["status"] != "open":
        return answers.settled(question, received.words)
    return answers.forbidden(received.words)
