"""Mails for the tests, put together from their headers and parts."""

from __future__ import annotations

from channels.email.mail import ReadingOptions
from channels.email.tokens import sign_token, tagged

SECRET = b"a secret of sixteen bytes or more"
OURS = "agent@example.com"
QUESTION = "q_0123456789abcdef0123"
DELIVERY = "th_0123456789abcdef0123.7"
REPLY_TO = tagged(OURS, sign_token(QUESTION, "reply", SECRET))
RETURN_PATH = tagged(OURS, sign_token(DELIVERY, "bounce", SECRET))
OPTIONS = ReadingOptions(address=OURS, secret=SECRET, authserv_id="mx.example.com")


def letter(
    *headers: str, body: str = "Yes.\n", sender: str = "From: Ada <ada@example.org>"
) -> bytes:
    """Make a mail; its own headers come first, as a server's do."""
    given = [*headers, *([sender] if sender else [])]
    if not any(one.lower().startswith("to:") for one in given):
        given.append(f"To: {OURS}")
    return ("\r\n".join(given) + "\r\n\r\n" + body.replace("\n", "\r\n")).encode()


def multipart(kind: str, *parts: str, boundary: str = "b1") -> tuple[str, str]:
    """Make the header and the body of a mail with parts."""
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f"Content-Type: {kind}; boundary={boundary}", f"{body}--{boundary}--\n"
