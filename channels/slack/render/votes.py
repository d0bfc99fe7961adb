"""Who has decided so far, who must, and what they changed; and how to agree with that."""

from __future__ import annotations

from typing import Final

from agent_core.json_values import JsonObject
from channels.outgoing import QuestionCard, Vote
from channels.slack.render.escaping import code_block, mrkdwn
from channels.slack.render.limits import SECTION, Block
from channels.slack.render.who import person
from channels.spelling import difference

AGREE: Final = "agree-"
"""Begins the name of the button that approves what somebody else's vote has changed."""
_MOST: Final = 20
_COMMENT: Final = 200
_DIFFERENCE: Final = 1_500


def ballot(card: QuestionCard, team: str) -> list[Block]:
    """Show what it takes, and who has said what; nothing where one person decides."""
    lines = [*_rules(card), *(_line(vote, team) for vote in card.votes[-_MOST:])]
    if not lines:
        return []
    text = ""
    for line in lines:
        if len(text) + len(line) + 1 > SECTION:
            break
        text += f"{line}\n"
    return [_section(text), *_proposed(card)]


def proposal(card: QuestionCard) -> tuple[int, JsonObject] | None:
    """Give the newest change that somebody proposed, with the number of their vote."""
    for number in reversed(range(len(card.votes))):
        arguments = card.votes[number].arguments
        if arguments is not None:
            return number, arguments
    return None


def agreed(name: str, card: QuestionCard) -> JsonObject | None:
    """Give the arguments that the button of this name approves."""
    number = name.removeprefix(AGREE)
    if not (number.isascii() and number.isdecimal()) or int(number) >= len(card.votes):
        return None
    return card.votes[int(number)].arguments


def _rules(card: QuestionCard) -> list[str]:
    rules = []
    if card.quorum > 1:
        rules.append(f"{card.quorum} people must approve the same.")
    if card.not_requester:
        rules.append("Whoever asked for it can't approve it.")
    return [f":busts_in_silhouette: {' '.join(rules)}"] if rules else []


def _line(vote: Vote, team: str) -> str:
    said = ":white_check_mark: approved" if vote.approved else ":no_entry: denied"
    edited = " with edits" if vote.arguments is not None else ""
    comment = f": {mrkdwn(' '.join(vote.comment.split()), _COMMENT)}" if vote.comment else ""
    return f"• {person(vote.by, team)} {said}{edited}{comment}"


def _proposed(card: QuestionCard) -> list[Block]:
    newest = proposal(card)
    if newest is None or card.status != "open":
        return []
    text = difference(card.arguments or {}, newest[1])
    return [_section(code_block(text, _DIFFERENCE))]


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}
