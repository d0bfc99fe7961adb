"""The webhook channel: from a request to what the intake gets, and what the sender is told."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from channels.inbound import Message
from channels.intake import Received
from channels.outgoing import Outgoing
from channels.people import Actor
from channels.recording import Recording, RecordingIntake
from channels.webhook.schemes import SchemeName
from storage.errors import StoreBusy
from tests.unit.channels.webhook.sender import ALL, Door, code, sign, source

KEYED: dict[str, Any] = {"thread_key": "{{ payload.key }}"}


@pytest.mark.parametrize("scheme", ALL)
async def test_delivery_becomes_a_message_to_the_agent(scheme: SchemeName) -> None:
    """By every scheme: 202 with the thread, once the intake has it."""
    door = Door(source(scheme, **KEYED))

    answer = await door.sends({"text": "it failed", "key": "run/7"})

    (message,) = door.recording.intake.taken
    assert (answer.status, answer.body) == (202, {"effect": "taken", "thread": "th_1"})
    assert isinstance(message, Message)
    assert message.key.startswith("ci:")
    assert message == Message(
        key=message.key,
        place="webhook:ci:run/7",
        actor=Actor(id="webhook:ci", is_authenticated=False),
        text="it failed",
        is_addressed=True,
        agent="agent",
        may_answer=False,
    )


async def test_delivery_without_a_thread_key_is_a_thread_of_its_own() -> None:
    """Its place is named by the delivery; there is nothing to wait for or to supersede."""
    door = Door(source(on_repeat="supersede"))

    await door.sends({"text": "a"}, x_github_delivery="d-1")

    (message,) = door.recording.intake.taken
    assert isinstance(message, Message)
    assert (message.key, message.place) == ("ci:d-1", "webhook:ci:d-1")
    assert (message.is_alone, message.repeat) == (True, "resume")


async def test_copy_gets_the_answer_of_the_first() -> None:
    """The same bytes, the same status: a sender that retries sees no difference."""
    door = Door()

    first = await door.sends({"text": "a"}, x_github_delivery="d-1")
    again = await door.sends({"text": "a"}, x_github_delivery="d-1")

    assert first == again
    assert len(door.recording.intake.taken) == 1


async def test_requester_agent_and_audience_come_from_their_templates() -> None:
    """In one line each, without empty names, each name once."""
    door = Door(
        source(
            agent="{{ payload.team }}-agent",
            requester="{{ payload.who }}",
            audience=("otto", "{{ payload.names|join(',') }}", ""),
        )
    )

    await door.sends({"text": "a", "team": "web", "who": " ann\n", "names": ["eve", "", "otto"]})

    (message,) = door.recording.intake.taken
    assert isinstance(message, Message)
    assert (message.agent, message.actor.id) == ("web-agent", "ann")
    assert message.audience == ("otto", "eve")


async def test_condition_that_does_not_hold_ignores_the_delivery() -> None:
    """200, so that the sender is content; and the other templates are not even tried."""
    door = Door(source(when="payload.state == 'failed'"))

    answer = await door.sends({"state": "passed"})

    assert (answer.status, answer.body) == (200, {"effect": "ignored", "thread": None})
    assert door.recording.intake.tried == []


async def test_every_failed_proof_gets_the_very_same_answer() -> None:
    """Wrong, missing, stale, or of another scheme: nothing tells them apart but the log."""
    door = Door(source("standard"))
    body = b'{"text":"a"}'
    good = sign("standard", body)
    tries = [
        await door.post(body, {}),
        await door.post(body + b" ", good),
        await door.post(body, {**good, "webhook-timestamp": "abc"}),
        await door.post(body, sign("standard", body, time=5)),
        await door.post(body, sign("github", body)),
        await door.post(b"not JSON", {}),
    ]

    assert all(one == tries[0] for one in tries)
    assert (tries[0].status, tries[0].kind) == (401, "application/problem+json")
    assert door.recording.intake.tried == []


async def test_unknown_hook_is_not_there() -> None:
    """404, whatever was sent."""
    assert (await Door().post(b"{}", {}, name="nope")).status == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"NaN", b'{"text": Infinity}', b"\xff\xfe", b"[" * 100_000, b'"\\ud800"', b"{}x"],
)
async def test_what_is_not_json_is_refused_clearly(body: bytes) -> None:
    """400 with words, after the proof."""
    answer = await Door().post(body, sign("github", body))

    assert (answer.status, answer.body["type"]) == (400, "/problems/malformed-json")
    assert "not JSON" in answer.body["detail"]


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({}, "hooks.ci.message: 'dict object' has no attribute 'text'"),
        ([], "hooks.ci.message"),
        (None, "hooks.ci.message"),
        ({"text": "  "}, "hooks.ci.message: it is empty"),
        ({"text": "a\x00b"}, "NUL"),
        ({"text": "x" * 100_001}, "100,000 characters"),
    ],
)
async def test_payload_that_makes_no_message_is_refused_by_its_field(
    payload: object, told: str
) -> None:
    """422: the operator's template and the sender's payload don't fit."""
    answer = await Door().sends(payload)

    assert (answer.status, answer.body["type"]) == (422, "/problems/invalid")
    assert told in answer.body["detail"]


