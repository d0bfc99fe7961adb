"""The playground's page as strangers and mistakes meet it; nothing runs behind it here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from channels.email.double import Letter, write
from gateway.playground.hosting import PortTaken, hosted, listening_on
from gateway.playground.premises import ANN, CHANNEL, OLGA
from gateway.playground.stage import Stage, furnished

FORM = "application/x-www-form-urlencoded"
NAUGHTY = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Everything but the server."""
    async with furnished(model={}) as made:
        yield made


@pytest.fixture
async def url(stage: Stage) -> AsyncIterator[str]:
    """The page."""
    async with hosted(stage, listening_on(0)) as address:
        yield address


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """A client that follows no redirects by itself."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}]
)
@pytest.mark.parametrize("path", ["do/kill", "do/pipeline", "act/say"])
async def test_another_site_can_do_nothing(
    url: str, http: aiohttp.ClientSession, headers: dict[str, str], path: str
) -> None:
    """A page elsewhere could post here, or point its own name at loopback."""
    answer = await http.post(f"{url}{path}", data={"text": "hi"}, headers=headers)

    assert answer.status == 403
    if "Host" in headers:
        assert (await http.get(url, headers=headers)).status == 403


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"data": {"number": "9" * 5000, "text": "hi"}}, 303),
        ({"data": {"number": "²", "text": "hi"}}, 303),
        ({"data": "x", "headers": {"Content-Type": "multipart/form-data; boundary=b"}}, 400),
        ({"data": b"text=%ff", "headers": {"Content-Type": "text/plain; charset=none"}}, 303),
        ({"data": "a=b", "headers": {"Content-Type": f"{FORM}; charset=none"}}, 400),
        ({"data": b"\xff", "headers": {"Content-Type": FORM}}, 400),
    ],
)
async def test_what_no_form_of_ours_sends_is_refused_in_words(
    url: str, http: aiohttp.ClientSession, form: dict[str, Any], status: int
) -> None:
    """It is never our own failure."""
    answer = await http.post(f"{url}do/reply", allow_redirects=False, **form)

    assert answer.status == status


async def test_page_runs_no_script_but_its_own_and_is_in_no_frame(
    url: str, http: aiohttp.ClientSession
) -> None:
    """As the inbox: the policy says so on each answer."""
    policy = (await http.get(url)).headers["Content-Security-Policy"]

    for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert rule in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


async def test_whatever_people_write_is_text(
    stage: Stage, url: str, http: aiohttp.ClientSession
) -> None:
    """In Slack, in mails that come and go, in a note."""
    await stage.team.says(ANN, CHANNEL, NAUGHTY.replace("<", "&lt;"))
    stage.write(NAUGHTY, subject="<script>")
    mail = write("agent@example.com", OLGA, f"{NAUGHTY} http://x/?<b>", subject="<script>")
    stage.office.boxes[OLGA] = [Letter(mail.as_bytes(), "", OLGA)]
    page = await (await http.get(url, params={"note": NAUGHTY})).text()

    assert page.count("&lt;script&gt;") >= 4
    assert "<script>alert" not in page
    assert "<img" not in page


@pytest.mark.parametrize(
    ("path", "form", "words"),
    [
        ("do/reply", {"number": "7", "text": "yes"}, "There is no such mail."),
        ("do/reply", {"number": "-1", "text": "yes"}, "There is no such mail."),
        ("do/write", {"text": "  "}, "A mail needs some words."),
        ("do/kill", {}, "There is no server to kill just now."),
        ("do/answer", {"question": "q_1", "value": "approve"}, "press it once more"),
    ],
)
async def test_what_can_t_be_done_is_told(
    url: str, http: aiohttp.ClientSession, path: str, form: dict[str, str], words: str
) -> None:
    """The page comes again, with a sentence."""
    page = await (await http.post(f"{url}{path}", data=form)).text()

    assert words in page.partition('role="alert"')[2]


@pytest.mark.parametrize("path", ["do/nothing", "act/nothing", "static/../site.py", "static/x.css"])
async def test_what_is_not_there_is_404(url: str, http: aiohttp.ClientSession, path: str) -> None:
    """No path leads out of our own files."""
    method = "GET" if path.startswith("static") else "POST"
    answer = await http.request(method, f"{url}{path}")

    assert answer.status == 404


def test_port_that_was_asked_for_must_be_had() -> None:
    """The usual one need not be: then any other will do."""
    with listening_on(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port} can't be had"):
            listening_on(port)
    with listening_on(None) as first, listening_on(None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
