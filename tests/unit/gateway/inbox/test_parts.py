"""The small parts of the pages: addresses, cookies, notices, files, and words in templates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from jinja2 import UndefinedError

from gateway.inbox.answers import Answer, Redirect
from gateway.inbox.assets import PREFIX, Assets
from gateway.inbox.cookies import SESSION, Jar
from gateway.inbox.filters import address, ago, clock, iso, pretty, short, span
from gateway.inbox.matching import Matcher
from gateway.inbox.notices import read_notice, write_notice
from gateway.inbox.rendering import Rendering
from gateway.inbox.requests import InboxRequest, PageRoute

SECRET = b"s" * 32
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


async def nothing(_request: InboxRequest) -> Answer:
    """Do nothing."""
    return Redirect("/")


def matcher(*routes: tuple[str, str]) -> Matcher:
    """Make a table."""
    return Matcher([PageRoute(method=method, path=path, run=nothing) for method, path in routes])


def test_an_address_is_found_with_what_stands_in_it() -> None:
    """Decoded once; a slash that was escaped is part of the name."""
    found = matcher(("GET", "/a"), ("GET", "/a/{x}/b"), ("POST", "/a/{x}"))
    match = found.find("GET", "/a/th_1%2F%25/b")

    assert match is not None
    assert match.params == {"x": "th_1/%"}
    assert found.find("HEAD", "/a") is not None
    assert found.find("GET", "/a/1/2/b") is None
    assert found.find("GET", "/a.") is None


def test_methods_of_an_address_are_named() -> None:
    """For the answer to a method that it does not take."""
    found = matcher(("GET", "/a/{x}"), ("POST", "/a/{x}"), ("POST", "/b"))

    assert found.methods("/a/1") == ["GET", "HEAD", "POST"]
    assert found.methods("/b") == ["POST"]
    assert found.methods("/c") == []


def test_over_https_cookies_are_bound_to_the_host() -> None:
    """`__Host-` and Secure; over http neither would work."""
    response = web.Response()
    Jar("https://parley.example").set_all(response, {SESSION: "a b;c"})
    cookie = response.cookies[f"__Host-{SESSION}"]
    request = make_mocked_request("GET", "/", headers={"Cookie": f"__Host-{SESSION}=a%20b%3Bc"})

    assert (cookie["secure"], cookie["httponly"], cookie["path"]) == (True, True, "/")
    assert cookie["samesite"] == "Lax"
    assert Jar("https://parley.example").read(request, SESSION) == "a b;c"
    assert Jar("http://parley.example").read(request, SESSION) == ""


def test_a_notice_is_in_our_own_words() -> None:
    """What somebody else wrote into the cookie is not shown."""
    cookie = write_notice("Done, Ünïcode.", SECRET)

    assert read_notice(cookie, SECRET) == "Done, Ünïcode."
    for forged in ("", "Done.", f"{cookie}!", write_notice("Done.", b"x" * 32)):
        assert read_notice(forged, SECRET) == ""


def test_a_file_is_found_by_its_digest_alone() -> None:
    """A template that names a file that is not ours fails at once."""
    assets = Assets()
    found = assets.find(assets.address("style.css").removeprefix(PREFIX))

    assert found is not None
    assert b"--accent" in found.body
    assert assets.find("style.css") is None
    with pytest.raises(KeyError):
        assets.address("other.css")


def test_templates_escape_everything_and_miss_nothing() -> None:
    """A script in a value is text, and a value that is not there is an error."""
    rendering = Rendering(Assets())
    context = {"title": "<script>", "status": 404, "words": "\"'&", "instance": "", "sign_in": ""}
    around = {"visitor": _Nobody, "csrf": "", "notice": "", "path": "/", "theme": "", "halt": ""}
    text = rendering.text("error.html", {**around, **context})

    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "&#34;&#39;&amp;" in text
    with pytest.raises(UndefinedError):
        rendering.text("error.html", context)


class _Nobody:
    is_somebody = False
    is_admin = False


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "just now"), (30, "30 s ago"), (90, "1 min ago"), (7200, "2 h ago"), (200_000, "2 d ago")],
)
def test_times_are_told_by_how_long_ago(seconds: float, words: str) -> None:
    """Or how soon."""
    assert ago(NOON - timedelta(seconds=seconds), NOON) == words


def test_words_for_people() -> None:
    """Times, spans, addresses, JSON, and long texts."""
    assert ago(NOON + timedelta(hours=3), NOON) == "in 3 h"
    assert span(timedelta(minutes=5)) == "5 min"
    assert iso(NOON) == "2026-11-16T12:00:00.000Z"
    assert clock(NOON) == "16 Nov 2026, 12:00 UTC"
    assert address("email:otto@example.com:abc") == "otto@example.com"
    assert address("slack:T1:C1") == "slack T1:C1"
    assert address("otto") == "otto"
    assert pretty({"ä": 1}) == '{\n  "ä": 1\n}'
    assert short("a  b\nc", 80) == "a b c"
    assert short("word " * 40, 20) == "word word word word…"
