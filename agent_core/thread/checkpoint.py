"""A thread as one piece of JSON text: its events, and the version of their schema.

    {"parley": 1, "events": [{"type": "ThreadLaunched", …}, …]}

Reading is the only place that doubts: whatever is wrong with a text, one named error comes out
and nothing has run. Writing is incremental: a log keeps the text of its older events.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent_core.errors import CheckpointMalformed, CheckpointTooNew, ImpossibleEvent, NotJson
from agent_core.json_values import storable
from agent_core.thread.events import SCHEMA_VERSION, Event
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState


class _Header(msgspec.Struct):
    parley: int


class _Checkpoint(msgspec.Struct, forbid_unknown_fields=True):
    parley: int
    events: list[Event]


_read_header = msgspec.json.Decoder(_Header).decode
_read = msgspec.json.Decoder(_Checkpoint).decode

_OPENING = f'{{"parley":{SCHEMA_VERSION},"events":['
_CLOSING = "]}"


class Log:
    """A thread's events in order, with their text: adding one writes only that one."""

    def __init__(self) -> None:
        """Begin an empty log."""
        self.events: list[Event] = []
        self._pieces: list[str] = []

    def extend(self, events: Sequence[Event]) -> None:
        """Add events at the end, all or none; text that no database stores is refused."""
        pieces = [storable(event, type(event).__name__).decode() for event in events]
        self._pieces.extend(pieces)
        self.events.extend(events)

    def text(self) -> str:
        """Write the checkpoint."""
        return f"{_OPENING}{','.join(self._pieces)}{_CLOSING}"

    @classmethod
    def read(cls, text: str | bytes) -> tuple[Log, ThreadState]:
        """Read a checkpoint, or raise a CheckpointError that says what is wrong with it."""
        checkpoint = _as_text(text)
        events = _decode(checkpoint)
        if not events:
            raise CheckpointMalformed("the checkpoint has no events")
        try:
            state = fold(events)
        except ImpossibleEvent as exc:
            raise CheckpointMalformed(f"this history could not have happened: {exc}") from exc
        log = cls()
        as_ours = checkpoint.startswith(_OPENING) and checkpoint.endswith(_CLOSING)
        if as_ours and "\\u0000" not in checkpoint:
            log.events = events
            log._pieces = [checkpoint[len(_OPENING) : -len(_CLOSING)]]
        else:  # somebody spelled it in another way
            try:
                log.extend(events)
            except (NotJson, RecursionError) as exc:
                raise CheckpointMalformed(f"not a checkpoint: {exc}") from exc
        return log, state


def _decode(text: str) -> list[Event]:
    try:
        checkpoint = _read(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError) as exc:
        _check_version(_version(text))  # newer events look malformed, but are not
        raise CheckpointMalformed(f"not a checkpoint: {exc}") from exc
    _check_version(checkpoint.parley)
    return checkpoint.events


def _version(text: str) -> int:
    try:
        return _read_header(text).parley
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return SCHEMA_VERSION


def _check_version(version: int) -> None:
    if version > SCHEMA_VERSION:
        raise CheckpointTooNew(
            f"the checkpoint has schema {version}; this code reads up to {SCHEMA_VERSION}"
        )
    if version < 1:
        raise CheckpointMalformed(f"there never was a schema {version}")


def _as_text(given: object) -> str:
    if isinstance(given, str):
        return given
    if not isinstance(given, bytes):
        raise CheckpointMalformed(f"a checkpoint is JSON text, not a {type(given).__name__}")
    try:
        return given.decode()
    except UnicodeDecodeError as exc:
        raise CheckpointMalformed(f"not a checkpoint: {exc}") from exc
