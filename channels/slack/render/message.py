"""What goes out, as messages: each with its blocks, and words for notifications.

`render` is the way in. A message has one or more pieces; the last one of a question is its card,
the one that is changed when the question is settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from channels.outgoing import Outgoing, QuestionCard
from channels.slack.render.cards import PROMPT, open_card, section, settled_card
from channels.slack.render.escaping import code_block, mrkdwn
from channels.slack.render.limits import NOTIFICATION, PLAIN, SECTION, Block, clean
from channels.slack.render.pieces import pieces
from channels.spelling import folded

_MOST_OF_AN_ERROR: Final = 600
_MOST_OF_A_NOTICE: Final = 2000
_TRACEBACK: Final = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message of Slack."""

    blocks: list[Block]
    text: str
    """What a notification says: escaped, and short."""
    plain: str
    """All of it in words alone, for when Slack takes the blocks not."""


def render(message: Outgoing, *, team: str, secret: bytes) -> list[Piece]:
    """Give a message the form that it has in this workspace."""
    card = message.question
    match message.kind:
        case "question.asked" | "question.voted" | "question.settled":
            return _asked(message, card, team, secret, "")
        case "question.reminded":
            return _asked(message, card, team, secret, "Reminder: this still waits")
        case "question.escalated":
            return _asked(message, card, team, secret, "Nobody has answered yet")
        case "thread.finished":
            return words(message.text or "Done.")
        case "thread.failed":
            return [_failed(message.text)]
        case "thread.cancelled":
            return [_cancelled(message.text)]
        case "notice":
            is_said = bool(clean(message.text).strip())
            notice = message.text if is_said else "Something needs your attention."
            shown = mrkdwn(notice, _MOST_OF_A_NOTICE)
            return [_notice(f":rotating_light: {shown}", notice)]
        case never:
            assert_never(never)


def words(text: str) -> list[Piece]:
    """Give an agent's Markdown as one or more messages."""
    return [
        Piece(
            blocks=[{"type": "markdown", "text": piece}],
            text=mrkdwn(_unescaped(piece), NOTIFICATION),
            plain=mrkdwn(_unescaped(piece), PLAIN),
        )
        for piece in pieces(text) or pieces("Done.")
    ]


def card_piece(card: QuestionCard, *, team: str, secret: bytes, occasion: str = "") -> Piece:
    """Give a question's card, as it is now."""
    is_brief = len(card.prompt) > PROMPT
    if card.status == "open":
        blocks = open_card(card, team=team, secret=secret, occasion=occasion, is_brief=is_brief)
        text = f"{occasion}: {card.prompt}" if occasion else card.prompt
    else:
        blocks = settled_card(card, team=team)
        text = f"{card.status.capitalize()}: {card.prompt}"
    spoken = text if clean(text).strip() else "A question for you"
    plain = f"{mrkdwn(spoken, PLAIN - SECTION)}{_plain_proposal(card)}"
    return Piece(blocks=blocks, text=mrkdwn(spoken, NOTIFICATION), plain=plain)


def _asked(
    message: Outgoing, card: QuestionCard | None, team: str, secret: bytes, occasion: str
) -> list[Piece]:
    if card is None:
        return words(message.text or "A question was settled.")
    is_long = len(card.prompt) > PROMPT and card.status == "open" and not occasion
    before = words(card.prompt) if is_long else []
    return [*before, card_piece(card, team=team, secret=secret, occasion=occasion)]


def _plain_proposal(card: QuestionCard) -> str:
    if not card.tool:
        return ""
    text, _ = folded(card.arguments or {})
    return f"\n{mrkdwn(card.tool, 200)}\n{code_block(text, SECTION - 250)}"


def _failed(error: str) -> Piece:
    reason = _without_traceback(error)
    title = ":warning: *The agent could not go on.*"
    advice = "Write here to let it try again from where it stood."
    quoted = f"\n>{mrkdwn(reason, _MOST_OF_AN_ERROR)}" if reason else ""
    return _notice(f"{title}{quoted}\n{advice}", f"The agent could not go on. {reason}")


def _cancelled(reason: str) -> Piece:
    quoted = f"\n>{mrkdwn(' '.join(reason.split()), _MOST_OF_AN_ERROR)}" if reason.strip() else ""
    return _notice(f":octagonal_sign: *Cancelled.*{quoted}", f"Cancelled. {reason}")


def _notice(text: str, spoken: str) -> Piece:
    return Piece(blocks=[section(text)], text=mrkdwn(spoken, NOTIFICATION), plain=text)


def _without_traceback(error: str) -> str:
    """Keep what a person can use: the words before a traceback, or its last line."""
    before, found, trace = error.partition(_TRACEBACK)
    last = [line for line in trace.splitlines() if line.strip()][-1:] if found else []
    return " ".join((before.strip() or "".join(last)).split())


def _unescaped(piece: str) -> str:
    return piece.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
