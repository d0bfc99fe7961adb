"""Callbacks from end to end: a real gateway, a real receiver, and a clock that is moved by hand."""

from __future__ import annotations

from channels.callback.schedule import DELAYS
from channels.callback.signing import derive_key, parse_secret, show_secret
from tests.scenario.callback.office import SHARED, office

NEW = show_secret(derive_key(b"another secret of the operator"))


async def test_a_program_hears_all_that_happens_in_order_and_signed() -> None:
    """What was asked, how that ended, and what came of it, each in the API's own shape."""
    async with office() as here:
        thread = await here.launch("refund please", metadata={"run": 7})
        (asked,) = await here.receiver.until(1)
        question = asked.json["data"]["question"]
        shown = await here.call("GET", f"/v1/questions/{question['id']}")
        answered = await here.call(
            "POST", f"/v1/questions/{question['id']}/answer", {"value": {"approved": True}}
        )
        got = await here.receiver.until(3)
        await here.until(thread, "sent", "sent", "sent")

        assert answered.status == 200
        assert [one.type for one in got] == [
            "question.asked",
            "question.settled",
            "thread.finished",
        ]
        assert {**shown.json, "response_url": question["response_url"]} == question
        assert asked.json["timestamp"] == question["asked_at"]
        assert asked.json["data"]["thread"]["metadata"] == {"run": 7}
        settled = got[1].json["data"]["question"]
        assert (settled["status"], settled["answered_by"]) == ("answered", "ci")
        assert settled["response_url"] is None
        finished = (await here.call("GET", f"/v1/threads/{thread}")).json
        assert got[2].json["data"] == {"thread": finished}
        assert finished["result"] == "done: paid back A1"
        for one in got:
            one.verify(SHARED)
        assert len({one.id for one in got}) == 3
        assert not any("." in one.id for one in got)


async def test_failure_and_cancelling_are_told_too() -> None:
    """With the error, or the reason's thread."""
    async with office() as here:
        failed = await here.launch("break")
        await here.receiver.until(1)
        thread = await here.launch("ask")
        await here.receiver.until(2)
        await here.call("POST", f"/v1/threads/{thread}/cancel", {"reason": "no need"})
        got = await here.receiver.until(4)

        assert [one.type for one in got] == [
            "thread.failed",
            "question.asked",
            "question.settled",
            "thread.cancelled",
        ]
        assert got[0].json["data"]["thread"]["id"] == failed
        assert "broken" in got[0].json["data"]["thread"]["error"]
        assert got[2].json["data"]["question"]["status"] == "withdrawn"
        assert got[3].json["data"]["thread"]["status"] == "cancelled"


async def test_both_secrets_sign_while_one_is_rotated() -> None:
    """A receiver that knows either takes it."""
    async with office(keys=(parse_secret(SHARED), parse_secret(NEW))) as here:
        await here.launch("hello")
        (got,) = await here.receiver.until(1)

        assert got.headers["webhook-signature"].count("v1,") == 2
        got.verify(SHARED)
        got.verify(NEW)


async def test_a_failing_receiver_is_tried_for_a_day_and_the_order_holds() -> None:
    """After 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h; each try has the same id and body."""
    async with office() as here:
        here.receiver.answers(*[500] * 7)
        thread = await here.launch("refund please")
        for attempt, delay in enumerate(DELAYS, start=1):
            row = await here.until_tried(thread, attempt)
            assert (row.status, row.error) == ("pending", "answered 500")
            assert row.due_at == here.clock.moment + delay * 1000
            here.clock.pass_time(delay)
        question = here.receiver.got[0].json["data"]["question"]["id"]
        await here.until_tried(thread, 8)
        await here.call("POST", f"/v1/questions/{question}/answer", {"value": {"approved": False}})
        got = await here.receiver.until(10)

        assert [one.type for one in got] == [
            *["question.asked"] * 8,
            "question.settled",
            "thread.finished",
        ]
        assert len({one.id for one in got[:8]}) == 1
        assert len({one.body for one in got[:8]}) == 1
        assert len({one.headers["webhook-timestamp"] for one in got[:8]}) == 8


