"""Where somebody belongs, as Slack's directory says."""

from __future__ import annotations

from typing import Any

import pytest

from channels.people import Actor
from channels.slack.parsing.directory import described
from channels.slack.parsing.origin import Who

DAN: dict[str, Any] = {
    "id": "U4",
    "team_id": "T2",
    "name": "dan",
    "profile": {"email": "dan@example.com"},
    "enterprise_user": {"enterprise_id": "E1", "teams": ["T2"]},
}


def test_a_colleague_of_another_workspace_in_the_organisation_is_no_stranger() -> None:
    """Enterprise Grid: one organisation, many workspaces; the one they write in names them."""
    told = Who(workspace="T1", user="U4", team="T2", enterprise="E1", is_shared=True)

    assert described(told, {**DAN, "is_stranger": True}) == Actor(
        id="slack:T1:U4", name="dan", email="dan@example.com"
    )


@pytest.mark.parametrize(
    "told",
    [
        Who(workspace="T1", user="U4", team="T1"),
        Who(workspace="T1", user="U4", team="T1", enterprise="E2"),
    ],
)
def test_the_directorys_word_counts_more_than_the_payloads(told: Who) -> None:
    """Somebody of another organisation stays one, and their address is not vouched for."""
    assert described(told, DAN) == Actor(id="slack:T2:U4", name="dan", is_external=True)


def test_a_stranger_of_our_own_workspace_is_still_one() -> None:
    """Slack says that nobody here shares a channel with them."""
    user = {"id": "U4", "team_id": "T1", "name": "dan", "is_stranger": True}

    assert described(Who(workspace="T1", user="U4"), user).is_external


def test_a_shared_place_makes_nobody_external_whom_the_directory_knows() -> None:
    """Where the payload doesn't say, the directory does."""
    told = Who(workspace="T1", user="U4", is_shared=True)

    assert not described(told, {"team_id": "T1", "name": "ann"}).is_external
    assert described(told, {"name": "ann"}).is_external


@pytest.mark.parametrize("field", ["is_bot", "is_workflow_bot"])
def test_a_bot_is_known_as_one(field: str) -> None:
    """Workflows write with a user of their own."""
    assert described(Who(workspace="T1", user="U4"), {field: True}).is_bot
