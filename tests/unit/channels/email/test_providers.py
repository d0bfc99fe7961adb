"""Providers: proven and durable, or nothing; and whoever forges hears the same."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

from channels.channel import TryLater
from channels.email.mail import Envelope
from channels.email.options import EmailOptions
from channels.email.providers import ses
from channels.email.providers.reception import Providers, provider_paths
from channels.recording import DictMemory
from channels.web_routes import WebRequest, WebResponse
from tests.unit.channels.email.certificates import certificate, pem
from tests.unit.channels.email.letters import OURS
from tests.unit.channels.email.samples import SAMPLES

NOW = dt.datetime.now(dt.UTC).timestamp()
RAW = b"From: ada@example.org\r\nTo: agent@example.com\r\n\r\nh\xe9llo \xff\r\n"
TEXT = "From: ada@example.org\r\n\r\nhéllo\r\n"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:mail"
KEY = "key-of-mailgun"
SECRET = "a secret in the address"
OPTIONS = EmailOptions(address=OURS, mailgun_key=KEY, inbound_secret=SECRET, sns_topics=(TOPIC,))
CERT_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abc.pem"
PRIVATE, CERTIFICATE = certificate("sns.amazonaws.com")


class Door:
    """Providers whose mail is written down, and what they fetched."""

    def __init__(self, *script: Exception, options: EmailOptions = OPTIONS) -> None:
        """Follow a script, then take everything."""
        self.script = list(script)
        self.taken: list[tuple[bytes, Envelope | None]] = []
        self.fetched: list[str] = []
        self.certificate = pem(CERTIFICATE)
        self.providers = Providers(
            options, self._take, DictMemory(), fetch=self._fetch, clock=lambda: NOW
        )

    async def _take(self, raw: bytes, envelope: Envelope | None) -> None:
        await asyncio.sleep(0)
        if self.script:
            raise self.script.pop(0)
        self.taken.append((raw, envelope))

    async def _fetch(self, url: str) -> bytes:
        self.fetched.append(url)
        return self.certificate

    async def post(
        self, path: str, body: bytes, kind: str, *, query: str = "", **headers: str
    ) -> WebResponse:
        """Post something."""
        given = {"content-type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
        return await self.providers.receive(
            WebRequest(
                method="POST",
                path=f"/email/inbound/{path}",
                query=query,
                headers=given,
                body=body,
            )
        )


def multipart(fields: dict[str, bytes]) -> tuple[bytes, str]:
    """Write a form with parts."""
    parts = [
        b'--xyz\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (name.encode(), value)
        for name, value in fields.items()
    ]
    return b"".join(parts) + b"--xyz--\r\n", "multipart/form-data; boundary=xyz"


def urlencoded(fields: dict[str, bytes]) -> tuple[bytes, str]:
    """Write a form as one line."""
    return urlencode(fields).encode(), "application/x-www-form-urlencoded"


# --- Mailgun --------------------------------------------------------------------------------------


def signed(*, at: float = NOW, token: str = "t" * 50, key: str = KEY) -> dict[str, bytes]:
    """Write a form as Mailgun does."""
    timestamp = str(int(at))
    mac = hmac.new(key.encode(), f"{timestamp}{token}".encode(), hashlib.sha256)
    return {
        "timestamp": timestamp.encode(),
        "token": token.encode(),
        "signature": mac.hexdigest().encode(),
        "recipient": b"agent+x@example.com",
        "sender": b"ada@example.org",
        "body-mime": RAW,
    }


@pytest.mark.parametrize("form", [multipart, urlencoded])
@pytest.mark.parametrize("path", ["mailgun", "mailgun/mime"])
async def test_mail_of_mailgun_is_taken_byte_for_byte(form: type, path: str) -> None:
    """In both forms that it posts: a signature in the mail covers each byte."""
    door = Door()

    answer = await door.post(path, *form(signed()))

    assert answer.status == 200
    envelope = Envelope(
        sender="ada@example.org", recipients=("agent+x@example.com",), is_direct=True
    )
    assert door.taken == [(RAW, envelope)]


FORGERIES: dict[str, dict[str, bytes]] = {
    "another key": signed(key="another"),
    "too old": signed(at=NOW - 9 * 3_600 - 1),
    "from the future": signed(at=NOW + 301),
    "no signature": {**signed(), "signature": b""},
    "another token": {**signed(), "token": b"u" * 50},
    "no token": {name: value for name, value in signed().items() if name != "token"},
    "a time that is no number": {**signed(), "timestamp": b"nan"},
    "odd letters": {**signed(), "signature": "é".encode()},
    "nothing": {},
}


@pytest.mark.parametrize("fields", FORGERIES.values(), ids=FORGERIES.keys())
async def test_whatever_is_forged_hears_the_same(fields: dict[str, bytes]) -> None:
    """And nothing is taken."""
    door = Door()

    answer = await door.post("mailgun", *multipart(fields))

    assert answer.status == 401
    assert answer.body == b"this does not prove that it comes from the provider\n"
    assert door.taken == []


async def test_signature_counts_once() -> None:
    """It does not cover the mail: another mail with the same one is somebody else's."""
    door = Door()
    again = {**signed(), "body-mime": b"From: ceo@example.com\r\n\r\npay\r\n"}

    answers = [
        *await asyncio.gather(
            *(door.post("mailgun", *multipart(one)) for one in (signed(), again))
        ),
        await door.post("mailgun", *multipart(again)),
    ]

    assert sorted(one.status for one in answers) == [200, 401, 401]
    assert [raw for raw, _ in door.taken] == [RAW]


