"""Forms and queries: read once, strictly, into plain values."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from gateway.http.problems import MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE, Problem
from gateway.inbox.requests import Values

_FORM: Final = "application/x-www-form-urlencoded"
_MOST_INPUTS: Final = 500


def parse_form(content_type: str, body: bytes) -> Values:
    """Read what a form has sent."""
    if content_type.partition(";")[0].strip().lower() != _FORM:
        raise Problem(UNSUPPORTED_MEDIA_TYPE, "Please use the form on the page.")
    try:
        return _parsed(body.decode("utf-8"))
    except ValueError:
        raise Problem(MALFORMED_REQUEST, "The form can't be read. Please try again.") from None


def parse_address(query: str) -> Values:
    """Read what stands after the question mark."""
    try:
        return _parsed(query)
    except ValueError:
        raise Problem(MALFORMED_REQUEST, "The address can't be read.") from None


def _parsed(text: str) -> Values:
    values = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_INPUTS, errors="strict")
    if any("\0" in one for several in values.values() for one in several):
        raise ValueError("no database takes a NUL")
    return values
