"""Links in mail: looking changes nothing, the button answers, and a forged link opens nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.json_values import Json, JsonObject
from channels.email.conversations import Conversations
from channels.email.link_door import LinkDoor
from channels.email.links import Pass, link_to, read_pass, sign_pass
from channels.email.mail import Address
from channels.inbound import Decision
from channels.intake import Received
from channels.outgoing import QuestionCard, Vote
from channels.posted_answers import SHOWN, card_digest
from channels.recording import Recording
from channels.web_routes import WebRequest, WebResponse
from tests.unit.channels.email.cards import (
    APPROVAL,
    CHOICE,
    FORM,
    NOW,
    OPTIONS,
    QUESTION,
    SECRET,
    TEXT,
    THREAD,
)

OTTO = "otto@example.org"
NOW_MS = round(NOW.timestamp() * 1000)


class Visit:
    """Somebody with a link, and the house behind the door."""

    def __init__(self, card: QuestionCard = APPROVAL, *script: Received) -> None:
        self.house = Recording()
        self.house.intake.script = list(script)
        self.house.desk.cards[card.id] = card
        self.card = card
        self.now = NOW.timestamp()
        self.door = LinkDoor(OPTIONS, clock=lambda: self.now)
        self.door.open(self.house.house())
        url = link_to(card, OTTO, public_url=OPTIONS.public_url, now=NOW_MS, secret=SECRET)
        self.path = url.removeprefix("https://parley.example.com")

    def settle(self, **changes: object) -> None:
        """Let the question end elsewhere."""
        settled: QuestionCard = replace(self.card, **changes)  # type: ignore[arg-type]
        self.house.desk.cards[self.card.id] = settled

    async def look(self, path: str = "", method: str = "GET") -> WebResponse:
        """Open the link."""
        return await self.door.show(WebRequest(method=method, path=path or self.path))

    async def post(
        self, path: str = "", /, inputs: Mapping[str, str | list[str]] | None = None, **more: str
    ) -> WebResponse:
        """Press a button."""
        inputs = {**(inputs or {}), **more}
        body = urlencode({SHOWN: card_digest(self.card), **inputs}, doseq=True).encode()
        return await self.door.answer(
            WebRequest(
                method="POST",
                path=path or self.path,
                headers={"content-type": "application/x-www-form-urlencoded; charset=utf-8"},
                body=body,
            )
        )

    @property
    def taken(self) -> list[Decision]:
        """What was decided."""
        return [one for one in self.house.intake.tried if isinstance(one, Decision)]


# --- looking --------------------------------------------------------------------------------------


async def test_page_shows_exactly_what_runs_and_changes_nothing() -> None:
    """By GET and by HEAD, however often a scanner comes."""
    visit = Visit()
    for method in ("GET", "HEAD"):
        assert (await visit.look(method=method)).status == 200
    html = (await visit.look()).body.decode()

    assert visit.house.intake.tried == []
    assert "<pre><b>refund</b>\norder: &quot;123&quot;\namount: 40.5</pre>" in html
    assert "You answer as otto@example.org" in html
    assert "<strong>order 123</strong>" in html


async def test_page_may_not_be_framed_indexed_or_run_anything() -> None:
    """It needs no script, and fetches nothing."""
    page = await Visit().look()
    policy = page.headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert "noindex" in page.headers["X-Robots-Tag"]
    assert b"<script" not in page.body
    assert b" style=" not in page.body


@pytest.mark.parametrize("card", [APPROVAL, CHOICE, TEXT, FORM])
async def test_nothing_of_a_question_can_act_on_the_page(card: QuestionCard) -> None:
    """Prompt, context, tool, arguments, options and schema may all be a stranger's words."""
    evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)></textarea></pre>"
    hostile = replace(
        card,
        prompt=evil,
        context=evil,
        tool=evil,
        arguments={evil: evil},
        options=[replace(one, name=evil, description=evil) for one in card.options],
        schema={"properties": {evil: {"title": evil, "description": evil, "default": evil}}},
    )
    html = (await Visit(hostile).look()).body.decode()

    assert "<script" not in html
    assert "<img" not in html
    assert html.count("</textarea>") == html.count("<textarea")
    assert html.count("</pre>") == html.count("<pre>")


