"""How a run ended, for now: finished, paused, failed or cancelled, each with its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from typing_extensions import TypeIs

from agent_core.thread.questions import Question
from agent_core.thread.state import Compensation, ThreadState
from agent_core.thread.usage import Usage


@dataclass(frozen=True, kw_only=True)
class _Ended:
    """What every outcome has."""

    checkpoint: str = field(repr=False)
    """The thread as JSON text: keep it, and resume from it in any process, any day."""
    state: ThreadState = field(repr=False)
    """All that is known of the thread."""

    @property
    def is_paused(self) -> bool:
        """Whether the thread waits for people."""
        return isinstance(self, Paused)

    @property
    def thread(self) -> str:
        """The thread's id."""
        return self.state.id

    @property
    def usage(self) -> Usage:
        """What the thread has cost so far."""
        return self.state.usage


@dataclass(frozen=True, kw_only=True)
class Finished(_Ended):
    """The agent is done; its last words are the result."""

    result: str


@dataclass(frozen=True, kw_only=True)
class Paused(_Ended):
    """The thread waits: for answers, or for a person (or the kill switch) to let it go on."""

    questions: tuple[Question, ...]
    why: Literal["questions", "paused", "halted"]


@dataclass(frozen=True, kw_only=True)
class Failed(_Ended):
    """The agent can't go on by itself; `agent.retry(checkpoint)` tries again."""

    error: str


@dataclass(frozen=True, kw_only=True)
class Cancelled(_Ended):
    """Stopped for good; `undone` tells what became of each compensation."""

    reason: str
    undone: tuple[Compensation, ...]


Outcome: TypeAlias = Finished | Paused | Failed | Cancelled


def is_paused(outcome: Outcome) -> TypeIs[Paused]:
    """Tell whether the thread waits, in a way that a type checker understands."""
    return isinstance(outcome, Paused)


def outcome_of(state: ThreadState, checkpoint: str) -> Outcome:
    """Name the outcome of a thread that has come to rest."""
    match state.lifecycle:
        case "finished":
            return Finished(checkpoint=checkpoint, state=state, result=state.final_result())
        case "failed":
            return Failed(checkpoint=checkpoint, state=state, error=state.error)
        case "cancelled":
            undone = tuple(state.compensations.values())
            return Cancelled(
                checkpoint=checkpoint, state=state, reason=state.cancel_reason, undone=undone
            )
        case _:
            questions = tuple(one.question for one in state.waiting_questions())
            return Paused(checkpoint=checkpoint, state=state, questions=questions, why=_why(state))


def _why(state: ThreadState) -> Literal["questions", "paused", "halted"]:
    if state.lifecycle == "paused":
        return "paused"
    return "questions" if state.open_questions else "halted"
