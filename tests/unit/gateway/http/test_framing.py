"""The frame around every request: ids, headers, problems, log lines, figures."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from gateway.control.local import LocalGateway
from gateway.control.service import TooBusy
from gateway.control.views import ThreadView
from gateway.http.app import make_app, run_app
from gateway.http.options import HttpOptions
from storage.errors import StoreBusy, StoreFull, StoreReadOnly
from tests.unit.gateway.http.house import QUICK, house

CANARY = "canary-5e3f1a"


class Troubled(LocalGateway):
    """A gateway in which every look at a thread goes wrong in the way that its id says."""

    async def thread(self, thread: str) -> ThreadView:
        """Raise what the id names."""
        raise {
            "busy": StoreBusy("locked", retry_after=3),
            "full": StoreFull("/var/lib/parley: no space"),
            "readonly": StoreReadOnly("/var/lib/parley: read-only"),
            "queue": TooBusy("too much", retry_after=7),
            "bug": ZeroDivisionError(CANARY),
        }[thread]

    async def ready(self) -> None:
        """Be in trouble."""
        raise StoreReadOnly("/var/lib/parley: read-only")


@pytest.mark.parametrize(
    ("trouble", "status", "problem", "retry"),
    [
        ("busy", 503, "store-busy", "3"),
        ("full", 507, "store-full", None),
        ("readonly", 503, "unavailable", "1"),
        ("queue", 429, "too-busy", "7"),
        ("bug", 500, "internal", None),
    ],
)
async def test_trouble_inside_is_told_as_what_it_is(
    trouble: str, status: int, problem: str, retry: str | None
) -> None:
    """With when to come back, and without a word of the operator's or of ours."""
    async with house(gateway=Troubled, works=False) as opened:
        answer = await opened.call("GET", f"/v1/threads/{trouble}")

    assert (answer.status, answer.problem) == (status, problem)
    assert answer.headers.get("Retry-After") == retry
    assert "/var/lib" not in answer.text
    assert CANARY not in answer.text


async def test_not_ready_while_the_store_is_in_trouble() -> None:
    """Alive all the same: restarting us would not help."""
    async with house(gateway=Troubled, works=False) as opened:
        ready, alive = [await opened.call("GET", path, key="") for path in ("/readyz", "/healthz")]

    assert (ready.status, ready.problem) == (503, "unavailable")
    assert alive.status == 200


