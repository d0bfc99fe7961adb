"""Who is meant: by any name or address, and what stands in their place."""

from __future__ import annotations

import pytest

from gateway.retention.persona import Persona, UnknownPerson, identities_of, key, new_tag
from gateway.settings.config import Person
from tests.doubles.seals import another_seal, seal

OTTO = Person(name="Otto", slack=("T1:U2X",), email=("otto@example.com", "o@home.org"))
LEA = Person(name="lea", email=("lea@example.com",))
ALL = frozenset(
    {
        "otto",
        "slack:t1:u2x",
        "otto@example.com",
        "email:otto@example.com",
        "o@home.org",
        "email:o@home.org",
    }
)
THEM = Persona(tag="a1b2c3d4", identities=ALL)


@pytest.mark.parametrize(
    "who", ["otto", " OTTO ", "slack:T1:U2X", "email:O@home.org", "Otto@Example.com"]
)
def test_any_name_or_address_leads_to_the_whole_person(who: str) -> None:
    """In any letter case."""
    assert identities_of(who, [LEA, OTTO]) == ALL


def test_address_of_nobody_listed_is_that_address_alone() -> None:
    """They may have left the file long ago."""
    assert identities_of("Ann@x.org", [OTTO]) == {"ann@x.org", "email:ann@x.org"}
    assert identities_of("slack:T9:U9", [OTTO]) == {"slack:t9:u9"}


@pytest.mark.parametrize("who", ["ann", "", "approver", "web:th_1", "slack:T1", "email:x"])
def test_mere_name_that_nobody_has_is_refused(who: str) -> None:
    """With the names that there are: nobody else is erased by a slip of the pen."""
    with pytest.raises(UnknownPerson, match="lea"):
        identities_of(who, [OTTO, LEA])


def test_pseudonym_is_the_same_for_one_and_another_for_others() -> None:
    """And nobody without the key can work it out."""
    assert new_tag(seal, ["a", "b"]) == new_tag(seal, ["b", "a"])
    assert len({new_tag(seal, ["a"]), new_tag(seal, ["b"]), new_tag(another_seal, ["a"])}) == 3
    assert THEM.name == "erased person #a1b2c3d4"


def test_names_and_addresses_are_told_from_those_of_others() -> None:
    """A conversation below their address is theirs; one that begins alike is not."""
    put = {
        "otto": THEM.name,
        "OTTO": THEM.name,
        "email:o@home.org:0f3c": THEM.address,
        "slack:T1:U2X": THEM.name,
        "slack:T1:U2X:1.2": THEM.address,
        "slack:T1:U2XX": "slack:T1:U2XX",
        "ottokar": "ottokar",
        "email:o@home.orga": "email:o@home.orga",
    }

    assert {word: THEM.put(word) for word in put} == put
    assert THEM.emails == ["o@home.org", "otto@example.com"]


def test_room_with_nobody_else_is_theirs() -> None:
    """Only once it is known to be."""
    assert THEM.placed("slack:T1:D9:1") == "slack:T1:D9:1"
    assert THEM.within(["slack:T1:D9:1"]).placed("slack:T1:D9:1") == THEM.address


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("ask Otto, or <@U2X>; otto@example.com too", 3),
        ("ottokar and blotto, U2XX, otto@example.community, x-otto", 0),
        ("", 0),
    ],
)
def test_mentions_are_counted_as_whole_words(text: str, count: int) -> None:
    """What is part of another word or address is somebody else's."""
    assert THEM.occurrences(text) == count
    assert THEM.occurrences(THEM.scrubbed(text)) == 0


def test_name_that_is_spelled_otherwise_without_letter_case_is_found_as_it_is_written() -> None:
    """Names are compared as `gross`; our own words have `Groß`."""
    them = Persona(tag="x", identities=frozenset({key("Groß")}))

    assert them.scrubbed("already answered by Groß") == f"already answered by {them.name}"
    assert them.occurrences("GROSS, groß, Großmann") == 2
