"""Reachability: is there a way to everybody, with the channels that are on? Pure."""

from __future__ import annotations

from collections.abc import Collection

from gateway.people.directory import Directory
from gateway.settings.config import Config


def unreachable(people: Directory, config: Config, on: Collection[str]) -> list[str]:
    """Tell of everybody whom no channel reaches that is on."""
    problems = []
    for person in config.people:
        (reach,) = people.reaches(person.name)
        ways = {way.partition(":")[0] for way in reach.ways}
        if not ways:
            problems.append(f"{person.name} has no slack and no email, so nobody can ask them")
        elif ways.isdisjoint(on):
            names = " and ".join(sorted(ways))
            problems.append(f"{person.name} is reached by {names} only, which is not turned on")
    return problems


def advice(people: Directory) -> list[str]:
    """Tell of what works, and could be better."""
    if not people.names():
        return ["nobody is listed: questions go to who began a thread, where they began it"]
    if not people.operators():
        return [
            "nobody has the role operator or admin, so nobody is told when a message reaches no one"
        ]
    return []
