"""Ingest: what becomes of a mail, by whichever way it came."""

from __future__ import annotations

import asyncio
import logging
from email.utils import formatdate

import pytest

from channels.channel import TryLater
from channels.email.links import Pass, sign_pass
from channels.email.mail import Address, Envelope
from channels.email.places import Place, root_of
from channels.email.tokens import mint_message_id, sign_token, tagged
from channels.inbound import Message, Undelivered
from channels.intake import Received
from channels.outgoing import QuestionCard
from channels.recording import Recording, RecordingIntake
from tests.unit.channels.email.letterbox import ADA, FORGED, NOW, Letterbox, mail
from tests.unit.channels.email.letters import (
    DELIVERY,
    OURS,
    QUESTION,
    REPLY_TO,
    RETURN_PATH,
    SECRET,
    letter,
    multipart,
)

THREAD = DELIVERY.partition(".")[0]
ASKED = QuestionCard(id=QUESTION, thread=THREAD, kind="text", prompt="Which colour?")


def said(box: Letterbox) -> Message:
    """Give the one message that was taken."""
    [message] = box.recording.intake.taken
    assert isinstance(message, Message)
    return message


def answering(*script: Received | Exception, card: QuestionCard = ASKED) -> Letterbox:
    """Open a letterbox where a question was asked, and whose gateway follows a script."""
    recording = Recording(intake=RecordingIntake(*script))
    recording.desk.cards[card.id] = card
    return Letterbox(recording=recording)


# --- a new conversation ---------------------------------------------------------------------------


async def test_mail_to_our_address_begins_a_conversation() -> None:
    """Its place is the writer's and the mail's, and the first line tells the subject."""
    box = Letterbox()

    done = await box.drop(mail("Subject: Re: The invoice", body="Please pay it.\n"))

    message = said(box)
    assert (done.effect, done.thread) == ("taken", "th_1")
    assert message.place == str(Place(ADA, root_of("<m1@example.org>")))
    assert message.text == "Subject: The invoice\n\nPlease pay it."
    assert (message.is_addressed, message.is_private, message.thread) == (True, True, "")
    assert (message.actor.id, message.actor.email) == (f"email:{ADA}", ADA)
    assert message.actor.how == "dmarc example.org by mx.example.com"
    assert box.pad.sent == []


async def test_subject_alone_is_a_message() -> None:
    """People write "please restart the server", and nothing below."""
    box = Letterbox()

    await box.drop(mail("Subject: Please restart it", body="\n"))

    assert said(box).text == "Subject: Please restart it"


async def test_without_proof_the_address_is_nobodys() -> None:
    """The id is what they say; the address that others are found by stays empty."""
    box = Letterbox()

    await box.drop(mail(proven=False))

    actor = said(box).actor
    assert (actor.id, actor.email, actor.is_authenticated) == (f"email:{ADA}", "", False)


async def test_people_in_copy_come_along_but_not_with_a_forged_mail() -> None:
    """A mail without proof must not bring in a listener."""
    box, other = Letterbox(), Letterbox()
    copies = f"Cc: Bob <bob@example.org>, {OURS}, {ADA}"

    await box.drop(mail(copies))
    await other.drop(mail(copies, proven=False))

    assert said(box).others == ("email:bob@example.org",)
    assert said(other).others == ()
    known = await other.conversations.of(said(other).place)
    assert known is not None
    assert [one.email for one in known.participants] == [ADA]


# --- finding the thread ---------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["To", "Cc", "Delivered-To", "X-Original-To"])
@pytest.mark.parametrize("case", [str.upper, str.lower])
async def test_token_names_the_question_in_any_header_and_case(header: str, case: type) -> None:
    """Servers change the letters, and put the address where they like."""
    box = answering()
    to = REPLY_TO.partition("@")[0].partition("+")[2]

    await box.drop(mail(f"{header}: agent+{case(to)}@Example.com", "To: someone@example.net"))

    message = said(box)
    assert (message.thread, message.question) == (THREAD, QUESTION)
    assert (message.text, message.is_addressed, message.said_at) == ("Hello there.", False, None)


async def test_token_in_the_envelope_counts() -> None:
    """A mailing program may have written another To."""
    box = answering()

    await box.drop(
        mail("To: undisclosed@example.net"), Envelope(sender=ADA, recipients=(REPLY_TO,))
    )

    assert said(box).question == QUESTION