async def test_what_could_not_be_taken_may_come_again() -> None:
    """With the same signature: nothing was done with it."""
    door = Door(TryLater("busy"))

    first = await door.post("mailgun", *multipart(signed()))
    second = await door.post("mailgun", *multipart(signed()))

    assert (first.status, first.headers["Retry-After"], second.status) == (503, "30", 200)
    assert len(door.taken) == 1


async def test_mail_comes_again_hours_after_it_was_signed() -> None:
    """Mailgun tries for eight hours, first after ten minutes: nothing is lost by our being away."""
    door = Door()

    answer = await door.post("mailgun", *multipart(signed(at=NOW - 8 * 3_600)))

    assert answer.status == 200


async def test_same_mail_with_the_same_signature_is_taken_already() -> None:
    """Our answer was lost on its way: a refusal would make them try for hours."""
    door = Door()

    answers = [await door.post("mailgun", *multipart(signed())) for _ in range(2)]

    assert [one.status for one in answers] == [200, 200]
    assert len(door.taken) == 1


async def test_form_without_a_mail_says_what_to_change() -> None:
    """Mailgun parses mails itself unless the address ends so."""
    door = Door()
    fields = {name: value for name, value in signed().items() if name != "body-mime"}

    answer = await door.post("mailgun", *multipart(fields))

    assert answer.status == 422
    assert b"/mime" in answer.body


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"", "", 415),
        (b"x", "multipart/form-data", 415),
        (b"--xyz\r\n\r\n", "multipart/form-data; boundary=xyz", 422),
        (b"a=b&" * 1_000, "application/x-www-form-urlencoded", 422),
        (b"--x--" * 10_000, "multipart/form-data; boundary=x", 401),
        (b"\r\n--x" * 10_000, "multipart/form-data; boundary=x", 422),
        (b"%ff%00=&&==", "application/x-www-form-urlencoded", 401),
    ],
)
async def test_odd_forms_get_clear_answers(body: bytes, kind: str, status: int) -> None:
    """Never an error of ours."""
    door = Door()

    answer = await door.post("mailgun", body, kind)

    assert answer.status == status


async def test_compressed_body_is_refused() -> None:
    """What a server unpacks is not what was signed."""
    answer = await Door().post("mailgun", *multipart(signed()), content_encoding="gzip")

    assert answer.status == 415


# --- Postmark and SendGrid ------------------------------------------------------------------------


