"""People: whose identities belong together, who may answer, where they are reached."""

from __future__ import annotations

import pytest

from channels.people import Actor
from gateway.people.directory import Directory
from gateway.settings.config import Person

OTTO = Person(
    name="otto", slack=("T1:U2",), email=("otto@example.com",), roles=("approver", "lead")
)
LISA = Person(name="Lisa", slack=("T1:U3", "T2:U9"), prefer=("email",), email=("lisa@x.org",))
HOUSE = Directory([OTTO, LISA])


def slack(user: str = "U2", team: str = "T1", **more: object) -> Actor:
    """Somebody in Slack."""
    return Actor(id=f"slack:{team}:{user}", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "entry",
    ["otto", "OTTO", "slack:T1:U2", "email:otto@example.com", "Otto@example.com", "approver"],
)
def test_person_may_answer_by_name_address_or_role(entry: str) -> None:
    """One person, whatever they are called by."""
    assert HOUSE.may_answer(slack(), ["somebody else", entry])


@pytest.mark.parametrize("entry", ["lisa", "slack:T1:U3", "slack:T2:U2", "boss", "T1:U2", "U2", ""])
def test_others_may_not(entry: str) -> None:
    """Neither by a part of an address nor by the same id in another workspace."""
    assert not HOUSE.may_answer(slack(), [entry])


def test_nobody_is_in_an_empty_audience() -> None:
    """Silence is not consent."""
    assert not HOUSE.may_answer(slack(), [])


def test_stranger_may_answer_what_they_began() -> None:
    """Nobody needs to be listed to answer what the agent asks them."""
    assert Directory().may_answer(slack("U7"), ["slack:T1:U7"])


def test_address_that_the_channel_vouches_for_makes_one_person_of_two() -> None:
    """Who began by mail may answer in Slack, under the same address."""
    ann = slack("U8", email="Ann@example.com")

    assert Directory().may_answer(ann, ["email:ann@example.com"])
    assert HOUSE.person(slack("U8", email="otto@example.com")) == OTTO


def test_person_of_another_organisation_may_not_unless_listed() -> None:
    """Not even what they began themselves."""
    assert not HOUSE.may_answer(slack("U7", is_external=True), ["slack:T1:U7"])
    assert HOUSE.may_answer(slack("U2", is_external=True), ["approver"])


def test_another_organisations_word_on_an_address_counts_for_nothing() -> None:
    """Its admin can write ours into a profile of theirs."""
    eve = slack("UEVE", "T9", is_external=True, email="otto@example.com")

    assert HOUSE.person(eve) is None
    assert not HOUSE.may_answer(eve, ["otto", "approver", "email:otto@example.com"])


def test_bot_never_answers() -> None:
    """Whatever it is called."""
    assert not HOUSE.may_answer(slack("U2", is_bot=True), ["otto"])


def test_audience_can_be_a_place() -> None:
    """Whoever writes in that channel, and nobody who writes elsewhere."""
    somebody = slack("U7")

    assert HOUSE.may_answer(somebody, ["slack:T1:C1"], "slack:T1:C1:1700.1")
    assert not HOUSE.may_answer(somebody, ["slack:T1:C1"], "slack:T1:C11:1700.1")
    assert not HOUSE.may_answer(somebody, ["slack:T1:C1"])
    assert not HOUSE.may_answer(somebody, ["slack:T1"], "slack:T1:C1:1700.1")


def test_who_began_it_and_admins_may_steer() -> None:
    """And nobody else."""
    admin = Directory([Person(name="root", slack=("T1:U1",), roles=("admin",))])

    assert admin.may_control(slack("U7"), "slack:T1:U7")
    assert admin.may_control(slack("U1"), "slack:T1:U7")
    assert not admin.may_control(slack("U2"), "slack:T1:U7")


def ways(house: Directory, entry: str) -> list[tuple[str, ...]]:
    """Give how everybody is reached that an entry stands for."""
    return [one.ways for one in house.reaches(entry)]


def test_ways_come_in_the_order_that_a_person_prefers() -> None:
    """Slack before mail, unless they say otherwise; everybody of a role."""
    assert ways(HOUSE, "otto") == [("slack:T1:U2", "email:otto@example.com")]
    assert ways(HOUSE, "lisa") == [("email:lisa@x.org", "slack:T1:U3", "slack:T2:U9")]
    assert ways(HOUSE, "lead") == [("slack:T1:U2", "email:otto@example.com")]
    assert HOUSE.ways_of("slack:T2:u9") == ("email:lisa@x.org", "slack:T1:U3", "slack:T2:U9")
    assert HOUSE.ways_of("slack:T1:U7") == ()


def test_stranger_is_reached_where_they_wrote_from() -> None:
    """An identity is an address; a made-up name and the API's own conversations are not."""
    found = [ways(Directory(), one) for one in ("slack:T1:U7", "legal", "web:th_1")]

    assert found == [[("slack:T1:U7",)], [()], [()]]


def test_somebody_is_one_whatever_they_are_called_by() -> None:
    """So that nobody counts twice; a stranger is who their id says."""
    known = {HOUSE.canonical(one) for one in ("OTTO", "slack:T1:U2", "otto@example.com")}

    assert known == {"otto"}
    assert HOUSE.canonical("slack:T1:U7") == "slack:t1:u7"
    assert HOUSE.whois(slack("U8", email="otto@example.com")) == "otto"
    assert HOUSE.whois(slack("U7")) == "slack:T1:U7"


def test_person_is_shown_as_their_channel_knows_them() -> None:
    """So that Slack can mention them; a role and a stranger stay what they are."""
    assert HOUSE.seen_from("slack", "email:otto@example.com") == "slack:T1:U2"
    assert HOUSE.seen_from("slack", "otto") == "slack:T1:U2"
    assert HOUSE.seen_from("fax", "slack:T1:U2") == "otto"
    assert HOUSE.seen_from("slack", "approver") == "approver"
    assert HOUSE.seen_from("slack", "pipeline") == "pipeline"
