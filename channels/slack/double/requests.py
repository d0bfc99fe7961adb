"""How a request is read: arguments from the query, a form or JSON; the token from anywhere."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from aiohttp import web

from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload


async def read_args(request: web.Request) -> Payload:
    """Read every argument, however it was sent; JSON must be an object."""
    args: Payload = dict(request.query)
    if request.content_type == "application/json":
        args |= await read_json(request)
    else:
        args |= {key: value for key, value in (await request.post()).items() if key not in args}
    return args | _basic(request)


async def read_json(request: web.Request) -> Payload:
    """Read a JSON object, or nothing."""
    body = await request.read()
    if not body:
        return {}
    try:
        parsed: Any = json.loads(body)
    except ValueError as exc:
        raise ApiError("invalid_json") from exc
    if not isinstance(parsed, dict):
        raise ApiError("json_not_object")
    return parsed


def read_token(request: web.Request, args: Payload) -> str | None:
    """Take the token from the header, or out of the arguments."""
    given = args.pop("token", None)
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else given


def _basic(request: web.Request) -> Payload:
    """Read the client's id and secret where OAuth wants them: in the header."""
    kind, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "basic":
        return {}
    try:
        client_id, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return {}
    return {"client_id": client_id, "client_secret": secret}
