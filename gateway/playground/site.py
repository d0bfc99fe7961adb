"""The page's routes: look, act, and hear of changes. A browser on this machine, from this page."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import urlencode

from aiohttp import web

from channels.slack.double.changes import Changes
from channels.slack.double.page.site import check_visitor
from gateway.http.client import ApiError, NoServer
from gateway.inbox.headers import PAGE
from gateway.playground.page import asset, render
from gateway.playground.stage import Stage

_HEARTBEAT: Final = 15.0
_TOGETHER: Final = 0.05
"""Seconds: what changes together is shown together."""
_LONGEST: Final = 20_000
_FORM: Final = 200_000
_DIGITS: Final = 9
Form: TypeAlias = Mapping[str, str]
Act: TypeAlias = Callable[[Stage, Form], Awaitable[str]]


# --- what the forms do; each gives what the visitor should be told, or nothing


async def _reply(stage: Stage, form: Form) -> str:
    number, text = form.get("number", ""), form.get("text", "").strip()[:_LONGEST]
    letters = stage.letters()
    if not number.isdecimal() or len(number) > _DIGITS or int(number) >= len(letters):
        return "There is no such mail."
    if not text:
        return "A reply needs some words."
    stage.reply(letters[int(number)], text)
    return ""


async def _write(stage: Stage, form: Form) -> str:
    text = form.get("text", "").strip()[:_LONGEST]
    if not text:
        return "A mail needs some words."
    stage.write(text, subject=" ".join(text.split()[:6]))
    return ""


async def _answer(stage: Stage, form: Form) -> str:
    question, value = form.get("question", ""), form.get("value", "")
    meant = {"approve": {"approved": True}, "deny": {"approved": False}}.get(value, value)
    try:
        await stage.answer(question, meant, form.get("comment", "").strip()[:_LONGEST])
    except NoServer:
        return "The server is away, and is being started again: press it once more in a moment."
    except ApiError as exc:
        return str(exc)
    return ""


async def _pipeline(stage: Stage, _form: Form) -> str:
    await stage.pipeline.fail()
    return ""


async def _kill(stage: Stage, _form: Form) -> str:
    return "" if stage.server.kill() else "There is no server to kill just now."


ACTS: Final[Mapping[str, Act]] = {
    "reply": _reply,
    "write": _write,
    "answer": _answer,
    "pipeline": _pipeline,
    "kill": _kill,
}


class Site:
    """The playground as a web page."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def app(self) -> web.Application:
        """Give it all, for visitors from this machine only."""
        app = web.Application(middlewares=[_guarded], client_max_size=_FORM)
        app.add_routes(
            [
                web.get("/", self._show),
                web.get("/live", self._live),
                web.get("/inbox", self._inbox),
                web.get("/static/{name}", _static),
                web.post("/act/{name}", self._stage.slack.site.act),
                web.post("/do/{name}", self._do),
                web.post("/reports/csp", _report),
            ]
        )
        return app

    async def _show(self, request: web.Request) -> web.Response:
        text = render(self._stage, note=request.query.get("note", "")[:_LONGEST])
        return web.Response(text=text, content_type="text/html")

    async def _inbox(self, _request: web.Request) -> web.Response:
        """Lead to the server's own inbox, by a link that signs the visitor in once."""
        link = await self._stage.inbox_link()
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": link})

    async def _do(self, request: web.Request) -> web.Response:
        act = ACTS.get(request.match_info["name"])
        if act is None:
            raise web.HTTPNotFound
        form = {name: str(value) for name, value in (await request.post()).items()}
        note = await act(self._stage, form)
        query = f"?{urlencode({'note': note})}" if note else ""
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"/{query}"})

    async def _live(self, request: web.Request) -> web.StreamResponse:
        """Tell each time that something has changed; the page then looks by itself."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            async for piece in self._changes():
                await response.write(piece)
        return response

    async def _changes(self) -> AsyncIterator[bytes]:
        bell = self._stage.slack.world.changes
        yield b"retry: 1000\n\ndata: hello\n\n"
        while True:
            heard = bell.count
            try:
                await bell.until(partial(_is_new, bell, heard), _HEARTBEAT)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            await asyncio.sleep(_TOGETHER)
            yield f"data: {bell.count}\n\n".encode()


def _is_new(bell: Changes, heard: int) -> bool:
    return bell.count != heard


async def _static(request: web.Request) -> web.Response:
    found = asset(request.match_info["name"])
    if found is None:
        raise web.HTTPNotFound
    body, kind = found
    return web.Response(body=body, content_type=kind)


async def _report(_request: web.Request) -> web.Response:
    return web.Response(status=HTTPStatus.NO_CONTENT)


async def _check_form(request: web.Request) -> None:
    """Read a form once for all, so that one that can't be read is nobody's failure."""
    try:
        await request.post()
    except (ValueError, LookupError) as exc:
        raise web.HTTPBadRequest(text="This form can't be read.") from exc


@web.middleware
async def _guarded(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse other sites, and say on each answer what may run here."""
    check_visitor(request)
    await _check_form(request)
    response = await handler(request)
    if not response.prepared:
        response.headers.update(PAGE)
    return response
