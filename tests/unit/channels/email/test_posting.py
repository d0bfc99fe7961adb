"""The postman: each message once, to everybody in the conversation, in one mail thread."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from channels.channel import GiveUp, NoSuchAddress, TryLater
from channels.email.conversations import Conversations
from channels.email.links import read_pass
from channels.email.mail import Address, ReadingOptions, ReadMail
from channels.email.options import EmailOptions
from channels.email.places import parse_place
from channels.email.posting import Postman
from channels.email.reading import read_mail
from channels.email.smtp import SmtpClient
from channels.email.tokens import delivery_of, tag_of, verify_token
from channels.outgoing import QuestionCard
from channels.recording import DictMemory, RecordingDesk
from tests.doubles.smtp_server import DROP, Script, Taken, mail_server
from tests.unit.channels.email.cards import (
    APPROVAL,
    NOW,
    OPTIONS,
    QUESTION,
    SECRET,
    THREAD,
    outgoing,
)

OURS = OPTIONS.address
OTTO = "otto@example.org"
PLACE = "email:ada@example.org:0123456789abcdef"
ADA = Address(email="ada@example.org", name="Ada")
BEN = Address(email="ben@example.org", name="Ben")


@dataclass
class Office:
    """A postman at work, and what arrives at the server."""

    postman: Postman
    script: Script
    memory: DictMemory
    desk: RecordingDesk
    now: datetime = NOW

    @property
    def taken(self) -> list[Taken]:
        """What the server took."""
        return self.script.taken

    async def hear(self, message_id: str = "<1@example.org>", **changes: object) -> None:
        """Let Ada begin a conversation, with Ben in Cc."""
        given: dict[str, object] = {
            "sender": ADA, "to": (Address(email=OURS),), "cc": (BEN,), "subject": "Refund?",
        }  # fmt: skip
        mail = ReadMail(kind="human", reason="", message_id=message_id, **(given | changes))  # type: ignore[arg-type]
        await Conversations(self.memory, OURS).heard(PLACE, mail)


@asynccontextmanager
async def office(**changes: object) -> AsyncIterator[Office]:
    """Open an office with a real mail server beside it."""
    script = Script()
    async with mail_server(script) as server:
        url = f"smtp+plain://127.0.0.1:{server.port}"
        options: EmailOptions = replace(OPTIONS, smtp_url=url, **changes)  # type: ignore[arg-type]
        smtp, memory, desk = SmtpClient(options, seconds=5), DictMemory(), RecordingDesk()
        made = Office(Postman(options, memory, desk, smtp), script, memory, desk)
        made.postman = Postman(options, memory, desk, smtp, clock=lambda: made.now)
        yield made
        await smtp.close()


def link_in(taken: Taken) -> str:
    """Give the token of the link in a mail, or nothing."""
    found = re.search(r"https://parley\.example\.com/a/(\S+)", taken.text())
    return found[1] if found else ""


def token_in(address: str) -> str:
    """Give what a signed address of ours names."""
    token = verify_token(tag_of(Address(email=address), OURS), SECRET)
    return token.reference if token else ""


# --- a mail ---------------------------------------------------------------------------------------


async def test_question_to_a_mailbox_opens_a_conversation() -> None:
    """Signed everywhere: the reply names the question, the bounce and the id the delivery."""
    async with office() as it:
        sent = await it.postman.send(outgoing())
    mail = it.taken[0].mail

    assert it.taken[0].recipients == (OTTO,)
    assert str(mail["From"]) == "Support agent <agent@example.com>"
    assert mail["Subject"] == "May I pay order 123 back?"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["In-Reply-To"] is None
    assert mail["References"] == mail["Message-ID"]
    assert token_in(mail["Reply-To"].addresses[0].addr_spec) == QUESTION
    assert token_in(it.taken[0].sender) == f"{THREAD}.5"
    assert delivery_of(mail["Message-ID"], SECRET) == f"{THREAD}.5"
    assert parse_place(sent.place) is not None
    assert sent.receipt["message_id"] == mail["Message-ID"]


async def test_our_own_reader_knows_our_mail_again() -> None:
    """If it comes back, it is ours and automatic: no loop begins with it."""
    async with office() as it:
        await it.postman.send(outgoing())
    read = read_mail(it.taken[0].raw, None, ReadingOptions(address=OURS, secret=SECRET))

    assert (read.kind, read.is_ours) == ("auto", True)


async def test_second_mail_stays_in_the_same_mail_thread() -> None:
    """By thread and address: reminders and the result stand under the question."""
    async with office() as it:
        first = await it.postman.send(outgoing())
        later = outgoing(id=f"{THREAD}.9", kind="thread.finished", text="Done.", question=None)
        second = await it.postman.send(later)
        other = await it.postman.send(replace(later, id="th_x.1", thread="th_x"))
    one, two, three = (taken.mail for taken in it.taken)

    assert two["Subject"] == "Re: May I pay order 123 back?"
    assert two["In-Reply-To"] == one["Message-ID"]
    assert two["References"].split() == [one["Message-ID"], two["Message-ID"]]
    assert two["Auto-Submitted"] == "auto-replied"
    assert token_in(two["Reply-To"].addresses[0].addr_spec) == THREAD
    assert second.receipt["place"] == first.place
    assert three["In-Reply-To"] is None
    assert other.place != first.place


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("May I run roll_back?", "May I run roll_back?"),
        ("# **May** I _really_ run `roll_back`?", "May I really run roll_back?"),
    ],
)
async def test_subject_is_the_question_without_its_marks(prompt: str, subject: str) -> None:
    """An underscore inside a word is no mark: names of tools have them."""
    async with office() as it:
        await it.postman.send(outgoing(question=replace(APPROVAL, prompt=prompt)))

    assert it.taken[0].mail["Subject"] == subject


async def test_reply_in_a_conversation_keeps_its_people_and_subject() -> None:
    """To whoever began it, Cc to the others, under the subject that they gave."""
    async with office() as it:
        await it.hear()
        sent = await it.postman.send(outgoing(address=PLACE, kind="thread.finished", text="Done."))
    mails = [taken.mail for taken in it.taken]

    assert [taken.recipients for taken in it.taken] == [(ADA.email,), (BEN.email,)]
    assert {str(mail["To"]) for mail in mails} == {"Ada <ada@example.org>"}
    assert {str(mail["Cc"]) for mail in mails} == {"Ben <ben@example.org>"}
    assert {mail["Subject"] for mail in mails} == {"Re: Refund?"}
    assert {mail["In-Reply-To"] for mail in mails} == {"<1@example.org>"}
    assert len({mail["Message-ID"] for mail in mails}) == 1
    assert sent.place == ""


async def test_next_reply_goes_under_the_newest_mail() -> None:
    """What people wrote meanwhile counts, and so does what we sent."""
    async with office() as it:
        await it.hear()
        await it.postman.send(outgoing(address=PLACE))
        await it.hear("<2@example.org>", subject="AW: Refund?")
        await it.postman.send(outgoing(id=f"{THREAD}.8", address=PLACE))
    first, last = it.taken[0].mail, it.taken[-1].mail

    assert last["In-Reply-To"] == "<2@example.org>"
    assert last["References"].split() == [
        "<1@example.org>", first["Message-ID"], "<2@example.org>", last["Message-ID"],
    ]  # fmt: skip
    assert last["Subject"] == "Re: Refund?"


async def test_each_recipient_has_their_own_link_and_return_path() -> None:
    """Only who may answer gets a link; a bounce from Cc does not name the delivery itself."""
    async with office() as it:
        it.desk.forbidden = {"email:ben@example.org"}
        await it.hear(cc=(BEN, Address(email="cleo@example.org")))
        await it.postman.send(outgoing(address=PLACE))
    to_ada, to_ben, to_cleo = it.taken
    named = [read_pass(link_in(one), SECRET) for one in (to_ada, to_cleo)]

    assert [one.email for one in named if one] == [ADA.email, "cleo@example.org"]
    assert link_in(to_ben) == ""
    assert "you get this to know of it" in to_ben.text()
    assert token_in(to_ada.sender) == f"{THREAD}.5"
    assert re.fullmatch(rf"{THREAD}\.5\+\d{{4,6}}", token_in(to_ben.sender))
    assert len({one.sender for one in it.taken}) == 3


async def test_approvals_link_is_in_nobodys_reply_to_all() -> None:
    """Whoever may approve sees only themself in the mail; the others see everybody."""
    async with office() as it:
        it.desk.forbidden = {"email:ben@example.org"}
        await it.hear(cc=(BEN,))
        await it.postman.send(outgoing(address=PLACE))
        await it.postman.send(outgoing(id=f"{THREAD}.8", address=PLACE, kind="thread.finished"))
    to_ada, to_ben, result, _ = it.taken

    assert link_in(to_ada)
    assert (to_ada.mail["To"].addresses[0].addr_spec, to_ada.mail["Cc"]) == (ADA.email, None)
    assert to_ben.mail["Cc"].addresses[0].addr_spec == BEN.email
    assert result.mail["Cc"].addresses[0].addr_spec == BEN.email
    assert to_ada.mail["Message-ID"] == to_ben.mail["Message-ID"]


async def test_long_question_id_is_named_by_its_thread() -> None:
    """Callers choose ids; the reply still finds the thread."""
    card = replace(APPROVAL, id="an-id-that-a-caller-chose-and-that-is-too-long")
    async with office() as it:
        await it.postman.send(outgoing(question=card))

    assert token_in(it.taken[0].mail["Reply-To"].addresses[0].addr_spec) == THREAD
    named = read_pass(link_in(it.taken[0]), SECRET)
    assert named is not None
    assert named.question == card.id


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["email:", "email:otto", "slack:T1:U1", "email:a b@c"])
async def test_address_of_nobody_is_refused(address: str) -> None:
    """Before anything is sent."""
    async with office() as it:
        with pytest.raises(NoSuchAddress):
            await it.postman.send(outgoing(address=address))
    assert it.taken == []


async def test_second_try_has_the_same_id_and_skips_who_has_it() -> None:
    """Nobody gets a mail twice when we know that it was taken."""
    async with office() as it:
        await it.hear()
        it.script.to_recipient = {BEN.email: ["451 4.3.0 later"]}
        with pytest.raises(TryLater):
            await it.postman.send(outgoing(address=PLACE))
        await it.postman.send(outgoing(address=PLACE, attempt=2))

    assert [taken.recipients[0] for taken in it.taken] == [ADA.email, BEN.email]
    assert len({taken.mail["Message-ID"] for taken in it.taken}) == 1


async def test_unclear_outcome_is_sent_again_under_the_same_id() -> None:
    """The server hung up after the mail: programs show the second as the first."""
    async with office() as it:
        it.script.to_data = [DROP]
        with pytest.raises(TryLater):
            await it.postman.send(outgoing())
        await it.postman.send(outgoing(attempt=2))

    assert delivery_of(it.taken[0].mail["Message-ID"], SECRET) == f"{THREAD}.5"


async def test_bad_copy_keeps_nobody_else_from_theirs() -> None:
    """Ben's mailbox is gone: Ada has hers. But if it is Ada's, the delivery has failed."""
    async with office() as it:
        await it.hear()
        it.script.to_recipient = {BEN.email: ["550 5.1.1 gone"]}
        await it.postman.send(outgoing(address=PLACE))
        assert [taken.recipients[0] for taken in it.taken] == [ADA.email]

        it.script.to_recipient = {ADA.email: ["550 5.1.1 gone"]}
        with pytest.raises(NoSuchAddress):
            await it.postman.send(outgoing(id=f"{THREAD}.8", address=PLACE))


async def test_odd_address_in_the_conversation_is_left_out() -> None:
    """It can't be written in a mail; the others must not go without theirs."""
    async with office() as it:
        await it.hear(cc=(Address(email="bén@example.org"), BEN))
        await it.postman.send(outgoing(address=PLACE))

    assert [taken.recipients[0] for taken in it.taken] == [ADA.email, BEN.email]


