"""Bodies, queries, paths, headers: what does not fit is refused by name, before anything runs."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from gateway.control.views import Fork, Launch
from gateway.http.bodies import fit, parse_json
from gateway.http.options import HttpOptions
from gateway.http.problems import Problem
from tests.unit.gateway.http.house import House, house

GOOD = {"agent": "support", "text": "hello"}


@pytest_asyncio.fixture
async def idle() -> AsyncIterator[House]:
    """A house where nothing runs."""
    async with house(HttpOptions(max_body=10_000, max_import=20_000), works=False) as opened:
        yield opened


def launch_with(**fields: Any) -> bytes:  # noqa: ANN401 (any JSON)
    """Write a launch with more fields, or other ones."""
    return json.dumps({**GOOD, **fields}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"nonsense",
        b"\xff\xfe",
        b'\xef\xbb\xbf{"agent":"support","text":"x"}',
        b'{"agent":"support","text":"x"} trailing',
        b'{"agent":"support","text":NaN}',
        b'{"agent":"support","text":"\\ud800"}',
        b"[" * 5000,
        b'{"agent":"support","text":"x","metadata":' + b'{"a":' * 900 + b"1" + b"}" * 901,
        b'{"a":' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: repr(body[:20]),
)
async def test_what_is_not_json_is_refused(idle: House, body: bytes) -> None:
    """Malformed, cut off, not UTF-8, nested without end: 400 (422 for nothing at all)."""
    answer = await idle.call("POST", "/v1/threads", data=body)

    assert (answer.status, answer.problem) == (
        (400, "malformed-json") if body else (422, "invalid")
    )


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (b"[]", "body"),
        (b"null", "body"),
        (b'"text"', "body"),
        (b"{}", "body.agent"),
        (launch_with(text=5), "body.text"),
        (launch_with(text=""), "body.text"),
        (launch_with(agent=None), "body.agent"),
        (launch_with(agent="x" * 201), "body.agent"),
        (launch_with(metadata=[]), "body.metadata"),
        (launch_with(txet="typo"), "body.txet"),
        (launch_with(text="a\0b"), "body.text"),
        (launch_with(metadata={"a": {"b\0": 1}}), "body.metadata.a (a key)"),
        (launch_with(metadata={"a": [1, {"b": "\0"}]}), "body.metadata.a[1].b"),
        (launch_with(metadata={"n": "HUGE"}).replace(b'"HUGE"', b"1e999"), "body.metadata.n"),
        (launch_with(metadata={"n": "HUGE"}).replace(b'"HUGE"', b"-1e999"), "body.metadata.n"),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_a_field_that_does_not_fit_is_named(idle: House, body: bytes, at: str) -> None:
    """The problem lists every place, and repeats no value."""
    answer = await idle.call("POST", "/v1/threads", data=body)

    assert (answer.status, answer.problem) == (422, "invalid")
    assert answer.json["errors"][0]["at"] == at
    assert at in answer.json["detail"]


def test_nesting_has_an_end_before_the_stack_has() -> None:
    """A hundred deep is stored; more is refused with its place."""
    deep = b"[" * 150 + b"]" * 150
    with pytest.raises(Problem) as caught:
        parse_json(deep)

    assert caught.value.kind.status == 422
    assert "nested" in caught.value.detail


def test_an_integer_may_be_written_as_json_allows() -> None:
    """5.0 is an integer in JSON; true, "5" and 5.5 are not."""
    assert fit({"at": 5.0}, Fork) == Fork(at=5)
    for wrong in (True, "5", 5.5, [5]):
        with pytest.raises(Problem):
            fit({"at": wrong}, Fork)


def test_many_misfits_are_counted_and_the_list_has_an_end() -> None:
    """Nobody gets a response that is larger than what they sent was worth."""
    with pytest.raises(Problem) as caught:
        fit({**GOOD, **{f"x{number}": 1 for number in range(200)}}, Launch)

    assert len(caught.value.members["errors"]) == 50
    assert caught.value.detail.endswith("and 197 more")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/octet-stream"},
        {"Content-Encoding": "gzip"},
        {"Content-Encoding": "br"},
        {"Content-Encoding": "nonsense"},
    ],
    ids=str,
)
async def test_only_plain_json_is_taken(idle: House, headers: dict[str, str]) -> None:
    """A compressed body could be a bomb, and another type is not what was meant."""
    answer = await idle.call(
        "POST", "/v1/threads", data=gzip.compress(launch_with()), headers=headers
    )

    assert (answer.status, answer.problem) == (415, "unsupported-media-type")


async def test_a_body_that_does_not_say_what_it_is_is_not_guessed_at(idle: House) -> None:
    """No Content-Type, no JSON."""
    async with idle.session.post(
        f"{idle.url}/v1/threads",
        data=launch_with(),
        headers=idle.bearer(),
        skip_auto_headers=["Content-Type"],
    ) as response:
        assert response.status == 415
        assert response.headers["Accept"] == "application/json"


async def test_json_with_its_charset_named_is_taken(idle: House) -> None:
    """As many clients send it."""
    named = {"Content-Type": "application/json; charset=UTF-8"}
    answer = await idle.call("POST", "/v1/threads", data=launch_with(), headers=named)

    assert answer.status == 201


async def test_a_large_body_is_refused_with_the_limit(idle: House) -> None:
    """By its Content-Length at once, and in chunks as soon as it is too much."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 1000

    large = await idle.call("POST", "/v1/threads", data=b" " * 10_001)
    chunked = await idle.call("POST", "/v1/threads", data=chunks())  # type: ignore[arg-type]
    imported = await idle.call("POST", "/v1/threads/import", data=b" " * 10_001)

    assert (large.status, large.problem, large.json["limit"]) == (413, "too-large", 10_000)
    assert (chunked.status, chunked.problem) == (413, "too-large")
    assert imported.status == 400


