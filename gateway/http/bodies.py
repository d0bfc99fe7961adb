"""Bodies: read under limits, parsed strictly, checked against a view. What does not fit is named.

The order is that of the cost: the headers' claims first, then the bytes as they come, then JSON,
then what no database takes, then the view.
"""

from __future__ import annotations

import asyncio
from typing import TypeVar

from aiohttp import web
from aiohttp.streams import StreamReader
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from agent_core.errors import NotJson
from agent_core.json_values import Json, plain
from gateway.http.options import HttpOptions
from gateway.http.problems import (
    INVALID,
    MALFORMED_JSON,
    MALFORMED_REQUEST,
    TOO_LARGE,
    TOO_SLOW,
    UNSUPPORTED_MEDIA_TYPE,
    Problem,
    misfit,
)

Model = TypeVar("Model", bound=BaseModel)
BytesT = TypeVar("BytesT", bytes, bytearray)

_MOST_ERRORS = 50


async def read_body(request: web.Request, options: HttpOptions, most: int) -> bytes:
    """Give the whole body of a call, which must be JSON."""
    _check_size(request, most)
    _check_type(request)
    return await _read(request, options, most)


async def read_raw(request: web.Request, options: HttpOptions, most: int) -> bytes:
    """Give the whole body as it was sent, whatever it is: a channel checks its signature."""
    _check_size(request, most)
    return await _read(request, options, most)


async def _read(request: web.Request, options: HttpOptions, most: int) -> bytes:
    """Read it; it must keep coming at a decent pace, and end in time."""
    if "Expect" in request.headers:
        await _invite(request)
    try:
        if request.content.is_eof():  # all of it is here: nobody has to be waited for
            return _within(request.content.read_nowait(), most)
        return await _read_on(request.content, options, most)
    except TimeoutError:
        raise Problem(TOO_SLOW, headers={"Connection": "close"}) from None
    except web.RequestPayloadError:
        raise Problem(MALFORMED_REQUEST, "The body is not framed as its headers say.") from None


async def _read_on(content: StreamReader, options: HttpOptions, most: int) -> bytes:
    body = bytearray()
    end = asyncio.get_running_loop().time() + options.body_deadline
    async with asyncio.timeout_at(end) as deadline:
        async for chunk in content.iter_any():
            body += chunk
            _within(body, most)
            deadline.reschedule(end + len(body) / options.body_rate)
    return bytes(body)


def parse_json(body: bytes) -> Json:
    """Read JSON as RFC 8259 has it, and refuse what can't be stored, with its place."""
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as exc:
        raise Problem(MALFORMED_JSON, f"The body is not JSON: {exc}.") from None
    if _needs_no_check(body, value):
        return value
    try:
        return plain(value, "body")
    except NotJson as exc:
        raise misfit(exc.path, f"can't be stored: {exc.problem}") from None


def _needs_no_check(body: bytes, value: Json) -> bool:
    """Tell whether it is an object of texts in which nothing was escaped by its number.

    Most bodies are. Only such an escape makes a NUL or half a surrogate pair, only a number can be
    too large, and only a list or an object can be nested.
    """
    return (
        type(value) is dict and b"\\u" not in body and {str}.issuperset(map(type, value.values()))
    )


def fit(value: Json, view: type[Model]) -> Model:
    """Make a view of a parsed body, or tell every place that does not fit."""
    try:
        return view.model_validate(value, strict=True)
    except ValidationError as exc:
        whole = _whole_numbers(exc)
        if not whole:
            raise misfits("body", exc) from None
    return fit({**value, **whole}, view)


def misfits(where: str, error: ValidationError) -> Problem:
    """Tell every place that does not fit, without the values that stood there."""
    places = [_place(where, one) for one in error.errors(include_input=False, include_url=False)]
    first = "; ".join(f"{one['at']}: {one['problem']}" for one in places[:3])
    more = f"; and {len(places) - 3} more" if len(places) > 3 else ""  # noqa: PLR2004 (as above)
    return Problem(INVALID, first + more, {"errors": places[:_MOST_ERRORS]})


def _whole_numbers(error: ValidationError) -> dict[str, int]:
    """Give the fields where an integer was written as `5.0`: to JSON that is the same number."""
    return {
        str(one["loc"][0]): int(one["input"])
        for one in error.errors(include_url=False)
        if one["type"] == "int_type" and isinstance(one["input"], float)
        if one["input"].is_integer() and len(one["loc"]) == 1
    }


def _place(where: str, error: ErrorDetails) -> dict[str, str]:
    at = ".".join([where, *(str(part)[:200] for part in error["loc"])])
    unknown = error["type"] == "extra_forbidden"
    return {"at": at, "problem": "there is no such field" if unknown else error["msg"]}


def _check_size(request: web.Request, most: int) -> None:
    if request.content_length is not None and request.content_length > most:
        raise _too_large(most)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem(
            UNSUPPORTED_MEDIA_TYPE,
            "Send the body without a Content-Encoding.",
            headers={"Accept-Encoding": "identity"},
        )


def _check_type(request: web.Request) -> None:
    if request.headers.get("Content-Type") == "application/json":
        return
    if request.body_exists and not _is_json(request):
        raise Problem(
            UNSUPPORTED_MEDIA_TYPE,
            "Send JSON, with `Content-Type: application/json`.",
            headers={"Accept": "application/json"},
        )


def _is_json(request: web.Request) -> bool:
    if "Content-Type" not in request.headers:
        return False
    charset = (request.charset or "utf-8").lower()
    return request.content_type == "application/json" and charset in {"utf-8", "utf8", "us-ascii"}


async def _invite(request: web.Request) -> None:
    """Say 100 Continue only now: the claims fit, and whoever asks may."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # it is no part of the response


def _within(body: BytesT, most: int) -> BytesT:
    if len(body) > most:
        raise _too_large(most)
    return body


def _too_large(most: int) -> Problem:
    return Problem(
        TOO_LARGE, f"A body may have {most} bytes.", {"limit": most}, {"Connection": "close"}
    )
