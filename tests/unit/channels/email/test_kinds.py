"""What kind of mail it is: a person's, a program's, a bounce, or none that may be believed."""

from __future__ import annotations

import pytest

from channels.email.mail import Envelope, ReadMail
from channels.email.reading import read_mail
from channels.email.tokens import mint_message_id
from tests.unit.channels.email.letters import (
    DELIVERY,
    OPTIONS,
    QUESTION,
    REPLY_TO,
    RETURN_PATH,
    SECRET,
    letter,
    multipart,
)
from tests.unit.channels.email.samples import raw


def read(mail: bytes, envelope: Envelope | None = None) -> ReadMail:
    """Read a mail to us."""
    return read_mail(mail, envelope, OPTIONS)


@pytest.mark.parametrize(
    "header",
    [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated (vacation)",
        "Return-Path: <>",
        "Precedence: bulk",
        "Precedence: Auto_Reply",
        "List-Id: <desk.example.org>",
        "List-Unsubscribe: <https://news.example.org/u/1>",
        "X-Autoreply: yes",
        "X-Autorespond: out",
        "Subject: Automatic reply: Refund",
        "Subject: Out of Office: back on Monday",
        "Subject: =?utf-8?q?Automatische_Antwort=3A_Erstattung?=",
        "Subject: Réponse automatique : Remboursement",
        "Subject: Respuesta automática: Reembolso",
        "Subject: Automatiskt svar: Retur",
        "Subject: Automatyczna odpowiedź: Zwrot",
        "Subject: Автоматический ответ: Возврат",
        "Subject: 自动答复: 退款",
        "Subject: 자동 회신: 환불",
    ],
)
def test_program_is_told_from_a_person(header: str) -> None:
    """Each sign alone is enough."""
    mail = read(letter(header))

    assert mail.kind == "auto"
    assert mail.reason


@pytest.mark.parametrize(
    "header",
    [
        "Subject: Re: Refund",
        "Subject: Re: Automatic reply: Refund",
        "Subject: Automatic cars",
        "Auto-Submitted: no",
        "X-Auto-Response-Suppress: All",
        "Precedence: first-class",
        "Return-Path: <ada@example.org>",
        "X-Autoreply: no",
    ],
)
def test_person_is_not_taken_for_a_program(header: str) -> None:
    """Signs that are none."""
    assert read(letter(header)).kind == "human"


def test_empty_sender_of_the_envelope_is_a_sign() -> None:
    """The transport knows it before any header does, and knows it better."""
    assert read(letter(), Envelope(sender="")).kind == "auto"
    assert read(letter("Return-Path: <>"), Envelope(sender="ada@example.org")).kind == "human"


@pytest.mark.parametrize(
    ("sender", "reason"),
    [
        ("", "no From"),
        ("From: a@example.org\r\nFrom: b@example.org", "more than one From"),
        ("From: a@example.org, b@example.org", "exactly one"),
        ("From: ceo@example.com <evil@example.org>", "two addresses"),
        ("From: nobody", "can't be read"),
    ],
)
def test_mail_without_exactly_one_sender_is_rejected(sender: str, reason: str) -> None:
    """Who wrote it must not depend on who reads it; the text is still there for people to see."""
    mail = read(letter(sender=sender))

    assert mail.kind == "rejected"
    assert reason in mail.reason
    assert mail.sender is None
    assert mail.reply == "Yes."


def test_our_own_mail_is_known() -> None:
    """A loop ends where it began."""
    mail = read(letter(f"Message-ID: {mint_message_id(DELIVERY, 'example.com', SECRET)}"))

    assert (mail.kind, mail.is_ours, mail.reason) == ("auto", True, "we sent it ourselves")


# --- finding what is answered ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        [f"To: {REPLY_TO}"],
        [f"To: {REPLY_TO.upper()}"],
        ["To: someone@example.net", f"Cc: Parley <{REPLY_TO}>"],
        ["To: someone@example.net", f"Delivered-To: {REPLY_TO}"],
        ["To: someone@example.net", f"X-Original-To: {REPLY_TO}"],
        ["To: Team: x@example.net, =?utf-8?q?P?= <" + REPLY_TO + ">;"],
    ],
)
def test_token_is_found_in_any_recipient_header(headers: list[str]) -> None:
    """Servers and people move addresses about."""
    assert [token.reference for token in read(letter(*headers)).tokens] == [QUESTION]