@pytest.mark.parametrize("header", ["In-Reply-To", "References"])
async def test_our_own_id_names_the_thread(header: str) -> None:
    """Where the token was lost."""
    box = Letterbox()

    await box.drop(mail(f"{header}: <x@y> {mint_message_id(DELIVERY, 'example.com', SECRET)}"))

    message = said(box)
    assert (message.thread, message.question, message.is_addressed) == (THREAD, "", False)


async def test_references_lead_to_the_place_of_the_first_mail() -> None:
    """A second mail of the same conversation goes where the first went."""
    box = Letterbox()
    await box.drop(mail())
    second = mail("In-Reply-To: <m1@example.org>", "Subject: quite another", name="m2")

    await box.drop(second)

    first, message = box.recording.intake.taken
    assert isinstance(message, Message)
    assert message.place == first.place
    assert message.text == "Hello there."


async def test_reply_without_references_goes_where_they_were_asked() -> None:
    """Some programs write none: the signed address leads to the thread, and that to the place."""
    box = answering()
    place = str(Place(ADA, "0123456789abcdef"))
    ada = (Address(email=ADA),)
    await box.conversations.sent(place, THREAD, subject="s", message_id="<o@x>", people=ada)

    await box.drop(mail(f"To: {REPLY_TO}"))
    await box.drop(mail("In-Reply-To: <m1@example.org>", name="m2"))

    assert [one.place for one in box.recording.intake.taken] == [place, place]


async def test_subject_is_no_sign_of_a_conversation() -> None:
    """Everybody writes "Re: invoice"."""
    box = Letterbox()
    await box.drop(mail("Subject: invoice"))

    await box.drop(mail("Subject: Re: invoice", name="m2"))

    first, second = box.recording.intake.taken
    assert first.place != second.place


async def test_forged_token_is_no_proof() -> None:
    """It begins something new, like any mail to us."""
    box = answering()
    forged = tagged(OURS, sign_token(QUESTION, "reply", b"another secret of theirs"))

    await box.drop(mail(f"To: {forged}"))

    message = said(box)
    assert (message.thread, message.question, message.is_addressed) == ("", "", True)


async def test_reply_to_what_is_gone_is_explained() -> None:
    """Rather than to begin something out of its context."""
    recording = Recording(intake=RecordingIntake(Received(effect="ignored")))
    box = Letterbox(recording=recording)
    to = tagged(OURS, sign_token(THREAD, "reply", SECRET))

    done = await box.drop(mail(f"To: {to}"))

    assert done.effect == "ignored"
    assert "not here any more" in box.pad.sent[0].text


# --- one effect -----------------------------------------------------------------------------------


async def test_same_mail_by_two_ways_at_once_has_one_effect() -> None:
    """Each way adds headers of its own."""
    box = Letterbox()
    copies = [
        letter(f"Received: from way {n}", "Message-ID: <m1@example.org>", f"X-Way: {n}")
        for n in range(5)
    ]

    done = await asyncio.gather(*(box.drop(one) for one in copies))

    assert sorted(one.effect for one in done) == ["copy"] * 4 + ["taken"]
    assert len(box.recording.intake.taken) == 1


async def test_somebody_else_cant_use_up_a_message_id() -> None:
    """The key holds who wrote, too."""
    box = Letterbox()

    await box.drop(mail())
    await box.drop(letter("Message-ID: <m1@example.org>", sender="From: eve@example.net"))

    assert len(box.recording.intake.taken) == 2


async def test_without_an_id_the_bytes_name_the_mail() -> None:
    """The same mail twice has one effect, another has its own."""
    box = Letterbox()

    effects = [(await box.drop(letter(body=body))).effect for body in ("a\n", "a\n", "b\n")]

    assert effects == ["taken", "copy", "taken"]


async def test_what_could_not_be_taken_now_is_not_acknowledged_and_comes_again() -> None:
    """The gateway's error goes through, and the next try is the first to count."""
    box = answering(TryLater("busy"))

    with pytest.raises(TryLater):
        await box.drop(mail())
    done = await box.drop(mail())

    assert done.effect == "taken"


# --- what is read ---------------------------------------------------------------------------------


async def test_own_words_are_apart_from_what_they_quote() -> None:
    """The agent sees what was answered to what; a yes is looked for in their own words."""
    box = answering()
    body = "> Which colour?\nRed.\n> Which size?\nLarge.\n"

    await box.drop(mail(f"To: {REPLY_TO}", body=body))

    message = said(box)
    assert "Which colour?" in message.text
    assert message.words.split() == ["Red.", "Large."]


