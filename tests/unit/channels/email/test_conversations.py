"""Conversations: our next mail stands under the last, and its people stay in it."""

from __future__ import annotations

from channels.email.conversations import Conversation, Conversations, joined
from channels.email.mail import Address, ReadMail
from channels.recording import DictMemory

OURS = "agent@example.com"
PLACE = "email:ada@example.org:0123456789abcdef"
ADA = Address(email="ada@example.org", name="Ada")
BEN = Address(email="ben@example.org", name="Ben")


def mail(message_id: str, **changes: object) -> ReadMail:
    """Give a mail that was read."""
    given: dict[str, object] = {"sender": ADA, "to": (Address(email=OURS),), "subject": "Refund"}
    return ReadMail(kind="human", reason="", message_id=message_id, **(given | changes))  # type: ignore[arg-type]


async def test_conversation_keeps_what_the_next_mail_needs() -> None:
    """Subject, references with the root first, people without us, and what to reply to."""
    kept = Conversations(DictMemory(), OURS)
    tagged = Address(email="Agent+abc@Example.com")
    await kept.heard(PLACE, mail("<1@x>", cc=(BEN, tagged), references=("<0@x>",)))
    await kept.heard(PLACE, mail("<2@x>", sender=BEN, subject="Re: Refund"))

    assert await kept.of(PLACE) == Conversation(
        subject="Re: Refund",
        references=("<0@x>", "<1@x>", "<2@x>"),
        participants=(ADA, BEN),
        newest="<2@x>",
    )


async def test_every_message_id_leads_to_its_place() -> None:
    """Those of people and our own; one that nobody knows leads nowhere."""
    kept = Conversations(DictMemory(), OURS)
    await kept.heard(PLACE, mail("<1@x>"))
    await kept.sent(PLACE, "th_1", subject="Re: Refund", message_id="<2@us>", people=[ADA])

    assert await kept.place_of(["<9@x>", "<1@x>"]) == PLACE
    assert await kept.place_of(["<2@us>"]) == PLACE
    assert await kept.place_of(["<9@x>"]) == ""
    assert await kept.place_of([]) == ""


async def test_mail_of_ours_is_remembered_for_each_who_got_it() -> None:
    """By thread and address, in any letter case: another thread is another conversation."""
    kept = Conversations(DictMemory(), OURS)
    await kept.sent(PLACE, "th_1", subject="Refund", message_id="<2@us>", people=[ADA, BEN])

    assert await kept.place_with("th_1", "BEN@example.org") == PLACE
    assert await kept.place_with("th_2", "ben@example.org") == ""


async def test_damaged_record_is_none() -> None:
    """What can't be read is as if it had not been kept; nothing fails for it."""
    memory = DictMemory()
    kept = Conversations(memory, OURS)
    await kept.heard(PLACE, mail("<1@x>"))
    memory.kept = dict.fromkeys(memory.kept, b"\xff{")

    assert await kept.of(PLACE) is None
    await kept.heard(PLACE, mail("<2@x>"))
    assert await kept.of(PLACE) is not None


async def test_names_in_the_memory_tell_nothing() -> None:
    """They are not sealed, so no address and no Message-ID stands in them."""
    memory = DictMemory()
    await Conversations(memory, OURS).heard(PLACE, mail("<1@x>"))

    assert not [key for key in memory.kept if "@" in key or "ada" in key]


def test_ten_references_keep_the_root_and_the_newest() -> None:
    """A longer header is cut or mangled on its way (RFC 5322 leaves the choice to us)."""
    ids = [f"<{number}@x>" for number in range(30)]

    assert joined(ids) == ("<0@x>", *ids[-9:])
    assert joined(["<a@x>", "", "<a@x>", f"<{'b' * 600}@x>"]) == ("<a@x>",)
