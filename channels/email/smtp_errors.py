"""What a mail server says to our mail, as an error that tells who must act.

    TryLater         4xx, no connection, no answer, or we are not let in
    GiveUp           5xx to the mail: no try will ever succeed
    NoSuchAddress    5xx to the recipient

Of the server's own words only the codes are kept: people's addresses stand in the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import aiosmtplib

from channels.channel import ChannelError, GiveUp, NoSuchAddress, TryLater

_PERMANENT: Final = 500
_AUTHENTICATION: Final = frozenset({530, 534, 535, 538})
"""RFC 4954: who we are is the matter, not the mail. An operator mends it, and the mail can wait."""
_CLOSING: Final = 421
_STATUS: Final = re.compile(r"\b[245]\.[0-9]{1,3}\.[0-9]{1,3}\b")


class HungUp(Exception):
    """A connection that was idle is gone; nothing was handed in."""


@contextmanager
def translated(*, was_idle: bool = False) -> Iterator[None]:
    """Make one of our errors of what goes wrong in the block."""
    try:
        yield
    except aiosmtplib.SMTPResponseException as exc:
        if was_idle and exc.code == _CLOSING:
            raise HungUp from exc
        raise _refusal(exc) from exc
    except aiosmtplib.SMTPServerDisconnected as exc:
        if was_idle:
            raise HungUp from exc
        raise TryLater("the mail server hung up") from exc
    except (aiosmtplib.SMTPNotSupported, UnicodeError) as exc:
        raise GiveUp("the mail server can't take such an address") from exc
    except aiosmtplib.SMTPTimeoutError as exc:
        raise TryLater("the mail server takes too long") from exc
    except (aiosmtplib.SMTPException, OSError) as exc:
        raise TryLater(f"no connection to the mail server: {_reason(exc)}") from exc


def _refusal(exc: aiosmtplib.SMTPResponseException) -> ChannelError:
    code = _code(exc)
    if isinstance(exc, aiosmtplib.SMTPAuthenticationError) or exc.code in _AUTHENTICATION:
        return TryLater(f"the mail server does not let us in ({code})")
    if exc.code < _PERMANENT or isinstance(exc, aiosmtplib.SMTPConnectError):
        return TryLater(f"the mail server can't take it now ({code})")
    if isinstance(exc, aiosmtplib.SMTPRecipientRefused):
        return NoSuchAddress(f"the mail server does not know this address ({code})")
    return GiveUp(f"the mail server does not take this mail ({code})")


def _code(exc: aiosmtplib.SMTPResponseException) -> str:
    status = _STATUS.search(str(exc.message))
    return f"{exc.code} {status[0]}" if status else str(exc.code)


def _reason(exc: Exception) -> str:
    """Say what an operator can act on: a certificate, a name, a refused port."""
    cause = exc.__cause__ or exc
    return f"{type(cause).__name__}: {cause}"[:200]
