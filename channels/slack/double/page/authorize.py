"""OAuth's page: a person allows the app somewhere, and is sent back to it with a code."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from channels.slack.double.consents import Consent
from channels.slack.double.page.templates import page
from channels.slack.double.world import World


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an app may be allowed: a workspace, or a whole organisation."""

    id: str
    name: str
    is_organisation: bool = False


class Authorize:
    """`/oauth/v2/authorize`. With `team` in the query the person has chosen already."""

    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[web.RouteDef]:
        """Give the page, and where its buttons lead."""
        path = "/oauth/v2/authorize"
        return [web.get(path, self._show), web.post(path, self._decide)]

    def _places(self) -> list[_Place]:
        teams = list(self._world.teams.values())
        organisations = {team.enterprise_id: team.enterprise_name for team in teams}
        return [_Place(team.id, team.name) for team in teams] + [
            _Place(id_, name or id_, is_organisation=True)
            for id_, name in organisations.items()
            if id_
        ]

    async def _show(self, request: web.Request) -> web.Response:
        query = self._with_settings(dict(request.query))
        refusal = self._refusal(query)
        if refusal:
            return web.Response(status=400, text=refusal)
        if query.get("team"):
            return self._allowed(query, query["team"])
        scopes = query.get("scope", "").split(",")
        return page(
            "authorize.html", app="The app", scopes=scopes, places=self._places(), query=query
        )

    async def _decide(self, request: web.Request) -> web.Response:
        given = {key: str(value) for key, value in (await request.post()).items()}
        form = self._with_settings(given)
        refusal = self._refusal(form)
        if refusal:
            return web.Response(status=400, text=refusal)
        if form.get("deny"):
            return back(form, error="access_denied")
        return self._allowed(form, form.get("place", ""))

    def _with_settings(self, query: dict[str, str]) -> dict[str, str]:
        """Lead back to where the app's settings say, when the app itself doesn't."""
        configured = self._world.redirect_uri
        return {"redirect_uri": configured, **query} if configured else query

    def _refusal(self, query: dict[str, str]) -> str | None:
        if query.get("client_id") != self._world.credentials.client_id:
            return "invalid_client_id"
        allowed = self._world.redirect_uri or ("http://", "https://")
        if not query.get("redirect_uri", "").startswith(allowed):
            return "bad_redirect_uri"
        return None

    def _allowed(self, query: dict[str, str], place_id: str) -> web.Response:
        place = next((place for place in self._places() if place.id == place_id), None)
        if place is None:
            return web.Response(status=400, text="invalid_team")
        people = self._world.teams[place.id].users if not place.is_organisation else {}
        consent = Consent(
            scopes=tuple(scope for scope in query.get("scope", "").split(",") if scope),
            redirect_uri=query["redirect_uri"],
            user=next((user.id for user in people.values() if not user.is_bot), "U0ADMIN"),
            made=self._world.clock(),
            team_id=None if place.is_organisation else place.id,
            enterprise_id=place.id if place.is_organisation else None,
        )
        return back(query, code=self._world.consents.add(consent))


def back(query: dict[str, str], **answer: str) -> web.Response:
    """Send the browser back to the app."""
    uri = query["redirect_uri"]
    values = {**answer, "state": query.get("state", "")}
    joint = "&" if "?" in uri else "?"
    return web.Response(status=302, headers={"Location": f"{uri}{joint}{urlencode(values)}"})