def basic(password: str, user: str = "parley") -> str:
    """Write basic authorization."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


POSTMARK = json.dumps({"RawEmail": TEXT, "OriginalRecipient": "agent+x@example.com"}).encode()


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        (urlencode({"secret": SECRET}), {}),
        ("", {"authorization": basic(SECRET)}),
        ("", {"authorization": basic(SECRET, user="")}),
    ],
)
async def test_secret_stands_in_the_address_or_in_the_head(
    query: str, headers: dict[str, str]
) -> None:
    """As each provider can."""
    door = Door()

    answer = await door.post("postmark", POSTMARK, "application/json", query=query, **headers)

    assert answer.status == 200
    envelope = Envelope(recipients=("agent+x@example.com",), is_direct=True)
    assert door.taken == [(TEXT.encode(), envelope)]


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("secret=", {}),
        ("secret=wrong", {}),
        ("secret=é%ff", {}),
        ("&" * 100, {}),
        ("", {"authorization": basic("wrong")}),
        ("", {"authorization": "Basic ???"}),
        ("", {"authorization": "Basic " + base64.b64encode(SECRET.encode()).decode()}),
        ("", {"authorization": f"Bearer {SECRET}"}),
    ],
)
@pytest.mark.parametrize("path", ["postmark", "sendgrid"])
async def test_without_the_secret_nothing_is_taken(
    path: str, query: str, headers: dict[str, str]
) -> None:
    """The same answer as to any forgery."""
    door = Door()

    answer = await door.post(path, POSTMARK, "application/json", query=query, **headers)

    assert answer.status == 401
    assert door.taken == []


@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"nonsense", b'{"RawEmail": 7}', b'{"RawEmail": ""}', b"[" * 5_000]
)
async def test_postmark_without_a_raw_mail_is_told_what_to_change(body: bytes) -> None:
    """Whatever the body is."""
    query = urlencode({"secret": SECRET})

    answer = await Door().post("postmark", body, "application/json", query=query)

    assert answer.status == 422


@pytest.mark.parametrize(
    ("told", "envelope"),
    [
        (b'{"to":["a@b.c"],"from":""}', Envelope(sender="", recipients=("a@b.c",))),
        (b'{"to":"a@b.c","from":7}', Envelope()),
        (b"[]", Envelope()),
        (b"nonsense", Envelope()),
    ],
)
async def test_mail_of_sendgrid_is_taken_with_what_can_be_read_of_its_envelope(
    told: bytes, envelope: Envelope
) -> None:
    """The mail itself is what counts."""
    door = Door()
    form = multipart({"envelope": told, "email": RAW})

    answer = await door.post("sendgrid", *form, query=urlencode({"secret": SECRET}))

    assert answer.status == 200
    assert door.taken == [
        (RAW, Envelope(sender=envelope.sender, recipients=envelope.recipients, is_direct=True))
    ]


async def test_sendgrid_without_a_raw_mail_is_told_what_to_change() -> None:
    """It parses mails itself unless told otherwise."""
    form = multipart({"text": b"hello"})

    answer = await Door().post("sendgrid", *form, query=urlencode({"secret": SECRET}))

    assert answer.status == 422
    assert b"raw" in answer.body


# --- SES ------------------------------------------------------------------------------------------


def received(content: str, encoding: str = "UTF-8") -> str:
    """Write what SES tells of a mail."""
    return json.dumps(
        {
            "notificationType": "Received",
            "mail": {"source": "ada@example.org", "destination": [OURS]},
            "receipt": {"recipients": [OURS], "action": {"type": "SNS", "encoding": encoding}},
            "content": content,
        }
    )


def notice(
    message: str,
    *,
    version: str = "2",
    sign: bool = True,
    **more: Any,  # noqa: ANN401 (texts, of any name)
) -> dict[str, str]:
    """Write what SNS posts."""
    at = dt.datetime.fromtimestamp(NOW, dt.UTC).isoformat(timespec="milliseconds")
    made = {
        "Type": "Notification",
        "MessageId": "m1",
        "TopicArn": TOPIC,
        "Message": message,
        "Timestamp": at.replace("+00:00", "Z"),
        "SignatureVersion": version,
        "SigningCertURL": CERT_URL,
        **more,
    }
    if sign:
        digest = hashes.SHA1() if version == "1" else hashes.SHA256()  # noqa: S303 (Amazon's)
        mac = PRIVATE.sign(ses._signed_text(made), PKCS1v15(), digest)
        made["Signature"] = base64.b64encode(mac).decode()
    return made


async def post(door: Door, made: object) -> WebResponse:
    """Post a notice, as the plain text that SNS says it is."""
    return await door.post("ses", json.dumps(made).encode(), "text/plain; charset=UTF-8")


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("more", [{}, {"Subject": "Amazon SES Email Receipt Notification"}])
async def test_mail_of_ses_is_taken_by_its_signature(version: str, more: dict[str, Any]) -> None:
    """Of both versions; the certificate is fetched once."""
    door = Door()
    plain = notice(received(TEXT), version=version, **more)
    encoded = notice(received(base64.b64encode(RAW).decode(), "BASE64"), version=version, **more)

    answers = [await post(door, one) for one in (plain, encoded)]

    assert [one.status for one in answers] == [200, 200]
    assert [raw for raw, _ in door.taken] == [TEXT.encode(), RAW]
    envelope = Envelope(sender="ada@example.org", recipients=(OURS,), is_direct=True)
    assert door.taken[0][1] == envelope
    assert door.fetched == [CERT_URL]


@pytest.mark.parametrize(("name", "is_direct"), [("AmazonSES.com", False), ("mx.x.org", True)])
async def test_results_of_ses_are_believed_by_its_own_name(name: str, *, is_direct: bool) -> None:
    """It writes them on top of each mail; those of another name came with the mail."""
    door = Door(options=replace(OPTIONS, authserv_id=name))

    await post(door, notice(received(TEXT)))

    [(_, envelope)] = door.taken
    assert envelope is not None
    assert envelope.is_direct is is_direct


def _old() -> str:
    return dt.datetime.fromtimestamp(NOW - 7_300, dt.UTC).isoformat()


NOTICES: dict[str, object] = {
    "changed": {**notice(received(TEXT)), "Message": received("From: ceo@example.com\r\n\r\nx")},
    "another topic": notice(received(TEXT), TopicArn=f"{TOPIC}2"),
    "too old": notice(received(TEXT), Timestamp=_old()),
    "no time": notice(received(TEXT), Timestamp="now"),
    "a time without a zone": notice(received(TEXT), Timestamp="2026-01-01T00:00:00"),
    "unsigned": notice(received(TEXT), sign=False),
    "signature that is none": {**notice(received(TEXT)), "Signature": "???"},
    "another version": {**notice(received(TEXT)), "SignatureVersion": "3"},
    "another type": notice(received(TEXT), sign=False, Type="Other", Signature="eA=="),
    "no object": [],
    "no text": {**notice(received(TEXT)), "Message": 7},
}


@pytest.mark.parametrize("made", NOTICES.values(), ids=NOTICES.keys())
async def test_forged_notice_hears_the_same(made: object) -> None:
    """And nothing is taken."""
    door = Door()

    answer = await post(door, made)

    assert (answer.status, door.taken) == (401, [])
    assert answer.body == b"this does not prove that it comes from the provider\n"


@pytest.mark.parametrize(
    "url",
    [
        "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com.evil.net/SimpleNotificationService-1.pem",
        "https://evil.net/sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com@evil.net/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com:444/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com\\@evil.net/SimpleNotificationService-1.pem",
        "https://evil.sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.s3.amazonaws.com/../bucket/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com/evil.pem",
        "https://[::1/SimpleNotificationService-1.pem",
        "https://127.0.0.1/SimpleNotificationService-1.pem",
        "file:///etc/passwd",
        "",
    ],
)
async def test_certificate_is_amazons_or_none(url: str) -> None:
    """Nothing else is ever fetched."""
    door = Door()

    answer = await post(door, notice(received(TEXT), SigningCertURL=url))

    assert (answer.status, door.fetched, door.taken) == (401, [], [])


@pytest.mark.parametrize("found", [b"", b"no certificate", pem(certificate()[1])])
async def test_certificate_that_did_not_sign_it_proves_nothing(found: bytes) -> None:
    """Whatever is there."""
    door = Door()
    door.certificate = found

    answer = await post(door, notice(received(TEXT)))

    assert (answer.status, door.taken) == (401, [])


CONFIRM = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=x"


@pytest.mark.parametrize(
    ("more", "status", "visited"),
    [
        ({}, 200, [CONFIRM]),
        ({"SubscribeURL": "https://evil.net/"}, 401, []),
        ({"TopicArn": f"{TOPIC}2"}, 401, []),
    ],
)
async def test_topic_is_confirmed_only_if_the_operator_has_named_it(
    more: dict[str, Any], status: int, visited: list[str]
) -> None:
    """Anybody may subscribe us to theirs."""
    door = Door()
    given = {"Type": "SubscriptionConfirmation", "SubscribeURL": CONFIRM, "Token": "x", **more}

    answer = await post(door, notice("You have chosen …", **given))

    assert answer.status == status
    assert [one for one in door.fetched if one != CERT_URL] == visited


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ('{"notificationType": "Bounce"}', 200),
        ('{"notificationType": "Received"}', 422),
        (received("???", "BASE64"), 422),
        ("nonsense", 422),
        ("[]", 200),
    ],
)
async def test_notice_without_a_mail_is_answered_clearly(message: str, status: int) -> None:
    """What is no mail needs none of our time."""
    door = Door()

    answer = await post(door, notice(message))

    assert (answer.status, door.taken) == (status, [])


async def test_amazon_away_is_no_forgery() -> None:
    """It tries again."""
    door = Door()

    async def away(_url: str) -> bytes:
        raise TryLater("away")

    door.providers._fetch = away

    answer = await post(door, notice(received(TEXT)))

    assert answer.status == 503


# --- samples --------------------------------------------------------------------------------------


async def test_each_shape_that_providers_document_gives_the_same_mail() -> None:
    """With everything around it that we don't need."""
    door = Door()
    secret = urlencode({"secret": SECRET})
    folder = SAMPLES / "providers"
    kind = "multipart/form-data; boundary=xYzZY"

    answers = [
        await door.post(
            "postmark", (folder / "postmark.json").read_bytes(), "application/json", query=secret
        ),
        await door.post("sendgrid", (folder / "sendgrid.form").read_bytes(), kind, query=secret),
        await post(door, notice((folder / "ses_received.json").read_text())),
    ]

    assert [one.status for one in answers] == [200, 200, 200]
    assert {raw.rstrip() for raw, _ in door.taken} == {door.taken[0][0].rstrip()}
    assert {one.recipients for _, one in door.taken if one} == {("agent+x@example.com",)}


# --- which doors there are ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (EmailOptions(address=OURS), ()),
        (
            EmailOptions(address=OURS, mailgun_key="k"),
            ("/email/inbound/mailgun", "/email/inbound/mailgun/mime"),
        ),
        (
            EmailOptions(address=OURS, inbound_secret="s"),
            ("/email/inbound/postmark", "/email/inbound/sendgrid"),
        ),
        (EmailOptions(address=OURS, sns_topics=(TOPIC,)), ("/email/inbound/ses",)),
    ],
)
async def test_door_is_open_where_its_provider_can_prove_itself(
    options: EmailOptions, paths: tuple[str, ...]
) -> None:
    """All others are no doors at all."""
    door = Door(options=options)

    assert provider_paths(options) == paths
    for name in ("mailgun", "postmark", "ses", "x"):
        answer = await door.post(name, b"", "text/plain", query="secret=")
        assert answer.status != 200
        assert (answer.status == 404) == (f"/email/inbound/{name}" not in paths)
