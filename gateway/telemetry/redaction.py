"""What a log line may show: ids and numbers; never a secret, an address or what people wrote. Pure.

Two sieves, one behind the other. A field keeps its text only if its name is in `FIELDS`; of any
other, the line says how long it is, so a body can't be logged by an oversight. What passes is
searched for the shapes of secrets and addresses.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import PurePath
from urllib.parse import urlsplit

from gateway.settings.environment import SettingsError
from storage.errors import StoreError

FIELDS = frozenset(
    {
        "agent",
        "agents",
        "attempt",
        "call",
        "channel",
        "code",
        "database",
        "delivery",
        "delivery_id",
        "digest",
        "effect",
        "epoch",
        "error",
        "event",
        "exception",
        "file",
        "format",
        "key_id",
        "kind",
        "level",
        "logger",
        "method",
        "migration",
        "mode",
        "path",
        "phase",
        "process",
        "provider",
        "question",
        "request",
        "role",
        "route",
        "scheme",
        "scope",
        "scopes",
        "schema",
        "seq",
        "signal",
        "source",
        "state",
        "status",
        "step",
        "stream",
        "table",
        "thread",
        "thread_id",
        "timestamp",
        "tool",
        "trace",
        "type",
        "url",
        "version",
        "worker",
    }
)
"""Names of fields that hold ids, names or one of a few words. Add one only if that is so."""

_SECRET_NAME = re.compile(
    r"auth|cookie|credential|passw|pwd|secret|signature|token|api_?key|private|session",
    re.IGNORECASE,
)
_HIDDEN = "[redacted]"
_NUMBERS = (bool, int, float)
_LONGEST = 300
_DEEPEST = 5
_SPEAKS = (OSError, StoreError, SettingsError)
"""Errors whose text says what is wrong with the machine, not what somebody wrote."""

HARMLESS = re.compile(r"(?:d|key|q|req|th)_[0-9a-f]{1,40}|[A-Za-z]{1,20}|(?!/a/)/[a-z0-9/{}]{0,80}")
"""An id of ours, a word, a route: what most fields hold, and no shape below can be found in.

Every request writes a line. Searching its fields would cost more than answering it.
"""

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>]+", re.IGNORECASE)
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(Bearer|Basic)\s+[^\s,;'\"]+", re.IGNORECASE), rf"\1 {_HIDDEN}"),
    (re.compile(r"\b(xox[a-z]|xapp|sk|rk|whsec|gh[a-z])[-_][\w-]{6,}"), rf"\1-{_HIDDEN}"),
    (re.compile(r"\bpk_[\w-]{6,}"), f"pk_{_HIDDEN}"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), _HIDDEN),
    (re.compile(r"\bAKIA[0-9A-Z]{12,}"), _HIDDEN),
    (
        re.compile(
            r"(?i)\b([\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key|signature)[\w-]*)"
            r"['\"]?\s*[=:]\s*['\"]?[^\s,;&'\"]+"
        ),
        rf"\1={_HIDDEN}",
    ),
    (re.compile(r"(/a/)[^\s/?#'\"]+"), rf"\1{_HIDDEN}"),
    (re.compile(r"([\w])[\w.+%'-]*@([\w])[\w-]*(?:\.[\w-]+)*"), r"\1***@\2***"),
)


def clean_field(name: str, value: object) -> object:
    """Give what a line may show of one field."""
    if value is None or isinstance(value, _NUMBERS):
        return value
    if _is_secret(name):
        return _HIDDEN
    if type(value) is str:
        return _clean_text(name, value)
    if isinstance(value, BaseException | type):
        return (value if isinstance(value, type) else type(value)).__name__
    if isinstance(value, list | tuple | set | frozenset):
        return [clean_field(name, one) for one in list(value)[:20]]
    return _clean_text(name, value)


@lru_cache(1024)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _clean_text(name: str, value: object) -> str:
    if name not in FIELDS:
        size = len(value) if isinstance(value, str | bytes | dict) else 0
        return f"[{type(value).__name__} of {size}]"
    if isinstance(value, str | PurePath):
        return clean_text(str(value))
    return f"[{type(value).__name__}]"


def clean_text(text: str, longest: int = _LONGEST) -> str:
    """Take secrets and addresses out of a text, and what a terminal would obey."""
    if HARMLESS.fullmatch(text):
        return text
    cleaned = _URL.sub(lambda found: _clean_url(found[0]), text[: 10 * longest])
    for shape, instead in _SHAPES:
        cleaned = shape.sub(instead, cleaned)
    if not cleaned.isprintable():
        cleaned = "".join(c if c.isprintable() or c == "\n" else "?" for c in cleaned)
    return cleaned if len(cleaned) <= longest else f"{cleaned[:longest]}…"


clean_message = lru_cache(512)(clean_text)
"""For what is said again and again: messages are constants."""


def _clean_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return _HIDDEN
    query = f"?{_HIDDEN}" if parts.query else ""
    return f"{parts.scheme}://{host}{parts.path}{query}"


def clean_record(message: object, args: object) -> str:
    """Give what a line may show of a library's own record: its first line, without the texts in it.

    asyncio puts what an exception says on the lines after the first.
    """
    template = str(message)
    if args:
        values = args if isinstance(args, tuple) else (args,)
        with suppress(TypeError, ValueError, KeyError):  # then shown with its places empty
            template %= tuple(v if isinstance(v, int | float) else "…" for v in values)
    return clean_text(template.partition("\n")[0])


def clean_exception(exc: BaseException) -> str:
    """Tell an exception by its classes and places; what it says only where that is the machine's.

    An exception of a tool or a parser quotes what people wrote, and local variables hold it.
    """
    return "\n".join(_told(exc, 0))


def _told(exc: BaseException, depth: int) -> Iterator[str]:
    words = f": {clean_text(str(exc))}" if isinstance(exc, _SPEAKS) else ""
    yield f"{type(exc).__module__}.{type(exc).__qualname__}{words}"
    for frame in _frames(exc):
        yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
    if depth >= _DEEPEST:
        return
    cause = exc.__cause__ or (None if exc.__suppress_context__ else exc.__context__)
    inner = exc.exceptions if isinstance(exc, BaseExceptionGroup) else ()
    for one in (*inner, *([cause] if cause else ())):
        yield "from"
        yield from _told(one, depth + 1)


def _frames(exc: BaseException) -> Sequence[traceback.FrameSummary]:
    return traceback.StackSummary.extract(traceback.walk_tb(exc.__traceback__), lookup_lines=False)[
        -20:
    ]