@given(st.text(max_size=200))
async def test_any_path_is_answered_with_not_found(text: str) -> None:
    """Whatever stands there."""
    page = await Visit().look(f"/a/{text}")

    assert page.status == 404


async def test_link_that_was_changed_opens_nothing() -> None:
    """Each letter counts, and so does the secret."""
    visit = Visit()
    token = visit.path.removeprefix("/a/")
    forged = sign_pass(Pass(question=QUESTION, email=OTTO, until=NOW_MS * 2), b"another secret")
    changed = [
        f"{token[:at]}{'A' if token[at] != 'A' else 'B'}{token[at + 1 :]}"
        for at in range(len(token))
    ]

    for bad in [*changed, token[:-1], f"{token}0", forged, token.partition(".")[0]]:
        assert (await visit.look(f"/a/{bad}")).status == 404
        assert (await visit.post(f"/a/{bad}", decision="approve")).status == 404
    assert visit.house.intake.tried == []
    assert read_pass(token, b"") is None


async def test_question_that_is_gone_is_not_found() -> None:
    """As is one that never was."""
    visit = Visit()
    visit.house.desk.cards.clear()

    assert (await visit.look()).status == 404


async def test_link_has_its_time() -> None:
    """Thirty days, or as long as the question; then the mail itself still works."""
    visit = Visit()
    visit.now += 30 * 24 * 3_600 - 1
    assert (await visit.look()).status == 200
    visit.now += 2
    page = await visit.look()
    assert page.status == 410
    assert b"reply to the mail" in page.body
    assert (await visit.post(decision="approve")).status == 410
    assert visit.house.intake.tried == []

    short = Visit(replace(APPROVAL, expires_at=NOW_MS + 1_000))
    short.now += 2
    assert (await short.look()).status == 410


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        (
            {"status": "answered", "answer": {"approved": False}, "answered_by": "ada"},
            409,
            "Denied by ada",
        ),
        ({"status": "withdrawn"}, 409, "needs no answer"),
        ({"status": "expired"}, 410, "not a denial"),
    ],
)
async def test_settled_question_says_how_it_ended(
    changes: dict[str, object], status: int, words: str
) -> None:
    """No form is shown for it any more."""
    visit = Visit()
    visit.settle(**changes)
    page = await visit.look()

    assert page.status == status
    assert words in page.body.decode()
    assert b"<form" not in page.body


async def test_closed_door_asks_to_come_again() -> None:
    """While Parley starts or stops."""
    visit = Visit()
    visit.door.close()

    for page in (await visit.look(), await visit.post(decision="approve")):
        assert (page.status, page.headers["Retry-After"]) == (503, "5")


# --- answering ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "inputs", "value", "comment"),
    [
        (APPROVAL, {"decision": "approve"}, {"approved": True}, ""),
        (
            APPROVAL,
            {"decision": "deny", "comment": " Too much.\r\nReally. "},
            {"approved": False},
            "Too much.\nReally.",
        ),
        (
            APPROVAL,
            {"decision": "edit", "arguments": '{"order": "123", "amount": 40.5}'},
            {"approved": True},
            "",
        ),
        (
            APPROVAL,
            {"decision": "edit", "arguments": '{"order": "123", "amount": 1}'},
            {"approved": True, "arguments": {"order": "123", "amount": 1}},
            "",
        ),
        (CHOICE, {"choice": "1"}, "pro", ""),
        (TEXT, {"text": " A-17 \r\nor so\x00"}, "A-17 \nor so", ""),
        (
            FORM,
            {
                "field-0": "High Street", "field-1": "3", "field-2": "1", "field-3": "2",
                "field-4": ["0", "1"], "field-5": "2026-11-16", "field-6": '{"a": [1]}',
            },
            {
                "street": "High Street", "floor": 3, "express": False, "size": 3,
                "extras": ["ribbon", "card"], "day": "2026-11-16", "more": {"a": [1]},
            },
            "",
        ),
        (FORM, {"field-0": "High", "field-1": "-3"}, {"street": "High", "floor": -3}, ""),
    ],
)  # fmt: skip
async def test_button_answers(
    card: QuestionCard, inputs: dict[str, str | list[str]], value: Json, comment: str
) -> None:
    """Each kind in its own shape, by whoever the link was for."""
    visit = Visit(card)
    page = await visit.post(inputs=inputs)
    (decision,) = visit.taken

    assert page.status == 200
    assert (decision.question, decision.value, decision.comment) == (QUESTION, value, comment)
    assert decision.actor.id == f"email:{OTTO}"
    assert decision.actor.email == OTTO
    assert decision.actor.is_authenticated
    assert decision.actor.how == "link"


