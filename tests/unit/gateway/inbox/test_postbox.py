"""Mailing links: beside the requests, again while a server asks for patience, not too often."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from channels.channel import GiveUp, TryLater
from gateway.http.problems import Problem
from gateway.inbox.limits import Limits
from gateway.inbox.postbox import Postbox
from gateway.rates.ledger import Ledger


class Mailer:
    """Takes mail, after so many refusals."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)
        self.sent: list[tuple[str, str]] = []

    async def mail_link(self, email: str, *, subject: str, words: Sequence[str], url: str) -> None:
        """Take one."""
        if self.troubles:
            raise self.troubles.pop(0)
        assert subject
        assert words
        self.sent.append((email, url))


def postbox(mailer: Mailer) -> Postbox:
    """Make one that does not wait between tries."""
    return Postbox(mailer, Ledger(), "https://parley.example", pauses=(0, 0))


async def path() -> str:
    """Make a link."""
    return "/signin/link/x"


async def test_a_mail_is_tried_again_while_the_server_asks_for_patience() -> None:
    """The link is made once, with our public address before it."""
    mailer = Mailer(TryLater("busy"), TryLater("busy"))
    box = postbox(mailer)
    box.mail("otto@example.com", path)
    await box.rested()

    assert mailer.sent == [("otto@example.com", "https://parley.example/signin/link/x")]


async def test_a_mail_that_can_not_be_sent_harms_nobody() -> None:
    """Refused for good, or for too long: whoever gets none asks again."""
    for troubles in ([GiveUp("no such mailbox")], [TryLater("busy")] * 3):
        mailer = Mailer(*troubles)
        box = postbox(mailer)
        box.mail("otto@example.com", path)
        await box.rested()
        await box.close()
        assert (mailer.sent, mailer.troubles) == ([], [])


async def test_nobody_is_flooded_and_nobody_floods() -> None:
    """Some links to one mailbox, some from one network; others are not concerned."""
    box = postbox(Mailer())
    to_otto = [await box.too_many_to("otto@example.com") for _ in range(5)]
    from_one = [bool(await box.too_many_from("192.0.2.1")) for _ in range(12)]

    assert to_otto == [False, False, False, True, True]
    assert from_one == [False] * 10 + [True] * 2
    assert not await box.too_many_to("ann@example.com")
    assert not await box.too_many_from("192.0.2.2")


async def test_a_stranger_can_not_fill_the_store_or_the_log() -> None:
    """Whoever leaves for Slack again and again is asked to wait; of many reports a few are told."""
    limits = Limits(Ledger())
    for _ in range(20):
        await limits.check_leaving("192.0.2.1")
    with pytest.raises(Problem):
        await limits.check_leaving("192.0.2.1")
    await limits.check_leaving("192.0.2.2")

    assert [await limits.is_worth_a_line() for _ in range(12)] == [True] * 10 + [False] * 2
