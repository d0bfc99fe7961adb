"""Buttons only where the state allows them."""

from __future__ import annotations

import pytest

from agent_core.thread.transitions import THREAD, Lifecycle
from gateway.control.views import ThreadStatus
from gateway.inbox.pages.actions import ACTIONS, offered

EVENTS = {
    "say": "MessageReceived",
    "pause": "ThreadPaused",
    "cancel": "ThreadCancelled",
}
LIFECYCLES: dict[ThreadStatus, Lifecycle] = {
    "queued": "active",
    "running": "active",
    "waiting": "active",
    "paused": "paused",
    "finished": "finished",
    "failed": "failed",
    "cancelled": "cancelled",
}


@pytest.mark.parametrize("status", list(LIFECYCLES))
def test_the_buttons_are_those_of_the_state_machine(status: ThreadStatus) -> None:
    """Nobody is offered what would be refused, and nothing that would be taken is withheld."""
    names = {one.name for one in offered(status, lambda _scope: True)}

    for name, event in EVENTS.items():
        assert (name in names) == ((LIFECYCLES[status], event) in THREAD), name
    assert ("resume" in names) == (status == "paused")
    assert ("retry" in names) == (status == "failed")
    assert "fork" in names


def test_buttons_need_their_scope() -> None:
    """Who may only talk sees no switch."""
    assert [one.name for one in offered("running", lambda scope: scope == "launch")] == ["say"]
    assert offered("running", lambda _scope: False) == ()


def test_what_cannot_be_undone_is_asked_for_twice() -> None:
    """Cancelling is for good."""
    assert [one.name for one in ACTIONS if one.is_grave] == ["cancel"]
