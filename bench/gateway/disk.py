"""How fast this disk makes things last, at this moment: stands beside every durable figure."""

from __future__ import annotations

import os
import tempfile
import time

_PAGE = b"x" * 4096
_PAGES = 64


def fsyncs_per_second(seconds: float = 0.5) -> float:
    """Write a page and wait for the disk, over and over."""
    with tempfile.TemporaryFile() as file:
        descriptor, count = file.fileno(), 0
        os.pwrite(descriptor, _PAGE * _PAGES, 0)
        os.fsync(descriptor)
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            os.pwrite(descriptor, _PAGE, len(_PAGE) * (count % _PAGES))
            os.fdatasync(descriptor)
            count += 1
        return count / (time.perf_counter() - began)