@pytest.mark.parametrize(
    ("path", "at"),
    [
        ("/v1/threads?limit=0", "query.limit"),
        ("/v1/threads?limit=201", "query.limit"),
        ("/v1/threads?limit=x", "query.limit"),
        ("/v1/threads?status=sleeping", "query.status"),
        ("/v1/threads?agent=a%00b", "query.agent"),
        ("/v1/threads?page=2", "query.page"),
        ("/v1/threads?limit=1&limit=2", "query.limit"),
        ("/v1/threads/th_1?wait=-1", "query.wait"),
        ("/v1/threads/th_1?wait=nan", "query.wait"),
        ("/v1/threads/th_1?wait=inf", "query.wait"),
        ("/v1/threads/th_1/events?after=-1", "query.after"),
        ("/v1/threads/th_1/events?after=99999999999999999999", "query.after"),
        ("/v1/questions?status=finished", "query.status"),
        ("/v1/questions/q_1?verbose=1", "query.verbose"),
    ],
)
async def test_a_query_that_does_not_fit_is_named(idle: House, path: str, at: str) -> None:
    """Unknown, twice, or out of range: nothing is silently ignored."""
    answer = await idle.call("GET", path)

    assert (answer.status, answer.problem) == (422, "invalid")
    assert answer.json["errors"][0]["at"].startswith(at)


@pytest.mark.parametrize("cursor", ["zz", "!!!", "%00", "x" * 900, "%E2%98%83"])
@pytest.mark.parametrize("path", ["/v1/threads", "/v1/questions"])
async def test_a_made_up_cursor_is_refused(idle: House, path: str, cursor: str) -> None:
    """A cursor only means something if a list gave it."""
    assert (await idle.call("GET", f"{path}?cursor={cursor}")).status == 422


@pytest.mark.parametrize("name", ["%00", "a%0Ab", "%F0%9F", "x" * 501, "..%2F..", "%2e%2e", "nope"])
async def test_an_id_that_nobody_can_have_is_not_found(idle: House, name: str) -> None:
    """Whatever stands in a path, it is at worst not there."""
    for path in (f"/v1/threads/x{name}", f"/v1/questions/x{name}", f"/v1/threads/x{name}/events"):
        assert (await idle.call("GET", path)).status == 404


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "ü"])
async def test_an_idempotency_key_has_a_sane_form(idle: House, key: str) -> None:
    """One to 255 visible ASCII characters."""
    answer = await idle.call("POST", "/v1/threads", GOOD, headers={"Idempotency-Key": key})

    assert (answer.status, answer.json["errors"][0]["at"]) == (422, "header.Idempotency-Key")


async def test_a_body_where_none_is_needed_may_be_left_out_or_empty(idle: House) -> None:
    """`pause` with no body, an empty object and a reason are all the same command."""
    thread = (await idle.call("POST", "/v1/threads", GOOD)).json["id"]

    assert (await idle.call("POST", f"/v1/threads/{thread}/pause")).status == 200
    assert (await idle.call("POST", f"/v1/threads/{thread}/resume", {})).status == 200
    assert (await idle.call("POST", f"/v1/threads/{thread}/pause", {"reason": "x"})).status == 200
    unwanted = await idle.call("POST", f"/v1/threads/{thread}/retry", {"reason": "x"})
    assert (unwanted.status, unwanted.json["errors"][0]["at"]) == (422, "body.reason")
