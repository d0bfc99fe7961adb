"""The parts of a mail: found as the standard parser finds them, and within the limits."""

from __future__ import annotations

import base64
import email.policy
from contextlib import suppress
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.mail import Limits
from channels.email.mime import TooMuch, parse_part
from channels.email.parts import Contents, collect
from tests.unit.channels.email.letters import letter, multipart

LIMITS = Limits()


def contents(raw: bytes, limits: Limits = LIMITS) -> Contents:
    """Read what a mail has in it."""
    return collect(parse_part(raw, limits), limits)


def test_alternatives_are_one_body_in_two_ways() -> None:
    """Plain and HTML of the same text belong together."""
    header, body = multipart(
        "multipart/alternative",
        "Content-Type: text/plain; charset=utf-8\n\nHello",
        "Content-Type: text/html; charset=utf-8\n\n<p>Hello</p>",
    )

    found = contents(letter(header, body=body))

    assert [(one.plain, one.html) for one in found.bodies] == [("Hello", "<p>Hello</p>")]
    assert (found.attachments, found.defects) == ([], [])


def test_texts_around_a_picture_are_both_read() -> None:
    """Apple Mail puts a picture between two texts."""
    picture = base64.b64encode(b"\x89PNG").decode()
    header, body = multipart(
        "multipart/mixed",
        "Content-Type: text/plain\n\nBefore",
        f'Content-Type: image/png; name="a.png"\nContent-Transfer-Encoding: base64\n\n{picture}',
        "\nAfter",
    )

    found = contents(letter(header, body=body))

    assert [one.plain for one in found.bodies] == ["Before", "After"]
    assert [(one.name, one.type, one.content) for one in found.attachments] == [
        ("a.png", "image/png", b"\x89PNG")
    ]


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\\\Windows\\\\evil.exe", "evil.exe"),
        ("a\x00b.pdf", "a b.pdf"),
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe.pdf?=", "Grüße.pdf"),
        ("...", "attachment-1.pdf"),
        ("x" * 500, "x" * 150),
    ],
)
def test_name_of_an_attachment_is_never_a_path(given_name: str, name: str) -> None:
    """What a sender calls a file can't lead anywhere."""
    raw = letter(
        "Content-Type: application/pdf", f'Content-Disposition: attachment; filename="{given_name}"'
    )

    assert [one.name for one in contents(raw).attachments] == [name]


def test_attached_mail_is_an_attachment_and_no_text() -> None:
    """What somebody attaches, they did not write."""
    header, body = multipart(
        "multipart/mixed",
        "Content-Type: text/plain\n\nSee the mail.",
        "Content-Type: message/rfc822\n\nSubject: Broken\nFrom: c@example.net\n\nApprove!",
    )

    found = contents(letter(header, body=body))

    assert [one.plain for one in found.bodies] == ["See the mail."]
    assert [one.name for one in found.attachments] == ["Broken.eml"]


def test_attachments_over_the_limit_are_named_without_their_bytes() -> None:
    """All of them together share the limit."""
    part = "Content-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf\n\n12345"
    header, body = multipart("multipart/mixed", part, part)

    found = contents(letter(header, body=body), Limits(attachment_bytes=8))

    assert [(one.size, one.content) for one in found.attachments] == [(5, b"12345"), (5, None)]


def test_seals_are_no_attachments() -> None:
    """Nobody attached the signature of a signed mail."""
    header, body = multipart(
        "multipart/signed",
        "Content-Type: text/plain\n\nYes.",
        "Content-Type: application/pgp-signature\n\nx",
    )

    assert contents(letter(header, body=body)).attachments == []


