"""Every error that leaves the library, in one tree, split by who must act.

    ParleyError
    ├── DefinitionError             the author of an agent or tool: it can't work as written
    ├── NotJson                     the caller: a value is not JSON, and where
    ├── Refused                     the person or program that asked: not now, not so, not you
    │   ├── UnknownQuestion         no question of that id in this thread
    │   ├── AmbiguousAnswer         several questions are open, and the answer names none
    │   ├── WrongShape              the answer does not fit the question; it stays open
    │   ├── AlreadySettled          answered, expired or withdrawn before, by whom and when
    │   ├── MayNotDecide            four eyes: whoever began it can't approve it
    │   ├── AlreadyVoted            the same person, the same word: they count once
    │   ├── TooLate                 what was approved has begun to run, or is over
    │   ├── OpenQuestions           closing would leave people's questions hanging
    │   └── WrongStatus             a thread in this status doesn't take that command
    ├── CheckpointError             the caller: this text can't be resumed from
    │   ├── CheckpointMalformed     truncated, not JSON, not ours, or not a possible history
    │   ├── CheckpointTooNew        written by a newer version of the schema than this code reads
    │   ├── WrongAgent              another agent's thread
    │   └── ToolsChanged            an open call's tool is gone or takes other arguments now
    ├── ImpossibleEvent             our bug, or a forged log: an event that its state doesn't allow
    └── ModelError                  the model server
        ├── ModelUnavailable        try again, perhaps after `retry_after` seconds
        └── ModelRejected           trying again would not help: the key, the name, the request

Pausing is not here: it is an event, never an error. Nor are a tool's own exceptions, which
become that call's result.
"""

from __future__ import annotations


class ParleyError(Exception):
    """The root: catch it to catch whatever the library raises on purpose."""


class DefinitionError(ParleyError, ValueError):
    """An agent, a tool or a part of one can't work as it is written; raised where it is."""


class NotJson(ParleyError):
    """A value that must be plain JSON is not; `path` says where in it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} is not JSON: {problem}")
        self.path = path
        self.problem = problem


class Refused(ParleyError):
    """A command that the thread doesn't take; nothing has changed."""


class UnknownQuestion(Refused):
    """The thread never asked a question of that id."""


class AmbiguousAnswer(Refused):
    """Several questions are open and the answer doesn't say which one it is for."""


class WrongShape(Refused):
    """The answer doesn't fit the question's kind; the message tells a person what would."""


class AlreadySettled(Refused):
    """The question was answered, withdrawn or has expired before this answer came."""


class MayNotDecide(Refused):
    """Whoever answers is asked, but this very thing is not theirs to decide."""

    def __init__(self, message: str, *, question: str = "") -> None:
        super().__init__(message)
        self.question = question


class AlreadyVoted(Refused):
    """The same person has said the same before; others are needed."""


class TooLate(Refused):
    """An approval can be taken back only until what was approved begins to run."""


class OpenQuestions(Refused):
    """Closing the thread would leave questions open that nobody was told to withdraw."""


class WrongStatus(Refused):
    """The thread's status doesn't allow the command, as with a message to a cancelled one."""


class CheckpointError(ParleyError):
    """A text that can't be resumed from; nothing has run."""


class CheckpointMalformed(CheckpointError):
    """Truncated, not JSON, not a checkpoint, or not a history that could have happened."""


class CheckpointTooNew(CheckpointError):
    """Written by newer code, with a schema that this code doesn't know."""


class WrongAgent(CheckpointError):
    """The thread belongs to an agent of another name."""


class ToolsChanged(CheckpointError):
    """An open call names a tool (or handler) that is gone or takes other arguments now."""


class ImpossibleEvent(ParleyError):
    """An event that the state before it doesn't allow: a bug of ours, or a forged log."""


class ModelError(ParleyError):
    """The model server gave no usable reply."""


class ModelUnavailable(ModelError):
    """Worth another try: overload, a fault of the server, a broken stream, a time-out."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """Not worth another try: the key, the model's name or the request itself is wrong."""
