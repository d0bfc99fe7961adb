"""What people are told about a mail of theirs that was not taken, or decided nothing. Pure."""

from __future__ import annotations

import time
from typing import Final

from channels.intake import Received
from channels.outgoing import QuestionCard

NO_TEXT: Final = (
    "I found no new text in your reply, so nothing was passed on. Please write your answer above "
    "the quoted text, and send it again."
)
NOT_FOR_YOU: Final = (
    "This address is for people whom its operator has listed, and yours is not among them, so "
    "nothing was passed on. If that is wrong, please ask whoever gave you the address."
)
GONE: Final = (
    "The conversation that you replied to is not here any more, so nothing was passed on. "
    "Please write a new mail instead of a reply."
)


def late(question: QuestionCard | None, received: Received) -> str:
    """Say that a question was settled before the mail came."""
    if question is None or question.status == "open" or received.effect != "taken":
        return ""
    by = f" by {question.answered_by.removeprefix('email:')}" if question.answered_by else ""
    at = ""
    if question.settled_at is not None:
        at = time.strftime(" on %d %B %Y at %H:%M UTC", time.gmtime(question.settled_at / 1000))
    return (
        f"The question that you replied to was {question.status}{by}{at}, so your reply did not "
        "decide it. The agent has received what you wrote."
    )