def test_token_is_found_in_the_envelope() -> None:
    """A blind copy is named nowhere else."""
    mail = read(letter("To: x@example.net"), Envelope(recipients=(REPLY_TO,)))

    assert [token.reference for token in mail.tokens] == [QUESTION]


def test_forged_token_names_nothing() -> None:
    """One letter is enough."""
    forged = REPLY_TO.replace("@", "a@")

    assert read(letter(f"To: {forged}")).tokens == ()
    assert read(letter(f"To: {REPLY_TO.replace('example.com', 'evil.org')}")).tokens == ()


def test_answered_delivery_is_found_by_our_own_id() -> None:
    """In-Reply-To first, then the newest reference of ours; SES and Outlook rewrite ids."""
    ours = mint_message_id(DELIVERY, "example.com", SECRET)

    assert read(letter(f"In-Reply-To: {ours}")).delivery == DELIVERY
    assert read(letter("In-Reply-To: <x@ses>", f"References: {ours} <x@ses>")).delivery == DELIVERY
    assert read(letter("In-Reply-To: <th_1.aaaaaaaaaaaaaaaa@example.com>")).delivery == ""


# --- bounces --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "action", "status", "recipient"),
    [
        ("bounce_postfix.eml", "failed", "5.1.1", "nobody@example.net"),
        ("bounce_delayed.eml", "delayed", "4.4.1", "otto@example.net"),
        ("bounce_exchange.eml", "failed", "5.1.10", "nobody@example.net"),
        ("bounce_exim.eml", "failed", "", "nobody@example.net"),
        ("bounce_qmail.eml", "failed", "", ""),
    ],
)
def test_bounces_are_read(name: str, action: str, status: str, recipient: str) -> None:
    """With a report, and without one."""
    mail = read(raw(name).replace(b"RETURN-PATH", RETURN_PATH.encode()))

    assert mail.kind == "bounce"
    assert mail.bounce is not None
    assert (mail.bounce.action, mail.bounce.status) == (action, status)
    assert mail.bounce.recipient == recipient
    assert mail.bounce.delivery == DELIVERY
    assert mail.bounce.is_failure is (action == "failed")


def test_bounce_is_found_by_our_id_where_the_return_path_is_lost() -> None:
    """The report brings the mail's own headers back."""
    ours = mint_message_id(DELIVERY, "example.com", SECRET)
    mail = read(raw("bounce_postfix.eml").replace(b"<1@example.com>", ours.encode()))

    assert mail.bounce is not None
    assert mail.bounce.original_id == ours
    assert mail.bounce.delivery == DELIVERY


def test_forged_bounce_names_no_delivery() -> None:
    """Anybody can write a report; only we can sign its address."""
    mail = read(raw("bounce_postfix.eml"))

    assert mail.bounce is not None
    assert mail.bounce.delivery == ""


def test_several_recipients_of_a_report_count_by_the_worst() -> None:
    """One failed, one was delivered."""
    header, body = multipart(
        "multipart/report; report-type=delivery-status",
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n"
        "Final-Recipient: rfc822; a@example.net\nAction: delivered\nStatus: 2.0.0\n\n"
        "Final-Recipient: rfc822; b@example.net\nStatus: 5.0.0",
    )
    mail = read(letter(header, "Return-Path: <>", body=body))

    assert mail.bounce is not None
    assert (mail.bounce.recipient, mail.bounce.action) == ("b@example.net", "failed")


def test_receipt_for_reading_is_no_bounce() -> None:
    """Somebody's program says that they opened it."""
    header, body = multipart(
        "multipart/report; report-type=disposition-notification",
        "Content-Type: text/plain\n\nI have read it.",
        "Content-Type: message/disposition-notification\n\nDisposition: manual-action; displayed",
    )
    mail = read(letter(header, body=body))

    assert (mail.kind, mail.bounce) == ("auto", None)


def test_vacation_reply_to_the_return_path_is_no_bounce() -> None:
    """Autoresponders answer to the envelope's sender, which is the address for bounces."""
    mail = read(letter(f"To: {RETURN_PATH}", "Auto-Submitted: auto-replied", "Return-Path: <>"))

    assert (mail.kind, mail.bounce) == ("auto", None)
    assert [token.purpose for token in mail.tokens] == ["bounce"]