async def test_link_that_is_quoted_or_forwarded_is_not_kept() -> None:
    """It answers in somebody's name; who may read the thread, agents too, must not get it so."""
    box = answering()
    made = Pass(question=QUESTION, email=ADA, until=2**45)
    link = f"https://parley.example.com/a/{sign_pass(made, SECRET)}"
    kind, parts = multipart(
        "multipart/mixed",
        f"Content-Type: text/plain\n\n> {link}\nIt does not open.\n> Which size?\nLarge.\n",
        f'Content-Type: text/plain; name="a.eml"\nContent-Disposition: attachment\n\n{link}',
    )

    await box.drop(mail(f"To: {REPLY_TO}", kind, body=parts))

    message = said(box)
    told = [message.text, message.words, *(one.text for one in message.attachments)]
    assert message.text.startswith("> https://parley.example.com/a/…\n")
    assert "https://parley.example.com/a/…" in message.attachments[0].text
    assert not any(sign_pass(made, SECRET) in one for one in told)


async def test_reply_with_nothing_new_asks_again_and_takes_nothing() -> None:
    """And only once for each mail."""
    box = answering()
    raw = mail(f"To: {REPLY_TO}", body="\n\n> Which colour?\n")

    done = [await box.drop(raw) for _ in range(2)]

    assert [one.effect for one in done] == ["empty", "empty"]
    assert box.recording.intake.tried == []
    [note] = box.pad.sent
    assert (note.to, note.in_reply_to) == (ADA, "<m1@example.org>")
    assert "no new text" in note.text


async def test_text_files_are_given_and_others_named() -> None:
    """With the way to get at them; a logo in a signature is not worth a word."""
    box = Letterbox()
    kind, body = multipart(
        "multipart/mixed",
        "Content-Type: text/plain\n\nSee these.",
        "Content-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\nx,y",
        "Content-Type: application/pdf\nContent-Disposition: attachment; filename=b.pdf\n\n%PDF",
        "Content-Type: image/png\nContent-ID: <logo>\n\nPNG",
    )

    done = await box.drop(mail(kind, body=body))

    table, paper = said(box).attachments
    assert (table.name, table.text.strip(), table.note) == ("a.csv", "x,y", "")
    assert (paper.name, paper.text) == ("b.pdf", "")
    assert f"parley email raw {done.digest[:16]} --file 2" in paper.note


async def test_files_alone_are_a_message() -> None:
    """Somebody replies with the report and not a word."""
    box = answering()
    kind, body = multipart(
        "multipart/mixed",
        "Content-Type: text/plain\n\n\n",
        "Content-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\nx,y",
    )

    await box.drop(mail(kind, f"To: {REPLY_TO}", body=body))

    assert said(box).text == "(no text, only the files)"


@pytest.mark.parametrize(
    ("date", "wanted"),
    [
        (formatdate(NOW - 3_600), NOW - 3_600 + 0.999),
        (formatdate(NOW + 3_600), NOW),
        (formatdate(NOW - 90 * 24 * 3_600), NOW),
        ("yesterday", NOW),
        ("Mon, 99 Foo 99999999999 99:99:99 +9999", NOW),
        ("", NOW),
    ],
)
async def test_date_counts_where_it_is_sane(date: str, wanted: float) -> None:
    """A yes written before the question was asked is about something else."""
    box = Letterbox()

    await box.drop(mail(f"Date: {date}"))

    assert said(box).said_at == round(wanted * 1000)


async def test_mail_is_kept_as_it_came() -> None:
    """And found by its digest, its Message-ID and its thread."""
    box = Letterbox()
    raw = mail()

    done = await box.drop(raw)

    archive = box.ingest.archive
    for name in (done.digest, done.digest[:12], "<m1@example.org>", "m1@example.org", "th_1"):
        assert await archive.digests(name) == [done.digest]
    assert await archive.raw(done.digest) == raw
    assert await archive.digests("th_2") == await archive.digests("abc") == []


# --- who may --------------------------------------------------------------------------------------


