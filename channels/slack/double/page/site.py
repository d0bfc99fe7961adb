"""The page's routes, and who may use them: a browser on this machine, from this page."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from urllib.parse import urlsplit

from aiohttp import web

from channels.slack.double.page.acts import ACTS, Form, perform
from channels.slack.double.page.sight import sight
from channels.slack.double.page.templates import asset, page
from channels.slack.double.workspace import Workspace
from channels.slack.double.world import World

_HOSTS = {"127.0.0.1", "localhost"}
_WAIT = 20.0


class Site:
    """The workspaces as web pages."""

    def __init__(self, world: World, workspaces: Mapping[str, Workspace]) -> None:
        self._world = world
        self._workspaces = workspaces

    def routes(self) -> list[web.RouteDef]:
        """Give them all."""
        return [
            web.get("/", self._show),
            web.get("/changes", self._changes),
            web.get("/page.{kind:css|js}", self._asset),
            web.post("/act/{name}", self.act),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        check_visitor(request)
        if not self._world.teams:
            return web.Response(text="There is no workspace yet.")
        seen = sight(self._world, request.query)
        return page("workspace.html", **seen.values(self._world, request.query.get("note", "")))

    async def _changes(self, request: web.Request) -> web.Response:
        """Answer when something has changed since the page was made, or after a while."""
        changes, seen = self._world.changes, int(request.query.get("seen", "0"))
        with contextlib.suppress(TimeoutError):
            await changes.until(lambda: changes.count != seen, _WAIT)
        return web.json_response({"changed": changes.count != seen})

    async def _asset(self, request: web.Request) -> web.Response:
        return asset(f"page.{request.match_info['kind']}")

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form says, and lead back to the page."""
        check_visitor(request)
        posted = await request.post()
        form = Form({name: [str(value) for value in posted.getall(name)] for name in posted})
        name, team = request.match_info["name"], form.get("team") or ""
        if name not in ACTS or team not in self._workspaces:
            raise web.HTTPNotFound
        return await perform(self._workspaces[team], name, form)


def check_visitor(request: web.Request) -> None:
    """Refuse other sites: one could post here from a browser, or point its own name at loopback."""
    host = urlsplit(f"//{request.host}").hostname
    origin = request.headers.get("Origin")
    if host not in _HOSTS or (origin is not None and origin != f"http://{request.host}"):
        raise web.HTTPForbidden
