"""What goes through the pipe between us and a child that reads mail: typed MessagePack.

Not pickle: the child has parsed what strangers sent, and nothing that it says may run here.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from channels.email.mail import Envelope, ReadingOptions, ReadMail

LENGTH: Final = 4
LONGEST: Final = 64_000_000


class Job(msgspec.Struct, frozen=True, tag=True):
    """To the child: read this."""

    raw: bytes
    envelope: Envelope | None
    options: ReadingOptions
    seconds: float


class Record(msgspec.Struct, frozen=True, tag=True):
    """To the child: the TXT record that it asked for."""

    value: bytes | None


class Ready(msgspec.Struct, frozen=True, tag=True):
    """From the child: it has loaded what it needs."""


class Wanted(msgspec.Struct, frozen=True, tag=True):
    """From the child: it needs the TXT record under a name."""

    name: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """From the child: the mail as read."""

    mail: ReadMail


ToChild: TypeAlias = Job | Record
FromChild: TypeAlias = Ready | Wanted | Done

_encoder: Final = msgspec.msgpack.Encoder()
_to_child: Final[msgspec.msgpack.Decoder[ToChild]] = msgspec.msgpack.Decoder(ToChild)
_from_child: Final[msgspec.msgpack.Decoder[FromChild]] = msgspec.msgpack.Decoder(FromChild)


def frame(message: ToChild | FromChild) -> bytes:
    """Put a message into a frame."""
    body = _encoder.encode(message)
    return len(body).to_bytes(LENGTH, "big") + body


def to_child(body: bytes) -> ToChild:
    """Read what we said."""
    return _to_child.decode(body)


def from_child(body: bytes) -> FromChild:
    """Read what the child said; raises `msgspec.ValidationError` or `DecodeError`."""
    return _from_child.decode(body)
