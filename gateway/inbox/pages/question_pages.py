"""What waits, one question, and answering it: by the same service functions as the API.

What is posted names what was looked at, so that nobody decides what they have not seen.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from agent_core.errors import (
    AlreadySettled,
    AlreadyVoted,
    MayNotDecide,
    Refused,
    TooLate,
    WrongShape,
)
from agent_core.json_values import JsonObject
from agent_core.thread.events import ThreadId
from agent_core.thread.questions import QuestionId
from channels.form_fields import Field, edit_fields
from channels.outgoing import QuestionCard
from channels.posted_answers import (
    SHOWN,
    Mistakes,
    card_digest,
    edited_arguments,
    read_posted,
)
from channels.posted_answers import (
    Answer as Posting,
)
from gateway.control.service import NotFound
from gateway.inbox.answers import Answer, Page, Redirect
from gateway.inbox.house import House
from gateway.inbox.pages.diffs import side_by_side
from gateway.inbox.pages.inputs import inputs
from gateway.inbox.pages.texts import one_line
from gateway.inbox.pages.waiting import Item, Told, item
from gateway.inbox.requests import InboxRequest
from gateway.inbox.visitor import Visitor
from gateway.outbox.cards import card as make_card

_SHOWN: Final = 50
_CHANNEL: Final = "inbox"
_CHANGED: Final = "This is not what you were shown: it has changed. Please look again."
_TOO_LATE: Final = "You were not the first: your answer came too late, and changed nothing."
_TAKEN: Final = {
    True: "Approved.",
    False: "Denied: the agent is told.",
}


async def queue(request: InboxRequest) -> Answer:
    """Show what waits for the visitor, and what waits for others that they may see."""
    house, visitor = request.house, request.visitor
    themselves = visitor.themselves
    own = await _waiting(house, themselves)
    mine = {one.id for one in own}
    seen = await _waiting(house, visitor) if themselves != visitor else []
    rest = [one for one in seen if one.id not in mine]
    shown, others = own[:_SHOWN], rest[:_SHOWN]
    return Page(
        "pages/queue.html",
        {
            "items": await _items(house, shown),
            "others": await _items(house, others),
            "more": len(own) > _SHOWN,
            "more_others": len(rest) > _SHOWN,
            "ids": [one.id for one in (*shown, *others)],
        },
    )


async def _waiting(house: House, visitor: Visitor) -> list[QuestionCard]:
    """Give one more than is shown, so that the page can tell that there are more."""
    rows = (await house.sight.question_rows(visitor, limit=_SHOWN + 1)).items
    return [_card(house, row.body) for row in rows]


async def show(request: InboxRequest) -> Answer:
    """Show one question, open or settled."""
    card = await _seen_card(request)
    return await _question_page(request, card)


async def answer(request: InboxRequest) -> Answer:
    """Take an answer, or say in friendly words why not."""
    card = await _seen_card(request)
    if request.posted(SHOWN) != card_digest(card):
        return await _question_page(request, card, status=409, told=_CHANGED)
    read = read_posted(card, request.form)
    if isinstance(read, Mistakes):
        return await _question_page(request, card, status=422, mistakes=read)
    return await _answered(request, card, read)  # also a late one: the log notes who tried


async def _answered(request: InboxRequest, card: QuestionCard, read: Posting) -> Answer:
    visitor = request.visitor
    try:
        settled = await request.house.gateway.answer(
            card.id, read.value, by=visitor.by, comment=read.comment, how=visitor.actor.how
        )
    except WrongShape as exc:
        mistakes = Mistakes(str(exc))
        if _typed(request):
            return await _edit_page(request, card, mistakes=mistakes, is_typed=True)
        return await _question_page(request, card, status=422, mistakes=mistakes)
    except (AlreadySettled, TooLate):
        now = await _seen_card(request)
        return await _question_page(request, now, status=409, told=_TOO_LATE)
    except (AlreadyVoted, MayNotDecide) as exc:
        now = await _seen_card(request)
        status = 403 if isinstance(exc, MayNotDecide) else 409
        return await _question_page(request, now, status=status, told=_sentence(exc))
    words = _thanks(read.value)
    if settled.status == "open":
        words = f"{words} More people are needed: it stays open."
    return Redirect("/", notice=words)


def _thanks(value: Any) -> str:  # noqa: ANN401 (any JSON)
    match value:
        case {"approved": True, "arguments": dict()}:
            return "Approved with your changes."
        case {"approved": bool(yes)}:
            return _TAKEN[yes]
    return "Thank you: your answer has been passed on."


def _sentence(exc: Refused) -> str:
    words = one_line(str(exc), 500)
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('.', '!', '?')) else '.'}"


# --- approving with edits -------------------------------------------------------------------------


async def edit(request: InboxRequest) -> Answer:
    """Show the arguments as a form, to whoever could send it."""
    card = await _editable(request)
    if not await _may_answer(request, card):
        return await _question_page(request, card)
    return await _edit_page(request, card)


async def review(request: InboxRequest) -> Answer:
    """Show what was asked beside what they want, before anything is sent."""
    card = await _editable(request)
    if request.posted(SHOWN) != card_digest(card):
        return await _question_page(request, card, status=409, told=_CHANGED)
    if not await _may_answer(request, card):
        told = "" if card.status == "open" else _TOO_LATE
        return await _question_page(request, card, status=409 if told else 403, told=told)
    fields = await _fields(request.house, card)
    edited = edited_arguments(fields, request.form)
    if isinstance(edited, Mistakes):
        return await _edit_page(request, card, mistakes=edited, is_typed=True)
    if request.posted("back"):
        return await _edit_page(request, card, is_typed=True)
    rows = side_by_side(card.arguments or {}, edited)
    return Page(
        "pages/review.html",
        {
            "item": (await _items(request.house, [card]))[0],
            "rows": rows,
            "is_changed": any(one.is_changed for one in rows),
            "arguments": _carried(edited),
            "typed": _typed(request),
        },
    )


def _carried(arguments: JsonObject) -> str:
    """Write arguments so that nothing on the way drops a character of what was looked at."""
    return json.dumps(arguments).replace("\x7f", "\\u007f")


def _typed(request: InboxRequest) -> list[tuple[str, str]]:
    """Give what stands in the form of arguments, to be carried along."""
    return [
        (name, value)
        for name, values in request.form.items()
        if name.startswith("field-")
        for value in values
    ]


async def _edit_page(
    request: InboxRequest,
    card: QuestionCard,
    *,
    mistakes: Mistakes | None = None,
    is_typed: bool = False,
) -> Answer:
    fields = await _fields(request.house, card)
    context = {
        "item": (await _items(request.house, [card]))[0],
        "inputs": inputs(fields, request.form if is_typed else None, mistakes),
        "wrong": mistakes.whole if mistakes else "",
    }
    return Page("pages/edit.html", context, status=422 if mistakes else 200)


async def _fields(house: House, card: QuestionCard) -> tuple[Field, ...]:
    arguments: JsonObject = dict(card.arguments or {})
    row = await house.store.thread(ThreadId(card.thread))
    parameters = house.gateway.parameters(row.agent, card.tool) if row else None
    fields = edit_fields(arguments, parameters)
    if fields is None:
        raise NotFound("these are too many arguments for a form: edit them over the API")
    return fields


async def _editable(request: InboxRequest) -> QuestionCard:
    card = await _seen_card(request)
    if card.kind != "approval" or not card.arguments:
        raise NotFound("there is nothing to edit in this question")
    return card


# --- what is shown --------------------------------------------------------------------------------


async def _question_page(
    request: InboxRequest,
    card: QuestionCard,
    *,
    status: int = 200,
    told: str = "",
    mistakes: Mistakes | None = None,
) -> Answer:
    house = request.house
    typed = request.form if mistakes else None
    shown = item(card, await _told(house, card), house.now(), posted=typed, mistakes=mistakes)
    context = {
        "item": shown,
        "told": told,
        "wrong": mistakes.whole if mistakes else "",
        "typed": {name: values[0] for name, values in (typed or {}).items() if values},
        "may_answer": await _may_answer(request, card),
    }
    return Page("pages/question.html", context, status=status)


async def _may_answer(request: InboxRequest, card: QuestionCard) -> bool:
    house = request.house
    return house.sight.may_answer(request.visitor, await house.gateway.question(card.id))


async def _seen_card(request: InboxRequest) -> QuestionCard:
    """Give the question as it is, if it is theirs to see."""
    house, name = request.house, request.params["question"]
    await house.sight.question(request.visitor, name)
    row = await house.store.question(QuestionId(name))
    if row is None:
        raise NotFound(f"there is no question {name!r}")
    return _card(house, row.body)


def _card(house: House, body: JsonObject) -> QuestionCard:
    return make_card(body, house.people, _CHANNEL)


async def _items(house: House, cards: Sequence[QuestionCard]) -> list[Item]:
    now = house.now()
    told = await asyncio.gather(*(_told(house, card) for card in cards))
    return [item(card, one, now) for card, one in zip(cards, told, strict=True)]


async def _told(house: House, card: QuestionCard) -> Told:
    row = await house.store.thread(ThreadId(card.thread))
    if row is None:
        return Told()
    return Told(agent=row.agent, requester=house.people.name(row.requester))
