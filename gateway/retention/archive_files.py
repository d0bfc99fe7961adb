"""Archive files: whole threads as compressed JSON lines, byte by byte as they were stored.

A line holds a thread's events and messages to people with the chain that seals them, so it can be
verified as the database can, for as long as there is the key.
"""

from __future__ import annotations

import gzip
import os
import secrets
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from agent_core.errors import ParleyError
from agent_core.thread.events import Millis, ThreadId
from storage.sealed import KeptDelivery, KeptEvent, SealedLog

_VERSION = 1


class SpoiledArchive(ParleyError):
    """The operator must act: the file is no archive, is damaged, or can't be written."""


class _Delivery(msgspec.Struct, frozen=True):
    seq: int
    id: str
    address: str
    question: str | None
    body: msgspec.Raw
    status: str


class _Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A line: the bodies stand in it as they are, so that the seal still fits."""

    archive: int
    thread: str
    updated_at: int
    chain: str | None
    events: list[msgspec.Raw]
    deliveries: list[_Delivery]


_read = msgspec.json.Decoder(_Thread).decode
_write = msgspec.json.Encoder().encode


def write_archive(folder: Path, logs: Sequence[SealedLog]) -> Path:
    """Write threads into a new file: on the disk, and found the same there, when this returns."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = folder / f"threads-{moment}-{secrets.token_hex(4)}.jsonl.gz"
    draft = path.with_name(f"{path.name}.part")
    try:
        _write_out(draft, logs)
    except OSError as exc:  # no room, or not our folder
        draft.unlink(missing_ok=True)
        raise SpoiledArchive(f"{folder} can't be written to: {exc}") from exc
    if list(read_archive(draft)) != list(logs):
        raise SpoiledArchive(f"{draft} is not what was written to it: is the disk failing?")
    draft.rename(path)
    _sync(folder)
    return path


def _write_out(draft: Path, logs: Sequence[SealedLog]) -> None:
    with draft.open("xb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", filename="") as packed:
            packed.writelines(_line(log) + b"\n" for log in logs)
        file.flush()
        os.fsync(file.fileno())


def read_archive(path: Path) -> Iterator[SealedLog]:
    """Give the threads of a file, or raise SpoiledArchive."""
    try:
        with gzip.open(path, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield _log(_thread(path, number, line))
    except (OSError, EOFError, zlib.error) as exc:
        raise SpoiledArchive(f"{path} can't be read: {exc}") from exc


def _thread(path: Path, number: int, line: bytes) -> _Thread:
    try:
        thread = _read(line)
    except msgspec.MsgspecError as exc:
        raise SpoiledArchive(f"{path}, line {number}: no archived thread ({exc})") from exc
    if thread.archive != _VERSION:
        raise SpoiledArchive(f"{path}, line {number}: written by newer code")
    return thread


def _line(log: SealedLog) -> bytes:
    return _write(
        _Thread(
            archive=_VERSION,
            thread=log.thread,
            updated_at=log.updated_at,
            chain=None if log.chain is None else log.chain.hex(),
            events=[msgspec.Raw(event.body) for event in log.events],
            deliveries=[
                _Delivery(*row[:4], msgspec.Raw(row.body), row.status) for row in log.deliveries
            ],
        )
    )


def _log(thread: _Thread) -> SealedLog:
    return SealedLog(
        thread=ThreadId(thread.thread),
        seq=len(thread.events),
        updated_at=Millis(thread.updated_at),
        chain=None if thread.chain is None else bytes.fromhex(thread.chain),
        events=[KeptEvent(seq, bytes(body)) for seq, body in enumerate(thread.events, start=1)],
        deliveries=[
            KeptDelivery(one.seq, one.id, one.address, one.question, bytes(one.body), one.status)
            for one in thread.deliveries
        ],
    )


def _sync(folder: Path) -> None:
    """Have the new name on the disk as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
