"""The client: what it sends, and how each failure is told."""

from __future__ import annotations

import asyncio
import socket

import pytest

from gateway.http.client import ApiError, Client, Lost, NoServer, thread_path
from tests.unit.gateway.canned import EVENTS, THREAD, Canned


async def refusal(canned: Canned, key: str = "pk_x") -> str:
    """Give what is told when a thread can't be read."""
    async with Client(canned.url, key) as client:
        with pytest.raises(ApiError) as caught:
            await client.get("/v1/threads/th_1")
    return str(caught.value)


async def test_key_goes_with_each_request_and_empty_parameters_do_not(canned: Canned) -> None:
    """`Authorization: Bearer`, and a query without what was left out."""
    canned.on("GET", "/v1/threads", {"items": [], "next_cursor": None})

    async with Client(canned.url, "pk_x") as client:
        reply = await client.get("/v1/threads", {"status": "", "cursor": None, "limit": 5})

    assert reply.data == {"items": [], "next_cursor": None}
    assert canned.asked[0].headers["Authorization"] == "Bearer pk_x"
    assert canned.asked[0].query == {"limit": "5"}


async def test_whatever_was_typed_as_an_id_stays_one_segment(canned: Canned) -> None:
    """An id with a slash or a question mark can't reach another address."""
    async with Client(canned.url) as client:
        with pytest.raises(ApiError):
            await client.get(thread_path("../halt?x=1#y"))

    assert canned.asked[0].path == "/v1/threads/..%2Fhalt%3Fx=1%23y"
    assert canned.asked[0].query == {}
    for nothing in ("", ".", ".."):
        with pytest.raises(ApiError, match="there can be no id"):
            thread_path(nothing)


@pytest.mark.parametrize(
    ("status", "detail", "told"),
    [
        (403, "this key may not control", "this key may not control"),
        (404, "there is no thread 'th_1'", "there is no thread 'th_1'"),
        (409, "already answered by Otto", "already answered by Otto"),
        (422, "text is missing", "text is missing"),
        (500, "Something went wrong", "the server failed (500): Something went wrong; "),
    ],
)
async def test_problem_is_told_in_the_words_of_the_server(
    canned: Canned, status: int, detail: str, told: str
) -> None:
    """One sentence, without a code where people don't need one."""
    canned.problem("GET", "/v1/threads/th_1", status, detail)

    assert (await refusal(canned)).startswith(told)


async def test_missing_and_wrong_keys_are_told_apart(canned: Canned) -> None:
    """Who has none is told how to make one."""
    canned.problem("GET", "/v1/threads/th_1", 401, "the key is not known")

    assert "parley keys create" in await refusal(canned, key="")
    assert await refusal(canned) == (
        "the server doesn't accept this PARLEY_API_KEY: the key is not known"
    )


async def test_busy_server_is_told_with_when_to_try_again(canned: Canned) -> None:
    """Retry-After is for people too."""
    canned.problem("GET", "/v1/threads/th_1", 429, "too many requests", Retry_After="7")

    assert await refusal(canned) == "too many requests (try again in 7 seconds)"


async def test_what_is_no_server_of_ours_is_told_so(canned: Canned) -> None:
    """A proxy's page, or a redirect to a log-in, is no answer."""
    canned.on("GET", "/v1/threads/th_1", "<html>hello</html>")
    async with Client(canned.url) as client:
        with pytest.raises(ApiError, match="no Parley server: look at PARLEY_URL"):
            _ = (await client.get("/v1/threads/th_1")).data
    canned.on("GET", "/v1/threads/th_1", "", 302, Location="https://elsewhere/")
    assert await refusal(canned) == "302 Found"


async def test_refused_connection_tells_how_to_start_a_server() -> None:
    """Nobody listens there: the most common first mistake."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    async with Client(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(NoServer, match="start one with `parley serve`, or set PARLEY_URL"):
            await client.get("/v1/threads")


async def test_connection_that_breaks_off_is_told_so() -> None:
    """A server that dies in the middle of an answer."""

    async def die(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(die, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(NoServer, match="broke off"):
            await client.get("/v1/threads")


async def test_server_that_never_answers_is_given_up() -> None:
    """Every call has a deadline."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with Client(url, patience=0.05) as client:
            with pytest.raises(NoServer, match="gave no answer"):
                await client.get("/v1/threads")


