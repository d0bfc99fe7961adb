"""The site: one request for a page from its route to its response, always in the same order.

The route, who asks, may they; for a POST the origin, the form, and its token; then the page's own
function. Whatever goes wrong becomes a page that says so, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from aiohttp import web

from gateway.http.bodies import read_raw
from gateway.http.framing import ENTRY
from gateway.http.problems import (
    INTERNAL,
    METHOD_NOT_ALLOWED,
    MISSING_SCOPE,
    NOT_FOUND,
    RATE_LIMITED,
    UNAUTHENTICATED,
    Problem,
    problem_of,
    slow_down,
)
from gateway.inbox.answers import Answer, Page, Redirect
from gateway.inbox.cookies import BROWSER, NOTICE, SESSION, THEME
from gateway.inbox.errors import error_page
from gateway.inbox.forms import parse_address, parse_form
from gateway.inbox.guarding import FIELD, check_origin, check_token, token_for
from gateway.inbox.headers import PAGE
from gateway.inbox.house import House
from gateway.inbox.matching import Match, Matcher
from gateway.inbox.notices import read_notice, write_notice
from gateway.inbox.requests import InboxRequest, PageRoute, Values, first
from gateway.inbox.secrets import new_token
from gateway.inbox.signing.ways import sign_in_address
from gateway.inbox.table import routes
from gateway.inbox.visitor import Visitor

log = structlog.get_logger(__name__)


class Site:
    """Answers for every page."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._matcher = Matcher(routes(house))

    async def answer(self, http: web.Request) -> web.StreamResponse:
        """Answer one request, whatever becomes of it."""
        visitor = Visitor()
        try:
            match = self._found(http)
            http[ENTRY].route = match.route.path
            if not match.route.is_anonymous:
                visitor = await self._house.reception.visitor(http)
            return await self._response(await self._run(http, match, visitor), http, visitor)
        except Exception as exc:  # noqa: BLE001 (told apart there)
            return await self._response(self._told(exc, http, visitor), http, visitor)

    async def close(self) -> None:
        """End what is under way beside requests."""
        await self._house.close()

    def _found(self, http: web.Request) -> Match:
        path = http.rel_url.raw_path
        match = self._matcher.find(http.method, path)
        if match is not None:
            return match
        methods = self._matcher.methods(path)
        if methods:
            raise Problem(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(methods)})
        raise Problem(NOT_FOUND, "There is nothing at this address.")

    async def _run(self, http: web.Request, match: Match, visitor: Visitor) -> Answer:
        route = match.route
        http[ENTRY].key_id = visitor.session
        http[ENTRY].ids = match.params if route.scope is not None else {}
        if route.scope is not None and not visitor.is_somebody:
            if http.method in {"GET", "HEAD"}:
                return Redirect(sign_in_address(http.path_qs))
            raise Problem(UNAUTHENTICATED, "You are not signed in any more. Nothing has changed.")
        scopes = [one for one in (route.scope, route.or_scope) if one is not None]
        if scopes and not any(map(visitor.may, scopes)):
            raise Problem(MISSING_SCOPE, f"This needs the right to {' or '.join(scopes)}.")
        await self._limit(visitor)
        form: Values = {}
        if http.method == "POST":
            form = await self._form(http, route, visitor)
        return await route.run(
            InboxRequest(
                visitor=visitor,
                house=self._house,
                http=http,
                params=match.params,
                query=parse_address(http.query_string),
                form=form,
            )
        )

    async def _limit(self, visitor: Visitor) -> None:
        if not visitor.is_somebody:
            return
        wait = await self._house.desk.rates.take(f"session {visitor.session}")
        if wait:
            raise slow_down(RATE_LIMITED, "That was too much at once; wait a moment.", wait)

    async def _form(self, http: web.Request, route: PageRoute, visitor: Visitor) -> Values:
        house = self._house
        if not route.is_checked:
            await read_raw(http, house.desk.options, route.most)
            return {}
        check_origin(http.headers, http.host, house.public_url)
        body = await read_raw(http, house.desk.options, route.most)
        form = parse_form(http.headers.get("Content-Type", ""), body)
        check_token(first(form, FIELD), house.secret, house.reception.holder(http, visitor))
        return form

    # Answers

    def _told(self, exc: Exception, http: web.Request, visitor: Visitor) -> Answer:
        problem = problem_of(exc)
        if problem.kind is INTERNAL:
            log.error("page failed", error=type(exc).__name__, exc_info=exc)
        return error_page(problem, http, visitor)

    async def _response(
        self, answer: Answer, http: web.Request, visitor: Visitor
    ) -> web.StreamResponse:
        match answer:
            case Page():
                return await self._page(answer, http, visitor)
            case Redirect():
                return self._redirect(answer)
            case _:
                return answer

    async def _page(self, page: Page, http: web.Request, visitor: Visitor) -> web.Response:
        house, cookies = self._house, dict(page.cookies)
        told = house.jar.read(http, NOTICE)
        if told:
            cookies.setdefault(NOTICE, "")
        if not visitor.is_somebody:
            browser = house.jar.read(http, BROWSER) or new_token()
            visitor = Visitor(csrf=token_for(house.secret, browser))
            cookies.setdefault(BROWSER, browser)
            if house.jar.read(http, SESSION) and not page.is_error:  # else: who knows
                cookies.setdefault(SESSION, "")
        context: dict[str, Any] = {
            "visitor": visitor,
            "csrf": visitor.csrf,
            "notice": read_notice(told, house.secret),
            "path": http.path,
            "theme": house.jar.read(http, THEME),
            "halt": "" if page.is_error else await self._halt(visitor),
            **page.context,
        }
        text = house.rendering.text(page.template, context)
        return self._sent(page.status, text, {**PAGE, **page.headers}, cookies)

    async def _halt(self, visitor: Visitor) -> str:
        """Give why nothing runs, for the banner; strangers need not know."""
        if not visitor.is_somebody:
            return ""
        return (await self._house.gateway.halted()).reason

    def _sent(
        self, status: int, text: str, headers: Mapping[str, str], cookies: Mapping[str, str]
    ) -> web.Response:
        response = web.Response(
            status=status, text=text, content_type="text/html", charset="utf-8", headers=headers
        )
        self._house.jar.set_all(response, cookies)
        return response

    def _redirect(self, to: Redirect) -> web.Response:
        response = web.Response(status=303, headers={**PAGE, "Location": to.to})
        cookies = dict(to.cookies)
        if to.notice:
            cookies[NOTICE] = write_notice(to.notice, self._house.secret)
        self._house.jar.set_all(response, cookies)
        return response
