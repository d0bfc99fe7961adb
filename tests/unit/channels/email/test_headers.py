"""Headers, addresses, encoded words and charsets: what is strict, and what takes anything."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.addresses import parse_addresses
from channels.email.charsets import decode
from channels.email.encoded_words import one_line
from channels.email.headers import parse_headers
from channels.email.message_ids import message_ids
from channels.email.parameters import parse_parameters
from channels.email.subjects import clean_subject, is_forward, topic


def emails(value: str) -> list[str]:
    """Read the addresses of a value."""
    return [one.email for one in parse_addresses(value).addresses]


@pytest.mark.parametrize(
    ("value", "email", "name"),
    [
        ("ada@example.com", "ada@example.com", ""),
        ("Ada Byron <ada@Example.COM>", "ada@example.com", "Ada Byron"),
        ('"Byron, Ada" <ada@example.com>', "ada@example.com", "Byron, Ada"),
        ('"ada@example.com" <ada@example.com>', "ada@example.com", "ada@example.com"),
        ("ada@example.com <ada@example.com>", "ada@example.com", "ada@example.com"),
        ("=?utf-8?q?Ad=C3=A1?= <ada@example.com>", "ada@example.com", "Adá"),
        ("Ada (from (nested) work) <ada@example.com>", "ada@example.com", "Ada"),
        ("ada@bücher.example", "ada@bücher.example", ""),
    ],
)
def test_well_formed_address_is_read(value: str, email: str, name: str) -> None:
    """Names, quotes, comments and encoded words around one address."""
    parsed = parse_addresses(value)

    assert parsed.defects == []
    assert [(one.email, one.name) for one in parsed.addresses] == [(email, name)]


@pytest.mark.parametrize(
    "value",
    [
        "ceo@corp.com <evil@x.org>",
        "<ceo@corp.com> <evil@x.org>",
        "<ceo@corp.com>evil@x.org",
        "ceo@corp.com, evil@x.org <",
        "Group: ceo@corp.com;",
        "ceo@corp.com(",
        '"ceo@corp.com',
        "<ceo@corp.com",
        "ceo@corp.com>",
        "ceo@corp.com\x00@evil.org",
        "ceo@[127.0.0.1]",
        '"ceo corp"@corp.com',
        "ceo@corp..com",
        "ceo",
        "((((" * 5_000,
    ],
)
def test_odd_address_has_a_defect(value: str) -> None:
    """What programs read differently is not believed."""
    assert parse_addresses(value).defects


def test_lists_and_groups_are_read() -> None:
    """Commas, semicolons and groups; what can't be read is passed over."""
    value = 'a@example.com, "B, b" <b@example.com>; Team: c@example.com, d@example.com;, nonsense'

    assert emails(value) == [f"{name}@example.com" for name in "abcd"]
    assert emails("undisclosed-recipients:;") == []


@given(st.text(max_size=200))
def test_any_header_is_read(value: str) -> None:
    """Nothing raises, and nothing that comes out has a line break or a control character."""
    parse_addresses(value)
    parse_parameters(value)
    message_ids(value)

    assert clean_subject(value).isprintable() or "\\" in repr(clean_subject(value))
    assert not any(ord(char) < 32 for char in clean_subject(value))


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        ("Hello", "Hello"),
        ("=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"),
        ("=?utf-8?q?Gr=C3=BC?=\r\n =?utf-8?q?=C3=9Fe?=", "Grüße"),
        ("=?utf-8?q?Gr=C3?= =?utf-8?q?=BC=C3=9Fe?=", "Grüße"),
        ("a =?iso-8859-1?q?=FC?= b", "a ü b"),
        ("=?utf-8?q?x=0D=0ABcc:_evil=40x.org?=", "x Bcc: evil@x.org"),
        ("x\r\nBcc: evil@x.org", "x Bcc: evil@x.org"),
        ("=?utf-8?b?!!!?= and =?utf-8?q?", "and utf-8?q?"),
        ("=?no-such-charset?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?q?=3D=3Futf-8=3Fq=3Fx=3F=3D?=", "utf-8?q?x"),
        ("evil\u202etxt.exe", "evil txt.exe"),
    ],
)
def test_subject_is_decoded_and_can_t_become_a_header(value: str, subject: str) -> None:
    """Decoded once, on one line, and without leftovers that would be decoded again."""
    assert clean_subject(value) == subject


