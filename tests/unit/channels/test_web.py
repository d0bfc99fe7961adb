"""The `web` channel: sending is saying where to read."""

from __future__ import annotations

import pytest

from channels.channel import GiveUp
from channels.outgoing import Outgoing
from channels.web.channel import WebChannel


def to(address: str) -> Outgoing:
    """Write a message to an address."""
    return Outgoing(id="th_1.3", thread="th_1", address=address, kind="thread.finished")


async def test_receipt_says_where_to_read() -> None:
    """The thread's events, whoever asks for them."""
    sent = await WebChannel().send(to("web:th_1"))

    assert sent.receipt == {"url": "/v1/threads/th_1/events"}


async def test_sending_twice_gives_the_same_receipt() -> None:
    """At least once is at most once here: nothing leaves the house."""
    channel = WebChannel()

    assert await channel.send(to("web:th_1")) == await channel.send(to("web:th_1"))


@pytest.mark.parametrize("address", ["web:", "web"])
async def test_address_without_a_thread_is_given_up(address: str) -> None:
    """No try will ever succeed."""
    with pytest.raises(GiveUp, match="names no thread"):
        await WebChannel().send(to(address))