async def test_broken_stream_is_taken_up_where_it_ended(canned: Canned) -> None:
    """Each event once, in order: the second connection names the last that came."""
    canned.stream("th_1", [EVENTS[:2], [], EVENTS[2:]])
    heard = []

    async with Client(canned.url) as client:
        async for one in client.follow("th_1"):
            heard.append("lost" if isinstance(one, Lost) else one["seq"])
            if heard[-1] == 6:
                break

    assert heard == [1, 2, "lost", "lost", 3, 4, 5, 6]
    assert [asked.headers.get("Last-Event-ID") for asked in canned.asked] == [None, "2", "2"]


@pytest.mark.parametrize("status", [429, 502, 503])
async def test_stream_that_the_server_can_not_give_now_is_taken_up(
    canned: Canned, status: int
) -> None:
    """A server that is restarted, or a proxy in front of it, says "not now": the thread goes on."""
    canned.problem("GET", "/v1/threads/th_1/events", status, "being restarted")
    heard = []

    async with Client(canned.url) as client:
        async for one in client.follow("th_1"):
            heard.append("lost" if isinstance(one, Lost) else one["seq"])
            if heard == ["lost", "lost"]:
                canned.stream("th_1", [EVENTS])
            if heard[-1] == 6:
                break

    assert heard == ["lost", "lost", 1, 2, 3, 4, 5, 6]


async def test_stream_that_falls_silent_is_taken_up() -> None:
    """A network that was cut tells nobody; a server that is there has a heartbeat."""
    heard: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with asyncio.timeout(20), Client(url, silence=0.05) as client:
            async for one in client.follow("th_1"):
                heard.append(one)
                if len(heard) == 2:
                    break

    assert all(isinstance(one, Lost) and "broke off" in one.why for one in heard)


async def test_event_longer_than_any_buffer_comes_whole(canned: Canned) -> None:
    """A message may have a megabyte; aiohttp's own way of reading lines stops at 128 KB."""
    long = {"seq": 1, "type": "MessageReceived", "at": THREAD["created_at"], "text": "ü" * 600_000}
    canned.stream("th_1", [[long]])

    async with Client(canned.url) as client:
        async for one in client.follow("th_1"):
            assert one == long
            break


async def test_stream_that_is_refused_is_not_tried_for_ever(canned: Canned) -> None:
    """A thread that isn't there will not be there the next time."""
    canned.problem("GET", "/v1/threads/th_1/events", 404, "there is no thread 'th_1'")

    async with Client(canned.url) as client:
        with pytest.raises(ApiError, match="there is no thread"):
            async for _ in client.follow("th_1"):
                pass


async def test_surely_asks_again_while_the_server_can_not(canned: Canned) -> None:
    """With the same key; what is refused for good is not asked twice."""
    canned.problem("POST", "/v1/events", 503, "busy", Retry_After="1")
    async with Client(canned.url) as client:
        asking = asyncio.create_task(
            client.post_surely("/v1/events", {}, {"Idempotency-Key": "k"}, seconds=30)
        )
        while len(canned.asked) < 2:  # noqa: ASYNC110 (another thread's list)
            await asyncio.sleep(0.01)
        canned.on("POST", "/v1/events", {"effect": "kept"}, 202)
        reply = await asking

    assert reply.data == {"effect": "kept"}
    assert {asked.headers["Idempotency-Key"] for asked in canned.asked} == {"k"}


async def test_surely_gives_up_on_a_refusal_and_when_the_time_is_over(canned: Canned) -> None:
    """A wrong key stays wrong; a server that stays away is told."""
    canned.problem("GET", "/v1/threads/th_1", 403, "no")
    async with Client(canned.url) as client:
        with pytest.raises(ApiError, match="no"):
            await client.get_surely("/v1/threads/th_1", seconds=30)
        canned.problem("GET", "/v1/threads/th_1", 503, "busy")
        with pytest.raises(ApiError, match="busy"):
            await client.get_surely("/v1/threads/th_1", seconds=0.1)

    assert len(canned.asked) == 2
