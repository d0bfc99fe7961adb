"""What threads have added up to lately, kept in memory: a memory aid, never the truth.

Who decides on a state from here commits with its `seq`, so that an old one is found out by the
store; who shows something to people reads. Bounded: a pause costs no memory.
"""

from __future__ import annotations

from typing import NamedTuple

from agent_core.thread.events import ThreadId
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from storage.values import ThreadRow

_MOST = 1024
_LONGEST = 200
"""Entries of a thread that is worth keeping: a longer one is read from its snapshot."""


class Known(NamedTuple):
    """A thread as somebody has read or committed it. Nobody changes the state."""

    state: ThreadState
    snapshot_seq: int = 0
    """Up to where the newest snapshot goes."""
    row: ThreadRow | None = None
    """As it was read, for what never changes in it; None if it follows from the state."""

    def moved_to(self, state: ThreadState) -> Known:
        """Give the same thread with a later state."""
        return Known(state, self.snapshot_seq, self.row)


class States:
    """The states that were used last, by thread, and whose their open questions are."""

    def __init__(self, *, most: int = _MOST, longest: int = _LONGEST) -> None:
        """Begin with none."""
        self._most = most
        self._longest = longest
        self._known: dict[ThreadId, Known] = {}
        self._asked_in: dict[QuestionId, ThreadId] = {}

    def get(self, thread: ThreadId) -> Known | None:
        """Give what is known of a thread; it may be out of date."""
        return self._known.get(thread)

    def thread_of(self, question: QuestionId) -> ThreadId | None:
        """Tell where a question was asked; that never changes."""
        return self._asked_in.get(question)

    def keep(self, known: Known) -> None:
        """Keep a state that has been committed, or read."""
        state = known.state
        self.forget(state.id)
        if len(state.entries) > self._longest:
            return
        self._known[state.id] = known
        for question in state.open_questions:
            self._asked_in[question] = state.id
        if len(self._known) > self._most:
            self.forget(next(iter(self._known)))

    def forget(self, thread: ThreadId) -> None:
        """Look for oneself the next time."""
        known = self._known.pop(thread, None)
        if known is not None:
            for question in known.state.open_questions:
                self._asked_in.pop(question, None)
