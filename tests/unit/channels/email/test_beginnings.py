"""A program that begins a conversation with each of its mails comes to an end."""

from __future__ import annotations

from channels.email.beginnings import Beginnings
from channels.intake import Received
from channels.recording import Recording, RecordingIntake
from tests.unit.channels.email.letterbox import ADA, Letterbox, mail


async def test_too_many_conversations_of_one_sender_are_put_aside_in_silence() -> None:
    """A desk that opens a ticket for each of our mails: no reference leads back to a thread."""
    begun = (Received(effect="taken", thread=f"th_{n}", is_new=True) for n in range(200))
    box = Letterbox(recording=Recording(intake=RecordingIntake(*begun)))

    done = [await box.drop(mail(name=f"m{n}")) for n in range(103)]
    other = await box.drop(mail(name="o").replace(b"ada@", b"ben@"))

    assert [one.effect for one in done] == ["taken"] * 100 + ["aside"] * 3
    assert (other.effect, box.pad.sent) == ("taken", [])
    assert "too many" in (await box.asides())[0]
    box.now += 3_601
    assert (await box.drop(mail(name="later"))).effect == "taken"


async def test_who_has_begun_enough_may_still_reply() -> None:
    """What belongs to a conversation begins nothing."""
    begun = (Received(effect="taken", thread=f"th_{n}", is_new=True) for n in range(200))
    box = Letterbox(recording=Recording(intake=RecordingIntake(*begun)))
    for number in range(100):
        await box.drop(mail(name=f"m{number}"))

    done = await box.drop(mail("In-Reply-To: <m7@example.org>", name="reply"))

    assert done.effect == "taken"


def test_senders_are_forgotten_in_the_end() -> None:
    """Whoever was silent for longest; anybody can make up addresses."""
    beginnings = Beginnings(1, clock=lambda: 0.0)
    for number in range(10_001):
        beginnings.count(f"{number}@example.org")
    beginnings.count(ADA.upper())

    assert beginnings.are_enough(ADA)
    assert not beginnings.are_enough("0@example.org")
    assert beginnings.are_enough("10000@example.org")