@pytest.mark.parametrize(
    ("raw", "text", "defect"),
    [
        (b"Content-Type: multipart/mixed\r\n\r\nYes.", "Yes.", "a multipart without a boundary"),
        (
            b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nYes.",
            "Yes.",
            "a multipart that does not end",
        ),
        (
            b"Content-Type: multipart/mixed; boundary=x\r\n\r\nYes.",
            "Yes.",
            "a multipart that does not end",
        ),
        (b"Content-Type: nonsense\r\n\r\nYes.", "Yes.", ""),
        (b"Content-Type: text/plain; charset=nonsense\r\n\r\nYes.", "Yes.", ""),
        (b"Content-Transfer-Encoding: base64\r\n\r\nWWVzLg", "Yes.", ""),
        (b"Content-Transfer-Encoding: base64\r\n\r\nW W!V\r\nz=Lg==", "Yes", ""),
        (b"Content-Transfer-Encoding: quoted-printable\r\n\r\nYe=73=2", "Yes=2", ""),
        (b"Content-Transfer-Encoding: nonsense\r\n\r\nYes.", "Yes.", ""),
        (b"Subject: x\n\nYes.", "Yes.", ""),
        (b"\nYes.", "Yes.", ""),
    ],
)
def test_broken_mail_is_read_as_far_as_it_goes(raw: bytes, text: str, defect: str) -> None:
    """A mail that breaks the rules was still written by somebody."""
    found = contents(raw)

    assert "".join(one.plain for one in found.bodies).strip() == text
    assert found.defects == ([defect] if defect else [])


def nested(depth: int) -> bytes:
    """Make parts in parts."""
    head, body = "", ""
    for level in range(depth):
        head += f"Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n"
    return f"{head}\nYes.{body}\n".encode()


def test_parts_are_counted_on_the_way() -> None:
    """Too many boundaries and too deep a nesting are refused when they are met."""
    many = b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n\r\n" * 200_000

    with pytest.raises(TooMuch, match="boundaries"):
        parse_part(many, LIMITS)
    with pytest.raises(TooMuch, match="deep"):
        parse_part(nested(21), LIMITS)
    assert contents(nested(20)).bodies[0].plain.strip() == "Yes."


def test_headers_of_a_part_have_a_limit_too() -> None:
    """What the mail's own headers may not, a part's may not either."""
    header, body = multipart("multipart/mixed", "X: " + "y" * 70_000 + "\n\nYes.")

    with pytest.raises(TooMuch, match="headers"):
        parse_part(letter(header, body=body), LIMITS)


_texts = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"),
    max_size=200,
)


@given(
    _texts, _texts, st.binary(max_size=200), st.sampled_from(["base64", "quoted-printable", "8bit"])
)
def test_well_formed_mail_is_read_as_the_standard_parser_reads_it(
    plain: str, html: str, data: bytes, encoding: str
) -> None:
    """What the standard library builds comes back whole, in every encoding."""
    made = EmailMessage(policy=email.policy.SMTP.clone(max_line_length=998))
    made.set_content(plain, cte=encoding if encoding != "8bit" else None)
    made.add_alternative(html, subtype="html")
    made.add_attachment(data, "application", "octet-stream", filename="Grüße.bin")

    found = contents(bytes(made))

    assert found.bodies[0].plain.replace("\r\n", "\n").rstrip("\n") == plain.rstrip("\n")
    assert found.bodies[0].html.replace("\r\n", "\n").rstrip("\n") == html.rstrip("\n")
    assert [(one.name, one.content) for one in found.attachments] == [("Grüße.bin", data)]


@given(
    st.lists(
        st.sampled_from(
            [
                b"\r\n",
                b"\n",
                b"--x",
                b"--",
                b"Content-Type: ",
                b"multipart/mixed; ",
                b"boundary=x",
                b"a",
                b": ",
                b"=?",
                b"\xff",
                b"message/rfc822",
                b"Content-Transfer-Encoding: base64",
            ]
        ),
        max_size=40,
    )
)
def test_any_bytes_are_a_mail(pieces: list[bytes]) -> None:
    """Nothing raises but what says that it is too much."""
    with suppress(TooMuch):
        contents(b"".join(pieces))
