"""What may be stored: plain JSON, checked where it is passed in, with the path of what is not.

A log that a database, another process and another year must read holds no Python objects.
Nothing here converts: a value that would come back different (a tuple, a set, NaN) is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import msgspec

from agent_core.errors import NotJson

Json: TypeAlias = Any
_Copy: TypeAlias = Callable[[Any, str, int], Any]
JsonObject: TypeAlias = dict[str, Any]

MAX_DEPTH = 100
"""Deeper nesting is refused: no honest value needs it, and every reader recurses."""


def _bare_text(value: object) -> str:
    """Write a str subclass (an enum's member, a Markup) as the text that it is."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(_kind(value))


MAX_BITS = 13_000
"""Python itself refuses to write integers of more than 4,300 digits."""

_encode = msgspec.json.Encoder(enc_hook=_bare_text).encode
_encode_plain = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def plain(value: object, path: str = "$") -> Json:
    """Copy a JSON value, or raise NotJson with the path of the first thing that is not JSON."""
    return _plain(value, path, 0)


def plain_object(value: object, path: str = "$") -> JsonObject:
    """Copy a JSON object, or raise NotJson."""
    if not isinstance(value, dict):
        raise NotJson(path, f"an object was expected, not {_kind(value)}")
    return _copy_dict(value, path, 0)


def storable(value: msgspec.Struct, path: str) -> bytes:
    """Write one of our own values as JSON; text in it that no database stores is refused."""
    try:
        text = _encode(value)
    except UnicodeEncodeError:
        text = b"\\u0000"  # half of a surrogate pair: find out where it is
    except TypeError as exc:
        raise NotJson(path, str(exc)) from exc
    if b"\\u0000" in text:
        builtins = msgspec.to_builtins(value, enc_hook=_bare_text)
        _plain(_as_lists(builtins), path, -10)  # our own layers don't count
    try:
        _reader(type(value))(text)  # what could not be read must not be written
    except msgspec.ValidationError as exc:
        raise NotJson(path, str(exc)) from exc
    return text


@cache
def _reader(kind: type) -> Callable[[bytes], object]:
    return msgspec.json.Decoder(kind).decode


def canonical(value: Json) -> bytes:
    """Give the one spelling of a value that digests are made of."""
    return _encode_sorted(value)


def compact(value: Json) -> str:
    """Write a value as short JSON text, for a model or a person to read."""
    return _encode_plain(value).decode()


def _as_lists(value: object) -> object:
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_lists(item) for item in value]
    return value


def _plain(value: object, path: str, depth: int) -> Json:
    if value is None or value is True or value is False:
        return value
    if depth > MAX_DEPTH:
        raise NotJson(path, f"it is nested more than {MAX_DEPTH} deep")
    copy = _COPIES.get(type(value)) or _copy_of_subclass(value)
    if copy is None:
        raise NotJson(path, _kind(value))
    return copy(value, path, depth)


def _copy_of_subclass(value: object) -> _Copy | None:
    """Find how to copy an enum's member, a Markup or the like."""
    return next((copy for kind, copy in _COPIES.items() if isinstance(value, kind)), None)


def _copy_str(value: str, path: str, _depth: int) -> str:
    if "\0" in value:
        raise NotJson(path, "text with a NUL character, which databases refuse")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotJson(path, "text with half of a surrogate pair") from None
    return str.__str__(value)  # the bare text of a str subclass, as of an enum's member


def _copy_float(value: float, path: str, _depth: int) -> float:
    if not math.isfinite(value):
        raise NotJson(path, f"the number {value}")
    return float(value)


def _copy_int(value: int, path: str, _depth: int) -> int:
    if value.bit_length() > MAX_BITS:
        raise NotJson(path, "a number of more than 4,000 digits")
    return int(value)


def _copy_list(value: list[Any], path: str, depth: int) -> list[Json]:
    return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]


def _copy_dict(value: dict[Any, Any], path: str, depth: int) -> JsonObject:
    for key in value:
        if not isinstance(key, str):
            raise NotJson(path, f"the key {key!r} is {_kind(key)}, not text")
    return {
        _copy_str(key, f"{path} (a key)", depth): _plain(item, f"{path}.{key}", depth + 1)
        for key, item in value.items()
    }


def _kind(value: object) -> str:
    name = type(value).__qualname__
    hint = ": pass a list" if isinstance(value, (tuple, set, frozenset)) else ""
    return f"a Python {name}{hint}"


_COPIES: dict[type, _Copy] = {
    str: _copy_str,
    int: _copy_int,
    float: _copy_float,
    list: _copy_list,
    dict: _copy_dict,
}