async def test_key_of_a_thread_that_is_too_long_is_refused() -> None:
    """It becomes an address."""
    answer = await Door(source(**KEYED)).sends({"text": "a", "key": "k" * 301})

    assert answer.status == 422
    assert "hooks.ci.thread_key: it makes more than 300 characters" in answer.body["detail"]


async def test_form_with_json_in_its_field_payload_is_read() -> None:
    """As GitHub sends it when that is chosen; the signature is over the form."""
    door = Door()
    body = urlencode({"payload": json.dumps({"text": "a & b"})}).encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}

    taken = await door.post(body, {**sign("github", body), **kind})
    other = await door.post(b"a=1", {**sign("github", b"a=1"), **kind})

    (message,) = door.recording.intake.taken
    assert taken.status == 202
    assert isinstance(message, Message)
    assert message.text == "a & b"
    assert other.status == 400
    assert "exactly one field 'payload'" in other.body["detail"]


async def test_refusal_of_the_intake_is_told_with_its_words() -> None:
    """409: the thread was cancelled, say."""
    intake = RecordingIntake(Received(effect="refused", words="It is over."))

    answer = await Door(recording=Recording(intake=intake)).sends({"text": "a"})

    assert (answer.status, answer.body["detail"]) == (409, "It is over.")


async def test_what_could_not_be_stored_is_not_acknowledged() -> None:
    """The error goes on to the server, which answers 503: the sender comes again."""
    recording = Recording(intake=RecordingIntake(StoreBusy("busy")))
    door = Door(recording=recording)

    with pytest.raises(StoreBusy):
        await door.sends({"text": "a"}, x_github_delivery="d-1")
    again = await door.sends({"text": "a"}, x_github_delivery="d-1")

    assert again.status == 202


async def test_sending_to_a_webhook_says_where_to_read() -> None:
    """Nothing goes out: who wants the result reads it by the API."""
    door = Door()
    outgoing = Outgoing(id="1", thread="th_1", address="webhook:ci:k", kind="thread.finished")

    sent = await door.channel.send(outgoing)
    await door.channel.settle({}, outgoing)

    assert (sent.receipt, sent.place) == ({"url": "/v1/threads/th_1"}, "")


# --- waiting --------------------------------------------------------------------------------------


def rested(key: str = "k") -> Outgoing:
    """Tell that the thread of a key has finished."""
    return Outgoing(id="1", thread="th_1", address=f"webhook:ci:{key}", kind="thread.finished")


