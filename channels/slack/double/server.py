"""The double's HTTP: it reads requests and makes trouble. What is done stands in `api`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aiohttp import web

from channels.slack.double.api.call import Args
from channels.slack.double.api.methods import METHODS, perform
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload
from channels.slack.double.requests import read_args, read_json, read_token
from channels.slack.double.responses import respond
from channels.slack.double.trouble import Fault
from channels.slack.double.world import Recorded, World

_RATE_LIMITED = 429
Answer: TypeAlias = Callable[[], Awaitable[web.Response]]


class Server:
    """The routes that an app talks to."""

    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[web.RouteDef]:
        """Give them all."""
        return [
            web.get("/api/{method}", self._api),
            web.post("/api/{method}", self._api),
            web.get("/link/", self._link),
            web.post("/actions/{secret}", self._respond),
            web.get("/files-pri/{file}/{name}", self._file),
            web.get("/login", self._login),
        ]

    # ------------------------------------------------------------------------ Web API

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            args = await read_args(request)
        except ApiError as exc:
            return web.json_response(exc.shown())
        token = read_token(request, args)
        recorded = Recorded(method=method, args=args, token=token, at=self._world.clock())
        self._world.calls.append(recorded)

        async def answer() -> web.Response:
            return await self._perform(recorded)

        return await self._through_trouble(request, method, answer, recorded)

    async def _perform(self, recorded: Recorded) -> web.Response:
        try:
            args = Args(recorded.args)
            body = await perform(self._world, recorded.method, args, recorded.token)
        except ApiError as exc:
            body = exc.shown()
        retry_after = body.pop("retry_after", None)
        if body.get("error") == "ratelimited":
            return _rate_limited(retry_after)
        recorded.response = body
        return web.json_response(body, headers=self._headers(recorded))

    def _headers(self, recorded: Recorded) -> dict[str, str]:
        headers = {"X-Slack-Req-Id": self._world.stamps.secret()}
        if recorded.method in METHODS:
            headers["X-Accepted-OAuth-Scopes"] = ",".join(METHODS[recorded.method].scopes)
        try:
            grant = self._world.grants.check(recorded.token, self._world.clock())
        except ApiError:
            return headers
        return headers | {"X-OAuth-Scopes": ",".join(grant.scopes)}

    # ------------------------------------------------------------------------ trouble

    async def _through_trouble(
        self, request: web.Request, name: str, answer: Answer, recorded: Recorded | None = None
    ) -> web.StreamResponse:
        """Answer, unless trouble was ordered for what is called so."""
        try:
            response = await self._troubled(name, answer)
        finally:
            self._world.changes.notify()
        if response is None:
            return _cut(request)
        if recorded is not None:
            recorded.status = response.status
        self._world.changes.notify()
        return response

    async def _troubled(self, name: str, answer: Answer) -> web.Response | None:
        trouble = self._world.trouble
        if trouble.is_down:
            return web.Response(status=trouble.down_status) if trouble.down_status else None
        fault = trouble.next(name)
        if fault is None:
            return await answer()
        if fault.hang:
            await asyncio.sleep(fault.hang)
        if fault.drop == "before":
            return None
        if fault.error or fault.status:
            return _refusal(fault)
        response = await answer()
        return None if fault.drop == "after" else response

    # ------------------------------------------------------------------- other routes

    async def _link(self, request: web.Request) -> web.StreamResponse:
        if self._world.trouble.is_down:
            return _cut(request)
        return await self._world.courier.sockets.accept(request)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = await read_json(request)
        recorded = Recorded(method="response_url", args=body, token=None, at=self._world.clock())
        self._world.calls.append(recorded)

        async def answer() -> web.Response:
            try:
                respond(self._world, request.match_info["secret"], body)
            except ApiError as exc:
                recorded.response = exc.shown()
                return web.json_response(recorded.response, status=404)
            recorded.response = {"ok": True}
            return web.Response(text="ok")

        return await self._through_trouble(request, "response_url", answer, recorded)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        async def answer() -> web.Response:
            return self._served_file(request)

        return await self._through_trouble(request, "files", answer)

    async def _login(self, _: web.Request) -> web.StreamResponse:
        text = "<!doctype html><title>Sign in | Slack</title><h1>Sign in to your workspace</h1>"
        return web.Response(text=text, content_type="text/html")

    def _served_file(self, request: web.Request) -> web.Response:
        """Give a file's bytes; without a good token Slack sends to its login page: no 401."""
        team_id, _, file_id = request.match_info["file"].partition("-")
        try:
            token = read_token(request, {})
            grant = self._world.grants.check(token, self._world.clock())
            grant.need("files:read")
        except ApiError:
            return web.Response(status=302, headers={"Location": f"{self._world.url}/login"})
        team = self._world.teams.get(team_id)
        if team is None or file_id not in team.files or grant.team_id not in {None, team_id}:
            return web.Response(status=404)
        file = team.files[file_id]
        return web.Response(body=file.content, content_type=file.mimetype)


def _refusal(fault: Fault) -> web.Response:
    if fault.status == _RATE_LIMITED:
        return _rate_limited(fault.retry_after)
    if fault.error:
        body: Payload = {"ok": False, "error": fault.error}
        return web.json_response(body, status=fault.status or 200)
    return web.Response(status=fault.status or 500, text="<html>trouble</html>")


def _rate_limited(retry_after: float | None) -> web.Response:
    seconds = 1 if retry_after is None else retry_after
    body = {"ok": False, "error": "ratelimited"}
    return web.json_response(body, status=_RATE_LIMITED, headers={"Retry-After": f"{seconds:g}"})


def _cut(request: web.Request) -> web.Response:
    """End the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)
