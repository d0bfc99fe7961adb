"""Sign in with Slack: somebody says who they are, and is sent back to the app with a code."""

from __future__ import annotations

from aiohttp import web

from channels.slack.double.consents import Consent
from channels.slack.double.page.authorize import back
from channels.slack.double.page.templates import page
from channels.slack.double.world import World

PATH = "/openid/connect/authorize"


class Identify:
    """`/openid/connect/authorize`. With `team` and `user` in the query they have said so."""

    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[web.RouteDef]:
        """Give the page, and where its buttons lead."""
        return [web.get(PATH, self._show), web.post(PATH, self._decide)]

    async def _show(self, request: web.Request) -> web.Response:
        query = dict(request.query)
        refusal = self._refusal(query)
        if refusal:
            return web.Response(status=400, text=refusal)
        if query.get("user"):
            return self._said(query)
        people = [
            (team, user)
            for team in self._world.teams.values()
            for user in team.users.values()
            if not user.is_bot
        ]
        return page("identify.html", people=people, query=query, path=PATH)

    async def _decide(self, request: web.Request) -> web.Response:
        form = {key: str(value) for key, value in (await request.post()).items()}
        refusal = self._refusal(form)
        if refusal:
            return web.Response(status=400, text=refusal)
        return back(form, error="access_denied") if form.get("deny") else self._said(form)

    def _refusal(self, query: dict[str, str]) -> str | None:
        if query.get("client_id") != self._world.credentials.client_id:
            return "invalid_client_id"
        if not query.get("redirect_uri", "").startswith(("http://", "https://")):
            return "bad_redirect_uri"
        if "openid" not in query.get("scope", ""):
            return "invalid_scope"
        return None

    def _said(self, query: dict[str, str]) -> web.Response:
        team = self._world.teams.get(query.get("team", ""))
        if team is None or query.get("user", "") not in team.users:
            return web.Response(status=400, text="invalid_user")
        consent = Consent(
            scopes=tuple(query["scope"].replace(",", " ").split()),
            redirect_uri=query["redirect_uri"],
            user=query["user"],
            made=self._world.clock(),
            team_id=team.id,
            nonce=query.get("nonce", ""),
        )
        return back(query, code=self._world.consents.add(consent))