async def test_forged_mail_meets_silence(caplog: pytest.LogCaptureFixture) -> None:
    """Our own server says so: nothing is taken, nobody is answered, and the operator can see it."""
    box = answering()

    with caplog.at_level(logging.WARNING, "parley.email"):
        done = await box.drop(
            letter(FORGED, "Message-ID: <m1@example.org>", f"To: {REPLY_TO}", body="yes\n")
        )

    assert done.effect == "aside"
    assert (box.recording.intake.tried, box.pad.sent) == ([], [])
    assert await box.asides() == [
        "forged: our server found dmarc=fail",
    ]
    assert "mail put aside" in caplog.text
    assert ADA not in caplog.text


async def test_proof_that_the_sender_has_written_is_none() -> None:
    """What came straight from the internet brings its own Authentication-Results."""
    box = Letterbox()

    await box.drop(mail(), Envelope(sender=ADA, recipients=(OURS,), is_direct=True))

    assert not said(box).actor.is_authenticated


@pytest.mark.parametrize(
    "sender",
    [
        "From: ada@example.org\r\nFrom: eve@example.net",
        "From: ada@example.org, eve@example.net",
        "From: ada@example.org <eve@example.net>",
        "",
    ],
)
async def test_mail_without_exactly_one_sender_meets_silence(sender: str) -> None:
    """Every program reads another one in it."""
    box = answering()

    done = await box.drop(letter(f"To: {REPLY_TO}", sender=sender, body="yes\n"))

    assert done.effect == "aside"
    assert (box.recording.intake.tried, box.pad.sent) == ([], [])


@pytest.mark.parametrize("senders", [(ADA,), ("ADA@example.org",), ("@example.org",)])
async def test_who_is_listed_may_begin(senders: tuple[str, ...]) -> None:
    """By address or domain, in any letter case."""
    box = Letterbox(senders=senders)

    done = await box.drop(mail())

    assert done.effect == "taken"


@pytest.mark.parametrize("senders", [("bob@example.org",), ("@ample.org",), ("people",)])
async def test_others_get_a_polite_note_once_a_day(senders: tuple[str, ...]) -> None:
    """Nothing of theirs is taken."""
    box = Letterbox(senders=senders)

    done = [await box.drop(mail(name=name)) for name in ("m1", "m2", "m3")]

    assert {one.effect for one in done} == {"aside"}
    assert box.recording.intake.tried == []
    assert [note.to for note in box.pad.sent] == [ADA]


async def test_listed_name_without_proof_may_not_begin_and_hears_nothing() -> None:
    """Anybody can write any address into From."""
    box = Letterbox(senders=(ADA,))

    done = await box.drop(mail(proven=False))

    assert done.effect == "aside"
    assert box.pad.sent == []


async def test_reply_needs_no_place_on_the_list() -> None:
    """Who was asked may answer, whoever may begin."""
    box = answering()
    box.ingest._options = box.ingest._options.__class__(address=OURS, senders=("bob@example.org",))

    done = await box.drop(mail(f"To: {REPLY_TO}"))

    assert done.effect == "taken"


@pytest.mark.parametrize(("proven", "notes"), [(True, 1), (False, 0)])
async def test_stranger_in_a_thread_is_told_once_a_day_and_never_joins(
    *, proven: bool, notes: int
) -> None:
    """Only if they are who they say; and none of our next mails goes to them."""
    refused = Received(effect="refused", words="You have no part in this.", is_stranger=True)
    box = answering(refused, refused)

    done = [
        await box.drop(mail(f"To: {REPLY_TO}", name=name, proven=proven)) for name in ("m1", "m2")
    ]

    assert [one.effect for one in done] == ["refused", "refused"]
    assert len(box.pad.sent) == notes
    assert "conversation:" not in " ".join(box.recording.memory.kept)


async def test_unclear_answer_is_told_each_time_up_to_a_limit() -> None:
    """A person is helped; what is left of a loop ends."""
    unclear = Received(effect="taken", thread=THREAD, words="Say yes or no.", is_unclear=True)
    box = answering(*[unclear] * 30)

    for number in range(15):
        await box.drop(mail(f"To: {REPLY_TO}", name=f"m{number}", proven=False))
    within_the_hour = len(box.pad.sent)
    box.now += 3_601
    await box.drop(mail(f"To: {REPLY_TO}", name="later", proven=False))

    assert within_the_hour == 10
    assert len(box.pad.sent) == 11
    assert (box.pad.sent[0].text, box.pad.sent[0].reply_to) == ("Say yes or no.", REPLY_TO)


