"""A mail as a whole: what intake gets, and what is put aside."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.mail import Address, Limits, ReadingOptions
from channels.email.reading import read_mail
from tests.unit.channels.email.letters import OPTIONS, letter, multipart


def test_all_that_intake_needs_is_there() -> None:
    """Sender, recipients, ids, subject, words and files."""
    header, body = multipart(
        "multipart/mixed",
        "Content-Type: text/html\n\n<p>Yes.</p><blockquote type=cite>May I?</blockquote>",
        "Content-Type: text/csv; name=a.csv\nContent-ID: <c1>\n\n1,2",
    )
    raw = letter(
        *("Message-ID: <m1@example.org>", "In-Reply-To: <m0@example.com>", header),
        *("References: <r1@example.com>\r\n <m0@example.com>", "Subject: RE: AW: Refund"),
        *(
            "To: Parley <agent@example.com>",
            "Cc: Otto <otto@example.net>",
            "Reply-To: a@example.org",
        ),
        *("Date: Tue, 3 Mar 2026 16:05:11 +0100",),
        body=body,
    )

    mail = read_mail(raw, None, OPTIONS)

    assert mail.sender == Address(email="ada@example.org", name="Ada")
    assert [one.email for one in mail.recipients] == ["agent@example.com", "otto@example.net"]
    assert [one.email for one in (*mail.to, *mail.cc, *mail.reply_to)] == [
        "agent@example.com",
        "otto@example.net",
        "a@example.org",
    ]
    assert (mail.message_id, mail.in_reply_to) == ("<m1@example.org>", ("<m0@example.com>",))
    assert mail.references == ("<r1@example.com>", "<m0@example.com>")
    assert (mail.subject, mail.topic) == ("RE: AW: Refund", "Refund")
    assert (mail.reply, mail.words) == ("Yes.", "Yes.")
    assert [(one.name, one.content, one.inline) for one in mail.attachments] == [
        ("a.csv", b"1,2", True)
    ]
    assert mail.date == "Tue, 3 Mar 2026 16:05:11 +0100"
    assert mail.digest == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(bytes=10), "larger than 10 bytes"),
        (Limits(header_bytes=10), "headers larger than 10 bytes"),
        (Limits(recipients=0), "more than 0 recipients"),
        (Limits(boundaries=1), "more than 1 boundaries"),
        (Limits(depth=0), "parts more than 0 deep"),
    ],
)
def test_mail_over_a_limit_is_put_aside_with_the_reason(limits: Limits, reason: str) -> None:
    """Each limit by its name."""
    header, body = multipart("multipart/mixed", "\nYes.", "\nNo.")

    mail = read_mail(letter(header, body=body), None, ReadingOptions(limits=limits))

    assert (mail.kind, mail.reason) == ("rejected", reason)


def test_long_body_says_that_it_was_cut() -> None:
    """The raw mail has the rest."""
    assert read_mail(letter(body="word " * 30_000), None, OPTIONS).is_truncated
    assert not read_mail(letter(), None, OPTIONS).is_truncated


@given(
    st.binary(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                b"From: a@b.c",
                b"\r\n",
                b"Subject: =?",
                b"\xff\xfe",
                b"Content-Type: text/html",
                b"<p>",
                b"Return-Path: <>",
                b"Authentication-Results: mx.example.com; (",
                b"To: a+b@example.com",
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_are_read_or_put_aside(raw: bytes) -> None:
    """Nothing raises; what is human has a sender."""
    mail = read_mail(raw, None, OPTIONS)

    assert mail.kind != "human" or mail.sender is not None