async def test_thread_sends_so_many_mails_an_hour() -> None:
    """What is left of a loop is slowed; the next hour goes on; other threads are not touched."""
    async with office(mails_per_hour=2) as it:
        for number in (1, 2):
            await it.postman.send(outgoing(id=f"{THREAD}.{number}"))
        with pytest.raises(TryLater) as caught:
            await it.postman.send(outgoing(id=f"{THREAD}.3"))
        assert caught.value.retry_after == pytest.approx(30 * 60 + 1)
        await it.postman.send(outgoing(id="th_x.1", thread="th_x"))
        it.now += timedelta(hours=1)
        await it.postman.send(outgoing(id=f"{THREAD}.3"))

    assert len(it.taken) == 4


# --- settling -------------------------------------------------------------------------------------


def answered(by: str = "email:ada@example.org") -> QuestionCard:
    """Give the question as it was answered."""
    return replace(APPROVAL, status="answered", answer={"approved": True}, answered_by=by)


async def test_others_hear_how_it_ended_once() -> None:
    """Who answered knows; the rest get a few words under the question."""
    async with office() as it:
        await it.hear()
        sent = await it.postman.send(outgoing(address=PLACE))
        settled = outgoing(id=f"{THREAD}.7", kind="question.settled", question=answered())
        await it.postman.settle(sent.receipt, settled)
        await it.postman.settle(sent.receipt, settled)
    last = it.taken[-1]

    assert len(it.taken) == 3
    assert last.recipients == (BEN.email,)
    assert "Approved by ada@example.org" in last.text()
    assert last.mail["In-Reply-To"] == it.taken[0].mail["Message-ID"]
    assert last.mail["Subject"] == "Re: Refund?"
    assert last.mail["Message-ID"] != it.taken[0].mail["Message-ID"]
    assert delivery_of(last.mail["Message-ID"], SECRET).startswith(f"{THREAD}.7+")


