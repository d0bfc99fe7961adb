"""What channels serve over HTTP, mounted beside the control API: raw bytes in, their answer out.

No key: a channel knows its senders by their signatures. The limits on size and time are ours.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from channels.channel import Channel
from channels.web_routes import WebHandler, WebRequest, WebResponse
from gateway.http.bodies import read_raw
from gateway.http.connections import Handler
from gateway.http.endpoints import leave_expectations
from gateway.http.framing import ENTRY
from gateway.http.options import HttpOptions


def mount(app: web.Application, channels: Iterable[Channel], options: HttpOptions) -> None:
    """Add every channel's routes."""
    for channel in channels:
        for (method, path), handler in channel.routes().items():
            serve = _serve(path, handler, options, _most(path, channel, options))
            app.router.add_route(method, path, serve, expect_handler=leave_expectations)


def _most(path: str, channel: Channel, options: HttpOptions) -> int:
    """Tell how large a body may be: a link for people takes no more than usual."""
    is_own = path.startswith(f"/{channel.name}/")
    return max(options.max_body, channel.capabilities.largest_body if is_own else 0)


def _serve(path: str, handler: WebHandler, options: HttpOptions, most: int) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        request[ENTRY].route = path
        request[ENTRY].ids = {}  # in a channel's path may stand a secret, such as a link's token
        body = await read_raw(request, options, most)
        return _response(await handler(_asked(request, body)))

    return serve


def _asked(request: web.Request, body: bytes) -> WebRequest:
    return WebRequest(
        method=request.method,
        path=request.path,
        query=request.query_string,
        headers={name.lower(): value for name, value in request.headers.items()},
        body=body,
        remote=request.remote or "",
    )


def _response(answer: WebResponse) -> web.Response:
    response = web.Response(status=answer.status, body=answer.body, headers=answer.headers)
    for name, value in answer.cookies.items():
        response.set_cookie(name, value, httponly=True, samesite="Lax", max_age=600)
    return response
