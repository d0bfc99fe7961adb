"""What a mail says, as blocks: the question first, then what belongs to it, then how to answer.

Pure. What is cut is said to be cut; where that is true of a tool's arguments, the way to answer is
the link, because somebody approves what they read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from agent_core.thread.events import Millis
from agent_core.thread.times import spoken
from channels.email.ballots import rules, votes
from channels.email.blocks import Block, Code, Items, Line, Link, Quote, Small, Words
from channels.email.settlement import settlement
from channels.email.who import person
from channels.outgoing import Outgoing, QuestionCard
from channels.proposals import proposed
from channels.spelling import difference, spelled, visible

_MOST_PROMPT: Final = 20_000
_MOST_CONTEXT: Final = 20_000
_MOST_RESULT: Final = 100_000
_MOST_ARGUMENTS: Final = 20_000
_MOST_ERROR: Final = 1_000
_MOST_OPTIONS: Final = 200
_MOST_NAMES: Final = 10
_TRACEBACK: Final = "Traceback (most recent call last)"
_CUT: Final = "\n\n… (cut here: there is more of it than fits into a mail)"


def wording(message: Outgoing, *, link: str = "", may_answer: bool = True) -> list[Block]:
    """Say it to one recipient: with their own link, or for who may only look on."""
    card = message.question
    match message.kind:
        case "question.asked" | "question.voted":
            return _question(message, card, "", link=link, may_answer=may_answer)
        case "question.reminded":
            occasion = "Reminder: this question still waits for an answer."
            return _question(message, card, occasion, link=link, may_answer=may_answer)
        case "question.escalated":
            occasion = "Nobody has answered this question yet, so it comes to you."
            return _question(message, card, occasion, link=link, may_answer=may_answer)
        case "question.settled":
            return settlement(card) if card else [Line("A question was settled.")]
        case "thread.finished":
            return [Words(cut(message.text, _MOST_RESULT) or "Done.")]
        case "thread.failed":
            return _failed(message.text)
        case "thread.cancelled":
            reason = cut(message.text.strip(), _MOST_ERROR)
            return [Line("This was cancelled.", is_strong=True), *_quoted(reason)]
        case "notice":
            return [Line(cut(message.text, _MOST_PROMPT))]
        case never:
            assert_never(never)


def cut(text: str, most: int) -> str:
    """Cut a text politely: it says so, and no line is broken if one ends near."""
    if len(text) <= most:
        return text
    kept = text[:most]
    line_end = kept.rfind("\n", most * 4 // 5)
    return (kept[:line_end] if line_end > 0 else kept) + _CUT


def _quoted(text: str) -> list[Block]:
    return [Quote(text)] if text else []


def _failed(error: str) -> list[Block]:
    """Keep what a person can use: the words before a traceback, or its last line."""
    before, found, trace = error.partition(_TRACEBACK)
    last = [line for line in trace.splitlines() if line.strip()][-1:] if found else []
    reason = " ".join((before.strip() or "".join(last)).split())
    return [
        Line("The agent could not go on.", is_strong=True),
        *_quoted(cut(reason, _MOST_ERROR)),
        Line("Reply to this mail to let it try again from where it stood."),
    ]


# --- questions ------------------------------------------------------------------------------------


def _question(
    message: Outgoing, card: QuestionCard | None, occasion: str, *, link: str, may_answer: bool
) -> list[Block]:
    if card is None:
        return [Words(cut(message.text, _MOST_PROMPT) or "The agent has a question.")]
    if card.status != "open":  # decided while it was on its way
        return settlement(card)
    return [
        *([Line(occasion, is_strong=True)] if occasion else []),
        Words(cut(card.prompt, _MOST_PROMPT) or "The agent has a question."),
        *proposal(card),
        *_options(card),
        *_ballot(card),
        *(_ways(card, link) if may_answer else [_looking_on(card)]),
        *([Words(cut(card.context, _MOST_CONTEXT))] if card.context.strip() else []),
        Small(_circumstances(card)),
    ]


def proposal(card: QuestionCard, most: int = _MOST_ARGUMENTS) -> list[Block]:
    """Show the tool and its arguments exactly."""
    if not card.tool:
        return []
    if not card.arguments:
        return [Line("It wants to run this, without arguments:"), Code(visible(card.tool))]
    text = f"{visible(card.tool)}\n{_indented(spelled(card.arguments))}"
    return [Line("It wants to run exactly this:"), Code(cut(text, most))]


def _is_cut(card: QuestionCard) -> bool:
    return any(isinstance(one, Code) and one.text.endswith(_CUT) for one in proposal(card))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _options(card: QuestionCard) -> list[Block]:
    shown = tuple((one.name, one.description) for one in card.options[:_MOST_OPTIONS])
    left = len(card.options) - len(shown)
    more: list[Block] = [Line(f"… and {left} more.")] if left else []
    return [Items(shown), *more] if shown else []


def _ballot(card: QuestionCard) -> list[Block]:
    told = rules(card)
    newest = proposed(card)
    shown: list[Block] = [Line(told)] if told else []
    shown += [Line("\n".join(["So far:", *votes(card)]))] if card.votes else []
    if newest is not None:
        changed = difference(card.arguments or {}, newest[1])
        shown += [Line("Proposed in its place:"), Code(cut(changed, _MOST_ARGUMENTS))]
    return shown


def _ways(card: QuestionCard, link: str) -> list[Block]:
    """Say how to answer: by a word, and by the link where there is one.

    Nobody is asked for a word about what they have not seen; the page shows all of it.
    """
    by_word = "" if link and _is_cut(card) else _by_word(card)
    if not link:
        return [Line(by_word or _NO_WAY)] if card.kind != "event" else [Line(_EVENT)]
    if card.kind == "event":
        return [Line(_EVENT)]
    told = f"{by_word} Or use your own link:" if by_word else "Please use your own link:"
    return [Line(told), Link(_LABELS[card.kind], link), Small(_PERSONAL)]


_EVENT: Final = "Nothing to do here: the agent goes on when it happens."
_NO_WAY: Final = (
    "It can't be answered by mail: it is a form, and this gateway has no public address for a page."
)
_PERSONAL: Final = "The link is yours alone: whoever has it can answer in your name."
_LABELS: Final = {
    "text": "Answer on a page",
    "choice": "Choose on a page",
    "approval": "Look at it and decide",
    "form": "Fill in the form",
}


def _by_word(card: QuestionCard) -> str:
    match card.kind:
        case "text":
            return "Reply to this mail with your answer."
        case "choice":
            return "Reply with the number or the name of your choice."
        case "approval":
            return 'Reply "yes" or "no"; a reason may follow the no, as in "no, because …".'
        case "form" | "event":
            return ""
        case never:
            assert_never(never)


def _looking_on(card: QuestionCard) -> Line:
    return Line(f"The answer is up to {_people(card.audience)}; you get this to know of it.")


def _circumstances(card: QuestionCard) -> str:
    parts = ["Urgent."] if card.urgency == "high" else []
    if card.audience:
        parts.append(f"Asked: {_people(card.audience)}.")
    if card.expires_at is not None:
        parts.append(f"It expires at {spoken(Millis(card.expires_at))}.")
    parts.append("The agent waits for the answer, however long it takes.")
    return " ".join(parts if card.expires_at is None else parts[:-1])


def _people(audience: Sequence[str] | Iterable[str]) -> str:
    names = list(dict.fromkeys(map(person, audience)))
    shown = ", ".join(names[:_MOST_NAMES]) or "somebody"
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
