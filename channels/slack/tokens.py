"""Signed values: what a button or a form carries, so that nobody can make up or change one.

    v1.SIGNATURE.ACTION.DIGEST.QUESTION      on a button or an option
    v1.SIGNATURE.{JSON}                      in a form, as `private_metadata`

The signature binds the action to one question, and to the card that was shown. That a value works
once only is the question's to see to: open → answered is one compare-and-set.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass

import msgspec

from agent_core.errors import ParleyError
from agent_core.json_values import JsonObject, canonical, compact
from channels.outgoing import QuestionCard

_VERSION = "v1"
_DIGEST_LETTERS = 16


class ForgedValue(ParleyError):
    """A value that this gateway did not sign, or not for this: refuse it, and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What a click asks for."""

    question: str
    name: str
    """`approve`, `deny`, `deny-reason`, `edit`, `show`, `answer`, `fill`, `pick`,
    `choose-3`, `agree-1`."""
    digest: str
    """Of the card that was clicked: compare it with `card_digest` of the question as it is now."""


def card_digest(card: QuestionCard) -> str:
    """Name what a person sees when they decide; another tool or argument is another card."""
    options = [[option.name, option.description] for option in card.options]
    shown = [card.id, card.kind, card.prompt, card.context, options]
    value = [*shown, card.schema, card.tool, card.arguments]
    return hashlib.sha256(canonical(value)).hexdigest()[:_DIGEST_LETTERS]


def sign_action(secret: bytes, card: QuestionCard, name: str) -> str:
    """Make the value of a button."""
    body = f"{name}.{card_digest(card)}.{card.id}"
    return f"{_VERSION}.{_signature(secret, 'action', body)}.{body}"


def read_action(secret: bytes, value: str) -> Action:
    """Give what a value asks for, or raise ForgedValue."""
    body = _verified(secret, "action", value)
    name, _, rest = body.partition(".")
    digest, _, question = rest.partition(".")
    return Action(question=question, name=name, digest=digest)


def sign_metadata(secret: bytes, value: JsonObject) -> str:
    """Write what a form must bring back with it."""
    body = compact(value)
    return f"{_VERSION}.{_signature(secret, 'form', body)}.{body}"


def read_metadata(secret: bytes, text: str) -> JsonObject:
    """Read what a form brought back, or raise ForgedValue."""
    body = _verified(secret, "form", text)
    value = msgspec.json.decode(body)
    if not isinstance(value, dict):
        raise ForgedValue("a form's metadata is an object")
    return value


def _verified(secret: bytes, purpose: str, value: str) -> str:
    version, _, rest = value.partition(".")
    signature, _, body = rest.partition(".")
    expected = _signature(secret, purpose, body)
    good = hmac.compare_digest(signature.encode(errors="replace"), expected.encode())
    if version != _VERSION or not good:
        raise ForgedValue("this button or form was not made by this gateway")
    return body


def _signature(secret: bytes, purpose: str, body: str) -> str:
    """Sign for one purpose: what is good on a button is no good in a form."""
    message = f"slack/{_VERSION}/{purpose}\0{body}".encode(errors="surrogatepass")
    digest = hmac.new(secret, message, hashlib.sha256).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
