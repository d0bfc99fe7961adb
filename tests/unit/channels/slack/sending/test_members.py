"""Who is in a channel, as Slack says: those who are not, and are asked, must hear elsewhere."""

from __future__ import annotations

from dataclasses import replace

from channels.slack.calling import Line
from channels.slack.clients import SingleWorkspace
from channels.slack.members import Members
from tests.unit.channels.slack.sending.wires import CARD, Wires, wired

ASKED = ("slack:T1:U1", "slack:T1:U2", "slack:T9:U3", "slack:T1:C2")


async def test_those_who_are_not_in_the_channel_are_named(wires: Wires) -> None:
    """Of this workspace, and people: of others Slack can't say. It is asked once for a while."""
    message = replace(wires.message("question.asked", question=CARD), asked=ASKED)
    first = await wires.sending.send(message)
    second = await wires.sending.send(replace(message, id="th_1.10"))

    assert first.unseen_by == second.unseen_by == ("slack:T1:U2",)
    assert len(wires.slack.calls("conversations.members")) == 1


async def test_who_does_not_ask_is_told_nothing(wires: Wires) -> None:
    """A result costs no further call; nor does a direct message."""
    result = await wires.sending.send(wires.result("done"))
    direct = replace(wires.message("question.asked", question=CARD, address="slack:T1:U1"))
    private = await wires.sending.send(replace(direct, asked=ASKED))

    assert (result.unseen_by, private.unseen_by) == ((), ())
    assert wires.slack.calls("conversations.members") == []


async def test_without_the_scope_everybody_counts_as_there() -> None:
    """An app that was installed before we asked for it goes on as it did."""
    async with wired(scopes=["chat:write", "im:write", "channels:history"]) as wires:
        message = replace(wires.message("question.asked", question=CARD), asked=ASKED)
        sent = await wires.sending.send(message)

    assert sent.unseen_by == ()
    assert sent.receipt["ts"]


async def test_membership_is_looked_up_again_after_a_while(wires: Wires) -> None:
    """Somebody was invited meanwhile."""
    now = 0.0
    members = Members(now=lambda: now)
    client = await SingleWorkspace("xoxb-1", wires.connections).client("T1")
    line = Line(client, wires.pace, "T1", "C5")
    channel = wires.team.channel("C5", members=["U1", "UBOT"])

    before = await members.absent(line, ["slack:T1:U2"])
    channel.members.append("U2")
    still = await members.absent(line, ["slack:T1:U2"])
    now = 301.0
    after = await members.absent(line, ["slack:T1:U2"])

    assert (before, still, after) == (("slack:T1:U2",), ("slack:T1:U2",), ())