@pytest.mark.parametrize("status", ["expired", "withdrawn"])
async def test_everybody_hears_what_nobody_answered(status: str) -> None:
    """It is neither a yes nor a no."""
    card: QuestionCard = replace(APPROVAL, status=status)  # type: ignore[arg-type]
    async with office() as it:
        sent = await it.postman.send(outgoing())
        await it.postman.settle(sent.receipt, outgoing(id=f"{THREAD}.7", question=card))

    assert len(it.taken) == 2
    assert status in it.taken[-1].text()


async def test_open_question_is_not_settled() -> None:
    """Nothing is told before it is so."""
    async with office() as it:
        sent = await it.postman.send(outgoing())
        await it.postman.settle(sent.receipt, outgoing())
        await it.postman.settle(sent.receipt, outgoing(question=None))

    assert len(it.taken) == 1


async def test_follow_up_that_nobody_takes_ends_there() -> None:
    """A mailbox that is gone keeps no other copy from being settled; a busy server does wait."""
    async with office() as it:
        sent = await it.postman.send(outgoing())
        settled = outgoing(id=f"{THREAD}.7", question=answered())
        it.script.to_recipient = {OTTO: ["451 4.3.0 later", "550 5.1.1 gone"]}
        with pytest.raises(TryLater):
            await it.postman.settle(sent.receipt, settled)
        await it.postman.settle(sent.receipt, settled)

    assert len(it.taken) == 1


