"""Forms as providers post them: multipart or urlencoded, read in one pass and under limits. Pure.

The bytes of a field stay as they came: a signature in a mail covers each of them.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl

from channels.email.parameters import parse_parameters
from channels.email.providers.brought import Unusable, WrongType

_MOST_FIELDS: Final = 200
_LONGEST_BOUNDARY: Final = 200
_NAME: Final = re.compile(rb'[;\s]name="([^"\r\n]{1,100})"', re.IGNORECASE)


def parse_form(body: bytes, content_type: str) -> dict[str, bytes]:
    """Give the fields of a form; of two with one name the first counts."""
    kind, parameters = parse_parameters(content_type)
    if kind == "application/x-www-form-urlencoded":
        return _urlencoded(body)
    boundary = parameters.get("boundary", "")
    if kind != "multipart/form-data" or not 0 < len(boundary) <= _LONGEST_BOUNDARY:
        raise WrongType("a form is expected: multipart/form-data or urlencoded")
    return _multipart(body, boundary.encode("utf-8", "replace"))


def _urlencoded(body: bytes) -> dict[str, bytes]:
    try:
        # Latin-1 maps each byte to one letter and back: nothing is lost of a mail in any charset.
        pairs = parse_qsl(
            body.decode("latin-1"),
            keep_blank_values=True,
            encoding="latin-1",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError as exc:
        raise Unusable("the form can't be read") from exc
    fields: dict[str, bytes] = {}
    for name, value in pairs:
        fields.setdefault(name, value.encode("latin-1", "replace"))
    return fields


def _multipart(body: bytes, boundary: bytes) -> dict[str, bytes]:
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary, _MOST_FIELDS)
    fields: dict[str, bytes] = {}
    for part in parts[1:]:
        if part.startswith(b"--"):
            return fields
        head, found, content = part.partition(b"\r\n\r\n")
        name = _NAME.search(head) if found else None
        if name:
            fields.setdefault(name[1].decode("utf-8", "replace"), content)
    raise Unusable("the form has no end")


def text(fields: dict[str, bytes], name: str) -> str:
    """Give a field as text; empty if it is not there."""
    return fields.get(name, b"").decode("utf-8", "replace")
