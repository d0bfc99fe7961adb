"""Letters: headers that nobody can add to, in a form that every program reads."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.channel import NoSuchAddress
from channels.email.headers import parse_headers
from channels.email.letters import Letter, render_letter, wire_address
from channels.email.mail import Address
from tests.unit.channels.email.cards import NOW

NAMES = [
    "from", "to", "cc", "reply-to", "subject", "date", "message-id", "in-reply-to", "references",
    "auto-submitted", "x-auto-response-suppress", "mime-version", "content-type",
]  # fmt: skip


def letter(**changes: Any) -> Letter:  # noqa: ANN401 (any field of a letter)
    """Give a letter with everything in it."""
    given: dict[str, Any] = {
        "message_id": "<th_1.5.abc@example.com>",
        "sender": Address(email="agent@example.com", name="Agent"),
        "to": (Address(email="otto@example.org", name="Otto"),),
        "cc": (Address(email="ada@example.org"),),
        "reply_to": "agent+token@example.com",
        "subject": "Re: Refund",
        "in_reply_to": "<1@example.org>",
        "references": ("<0@example.org>", "<1@example.org>"),
        "automatic": "auto-replied",
        "text": "Words.\n",
        "html": "<p>Words.</p>\n",
        "at": NOW,
    }
    return Letter(**(given | changes))


def read(raw: bytes) -> EmailMessage:
    """Read it as another program would."""
    mail = message_from_bytes(raw, policy=default)
    assert isinstance(mail, EmailMessage)
    return mail


def header_names(raw: bytes) -> list[str]:
    """Name the headers in their order."""
    return [name for name, _ in parse_headers(raw).fields]


def test_letter_has_what_a_mail_needs() -> None:
    """Its own id stands in References too: some servers rewrite Message-ID."""
    raw = render_letter(letter())
    mail = read(raw)

    assert header_names(raw) == NAMES
    assert str(mail["From"]) == "Agent <agent@example.com>"
    assert str(mail["Reply-To"]) == "Agent <agent+token@example.com>"
    assert mail["References"] == "<0@example.org> <1@example.org> <th_1.5.abc@example.com>"
    assert mail["Auto-Submitted"] == "auto-replied"
    assert mail["X-Auto-Response-Suppress"] == "DR, RN, NRN, OOF, AutoReply"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


def test_long_ids_stay_whole() -> None:
    """Folded at 78 columns they would become encoded words, which no program understands."""
    ids = tuple(f"<{'a' * 200}{number}@example.org>" for number in range(9))
    raw = render_letter(letter(references=ids, in_reply_to=ids[-1]))

    assert b"=?" not in raw.partition(b"\r\n\r\n")[0]
    assert parse_headers(raw).get("in-reply-to") == ids[-1]
    assert parse_headers(raw).get("references").split()[:9] == list(ids)
    assert max(map(len, raw.split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "evil",
    [
        "Hello\r\nBcc: evil@example.net",
        "Hello\nBcc: evil@example.net",
        "Hello\rBcc: evil@example.net",
        "=?utf-8?q?Hello=0D=0ABcc=3A_evil=40example=2Enet?=",
        "=?utf-8?b?SGVsbG8NCkJjYzogZXZpbEBleGFtcGxlLm5ldA==?=",
        "==??utf-8?q?Hello=0D=0ABcc=3A_evil=40example=2Enet??==",
        "=?utf-8?q?=3D=3Futf-8=3Fq=3Fa=3D0D=3D0ABcc=3A_b=3F=3D?=",
        "Hello\u2028Bcc: evil@example.net\x00\x0b\x85",
        "\ud800Hello",
    ],
)
@pytest.mark.parametrize("where", ["subject", "name", "our name"])
def test_header_can_not_be_added_to(evil: str, where: str) -> None:
    """Not by a line break, nor by one that is hidden in an encoded word, or twice."""
    changes: dict[str, dict[str, Any]] = {
        "subject": {"subject": evil},
        "name": {"to": (Address(email="otto@example.org", name=evil),)},
        "our name": {"sender": Address(email="agent@example.com", name=evil)},
    }
    raw = render_letter(letter(**changes[where]))

    assert header_names(raw) == NAMES
    assert read(raw)["Bcc"] is None
    assert str(read(raw)["To"]).endswith("<otto@example.org>")


@given(subject=st.text(max_size=300), name=st.text(max_size=100))
def test_any_text_makes_one_subject_and_one_name(subject: str, name: str) -> None:
    """Whatever people write, there is one recipient, and no header of theirs."""
    raw = render_letter(letter(subject=subject, to=(Address(email="o@example.org", name=name),)))
    mail = read(raw)

    assert header_names(raw) == NAMES
    assert [one.addr_spec for one in mail["To"].addresses] == ["o@example.org"]


@pytest.mark.parametrize(
    "evil",
    ["<a@b>\r\nBcc: x@y", "<=?utf-8?q?a=0D=0Ab?=@c>", "<a b@c>", "<ü@x>", "", f"<{'a' * 300}>"],
)
def test_odd_message_ids_are_left_out(evil: str) -> None:
    """Strangers choose them; without one the mail is still a mail."""
    raw = render_letter(letter(in_reply_to=evil, references=(evil, "<0@example.org>")))

    assert header_names(raw) == [one for one in NAMES if one != "in-reply-to"]
    assert read(raw)["References"] == "<0@example.org> <th_1.5.abc@example.com>"


@pytest.mark.parametrize(
    "email",
    [
        "otto", "otto@", "@example.org", "ot to@example.org", "otto@exa mple.org", "a@b@c d",
        "otto@example.org\r\nBcc: x@y", "otto@example.org>", "ötto@example.org", "a..b@example.org",
        "otto@-example.org", f"{'a' * 65}@example.org", "otto@example..org", f"o@{'a' * 64}.org",
        "o@" + ".".join(["a" * 50] * 6), "otto@example.org ORCPT=x",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(email: str) -> None:
    """Before the wire: there it would be a command."""
    with pytest.raises(NoSuchAddress):
        render_letter(letter(to=(Address(email=email),)))


def test_domain_in_another_alphabet_has_a_spelling() -> None:
    """As name servers know it."""
    assert wire_address("otto@bücher.example") == "otto@xn--bcher-kva.example"


def test_long_lines_and_any_alphabet_pass_seven_bits() -> None:
    """Some servers take nothing else; what arrives is what was written."""
    text = "x" * 3_000 + "\nüñ漢字 😀\n.\nFrom here\n"
    raw = render_letter(letter(text=text))
    body = read(raw).get_body(("plain",))

    assert raw.isascii()
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == text
