"""Mail with a good signature that proves less than it seems: sent on, or led astray."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from channels.email.mail import Address, Envelope
from channels.email.places import Place
from channels.email.tokens import sign_token, tagged
from channels.inbound import Message
from channels.outgoing import QuestionCard
from channels.recording import Recording
from tests.unit.channels.email.letterbox import ADA, NOW, Letterbox, mail
from tests.unit.channels.email.letters import DELIVERY, OURS, QUESTION, REPLY_TO, SECRET

THREAD = DELIVERY.partition(".")[0]
OTHER = "th_fedcba9876543210fedc"
ASKED = QuestionCard(
    id=QUESTION, thread=THREAD, kind="approval", prompt="Pay?", asked_at=round(NOW * 1000)
)
EVE = "eve@example.net"


def asked() -> Letterbox:
    """Open a letterbox where an approval was asked."""
    recording = Recording()
    recording.desk.cards[QUESTION] = ASKED
    return Letterbox(recording=recording)


def said(box: Letterbox) -> Message:
    """Give the newest message that was taken."""
    message = box.recording.intake.taken[-1]
    assert isinstance(message, Message)
    return message


@pytest.mark.parametrize("header", ["Delivered-To", "X-Original-To", "Bcc", "Resent-To"])
async def test_signed_mail_to_somebody_else_decides_nothing_here(header: str) -> None:
    """Eve has got a "yes" of Ada's, and hands it in under the address of a question."""
    box = asked()

    await box.drop(mail(f"To: {EVE}", f"{header}: {REPLY_TO}", body="Yes.\n"))

    message = said(box)
    assert (message.question, message.actor.id) == (QUESTION, f"email:{ADA}")
    assert (message.actor.is_authenticated, message.actor.email) == (False, "")
    assert message.others == ()


async def test_envelope_is_no_proof_of_whom_a_mail_is_for() -> None:
    """It is written by whoever hands the mail in."""
    box = asked()

    await box.drop(mail(f"To: {EVE}"), Envelope(sender=EVE, recipients=(REPLY_TO,)))

    assert not said(box).actor.is_authenticated
    known = await box.conversations.of(said(box).place)
    assert known is None or EVE not in [one.email for one in known.participants]


@pytest.mark.parametrize(("seconds", "is_believed"), [(-3_600, False), (-300, True), (60, True)])
async def test_mail_from_before_the_question_does_not_answer_it(
    seconds: int, *, is_believed: bool
) -> None:
    """Some servers don't sign To, but all sign Date; and not everybody's clock is right."""
    box = asked()

    await box.drop(mail(f"To: {REPLY_TO}", f"Date: {formatdate(NOW + seconds)}", body="Yes.\n"))

    assert said(box).actor.is_authenticated is is_believed


async def test_blind_copy_brings_nobody_along() -> None:
    """The others don't know of us; what we answer is for the writer."""
    box = Letterbox()

    await box.drop(mail(f"To: {EVE}"), Envelope(sender=ADA, recipients=(OURS,)))

    message = said(box)
    assert (message.actor.is_authenticated, message.others) == (True, ())
    known = await box.conversations.of(message.place)
    assert known is not None
    assert [one.email for one in known.participants] == [ADA]


async def test_proof_of_one_thread_opens_no_other_conversation() -> None:
    """Eve writes in her own thread, and refers to a mail of Ada's: she must not get her mails."""
    box = Letterbox()
    place = str(Place(ADA, "0123456789abcdef"))
    ada = (Address(email=ADA),)
    await box.conversations.sent(place, THREAD, subject="s", message_id="<o@x>", people=ada)
    hers = tagged(OURS, sign_token(OTHER, "reply", SECRET))

    for proof in (f"To: {hers}", f"Cc: {hers}"):
        await box.drop(
            mail(proof, "In-Reply-To: <o@x>", name=proof[:2]).replace(
                b"ada@example.org", EVE.encode()
            )
        )

    assert said(box).thread == OTHER
    assert said(box).place.startswith(f"email:{EVE}:")
    known = await box.conversations.of(place)
    assert known is not None
    assert [one.email for one in known.participants] == [ADA]


async def test_colleague_who_has_proof_of_the_thread_joins_its_conversation() -> None:
    """Somebody forwarded the mail; whom the gateway lets in is in it from now on."""
    box = Letterbox()
    place = str(Place(ADA, "0123456789abcdef"))
    ada = (Address(email=ADA),)
    await box.conversations.sent(place, THREAD, subject="s", message_id="<o@x>", people=ada)
    to = tagged(OURS, sign_token(THREAD, "reply", SECRET))

    bens = mail(f"To: {to}", "In-Reply-To: <o@x>").replace(b"Ada <ada@", b"Ben <ben@")
    await box.drop(bens)

    assert said(box).place == place
    known = await box.conversations.of(place)
    assert known is not None
    assert [one.email for one in known.participants] == [ADA, "ben@example.org"]