async def test_what_was_never_taken_fails_and_is_sent_again_by_one_command() -> None:
    """Everything that failed goes out in its old order, with its old ids."""
    async with office() as here:
        here.receiver.answers(*[503] * 8)
        thread = await here.launch("ask")
        for attempt, delay in enumerate(DELAYS, start=1):
            await here.until_tried(thread, attempt)
            here.clock.pass_time(delay)
        await here.until(thread, "failed")
        listed = (await here.call("GET", "/v1/callbacks")).json["items"]
        replayed = await here.call("POST", "/v1/callbacks/replay", {})
        again = await here.call("POST", "/v1/callbacks/replay", {})
        got = await here.receiver.until(9)
        await here.until(thread, "sent")

        assert [(one["url"], one["status"], one["failed"]) for one in listed] == [
            (here.receiver.url, "failing", 1)
        ]
        assert (replayed.json, again.json) == ({"replayed": 1}, {"replayed": 0})
        assert got[8].id == got[0].id
        assert (await here.call("GET", "/v1/callbacks")).json["items"] == []


async def test_a_receiver_may_ask_us_to_wait_longer() -> None:
    """Retry-After is honoured with 429 and 503; it never makes us come sooner."""
    async with office() as here:
        here.receiver.answers(429, Retry_After="3600")
        thread = await here.launch("hello")
        row = await here.until_tried(thread, 1)
        assert row.due_at == here.clock.moment + 3_600_000

        here.receiver.answers(503, Retry_After="1")
        here.clock.pass_time(3600)
        row = await here.until_tried(thread, 2)
        assert row.due_at == here.clock.moment + 300_000


async def test_redirects_are_not_followed() -> None:
    """They would lead where nobody has looked."""
    async with office() as here:
        here.receiver.answers(307, Location=f"http://127.0.0.1:{here.receiver.port}/elsewhere")
        thread = await here.launch("hello")
        row = await here.until_tried(thread, 1)

        assert row.error == "answered 307"
        assert [one.path for one in here.receiver.got] == ["/in"]


async def test_who_says_gone_is_disabled_at_once_until_somebody_enables_it() -> None:
    """Later messages fail without a request; enabled and replayed, nothing is missing."""
    async with office() as here:
        here.receiver.answers(410)
        first = await here.launch("hello")
        await here.until(first, "failed")
        second = await here.launch("hello again")
        rows = await here.until(second, "failed")
        metrics = (await here.call("GET", "/metrics")).text
        url = here.receiver.url
        listed = (await here.call("GET", "/v1/callbacks")).json["items"]
        enabled = await here.call("POST", "/v1/callbacks/enable", {"url": f"{url}?x=1"})
        unknown = await here.call("POST", "/v1/callbacks/enable", {"url": url})
        other = await here.call("POST", "/v1/callbacks/replay", {"url": f"{url}/other"})
        replayed = await here.call("POST", "/v1/callbacks/replay", {"url": url, "thread": second})
        await here.until(second, "sent")

        assert "disabled" in rows[0].error
        (notice,) = [one.text for one in here.email.tried]  # once, not for each that fails
        assert "A callback endpoint at 127.0.0.1 is disabled (answered 410)" in notice
        assert 'parley_callback_endpoints{status="disabled"} 1.0' in metrics
        assert [(one["status"], one["failed"], one["error"]) for one in listed] == [
            ("disabled", 2, "answered 410")
        ]
        assert (enabled.status, enabled.json["status"]) == (200, "ok")
        assert unknown.status == 404
        assert (other.json, replayed.json) == ({"replayed": 0}, {"replayed": 1})
        assert [one.json["data"]["thread"]["id"] for one in here.receiver.got] == [first, second]


async def test_days_of_failure_disable_an_endpoint_and_one_success_forgives() -> None:
    """Five days without one success; each success begins the count anew."""
    async with office() as here:
        here.receiver.answers(500)
        one = await here.launch("one")
        await here.until_tried(one, 1)
        here.clock.pass_time(4 * 24 * 3600)
        await here.until(one, "sent")  # the second try was taken: all is forgiven
        here.receiver.answers(500)
        here.clock.pass_time(2 * 24 * 3600)
        two = await here.launch("two")
        assert (await here.until_tried(two, 1)).status == "pending"
        here.receiver.answers(500)
        here.clock.pass_time(6 * 24 * 3600)
        await here.until(two, "failed")

        (listed,) = (await here.call("GET", "/v1/callbacks")).json["items"]
        assert (listed["status"], listed["failed"]) == ("disabled", 1)


async def test_what_failed_before_a_time_is_left_alone() -> None:
    """`since` is when it failed, not when it happened."""
    async with office() as here:
        here.receiver.answers(410)
        thread = await here.launch("hello")
        await here.until(thread, "failed")
        later = "2099-01-01T00:00:00Z"
        none = await here.call("POST", "/v1/callbacks/replay", {"since": later})
        some = await here.call("POST", "/v1/callbacks/replay", {"since": "2020-01-01T00:00:00Z"})

        assert (none.json, some.json) == ({"replayed": 0}, {"replayed": 1})
