"""The disk under the doctor's eyes: room, speed, and a secret that nobody else can read."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from gateway.control.keys import secret_file
from gateway.doctor.checks import Check
from gateway.settings.environment import Settings

_LITTLE, _TOO_LITTLE = 1_000_000_000, 50_000_000
_SLOW_FSYNCS = 50
_SYNCS = 25
_OTHERS_MAY = 0o077


def folder(file: Path) -> Check:
    """Is the database's folder there, writable, and not full?"""
    own = file.absolute().parent
    if not own.is_dir():
        return Check("disk", "fail", f"{own} is not there", f"mkdir -p {own}")
    for place in (own, file):
        if place.exists() and not os.access(place, os.W_OK):
            return Check("disk", "fail", f"{place} can't be written", f"give us the right: {place}")
    free = shutil.disk_usage(own).free
    told = f"{own} is writable, {free / 1e9:.1f} GB are free"
    if free < _LITTLE:
        return Check("disk", "fail" if free < _TOO_LITTLE else "warn", told, "make room")
    return Check("disk", "ok", told)


def fsync(place: Path) -> Check:
    """How many commits a second can be durable at most?"""
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            start = time.perf_counter()
            for _ in range(_SYNCS):
                file.write(b"x" * 4096)
                file.flush()
                os.fsync(file.fileno())
            rate = _SYNCS / (time.perf_counter() - start)
    except OSError as exc:
        return Check("fsync", "fail", f"{place} can't be written: {exc.strerror}", "make room")
    if rate < _SLOW_FSYNCS:
        return Check("fsync", "warn", f"{rate:,.0f} a second", "a faster disk makes it faster")
    return Check("fsync", "ok", f"{rate:,.0f} a second")


def secret(settings: Settings, file: Path) -> Check:
    """Can nobody else read the secret?"""
    kept = secret_file(file)
    if settings.secret_key is not None:
        return Check("secret", "ok", "set by PARLEY_SECRET_KEY")
    if not kept.exists():
        return Check("secret", "ok", f"will be made and kept in {kept} at the first start")
    if kept.stat().st_mode & _OTHERS_MAY:
        return Check("secret", "warn", f"others may read {kept}", f"chmod 600 {kept}")
    return Check("secret", "ok", f"kept in {kept}")
