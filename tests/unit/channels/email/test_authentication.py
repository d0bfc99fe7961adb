"""Who vouches for the From: our own server, or a signature that we check ourselves."""

from __future__ import annotations

import base64

import dkim
import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from channels.email.alignment import is_aligned
from channels.email.mail import Authentication, ReadingOptions
from channels.email.reading import read_mail
from tests.unit.channels.email.letters import OPTIONS, letter

MX = "Authentication-Results: mx.example.com"


def judged(*headers: str, options: ReadingOptions = OPTIONS) -> Authentication:
    """Read a mail from ada@example.org with these headers."""
    return read_mail(letter(*headers), None, options).authentication


@pytest.mark.parametrize(
    "results",
    [
        f"{MX}; dmarc=pass header.from=example.org",
        f"{MX} 1; spf=fail smtp.mailfrom=x@evil.org; dmarc=pass (p=reject) header.from=Example.ORG",
        f"{MX}; dkim=pass header.d=example.org",
        f"{MX}; dkim=pass header.d=mail.example.org header.s=s1",
        f"{MX}; dkim=fail header.d=example.org; dkim=pass header.i=@news.example.org",
        f"{MX};\r\n\tdkim=pass (2048-bit key; unprotected) header.d=example.org",
        f'{MX}; dkim=pass reason="a; b" header.d=example.org',
        "Authentication-Results: MX.EXAMPLE.COM.; dmarc=pass header.from=example.org",
    ],
)
def test_word_of_our_own_server_is_taken(results: str) -> None:
    """DMARC for the From's domain, or DKIM of its organisation."""
    found = judged(results)

    assert found.passed, found.reason
    assert found.by == "mx.example.com"


@pytest.mark.parametrize(
    "results",
    [
        "",
        "Authentication-Results: mx.evil.org; dmarc=pass header.from=example.org",
        f"{MX}.evil.org; dmarc=pass header.from=example.org",
        f"{MX}",
        f"{MX}; none",
        f"{MX}; dmarc=fail header.from=example.org",
        f"{MX}; dmarc=pass header.from=evil.org",
        f"{MX}; dmarc=pass header.from=sub.example.org",
        f"{MX}; dmarc=pass",
        f"{MX}; dmarc=bestguesspass header.from=example.org",
        f"{MX}; dkim=pass header.d=evil.org",
        f"{MX}; dkim=pass header.d=example.org.evil.org",
        f"{MX}; dkim=pass header.d=org",
        f"{MX}; spf=pass smtp.mailfrom=ada@example.org",
        f"{MX}; dkim=neutral header.d=example.org",
        f"{MX}; spf=none (dmarc=pass header.from=example.org)",
        f'{MX}; x="; dmarc=pass header.from=example.org"',
        "Authentication-Results: evil.org (mx.example.com; dmarc=pass header.from=example.org",
    ],
)
def test_nobody_elses_word_is_taken(results: str) -> None:
    """Other servers, other domains, other results, and words hidden in comments."""
    assert not judged(*filter(None, [results])).passed


@pytest.mark.parametrize(
    "results",
    [
        "dkim=pass header.d=news.example.org; dmarc=fail header.from=example.org",
        "dmarc=pass header.from=example.org; dmarc=fail header.from=example.org",
        # A writer's own words, from the envelope, that end the server's comment.
        'spf=pass (of "); dmarc=pass header.from=example.org ("@x); dmarc=fail header.from=x.org',
    ],
)
def test_failed_dmarc_is_forged_whatever_else_is_said(results: str) -> None:
    """The domain says who may write in its name; and our own check must not make it milder."""
    both = msgspec.structs.replace(OPTIONS, verify_dkim=True)
    raw = letter(f"{MX}; {results}")

    found = [
        judged(f"{MX}; {results}"),
        read_mail(raw, None, both, lookup=lambda _name: None).authentication,
    ]

    assert [(one.passed, one.failed) for one in found] == [(False, True)] * 2


def test_only_the_topmost_of_our_results_counts() -> None:
    """One below it came with the mail, and was written by whoever wrote that."""
    forged = f"{MX}; dmarc=pass header.from=example.org"

    assert not judged(f"{MX}; dmarc=fail header.from=example.org", forged).passed
    assert judged("Authentication-Results: filter.example.net; x=y", forged).passed


def test_without_a_name_for_our_server_nothing_is_believed() -> None:
    """Else any header would do."""
    found = judged(
        "Authentication-Results: ; dmarc=pass header.from=example.org", options=ReadingOptions()
    )

    assert not found.passed
    assert "EMAIL_AUTHSERV_ID" in found.reason


