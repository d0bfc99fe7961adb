"""A thread's outcome in one word, as a header, and the thread as plain text: for shell scripts.

`Parley-Outcome` is the thread's status, but for one that finished although people said no: that is
`denied`. The text is for whoever reads a pipeline's log: the result, the error, or who is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gateway.control.views import QuestionView, ThreadView

HEADER = "Parley-Outcome"
TEXT = "text/plain"


def outcome(thread: ThreadView) -> str:
    """Give the word."""
    return "denied" if thread.denied else thread.status


def in_words(thread: ThreadView, told: Mapping[str, Sequence[str]]) -> str:
    """Tell a thread; `told` has the channels that each question went to."""
    match thread.status:
        case "finished":
            lines = [thread.result or ""]
        case "failed" | "cancelled":
            lines = [f"The thread {thread.id} was {_ENDED[thread.status]}.", thread.error or ""]
        case _:
            lines = [f"The thread {thread.id} is {thread.status}."]
            for question in thread.questions:
                lines += _asked(question, told.get(question.id, ()))
    return "".join(f"{line}\n" for line in lines if line)


_ENDED = {"failed": "ended by a failure", "cancelled": "cancelled"}


def _asked(question: QuestionView, channels: Sequence[str]) -> Iterable[str]:
    yield f"{question.kind.capitalize()}: {question.prompt}"
    yield f"  asked: {', '.join(question.audience) or 'nobody in particular'}"
    if channels:
        yield f"  in: {', '.join(channels)}"
    yield f"  question: {question.id}"