async def test_late_answer_is_explained_and_kept_for_the_agent() -> None:
    """It says who has decided, and when."""
    settled = QuestionCard(
        id=QUESTION,
        thread=THREAD,
        kind="approval",
        prompt="Pay?",
        status="answered",
        answered_by="otto",
        settled_at=round(NOW * 1000),
    )
    box = answering(card=settled)

    done = await box.drop(mail(f"To: {REPLY_TO}", body="yes\n"))

    assert done.effect == "taken"
    assert "was answered by otto on 21 September 2026" in box.pad.sent[0].text


async def test_note_that_cant_be_sent_holds_nothing_up() -> None:
    """What it was about is kept all the same."""
    box = answering(Received(effect="taken", words="Say yes or no.", is_unclear=True))
    box.pad.error = TryLater("down")

    done = await box.drop(mail(f"To: {REPLY_TO}"))

    assert done.effect == "taken"


# --- what no person wrote -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign",
    [
        "Auto-Submitted: auto-replied",
        "Precedence: bulk",
        "List-Id: <l.example.org>",
        "Subject: Out of office",
        "X-Autoreply: yes",
        "Return-Path: <>",
    ],
)
async def test_automatic_mail_neither_launches_nor_resumes_nor_is_answered(sign: str) -> None:
    """With proof and token and all."""
    box = answering()

    for to in (OURS, REPLY_TO):
        done = await box.drop(mail(sign, f"To: {to}", name=to))

        assert done.effect == "aside"
    assert (box.recording.intake.tried, box.pad.sent) == ([], [])


@pytest.mark.parametrize("sender", [OURS, f"Parley <{REPLY_TO}>", OURS.upper()])
async def test_our_own_mail_is_ignored(sender: str) -> None:
    """Also where a provider has given it another Message-ID."""
    box = answering()

    done = await box.drop(letter(f"To: {REPLY_TO}", sender=f"From: {sender}"))

    assert done.effect == "ignored"
    assert (box.recording.intake.tried, box.pad.sent) == ([], [])


def report(action: str, *, to: str = RETURN_PATH, original: str = "") -> bytes:
    """Write a delivery report."""
    status = (
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx\n\n"
        f"Final-Recipient: rfc822; otto@example.com\nAction: {action}\nStatus: 5.1.1\n"
        "Diagnostic-Code: smtp; 550 nobody here"
    )
    parts = ["Content-Type: text/plain\n\nSorry.", status]
    if original:
        parts.append(f"Content-Type: text/rfc822-headers\n\nMessage-ID: {original}")
    kind, body = multipart("multipart/report; report-type=delivery-status", *parts)
    return letter(
        f"To: {to}", "Return-Path: <>", kind, body=body, sender="From: MAILER-DAEMON@mx.x"
    )


@pytest.mark.parametrize(
    ("to", "original"),
    [(RETURN_PATH.upper(), ""), (OURS, mint_message_id(DELIVERY, "example.com", SECRET))],
)
async def test_failed_delivery_comes_back(to: str, original: str) -> None:
    """By the signed return path, else by our own id in what was returned."""
    box = Letterbox()

    done = await box.drop(report("failed", to=to, original=original))

    [came] = box.recording.intake.taken
    assert done.effect == "noted"
    assert isinstance(came, Undelivered)
    assert (came.delivery, came.place) == (DELIVERY, "email:otto@example.com")
    assert "5.1.1" in came.reason
    assert box.pad.sent == []


async def test_delay_is_no_failure() -> None:
    """The mail may still arrive."""
    box = Letterbox()

    done = await box.drop(report("delayed"))

    assert done.effect == "noted"
    assert box.recording.intake.tried == []


async def test_report_about_somebody_elses_mail_is_put_aside() -> None:
    """We can't tell what it is about."""
    box = Letterbox()

    done = await box.drop(report("failed", to=OURS))

    assert done.effect == "aside"
    assert box.recording.intake.tried == []


async def test_bomb_is_put_aside_with_its_reason_and_kept() -> None:
    """And the mail after it goes on."""
    box = Letterbox()
    bomb = letter(*[f"To: a{n}@example.net" for n in range(500)])

    done = await box.drop(bomb)
    await box.drop(mail())

    assert done.effect == "aside"
    assert await box.asides() == ["more than 100 recipients"]
    assert await box.ingest.archive.raw(done.digest) == bomb
    assert len(box.recording.intake.taken) == 1