@pytest.mark.parametrize("tag", ["l=10", "L = 0", "h=from; l=10"])
def test_signature_of_a_part_vouches_for_nothing(tag: str) -> None:
    """With `l=` others can add text under what was signed."""
    found = judged(
        f"{MX}; dkim=pass header.d=example.org",
        f"DKIM-Signature: v=1; a=rsa-sha256; d=example.org; {tag}; b=x",
    )

    assert not found.passed
    assert "l=" in found.reason


@pytest.mark.parametrize(
    ("one", "other", "aligned"),
    [
        ("example.org", "example.org", True),
        ("mail.example.org", "example.org", True),
        ("a.example.org", "b.example.org", True),
        ("a.co.uk", "b.co.uk", False),
        ("co.uk", "b.co.uk", False),
        ("evil.github.io", "ada.github.io", False),
        ("example.org", "example.com", False),
        ("notexample.org", "example.org", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("", "", False),
    ],
)
def test_alignment_is_by_organisation(one: str, other: str, *, aligned: bool) -> None:
    """Neighbours under a public suffix are strangers."""
    assert is_aligned(one, other) is aligned


# --- signatures that we check ourselves -----------------------------------------------------------

_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=1024)  # noqa: S505 - the shortest that is taken, to be quick
_PRIVATE = _KEY.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.TraditionalOpenSSL,
    serialization.NoEncryption(),
)
_PUBLIC = _KEY.public_key().public_bytes(
    serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
)
CHECKING = ReadingOptions(address="agent@example.com", verify_dkim=True)


def records(name: str) -> bytes | None:
    """Know one key, as DNS would."""
    known = {"s1._domainkey.example.org.", "s1._domainkey.example.org"}
    return b"v=DKIM1; k=rsa; p=" + base64.b64encode(_PUBLIC) if name in known else None


def signed(
    raw: bytes, *, domain: bytes = b"example.org", selector: bytes = b"s1", length: bool = False
) -> bytes:
    """Sign a mail."""
    headers = [b"from", b"to"]
    made = dkim.sign(raw, selector, domain, _PRIVATE, include_headers=headers, length=length)
    return bytes(made) + raw


def checked(raw: bytes) -> Authentication:
    """Read a mail, and check its signature."""
    return read_mail(raw, None, CHECKING, lookup=records).authentication


def test_good_signature_of_the_senders_domain_vouches() -> None:
    """Checked with the key from DNS, also where the mail's line ends were changed."""
    raw = signed(letter())

    assert checked(raw) == Authentication(
        passed=True, method="dkim", domain="example.org", by="parley"
    )


@pytest.mark.parametrize(
    "raw",
    [
        letter(),
        signed(letter()).replace(b"Yes.", b"No."),
        signed(letter()).replace(b"Ada", b"Eve"),
        signed(letter(), length=True),
        signed(letter(), selector=b"unknown"),
        signed(letter(), domain=b"evil.org"),
        b"DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=s1; b=nonsense\r\n" + letter(),
        b"DKIM-Signature: v=1; a=rsa-sha1; d=example.org; s=s1; h=from; bh=x; b=x\r\n" + letter(),
        b"DKIM-Signature: d=example.org\r\n" + letter(),
    ],
)
def test_other_signatures_vouch_for_nothing(raw: bytes) -> None:
    """None, changed text, a changed From, a part only, no key, another domain, nonsense."""
    found = checked(raw)

    assert not found.passed
    assert found.reason


def test_signatures_are_checked_only_if_the_operator_says_so() -> None:
    """Where our server does it, its word is enough; where nobody does, nobody is believed."""
    found = read_mail(signed(letter()), None, OPTIONS, lookup=records).authentication

    assert not found.passed


@pytest.mark.parametrize("gap", [b"\r\r", b"\rX-C: d"])
def test_headers_that_programs_split_differently_prove_nothing(gap: bytes) -> None:
    """Eve of the same domain has her own mail signed, and puts another From before the gap."""
    body = "--b\n\nyes\n--b--\n"
    hers = signed(letter("Subject: hi", sender="From: eve@example.org", body=body))
    top = b"From: ada@example.org\r\nContent-Type: multipart/mixed; boundary=b\r\n"
    signature, _, rest = hers.partition(b"Subject:")
    raw = top + signature + b"X-A: b" + gap + b"\r\nSubject:" + rest

    mail = read_mail(raw, None, CHECKING, lookup=records)

    assert checked(hers).passed
    assert not mail.authentication.passed
    by_server = f"{MX}; dmarc=pass header.from=example.org\r\n".encode() + raw
    assert not read_mail(by_server, None, OPTIONS).authentication.passed
