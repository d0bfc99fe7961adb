"""A question in a message: open with its buttons, or settled with who decided what and when."""

from __future__ import annotations

from typing import Final, assert_never

from channels.outgoing import QuestionCard
from channels.slack.render.brief import brief
from channels.slack.render.buttons import buttons
from channels.slack.render.escaping import code_block, code_span, mrkdwn
from channels.slack.render.limits import SECTION, Block
from channels.slack.render.pieces import first_piece
from channels.slack.render.votes import ballot
from channels.slack.render.who import moment, people, person
from channels.spelling import difference, folded, spelled
from channels.verdicts import edits

PROMPT: Final = 6_000
"""A longer prompt stands in messages of its own before the card."""
CONTEXT: Final = 3_000
_ANSWER: Final = 2_500
_BRIEF: Final = 300
_COMPACT: Final = 1_000
_MOST_DESCRIBED: Final = 100
_MOST_LINES: Final = 100

_HEADINGS: Final = {
    "approval": ":raised_hand: *Approval needed*",
    "choice": ":speech_balloon: *Please choose*",
    "text": ":speech_balloon: *A question*",
    "form": ":memo: *A form to fill in*",
    "event": ":hourglass_flowing_sand: *Waiting*",
}


def open_card(
    card: QuestionCard, *, team: str, secret: bytes, occasion: str = "", is_brief: bool = False
) -> list[Block]:
    """Show a question that waits; `occasion` says why again, as for a reminder."""
    shown, is_folded = _proposal(card)
    return [
        section(_heading(card, team, occasion)),
        *_question(card, is_brief=is_brief),
        *shown,
        *_descriptions(card),
        *ballot(card, team),
        *_advice(card),
        *buttons(card, secret, is_folded=is_folded),
        *footer(card),
    ]


def settled_card(card: QuestionCard, *, team: str) -> list[Block]:
    """Show how a question ended, with nothing left to click."""
    return [
        *_question(card, is_brief=len(card.prompt) > PROMPT),
        *([] if edits(card) else _proposal(card)[0]),
        section(_verdict(card, team)),
        *_evidence(card),
        *ballot(card, team),
    ]


def compact_card(card: QuestionCard, *, team: str, secret: bytes) -> list[Block]:
    """Show a question that waits in few blocks, where Slack takes no Markdown."""
    shown, is_folded = _proposal(card)
    prompt = brief(card.prompt, _COMPACT)
    return [
        section(f"{_heading(card, team, '')}\n{prompt}"),
        *shown,
        *ballot(card, team),
        *buttons(card, secret, is_folded=is_folded),
        *footer(card),
    ]


def section(text: str) -> Block:
    """Make a section of `mrkdwn` that is escaped and within the limit already."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def footer(card: QuestionCard) -> list[Block]:
    """Say how long there is."""
    if card.expires_at is None:
        return []
    text = f"Until {moment(card.expires_at)}"
    return [{"type": "context", "elements": [{"type": "mrkdwn", "text": text}]}]


# --- open -----------------------------------------------------------------------------------------


def _heading(card: QuestionCard, team: str, occasion: str) -> str:
    parts = [f"*{occasion}*"] if occasion else []
    parts.append(_HEADINGS[card.kind])
    if card.urgency == "high":
        parts.append(":rotating_light: urgent")
    if card.audience:
        parts.append(f"for {people(card.audience, team)}")
    return " · ".join(parts)


def _question(card: QuestionCard, *, is_brief: bool) -> list[Block]:
    prompt = first_piece(card.prompt, _BRIEF if is_brief else PROMPT)
    texts = [prompt, first_piece(card.context, CONTEXT)]
    return [{"type": "markdown", "text": text} for text in texts if text]


def _proposal(card: QuestionCard) -> tuple[list[Block], bool]:
    """Show the tool and its arguments, and say whether they had to be folded."""
    if not card.tool:
        return [], False
    title = f"It wants to run {code_span(card.tool, 200)}"
    if not card.arguments:
        return [section(f"{title}, without arguments.")], False
    text, is_folded = folded(card.arguments)
    block = code_block(text, SECTION - len(title) - 10)
    return [section(f"{title} with\n{block}")], is_folded or block.endswith("…\n```")


def _descriptions(card: QuestionCard) -> list[Block]:
    lines = [
        f"• *{_bold(option.name)}*: {mrkdwn(option.description, 300)}"
        for option in card.options[:_MOST_DESCRIBED]
        if option.description.strip()
    ]
    text = ""
    for line in lines:
        if len(text) + len(line) + 1 > SECTION:
            break
        text += f"{line}\n"
    return [section(text)] if text else []


def _bold(text: str) -> str:
    """Keep a name on its line and between its stars."""
    return mrkdwn(" ".join(text.replace("*", "\u2217").split()) or "…", 200)


def _advice(card: QuestionCard) -> list[Block]:
    match card.kind:
        case "text":
            return [section("Reply in this thread, or:")]
        case "event":
            return [section("Nothing to do here: the agent goes on when it happens.")]
        case "approval" | "choice" | "form":
            return []
        case never:
            assert_never(never)


# --- settled --------------------------------------------------------------------------------------


def _verdict(card: QuestionCard, team: str) -> str:
    by = f" by {person(card.answered_by, team)}" if card.answered_by else ""
    when = f" · {moment(card.settled_at)}" if card.settled_at is not None else ""
    match card.status:
        case "open":
            return ":hourglass_flowing_sand: *Still open*"
        case "answered":
            return f"{_decision(card)}{by}{when}"
        case "expired":
            meaning = "that counts as a no" if card.expiry_denies else "this is not a denial"
            return f":hourglass: *Expired*{when}. Nobody decided: {meaning}."
        case "withdrawn" if card.taken_back:
            return f":leftwards_arrow_with_hook: *Approval taken back*{by}{when}. It is asked anew."
        case "withdrawn":
            return f":wastebasket: *Withdrawn*{by}{when}. It needs no answer any more."
        case never:
            assert_never(never)


def _decision(card: QuestionCard) -> str:
    match card.answer:
        case {"approved": True} if edits(card):
            return ":white_check_mark: *Approved with edits*"
        case {"approved": True}:
            return ":white_check_mark: *Approved*"
        case {"approved": False}:
            return ":no_entry: *Denied*"
        case str(name) if card.kind == "choice":
            return f":ballot_box_with_check: *{_bold(name)}* chosen"
    return ":white_check_mark: *Answered*"


def _evidence(card: QuestionCard) -> list[Block]:
    """Show the words, the form or the edits of an answer, and the comment."""
    shown: list[Block] = []
    edited = edits(card)
    if edited is not None:
        text = difference(card.arguments or {}, edited)
        shown.append(section(code_block(text, SECTION)))
    elif card.status == "answered" and card.kind in {"form", "event"} and card.answer:
        answer = card.answer if isinstance(card.answer, dict) else {"answer": card.answer}
        shown.append(section(code_block(spelled(answer), SECTION)))
    elif card.status == "answered" and card.kind == "text":
        shown += _quoted(str(card.answer))
    return [*shown, *_quoted(card.comment)]


def _quoted(text: str) -> list[Block]:
    lines = mrkdwn(text.strip(), _ANSWER).split("\n")
    quoted = "\n".join(f">{line}" for line in lines[:_MOST_LINES])
    return [section(quoted)] if text.strip() else []
