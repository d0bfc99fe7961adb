"""Moving a conversation: read from words, and what is told where from then on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_core.errors import Refused, WrongStatus
from agent_core.thread.events import MessageReceived, ThreadId, ThreadMoved
from channels.notebook import Notebook
from channels.people import Actor
from gateway.people.directory import Directory
from gateway.people.moving import read_move, vouched_address, way_to
from gateway.settings.config import Person
from tests.unit.gateway.front_door import ANN, OTTO, PLACE, front_door
from tests.unit.gateway.office import YES, office

LISTED = Person(name="ann", slack=("T1:UANN",), email=("ann@x.org",))
BOSS = Person(name="otto", slack=("T1:UOTTO",))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("continue this by email", ("email", "")),
        ("Please continue by e-mail.", ("email", "")),
        ("Let's continue in Slack!", ("slack", "")),
        ("move this to my mail, please", ("email", "")),
        ("continue via slack\n\nand look at the order", ("slack", "and look at the order")),
        ("Bitte weiter per E-Mail", ("email", "")),
        ("continue the email campaign", None),
        ("continue this by email tomorrow at nine", None),
        ("continue", None),
        ("is this by email?", None),
        ("send it to my email", None),
        ("", None),
    ],
)
def test_only_whole_phrases_move(text: str, found: tuple[str, str] | None) -> None:
    """Anything else is for the agent."""
    assert read_move(text) == found


def test_way_is_that_of_who_began_it() -> None:
    """By the file, by what they are, or by the address that their channel vouches for."""
    people, on = Directory([LISTED]), {"slack", "email"}

    assert way_to(people, on, "slack:T1:UANN", "email") == "email:ann@x.org"
    assert way_to(people, on, "ann", "slack") == "slack:T1:UANN"
    assert way_to(people, on, "slack:T1:U9", "email", "eve@x.org") == "email:eve@x.org"
    assert way_to(people, on, "slack:T1:U9", "slack") == "slack:T1:U9"


@pytest.mark.parametrize(
    ("on", "requester", "channel", "why"),
    [
        ({"slack"}, "ann", "email", "not turned on"),
        ({"slack", "email"}, "slack:T1:U9", "email", "how slack:T1:U9 is reached by email"),
        ({"slack", "email"}, "ann", "fax", "there are email and slack"),
        ({"slack", "email"}, "ann", "", "can't move to nowhere"),
    ],
)
def test_where_there_is_no_way_people_are_told(
    on: set[str], requester: str, channel: str, why: str
) -> None:
    """With what is missing."""
    with pytest.raises(Refused, match=why):
        way_to(Directory([LISTED]), on, requester, channel)


async def test_conversation_goes_on_by_mail() -> None:
    """Said in Slack: what comes is told by mail, and what was said there is still part of it."""
    slack, email = Notebook(name="slack"), Notebook(name="email")
    async with office(slack, email, people=(LISTED, BOSS)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        received = await here.door.says("continue this by email", is_addressed=False)
        await here.door.decides(question, YES)
        await here.door.here.rested(thread)
        await here.deliveries(thread, 5)
        view = await here.door.here.gateway.thread(thread)

    assert received.words == "This conversation goes on by email."
    assert [one.kind for one in email.tried] == ["notice", "thread.finished"]
    assert "It waits for an answer" in email.tried[0].text
    assert [one.address for _, one in slack.settled] == [PLACE]
    assert [one.kind for one in slack.tried] == ["question.asked"]
    assert view.origin == "email:ann@x.org"


async def test_what_follows_the_phrase_is_said() -> None:
    """A mail's first line moves, the rest is for the agent; nobody else can move it."""
    other = Actor(id="slack:T1:U9")
    async with front_door(people=(LISTED, BOSS), channels={"slack", "email"}, works=False) as door:
        thread = ThreadId((await door.says("hello")).thread)
        await door.says("continue by email", other, is_addressed=False)
        await door.says("continue by email\nand hurry", is_addressed=False)
        log = await door.here.log(thread)

    said = [one.text for one in log if isinstance(one, MessageReceived)]
    assert said == ["hello", "continue by email", "and hurry"]
    assert [(one.to, one.by) for one in log if isinstance(one, ThreadMoved)] == [
        ("email:ann@x.org", ANN.id)
    ]


async def test_order_moves_and_tells_why_it_can_not() -> None:
    """`/parley move email`; without an address known, the operator's file is named."""
    async with front_door(people=(LISTED, BOSS), channels={"slack", "email"}, works=False) as door:
        thread = ThreadId((await door.says("hello")).thread)
        moved = await door.orders("move", "email")
        nowhere = await door.orders("move", f"{thread} fax")
        stranger = await door.orders("move", f"{thread} email", OTTO)
        last = await door.last(thread)

    assert (moved.effect, moved.words) == ("taken", f"{thread} goes on by email.")
    assert (nowhere.effect, stranger.effect) == ("refused", "refused")
    assert isinstance(last, ThreadMoved)


async def test_profile_of_somebody_unlisted_tells_their_address() -> None:
    """Slack vouches for it, so no file is needed."""
    actor = Actor(id="slack:T1:U9", email="eve@x.org")
    async with front_door(people=(), channels={"slack", "email"}, works=False) as door:
        thread = ThreadId((await door.says("hello", actor)).thread)
        await door.says("continue by email", actor, is_addressed=False)
        last = await door.last(thread)

    assert isinstance(last, ThreadMoved)
    assert last.to == "email:eve@x.org"


def test_only_their_own_channel_vouches_for_an_address() -> None:
    """Another organisation may write any into its profiles."""
    eve = Actor(id="slack:T1:U9", email="eve@x.org")

    assert vouched_address(eve, "slack:T1:U9") == "eve@x.org"
    assert vouched_address(eve, "slack:T1:U1") == ""
    assert vouched_address(replace(eve, is_external=True), eve.id) == ""
    assert vouched_address(replace(eve, is_authenticated=False), eve.id) == ""


async def test_fork_of_a_moved_thread_stays_with_who_forked_it() -> None:
    """The original's people hear nothing of the copy."""
    async with front_door(people=(LISTED,), channels={"slack", "email"}, works=False) as door:
        thread = (await door.says("hello")).thread
        await door.here.gateway.move(thread, "email", by="cli")
        copy = await door.here.gateway.fork(thread, by="cli")

    assert copy.origin == f"web:{copy.id}"


async def test_cancelled_thread_moves_nowhere() -> None:
    """It is over for good."""
    async with front_door(people=(LISTED,), channels={"slack", "email"}, works=False) as door:
        thread = (await door.says("hello")).thread
        await door.here.gateway.cancel(thread, by="ann")
        with pytest.raises(WrongStatus, match="can't be moved"):
            await door.here.gateway.move(thread, "email", by="cli")
