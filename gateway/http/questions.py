"""Questions over HTTP: the approval queue."""

from __future__ import annotations

from agent_core.errors import AlreadySettled
from gateway.control.views import Answer, QuestionView, Reason
from gateway.http.problems import ALREADY_SETTLED, QUESTION_CLOSED, Problem
from gateway.http.queries import Query, QuestionsQuery
from gateway.http.responses import Reply
from gateway.http.routes import Ask, NoBody


async def listing(ask: Ask[QuestionsQuery, NoBody]) -> Reply:
    """List questions, oldest first."""
    return Reply(view=await ask.gateway.questions(**ask.query.model_dump()))


async def one(ask: Ask[Query, NoBody]) -> Reply:
    """Show a question."""
    return Reply(view=await ask.gateway.question(ask.id))


async def answer(ask: Ask[Query, Answer]) -> Reply:
    """Answer a question; whoever is late is told who was first, and when."""
    value, comment = ask.body.value, ask.body.comment
    try:
        return Reply(view=await ask.gateway.answer(ask.id, value, by=ask.by, comment=comment))
    except AlreadySettled as exc:
        raise _settled(await ask.gateway.question(ask.id), str(exc)) from exc


async def withdraw(ask: Ask[Query, Reason]) -> Reply:
    """Take a question back: nobody need answer it any more."""
    try:
        return Reply(view=await ask.gateway.withdraw(ask.id, by=ask.by, reason=ask.body.reason))
    except AlreadySettled as exc:
        raise _settled(await ask.gateway.question(ask.id), str(exc)) from exc


async def take_back(ask: Ask[Query, Reason]) -> Reply:
    """Take an approval back while nothing has run yet."""
    return Reply(view=await ask.gateway.take_back(ask.id, by=ask.by, reason=ask.body.reason))


def _settled(question: QuestionView, told: str) -> Problem:
    """409 if somebody answered; 410 if nobody can any more."""
    kind = ALREADY_SETTLED if question.status == "answered" else QUESTION_CLOSED
    members = {"question_status": question.status, "answered_by": question.answered_by}
    return Problem(kind, told, members)
