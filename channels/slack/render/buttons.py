"""What can be clicked below a question. Each value is signed, and bound to the card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from agent_core.json_values import compact
from channels.outgoing import QuestionCard
from channels.slack.render import limits
from channels.slack.render.limits import Block, plain
from channels.slack.render.votes import AGREE, proposal
from channels.slack.tokens import sign_action

ACTION_PREFIX: Final = "parley:"
"""Every `action_id` and `callback_id` of ours begins so."""
_IN_A_ROW: Final = 5
_LONGEST_ID: Final = 1_500
"""A caller may choose a question's id; a longer one fits into no button and no form."""


def buttons(card: QuestionCard, secret: bytes, *, is_folded: bool = False) -> list[Block]:
    """Give the rows of buttons that an open question has; an event has none."""
    if len(compact(card.id)) > _LONGEST_ID:
        return []
    match card.kind:
        case "approval":
            return [_row(_approval(card, secret, is_folded=is_folded))]
        case "choice":
            return _choice(card, secret)
        case "text":
            return [_row([_button(card, secret, "answer", "Answer…", "primary")])]
        case "form":
            return [_row([_button(card, secret, "fill", "Fill in…", "primary")])]
        case "event":
            return []
        case never:
            assert_never(never)


def _approval(card: QuestionCard, secret: bytes, *, is_folded: bool) -> list[Block]:
    row = [
        _button(card, secret, "approve", "Approve", "primary"),
        _button(card, secret, "deny", "Deny", "danger"),
        _button(card, secret, "deny-reason", "Deny with a reason…"),
    ]
    if card.tool and card.arguments:
        row.append(_button(card, secret, "edit", "Approve with edits…"))
    newest = proposal(card)
    if newest is not None:
        row.append(_button(card, secret, f"{AGREE}{newest[0]}", "Approve as edited"))
    if is_folded:
        row.append(_button(card, secret, "show", "Show all"))
    return row


def _choice(card: QuestionCard, secret: bytes) -> list[Block]:
    if len(card.options) <= limits.ACTIONS:
        each = [
            _button(card, secret, f"choose-{index}", option.name)
            for index, option in enumerate(card.options)
        ]
        return [_row(each[at : at + _IN_A_ROW]) for at in range(0, len(each), _IN_A_ROW)]
    select = _select(card, secret)
    return [_row([select or _button(card, secret, "pick", "Choose…", "primary")])]


def _select(card: QuestionCard, secret: bytes) -> Block | None:
    """Give a menu in the message itself, where the signed values fit into one."""
    options = [
        {"text": plain(option.name, limits.OPTION), "value": sign_action(secret, card, name)}
        for name, option in ((f"choose-{at}", one) for at, one in enumerate(card.options))
    ]
    longest = max(len(str(option["value"])) for option in options)
    if len(options) > limits.OPTIONS or longest > limits.OPTION_VALUE:
        return None
    return {
        "type": "static_select",
        "action_id": f"{ACTION_PREFIX}choose",
        "placeholder": plain("Choose one", limits.PLACEHOLDER),
        "options": options,
    }


def _row(elements: Sequence[Block]) -> Block:
    return {"type": "actions", "elements": list(elements)}


def _button(card: QuestionCard, secret: bytes, name: str, text: str, style: str = "") -> Block:
    button = {
        "type": "button",
        "action_id": f"{ACTION_PREFIX}{name}",
        "text": plain(text, limits.BUTTON),
        "value": sign_action(secret, card, name),
    }
    return {**button, "style": style} if style else button