@pytest.mark.parametrize(
    "subject",
    [
        "Re: Refund",
        "RE: AW: Refund",
        "Re[2]: Refund",
        "SV: Re: Refund",
        "回复：Refund",
        "Fwd: Re: Refund",
    ],
)
def test_topic_is_the_subject_without_what_programs_add(subject: str) -> None:
    """However many, in any language."""
    assert topic(subject) == "Refund"


def test_forward_is_told_from_an_answer_to_one() -> None:
    """Only the first prefix counts."""
    assert is_forward("FW: Refund")
    assert is_forward("WG: Refund")
    assert not is_forward("RE: FW: Refund")
    assert not is_forward("Refund")


def test_headers_are_unfolded_and_kept_in_order() -> None:
    """The topmost first; lines that are no header are counted, an mbox separator is not."""
    raw = b"From ada Tue Mar  3\r\nA: 1\r\n 2\r\nnonsense\r\na: 3\r\nB:\r\n\r\nC: 4"

    headers = parse_headers(raw)

    assert headers.all("A") == ["1\n 2", "3"]
    assert headers.has("b")
    assert headers.get("b") == headers.get("c") == ""
    assert headers.odd == 1


def test_ids_are_found_in_their_order() -> None:
    """With brackets, folded, twice, and as some programs write them without brackets."""
    assert message_ids("<a@b>\r\n <c@d> <a@b>") == ("<a@b>", "<c@d>")
    assert message_ids("a@b") == ("<a@b>",)
    assert message_ids("Your message of Tuesday") == ()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ('attachment; filename="a b.pdf"', "a b.pdf"),
        ("attachment; filename=a.pdf; size=3", "a.pdf"),
        ("attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf", "Grüße.pdf"),
        ("attachment; filename*0*=utf-8''Gr%C3%BC; filename*1=sse.pdf", "Grüsse.pdf"),
        ('attachment; filename="a\\"b.pdf"', 'a"b.pdf'),
        ("attachment; filename*=nonsense", "nonsense"),
        ("attachment", ""),
    ],
)
def test_parameters_are_read(value: str, name: str) -> None:
    """Quoted, encoded, and in pieces (RFC 2231)."""
    kind, parameters = parse_parameters(value)

    assert kind == "attachment"
    assert parameters.get("filename", "") == name


@given(st.binary(max_size=100), st.text(max_size=20) | st.sampled_from(sorted(codecs.__all__)))
def test_any_bytes_are_decoded(data: bytes, charset: str) -> None:
    """Whatever the charset is called: text, and no exception."""
    assert isinstance(decode(data, charset), str)


@pytest.mark.parametrize(
    "charset", ["zlib", "bz2", "hex", "rot13", "idna", "punycode", "undefined", "unicode_escape"]
)
def test_codecs_that_are_no_charsets_are_not_used(charset: str) -> None:
    """A charset that unpacks would be a bomb, and one that raises a way to be put aside."""
    assert decode(b"plain", charset) == "plain"


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("iso-8859-1", b"\x93Gr\xfc\xdfe\x94"),
        ("GB2312", "“Grüße”".encode("gb18030")),
        ("x-unknown", "“Grüße”".encode()),
        ("us-ascii", "“Grüße”".encode()),
    ],
)
def test_odd_charsets_are_read_as_they_are_meant(charset: str, data: bytes) -> None:
    """Names that say too little, or nothing."""
    assert decode(data, charset) == "“Grüße”"


def test_leftover_of_a_surrogate_becomes_a_question_mark() -> None:
    """What can't be stored must not come out."""
    assert one_line("a\ud800b") == "a?b"