# --- notes ----------------------------------------------------------------------------------------


async def test_note_is_marked_as_automatic() -> None:
    """It answers a mail, and nobody's program answers it."""
    async with office() as it:
        await it.postman.note(
            ADA,
            subject="Re: Refund?",
            text="You may not approve this.",
            in_reply_to="<1@example.org>",
            references=("<0@example.org>", "<1@example.org>"),
        )
    mail = it.taken[0].mail

    assert it.taken[0].sender == OURS
    assert mail["Auto-Submitted"] == "auto-replied"
    assert mail["In-Reply-To"] == "<1@example.org>"
    assert mail["References"].split()[:2] == ["<0@example.org>", "<1@example.org>"]
    assert "You may not approve this." in it.taken[0].text()
    assert "You may not approve this." in it.taken[0].text("html")


async def test_note_that_is_refused_says_so() -> None:
    """Whoever asked for it decides what then."""
    async with office() as it:
        it.script.to_data = ["554 5.7.1 no"]
        with pytest.raises(GiveUp):
            await it.postman.note(ADA, subject="x", text="y")


async def test_many_messages_at_once_all_arrive() -> None:
    """Each in its own thread."""
    async with office() as it:
        await asyncio.gather(
            *(it.postman.send(outgoing(id=f"th_{n}.1", thread=f"th_{n}")) for n in range(12))
        )

    assert len({taken.mail["Message-ID"] for taken in it.taken}) == 12