@pytest.mark.parametrize(
    ("card", "inputs", "words"),
    [
        (APPROVAL, {}, "one of the buttons"),
        (APPROVAL, {"decision": "answer"}, "one of the buttons"),
        (APPROVAL, {"decision": "edit", "arguments": "{"}, "write JSON"),
        (APPROVAL, {"decision": "edit", "arguments": "[1]"}, "as an object"),
        (APPROVAL, {"decision": "edit", "arguments": "[" * 5_000}, "write JSON"),
        (CHOICE, {}, "choose one"),
        (CHOICE, {"choice": "2"}, "choose one"),
        (CHOICE, {"choice": "-1"}, "choose one"),
        (CHOICE, {"choice": "٣"}, "choose one"),
        (CHOICE, {"choice": "9" * 5_000}, "choose one"),
        (TEXT, {"text": " \n "}, "answer in words"),
        (FORM, {"field-0": "High Street", "field-1": "three"}, "a whole number"),
        (FORM, {"field-0": "High Street", "field-1": "3", "field-3": "9"}, "choose one"),
        (FORM, {"field-0": "High Street", "field-1": "3", "field-5": "soon"}, "give a day"),
        (FORM, {"field-0": "x", "field-1": "3"}, "is shorter than 3 characters"),
        (FORM, {"field-1": "3"}, "This is needed."),
    ],
)
async def test_answer_of_the_wrong_shape_is_shown_again(
    card: QuestionCard, inputs: dict[str, str], words: str
) -> None:
    """With what is to mend, and what was typed; nothing is decided."""
    visit = Visit(card)
    page = await visit.post(inputs=inputs)
    html = page.body.decode()

    assert page.status == 422
    assert words in html
    assert visit.house.intake.tried == []
    for typed in inputs.values():
        if typed in {"High Street", "three"}:
            assert typed in html


async def test_change_that_somebody_proposed_can_be_agreed_to() -> None:
    """Where several decide, the same thing must be approved: a button has exactly that."""
    changed: JsonObject = {"order": "123", "amount": 1}
    vote = Vote(by="ben", approved=True, arguments=changed)
    visit = Visit(replace(APPROVAL, quorum=2, votes=[vote]))
    html = (await visit.look()).body.decode()
    button = re.search(r'value="(agree-[0-9a-f]+)"', html)
    assert button is not None
    await visit.post(decision=button[1])

    assert "ben approved with other arguments" in html
    assert [one.value for one in visit.taken] == [{"approved": True, "arguments": changed}]
    assert (await visit.post(decision="agree-0123456789abcdef")).status == 422


async def test_answer_goes_to_the_conversation_that_the_mail_stands_in() -> None:
    """Else to the person's mailbox."""
    visit, place = Visit(), f"email:{OTTO}:0123456789abcdef"
    await visit.post(decision="approve")
    kept = Conversations(visit.house.memory, OPTIONS.address)
    await kept.sent(place, THREAD, subject="x", message_id="<1@x>", people=[Address(email=OTTO)])
    await visit.post(decision="deny")

    assert [one.place for one in visit.taken] == [f"email:{OTTO}", place]


async def test_two_clicks_are_one_answer() -> None:
    """The second is a copy, and says thank you, too."""
    visit = Visit()
    first, second = await visit.post(decision="approve"), await visit.post(decision="approve")

    assert (first.status, second.status) == (200, 200)
    assert len(visit.house.intake.taken) == 1


