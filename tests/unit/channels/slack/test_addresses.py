"""Where in Slack, as one string."""

from __future__ import annotations

import pytest

from channels.channel import NoSuchAddress
from channels.slack import addresses
from channels.slack.addresses import Conversation, Malformed, Person


def test_an_address_goes_there_and_back() -> None:
    """One string that round-trips."""
    root = "1700000000.000100"

    assert addresses.parse(addresses.conversation("T1", "C1", root)) == Conversation(
        team="T1", channel="C1", root=root
    )
    assert addresses.parse(addresses.person("T1", "U2")) == Person(team="T1", user="U2")
    assert addresses.parse(addresses.person("T1", "W2")) == Person(team="T1", user="W2")
    assert addresses.parse(addresses.whole_channel("T1", "C1")) == Conversation(
        team="T1", channel="C1", root=""
    )


@pytest.mark.parametrize(
    "address",
    [
        "",
        "slack",
        "slack:T1",
        "slack:T1:",
        "slack::C1",
        "email:a@b",
        "slack:T1:C1:now",
        "slack:T1:C1:1.1:2",
        "slack:T1:C 1",
        "slack:T1:C1:1700000000.000100\n",
    ],
)
def test_what_names_nobody_is_refused(address: str) -> None:
    """A delivery to it is given up at once."""
    with pytest.raises(NoSuchAddress):
        addresses.parse(address)


def test_a_part_that_slack_could_not_have_given_makes_no_address() -> None:
    """None can pretend to be two."""
    with pytest.raises(Malformed):
        addresses.person("T1:U1", "U2")
    with pytest.raises(Malformed):
        addresses.conversation("T1", "C1", "1.1:edit:2.2")