async def test_what_has_to_wait_goes_in_when_the_thread_rests_in_the_order_it_came() -> None:
    """One for each rest: then the thread is under way again."""
    waits, busy = Received(effect="waiting", thread="th_1"), Received(effect="waiting")
    took = Received(effect="taken", thread="th_1")
    # The first waits (looked twice), then the second behind it; then one goes in at each rest.
    intake = RecordingIntake(waits, waits, busy, waits, took, busy, took)
    door = Door(source(on_repeat="wait", **KEYED), recording=Recording(intake=intake))

    first = await door.sends({"text": "1", "key": "k"})
    door.now += 1
    second = await door.sends({"text": "2", "key": "k"})
    await door.channel.send(rested("other"))
    await door.channel.send(rested())
    left = len(door.recording.memory.kept)
    await door.channel.send(rested())

    texts = [one.text for one in intake.tried if isinstance(one, Message)]
    assert (first.status, first.body) == (202, {"effect": "waiting", "thread": "th_1"})
    assert second.body["effect"] == "waiting"
    assert texts == ["1", "1", "1", "2", "1", "2", "2"]
    assert (left, len(door.recording.memory.kept)) == (1, 0)


async def test_what_need_not_wait_goes_in_at_once_and_is_not_kept() -> None:
    """The thread rested already, or there is none yet."""
    door = Door(source(on_repeat="wait", **KEYED))

    answer = await door.sends({"text": "1", "key": "k"})

    assert answer.body["effect"] == "taken"
    assert door.recording.memory.kept == {}


async def test_what_waited_is_as_it_came() -> None:
    """Nothing of a message is lost on the way through the memory."""
    intake = RecordingIntake(Received(effect="waiting"), Received(effect="waiting"))
    door = Door(
        source(on_repeat="wait", audience=("otto",), **KEYED), recording=Recording(intake=intake)
    )

    await door.sends({"text": "1", "key": "k"})
    await door.channel.send(rested())

    assert intake.taken[0] == intake.tried[0] == intake.tried[1]


def test_code_is_the_one_that_the_sender_would_make() -> None:
    """CircleCI's example: the sender of these tests is right."""
    expected = "773ba44693c7553d6ee20f61ea5d2757a9a4f4a44d2841ae4e95b52e4cd62db4"

    assert code(b"foo", b"secret") == expected


async def test_room_of_those_who_wait_has_an_end() -> None:
    """A sender without measure is told so, and it goes on when the thread has come to rest."""
    waits = Received(effect="waiting", thread="th_1")
    door = Door(source(on_repeat="wait", **KEYED))
    await door.sends({"text": "a", "key": "k"})
    (place,) = {one.place for one in door.recording.intake.taken}
    digest = sha256(place.encode()).hexdigest()[:32]
    kept = msgspec.json.encode(door.recording.intake.taken[0])
    for number in range(1000):
        await door.recording.memory.keep(f"waiting:{digest}:{number:016d}:x", kept)

    door.recording.intake.script = [waits, waits]
    full = await door.sends({"text": "b", "key": "k"})
    elsewhere = await door.sends({"text": "b", "key": "other"})
    rested = await door.sends({"text": "b", "key": "k"})

    assert (full.status, "wait already" in str(full.body)) == (409, True)
    assert (elsewhere.status, rested.status) == (202, 202)
    assert door.recording.memory.kept == {}


class Twice:
    """A limit: two, and then a wait."""

    def __init__(self) -> None:
        self.left = 2

    async def take(self, name: str) -> float:
        """Give one of two."""
        assert name == "ci"
        self.left -= 1
        return 0.0 if self.left >= 0 else 2.4


async def test_sender_who_calls_too_often_is_told_when_to_come_again() -> None:
    """429 with Retry-After in whole seconds; nothing of it is taken, and others are not held up."""
    door = Door(source(), source(name="other"), limits={"ci": Twice()})

    answers = [await door.sends({"text": "a"}) for _ in range(3)]

    assert [one.status for one in answers] == [202, 202, 429]
    assert (answers[2].retry_after, answers[2].body["type"]) == ("3", "/problems/rate-limited")
    assert (await door.sends({"text": "a"}, name="other")).status == 202
    assert len(door.recording.intake.taken) == 3


async def test_only_who_proves_to_be_a_sender_is_counted() -> None:
    """A stranger can't use up what is the sender's."""
    limit = Twice()
    door = Door(source(), limits={"ci": limit})

    for _ in range(5):
        assert (await door.post(b"{}", {})).status == 401

    assert limit.left == 2
    assert (await door.sends({"text": "a"})).status == 202
