"""Amazon SES, through SNS: JSON signed by a certificate of Amazon's own hosts. Pure.

https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from typing import Any, Final
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.x509 import load_pem_x509_certificate
from pydantic_core import from_json

from channels.email.mail import Envelope
from channels.email.providers.brought import Brought, Forged, Unusable

AUTHSERV_ID: Final = "amazonses.com"
"""SES writes Authentication-Results of its own on top of each mail, by this name."""
_HOST: Final = re.compile(r"sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?")
_CERTIFICATE: Final = re.compile(r"/SimpleNotificationService-[0-9A-Za-z]{1,100}\.pem")
_OLDEST_SECONDS: Final = 2 * 3_600.0
"""SNS tries for an hour, always with the time of the first try."""
_AHEAD_SECONDS: Final = 900.0
_SIGNED: Final = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
    ),
}  # fmt: skip
_SIGNED["UnsubscribeConfirmation"] = _SIGNED["SubscriptionConfirmation"]

Notice = dict[str, str]


def parse_notice(body: bytes) -> Notice:
    """Read what SNS posts: an object of texts; what is none of its notices is forged."""
    try:
        given = from_json(body, allow_inf_nan=False)
    except ValueError as exc:
        raise Forged from exc
    if not isinstance(given, dict):
        raise Forged
    notice = {name: value for name, value in given.items() if isinstance(value, str)}
    if notice.get("Type") not in _SIGNED:
        raise Forged
    return notice


def certificate_url(notice: Notice, topics: tuple[str, ...], now: float) -> str:
    """Give where the certificate is, if the notice is worth a look: ours, fresh, and Amazon's."""
    if notice.get("TopicArn") not in topics or not _is_fresh(notice.get("Timestamp", ""), now):
        raise Forged
    url = notice.get("SigningCertURL") or notice.get("SigningCertUrl") or ""
    if not is_amazons(url) or not _CERTIFICATE.fullmatch(urlsplit(url).path):
        raise Forged
    return url


def is_amazons(url: str) -> bool:
    """Tell whether an address is one of SNS itself."""
    try:
        parts = urlsplit(url)
        plain = parts.port in (None, 443) and not parts.username and not parts.fragment
    except ValueError:
        return False
    is_sns = _HOST.fullmatch(parts.netloc.removesuffix(":443")) is not None
    return parts.scheme == "https" and is_sns and plain


def verify(notice: Notice, certificate: bytes, now: float) -> None:
    """Check the signature, or raise Forged."""
    try:
        found = load_pem_x509_certificate(certificate)
        signature = base64.b64decode(notice.get("Signature", ""), validate=True)
    except (ValueError, binascii.Error) as exc:
        raise Forged from exc
    at = dt.datetime.fromtimestamp(now, dt.UTC)
    if not found.not_valid_before_utc <= at <= found.not_valid_after_utc:
        raise Forged
    key = found.public_key()
    kind = {"1": SHA1, "2": SHA256}.get(notice.get("SignatureVersion", ""))  # Amazon's choice
    if not isinstance(key, RSAPublicKey) or kind is None:
        raise Forged
    try:
        key.verify(signature, _signed_text(notice), PKCS1v15(), kind())
    except InvalidSignature as exc:
        raise Forged from exc


def _signed_text(notice: Notice) -> bytes:
    names = [name for name in _SIGNED[notice["Type"]] if name in notice]
    return "".join(f"{name}\n{notice[name]}\n" for name in names).encode("utf-8", "replace")


def _is_fresh(timestamp: str, now: float) -> bool:
    try:
        at = dt.datetime.fromisoformat(timestamp)
    except ValueError:
        return False
    return at.tzinfo is not None and -_AHEAD_SECONDS < now - at.timestamp() < _OLDEST_SECONDS


def parse(notice: Notice) -> Brought | None:
    """Give the mail of a notification; nothing where SES tells of something else."""
    try:
        told: Any = from_json(notice["Message"], allow_inf_nan=False)
    except ValueError as exc:
        raise Unusable("the message is not one of SES") from exc
    if not isinstance(told, dict) or told.get("notificationType") != "Received":
        return None
    content = told.get("content")
    if not isinstance(content, str) or not content:
        raise Unusable("there is no content: the receipt rule's action must be SNS, with the mail")
    receipt, mail = _part(told, "receipt"), _part(told, "mail")
    raw = content.encode("utf-8", "replace")
    if str(_part(receipt, "action").get("encoding", "")).upper() == "BASE64":
        try:
            raw = base64.b64decode(content, validate=True)
        except ValueError as exc:
            raise Unusable("the content is not Base64") from exc
    to, sender = receipt.get("recipients"), mail.get("source")
    recipients = tuple(one for one in to if isinstance(one, str)) if isinstance(to, list) else ()
    path = sender if isinstance(sender, str) else None
    return Brought(raw=raw, envelope=Envelope(sender=path, recipients=recipients))


def _part(told: dict[str, Any], name: str) -> dict[str, Any]:
    found = told.get(name)
    return found if isinstance(found, dict) else {}
