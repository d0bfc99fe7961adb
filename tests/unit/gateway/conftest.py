"""A server that says what a test told it to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.gateway.canned import Canned, canned_server


@pytest.fixture
def canned() -> Iterator[Canned]:
    """A server on a real socket."""
    with canned_server() as server:
        yield server
