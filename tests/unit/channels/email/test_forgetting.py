"""Forgetting mail: of a thread, and of a person; what others wrote is only counted."""

from __future__ import annotations

import msgspec

from channels.email.archive import Aside
from channels.email.conversations import Conversation, Conversations
from channels.email.forgetting import forget_person, forget_thread
from channels.email.mail import Address
from channels.recording import DictMemory

ANN, BOB = Address("ann@x.org", "Ann"), Address("bob@x.org", "Bob")
PLACE = "email:ann@x.org:0123456789abcdef"
FROM_ANN = b"To: us@y.org\r\nFROM: =?utf-8?q?A?=\r\n <Ann@X.org>\r\n\r\nhello\r\n"
TO_ANN = b"From: bob@x.org\r\nCc: ann@x.org\r\n\r\nhi\r\nFrom: ann@x.org\r\n"
OTHER = b"From: bob@x.org\r\n\r\nhi\r\n"


def archive() -> DictMemory:
    """Give a memory with three mails, and what leads to them."""
    aside = Aside(digest="d4", at=1, reason="a loop", sender="ann@x.org", is_kept=False)
    memory = DictMemory()
    memory.kept = {
        "raw:d1": FROM_ANN,
        "raw:d2": TO_ANN,
        "raw:d3": OTHER,
        "thread:th_1:1:d1": b"1",
        "thread:th_1:2:d2": b"1",
        "thread:th_2:3:d3": b"1",
        "original:1": b"d1",
        "original:2": b"d2",
        "aside:d4": msgspec.json.encode(aside),
        "aside:d3": msgspec.json.encode(msgspec.structs.replace(aside, sender="bob@x.org")),
        "hour:th_1:1": b"3",
    }
    return memory


async def test_mails_from_somebody_go_and_those_that_name_them_are_counted() -> None:
    """By the From of the mail itself, however it is folded; a From in the text is no sender."""
    memory = archive()

    looked = await forget_person(memory, ["ann@x.org"], dry_run=True)
    before = len(memory.kept)
    done = await forget_person(memory, ["ann@x.org"])

    assert looked == done == (1, 1)
    assert before == 11
    assert sorted(memory.kept) == [
        "aside:d3",
        "hour:th_1:1",
        "original:2",
        "raw:d2",
        "raw:d3",
        "thread:th_1:2:d2",
        "thread:th_2:3:d3",
    ]
    assert await forget_person(memory, []) == (0, 0)


async def test_somebody_leaves_the_conversations_they_were_in() -> None:
    """The others go on; mailboxes of theirs lead nowhere."""
    memory = DictMemory()
    conversations = Conversations(memory)
    both = "email:bob@x.org:0123456789abcdef"
    for place, people in ((PLACE, (ANN,)), (both, (ANN, BOB))):
        await conversations.sent(place, "th_1", subject="s", message_id=f"<{place}>", people=people)

    await forget_person(memory, ["ann@x.org"])

    left = await conversations.of(both)
    assert left == Conversation(
        subject="s",
        references=("<email:bob@x.org:0123456789abcdef>",),
        participants=(BOB,),
        newest="<email:bob@x.org:0123456789abcdef>",
        thread="th_1",
    )
    assert await conversations.place_of([f"<{PLACE}>"]) == ""
    assert await conversations.of(PLACE) is None
    assert b"ann@" not in b"".join(memory.kept.values())


async def test_mails_and_conversations_of_a_thread_go() -> None:
    """Those that were filed under it, and what is known of its places."""
    memory = archive()
    await Conversations(memory).sent(PLACE, "th_1", subject="s", message_id="<1>", people=())

    assert await forget_thread(memory, "th_1", [PLACE]) == 2

    assert [name for name in memory.kept if name.startswith(("raw:", "thread:"))] == [
        "raw:d3",
        "thread:th_2:3:d3",
    ]
    assert await Conversations(memory).of(PLACE) is None
