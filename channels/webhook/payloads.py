"""Bodies: JSON as RFC 8259 has it, also in the field `payload` of a form, as GitHub may send it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

from pydantic_core import from_json

from agent_core.errors import ParleyError
from agent_core.json_values import Json

_FORM = "application/x-www-form-urlencoded"
_FIELD = "payload"


class Malformed(ParleyError):
    """The body can't be read; the words are for its sender."""


def read_payload(headers: Mapping[str, str], body: bytes) -> Json:
    """Give what a body holds, or raise Malformed."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    text = _field(body) if kind == _FORM else body
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as exc:
        raise Malformed(f"The body is not JSON: {exc}.") from exc


def _field(body: bytes) -> str:
    try:
        fields = parse_qs(body.decode(), strict_parsing=True, max_num_fields=10, errors="strict")
        (value,) = fields[_FIELD]
    except (ValueError, KeyError) as exc:
        raise Malformed(f"A form must have exactly one field {_FIELD!r}, with JSON.") from exc
    return value