class Stuck(LocalGateway):
    """A gateway whose store does not answer."""

    async def ready(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()


async def test_a_store_that_does_not_answer_is_not_waited_for() -> None:
    """Whoever asks whether we are ready wants to know soon."""
    async with house(replace(QUICK, ready_within=0.05), gateway=Stuck, works=False) as opened:
        answer = await opened.call("GET", "/readyz", key="")

    assert (answer.status, answer.problem) == (503, "unavailable")


async def test_another_channel_on_the_same_server_gets_the_same_frame() -> None:
    """Its own answers pass as they are; its errors are problems as everybody's."""

    async def moved(_request: web.Request) -> web.Response:
        raise web.HTTPFound("/elsewhere")

    async def broken(_request: web.Request) -> web.Response:
        raise ZeroDivisionError

    async with house(works=False) as opened:
        app = make_app(opened.gateway, opened.store, QUICK)
        app.router.add_get("/hooks/moved", moved)
        app.router.add_get("/hooks/broken", broken)
        runner = await run_app(app, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/hooks"
        try:
            async with opened.session.get(f"{url}/moved", allow_redirects=False) as response:
                assert (response.status, response.headers["Location"]) == (302, "/elsewhere")
                assert "X-Request-Id" in response.headers
            async with opened.session.get(f"{url}/broken") as response:
                assert (response.status, response.content_type) == (500, "application/problem+json")
        finally:
            await runner.cleanup()


async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_behind() -> None:
    """Whoever starts the server tells it to a person."""
    async with house(works=False) as opened:
        app = make_app(opened.gateway, opened.store, QUICK)
        with pytest.raises(OSError, match="in use"):
            await run_app(app, "127.0.0.1", opened.port)


async def test_every_response_has_an_id_and_headers_that_protect() -> None:
    """Whatever the outcome."""
    async with house(works=False) as opened:
        answers = [
            await opened.call("GET", path, key=key)
            for path, key in [
                ("/healthz", ""),
                ("/v1/threads", "admin"),
                ("/v1/threads", ""),
                ("/v1/threads/nope", "admin"),
                ("/nowhere", ""),
                ("/openapi.json", ""),
            ]
        ]

    assert [answer.status for answer in answers] == [200, 200, 401, 404, 404, 200]
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == len(answers)
    for answer in answers:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "Server" not in answer.headers


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [
        ("abc-123", True),
        ("A1._-", True),
        ("x" * 65, False),
        ("a b", False),
        ("ü", False),
        ("", False),
    ],
)
async def test_a_sane_request_id_is_kept(sent: str, is_kept: bool) -> None:  # noqa: FBT001 (a case)
    """So that the caller's log and ours speak of the same request."""
    async with house(works=False) as opened:
        answer = await opened.call("GET", "/nowhere", headers={"X-Request-Id": sent})

    assert (answer.headers["X-Request-Id"] == sent) == is_kept
    assert answer.json["instance"] == answer.headers["X-Request-Id"]


async def test_another_method_is_told_which_there_are() -> None:
    """405 with Allow; also where one path looks like another."""
    async with house(works=False) as opened:
        halt = await opened.call("PATCH", "/v1/halt")
        imported = await opened.call("GET", "/v1/threads/import")
        thread = await opened.call("PUT", "/v1/threads/th_1")

    assert (halt.status, halt.headers["Allow"]) == (405, "DELETE, GET, HEAD, PUT")
    assert (imported.status, imported.headers["Allow"]) == (405, "POST")
    assert (thread.status, thread.headers["Allow"]) == (405, "DELETE, GET, HEAD")
    assert thread.problem == "method-not-allowed"


async def test_head_is_get_without_a_body() -> None:
    """RFC 9110, section 9.3.2; and a stream is not opened for it."""
    async with house() as opened:
        thread = (await opened.launch())["id"]
        stream = {"Accept": "text/event-stream"}
        answers = [
            await opened.call("HEAD", "/healthz", key=""),
            await opened.call("HEAD", f"/v1/threads/{thread}/events", headers=stream),
        ]

    assert [(answer.status, answer.text) for answer in answers] == [(200, ""), (200, "")]


async def test_a_log_line_holds_ids_and_nothing_that_was_sent() -> None:
    """A canary in every place that a stranger can write to is in no line."""
    hidden = {"X-Forwarded-For": CANARY, "Cookie": CANARY, "User-Agent": CANARY}
    body: dict[str, Any] = {"agent": "support", "text": CANARY, "metadata": {CANARY: CANARY}}
    with capture_logs() as lines:
        async with house() as opened:
            await opened.call("POST", "/v1/threads?wait=5", body, headers=hidden)
            await opened.call("POST", "/v1/threads", {CANARY: CANARY}, headers=hidden)
            await opened.call("GET", f"/v1/threads/{CANARY}?{CANARY}={CANARY}")
            await opened.call("GET", f"/{CANARY}", key=CANARY)
            await opened.call("GET", "/v1/threads", key=CANARY)
            await opened.call("PROPFIND", "/v1/threads")
            thread = (await opened.launch())["id"]
            await opened.call("GET", f"/v1/threads/{thread}")
            last = opened.rows["admin"].id

    told = [line for line in lines if line["event"] == "request"]
    assert len(told) == 8
    assert CANARY not in str(lines).lower()
    assert told[-1]["thread"] == thread
    assert told[-1]["key_id"] == last
    assert told[-1]["route"] == "/v1/threads/{thread}"


async def test_figures_are_kept_by_route_and_never_by_what_was_sent() -> None:
    """Labels come from the table, so a stranger can't make more of them."""
    async with house(works=False) as opened:
        for number in range(3):
            await opened.call("GET", f"/v1/threads/{CANARY}{number}")
        await opened.call("PROPFIND", f"/{CANARY}")
        figures = (await opened.call("GET", "/metrics", key="")).text

    route = 'method="GET",route="/v1/threads/{thread}",status="404"'
    assert f"parley_http_requests_total{{{route}}} 3.0" in figures
    assert 'method="other",route="other",status="404"' in figures
    assert CANARY not in figures


async def test_figures_can_be_turned_off() -> None:
    """Then there is no such page, and none is promised."""
    async with house(HttpOptions(metrics=False), works=False) as opened:
        assert (await opened.call("GET", "/metrics", key="")).status == 404
        assert "/metrics" not in (await opened.call("GET", "/openapi.json", key="")).text


class Slow(LocalGateway):
    """A gateway that takes its time over one request, and tells when it has begun."""

    begun = asyncio.Event()

    async def thread(self, thread: str) -> ThreadView:
        """Take a while."""
        self.begun.set()
        await asyncio.sleep(0.3)
        return await super().thread(thread)


async def test_what_has_begun_is_finished_when_the_server_stops() -> None:
    """And nobody new is let in."""
    Slow.begun = asyncio.Event()
    async with house(gateway=Slow, works=False) as opened:
        asking = asyncio.ensure_future(opened.call("GET", "/v1/threads/nope"))
        await Slow.begun.wait()
        url = opened.url
        await opened.runner.cleanup()

        assert (await asking).status == 404
        with pytest.raises(OSError, match=r"refused|connect"):
            await opened.session.get(f"{url}/healthz")
