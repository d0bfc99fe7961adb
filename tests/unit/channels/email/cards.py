"""Questions and messages for the tests of what goes out."""

from __future__ import annotations

from datetime import UTC, datetime

from channels.email.options import EmailOptions
from channels.outgoing import Choice, Outgoing, QuestionCard

SECRET = b"a secret of sixteen bytes or more"
THREAD = "th_0123456789abcdef01234"
QUESTION = "q_0123456789abcdef01234"
NOW = datetime(2026, 11, 16, 12, 30, tzinfo=UTC)
OPTIONS = EmailOptions(
    address="agent@example.com",
    name="Support agent",
    smtp_url="smtp+plain://127.0.0.1:1",
    public_url="https://parley.example.com/",
    secret_key=SECRET,
)
APPROVAL = QuestionCard(
    id=QUESTION,
    thread=THREAD,
    kind="approval",
    prompt="May I pay **order 123** back?",
    context="The customer has waited for two weeks.",
    tool="refund",
    arguments={"order": "123", "amount": 40.5},
    audience=["email:otto@example.org", "approver"],
)
CHOICE = QuestionCard(
    id=QUESTION,
    thread=THREAD,
    kind="choice",
    prompt="Which plan?",
    options=[Choice(name="basic", description="10 a month"), Choice(name="pro")],
)
TEXT = QuestionCard(id=QUESTION, thread=THREAD, kind="text", prompt="What is your order number?")
FORM = QuestionCard(
    id=QUESTION,
    thread=THREAD,
    kind="form",
    prompt="Where shall we send it?",
    schema={
        "type": "object",
        "required": ["street", "floor"],
        "properties": {
            "street": {"type": "string", "title": "Street", "minLength": 3},
            "floor": {"type": "integer"},
            "express": {"type": "boolean"},
            "size": {"enum": ["S", "M", 3]},
            "extras": {"type": "array", "items": {"enum": ["ribbon", "card"]}},
            "day": {"type": "string", "format": "date"},
            "more": {"type": "object"},
        },
    },
)


def outgoing(**changes: object) -> Outgoing:
    """Give a message: by default a question to Otto's mailbox."""
    given: dict[str, object] = {
        "id": f"{THREAD}.5",
        "thread": THREAD,
        "address": "email:otto@example.org",
        "kind": "question.asked",
        "question": APPROVAL,
    }
    return Outgoing(**(given | changes))  # type: ignore[arg-type]