async def test_late_answer_is_put_to_the_intake_and_explained() -> None:
    """It knows who was faster, and keeps the attempt in the log."""
    refused = Received(effect="refused", words="Already answered by Ada at 12:00.")
    visit = Visit(APPROVAL, refused)
    visit.settle(status="answered", answer={"approved": True}, answered_by="ada")
    page = await visit.post(decision="deny")

    assert len(visit.taken) == 1
    assert page.status == 409
    assert b"Already answered by Ada" in page.body


async def test_refusal_is_shown_in_its_words() -> None:
    """Who may not answer hears it; who may mend it gets the form again."""
    not_yours = Visit(APPROVAL, Received(effect="refused", words="This is for <b>Ben</b>."))
    page = await not_yours.post(decision="approve")
    assert page.status == 403
    assert b"This is for &lt;b&gt;Ben&lt;/b&gt;." in page.body

    shape = Visit(APPROVAL, Received(effect="refused", words="amount: too large", is_shape=True))
    page = await shape.post(decision="edit", arguments='{"amount": 999}')
    assert page.status == 422
    assert b"amount: too large" in page.body
    assert b"{&quot;amount&quot;: 999}" in page.body


async def test_who_is_not_asked_any_more_sees_nothing() -> None:
    """Their role was taken from them, but not the old mail with its link."""
    visit = Visit()
    visit.house.desk.forbidden.add(f"email:{OTTO}")

    pages = [
        await visit.look(),
        await visit.post(decision="perhaps"),
        await visit.post(inputs={SHOWN: "another", "decision": "approve"}),
    ]

    assert [page.status for page in pages] == [403, 403, 403]
    assert all(b"refund" not in page.body for page in pages)
    assert visit.taken == []


async def test_what_was_not_looked_at_is_not_approved() -> None:
    """The form says which card it belongs to."""
    visit = Visit()
    visit.settle(arguments={"order": "123", "amount": 9_999})
    page = await visit.post(decision="approve")

    assert page.status == 409
    assert b"has changed" in page.body
    assert visit.house.intake.tried == []
    assert (await visit.post(decision="approve", shown="")).status == 409


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("multipart/form-data; boundary=x", b"", 415),
        ("", b"decision=approve", 415),
        ("application/x-www-form-urlencoded", b"a=1&" * 600, 400),
        ("application/x-www-form-urlencoded", b"a=\xff", 400),
        ("application/x-www-form-urlencoded", b"a=%ff", 400),
        ("application/x-www-form-urlencoded", b"a" * 256_001, 413),
    ],
)
async def test_odd_post_is_refused(kind: str, body: bytes, status: int) -> None:
    """With a page, not an error of ours."""
    visit = Visit()
    request = WebRequest(
        method="POST", path=visit.path, headers={"content-type": kind} if kind else {}, body=body
    )

    assert (await visit.door.answer(request)).status == status
    assert visit.house.intake.tried == []


def test_no_link_without_a_public_address() -> None:
    """A link that leads nowhere helps nobody."""
    assert link_to(APPROVAL, OTTO, public_url="", now=NOW_MS, secret=SECRET) == ""


def test_link_ends_in_a_letter_or_digit() -> None:
    """Programs that find links in text leave other signs out."""
    for number in range(50):
        card = replace(APPROVAL, id=f"q_{number}")
        url = link_to(card, OTTO, public_url="https://x.example", now=NOW_MS, secret=SECRET)
        assert url[-1].isalnum()


async def test_event_has_nothing_to_press() -> None:
    """It is answered by what happens, not by somebody with a link."""
    visit = Visit(replace(TEXT, kind="event"))

    assert b"<form" not in (await visit.look()).body
    assert (await visit.post(text="it happened")).status == 422
    assert visit.house.intake.tried == []


async def test_what_can_not_be_kept_is_said_so() -> None:
    """No database stores a NUL, also not one that is written as an escape."""
    visit = Visit()
    page = await visit.post(decision="edit", arguments='{"order": "a\\u0000b"}')

    assert page.status == 422
    assert b"can&#x27;t be kept" in page.body
