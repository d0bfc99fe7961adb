"""Logs: one line an event, a constant message and ids. Where lines come from, and how they look.

Ours come through structlog, those of libraries through `logging`; both pass `redaction`
last, so that nothing can be added behind it. Ids come from the context: `with bound(thread=…)`
puts them on every line that is written inside, also by a library. The line that every request has
takes a shorter way to the same place: `noting`.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from gateway.settings.environment import LogFormat, LogLevel
from gateway.telemetry.redaction import clean_exception, clean_field, clean_message, clean_record

if TYPE_CHECKING:
    from structlog.types import EventDict, Processor, WrappedLogger

REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The request that is being answered: its id stands on every line that is written meanwhile.

Cheaper than `bound`, because every request sets it.
"""

_OURS = ("agent_core", "channels", "gateway", "parley", "storage")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
"""What every record has; the rest came as `extra`, and are ids."""
_OWN = frozenset({"timestamp", "level", "event", "exc_info", "stack_info"})
_HIDDEN = "[redacted]"
_write_json = msgspec.json.Encoder(enc_hook=lambda value: f"[{type(value).__name__}]").encode


def configure(
    level: LogLevel, form: LogFormat, *, stream: TextIO | None = None, secrets: tuple[str, ...] = ()
) -> None:
    """Send all logs to `stream` (stderr); `secrets` are texts that no line may hold."""
    structlog = _structlog()
    lines = _Lines(stream or sys.stderr, form, tuple(one for one in secrets if one))
    lines.hears_info = level in {"debug", "info"}
    structlog.configure(
        processors=[*_before(structlog), lines.render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    _take_over_logging(level, _Handler(lines, _before(structlog)))


def bound(**ids: object) -> AbstractContextManager[None]:
    """Put ids on every line that is written inside."""
    from structlog.contextvars import bound_contextvars  # noqa: PLC0415 - see `_structlog`

    return bound_contextvars(**ids)


def noting() -> Callable[[str, dict[str, object]], None] | None:
    """Give what writes a line of level "info" that is written often; None while nobody hears it.

    The same line as any other, at a fifth of the cost.
    """
    structlog = _structlog()
    last = structlog.get_config()["processors"][-1]
    lines = getattr(last, "__self__", None)
    if isinstance(lines, _Lines):
        return lines.note if lines.hears_info else None
    log = structlog.get_logger()  # set up by somebody else, as a test that looks at lines does
    return lambda event, fields: log.info(event, **fields)


def _dated(event: str, fields: dict[str, object]) -> dict[str, object]:
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    request = REQUEST.get()
    own = {"request": request} if request else {}
    return {"timestamp": now, "level": "info", "event": event, **fields, **own}


def _structlog() -> Any:  # noqa: ANN401 - a module
    """Import structlog without rich, which it would load for tracebacks that we don't draw.

    That is 0.1 s of CPU at each start, three times what structlog itself takes.
    """
    if "structlog" in sys.modules:
        return sys.modules["structlog"]
    missing = object()
    before = sys.modules.get("rich", missing)
    if before is missing:
        sys.modules["rich"] = None  # type: ignore[assignment]  # documented: "can't be imported"
    try:
        import structlog  # noqa: PLC0415
    finally:
        if before is missing:
            del sys.modules["rich"]
    return structlog


def _before(structlog: Any) -> list[Processor]:  # noqa: ANN401 - a module
    return [
        structlog.contextvars.merge_contextvars,
        _merge_request,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _merge_request(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    if request := REQUEST.get():
        fields.setdefault("request", request)
    return fields


class _Lines:
    """Renders lines and writes them whole; a log that can't be written stops nobody."""

    def __init__(self, stream: TextIO, form: LogFormat, secrets: tuple[str, ...]) -> None:
        self._stream = stream
        self._form = form
        self._secrets = frozenset(text for one in secrets for text in _spellings(one))
        self._lock = threading.Lock()
        self.hears_info = True

    def render(self, _logger: WrappedLogger, _method: str, fields: EventDict) -> str:
        """Clean and write out one event."""
        cleaned = _clean(fields)
        line = _as_json(cleaned) if self._form == "json" else _as_text(cleaned)
        for secret in self._secrets:
            line = line.replace(secret, _HIDDEN)
        return line

    def write(self, line: str) -> None:
        """Write one line."""
        try:
            with self._lock:
                self._stream.write(f"{line}\n")
                self._stream.flush()
        except (OSError, ValueError):
            return

    def note(self, event: str, fields: dict[str, object]) -> None:
        """Write a line of level "info"."""
        self.write(self.render(None, "info", _dated(event, fields)))

    debug = info = warning = error = critical = exception = msg = log = write


class _Handler(logging.Handler):
    """Brings in the records of libraries."""

    def __init__(self, lines: _Lines, before: list[Processor]) -> None:
        super().__init__()
        self._lines = lines
        self._before = before

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on, as a line of ours."""
        fields: MutableMapping[str, Any] = {
            "event": clean_record(record.msg, record.args),
            "logger": record.name,
            "exc_info": record.exc_info,
            **{name: value for name, value in vars(record).items() if name not in _STANDARD},
        }
        method = record.levelname.lower()
        for processor in self._before:
            fields = processor(None, method, fields)  # type: ignore[assignment]  # these do
        self._lines.write(self._lines.render(None, method, fields))


def _take_over_logging(level: LogLevel, handler: logging.Handler) -> None:
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level.upper()]))
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(capture=True)


def _clean(fields: Mapping[str, Any]) -> dict[str, object]:
    cleaned: dict[str, object] = {
        "timestamp": fields.get("timestamp", ""),
        "level": fields.get("level", ""),
        "event": clean_message(str(fields.get("event", ""))),
    }
    for name, value in fields.items():
        if name not in _OWN:
            cleaned[name] = clean_field(name, value)
    exc = _exception(fields.get("exc_info"))
    if exc is not None:
        cleaned["exception"] = clean_exception(exc)
    return cleaned


def _exception(given: object) -> BaseException | None:
    match given:
        case BaseException():
            return given
        case (_, BaseException() as exc, _):
            return exc
        case True:
            return sys.exc_info()[1]
        case _:
            return None


def _spellings(secret: str) -> tuple[str, ...]:
    """Give a secret as a line would hold it: a quote or an umlaut in it is escaped there."""
    return secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]


def _as_json(fields: dict[str, object]) -> str:
    return _write_json(fields).decode()


def _as_text(fields: dict[str, object]) -> str:
    head = f"{str(fields.pop('timestamp', ''))[:19]} {fields.pop('level', ''):<7}"
    exception = fields.pop("exception", None)
    event = fields.pop("event")
    ids = "".join(f" {name}={_word(value)}" for name, value in fields.items())
    below = "" if exception is None else "\n    " + str(exception).replace("\n", "\n    ")
    return f"{head} {event}{ids}{below}"


def _word(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if text and text.isprintable() and " " not in text else json.dumps(text)
