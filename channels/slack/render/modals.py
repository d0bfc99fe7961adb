"""The forms that a click opens. What comes back from them, `filled` reads."""

from __future__ import annotations

from typing import Any, Final

from agent_core.json_values import JsonObject
from channels.form_fields import Field, argument_fields, schema_fields
from channels.outgoing import QuestionCard
from channels.slack.render import limits
from channels.slack.render.brief import brief
from channels.slack.render.buttons import ACTION_PREFIX
from channels.slack.render.cards import section
from channels.slack.render.escaping import code_block, mrkdwn
from channels.slack.render.inputs import can_show, input_block
from channels.slack.render.limits import Block, plain
from channels.slack.render.pieces import whole_lines
from channels.slack.tokens import card_digest, sign_metadata
from channels.spelling import spelled, visible

WORDS: Final = "words"
"""The block of an input that takes words: an answer, a reason, a wish."""
PICK: Final = "pick"
"""The block of a menu of options."""
_MOST_SECTIONS: Final = 30
_QUOTED: Final = 1_000


def question_modal(
    name: str, card: QuestionCard, *, secret: bytes, context: JsonObject
) -> Block | None:
    """Give the form that belongs to an action, or None for one that needs no form.

    `context` (a few hundred bytes) is signed and comes back with the form: where it was opened.
    """
    make = _MODALS.get(name)
    if make is None:
        return None
    title, submit, blocks = make(card)
    meta = {"action": name, "question": card.id, "digest": card_digest(card), "context": context}
    return _view(name, title, submit, blocks, sign_metadata(secret, meta))


def ask_modal(text: str, *, secret: bytes, context: JsonObject) -> Block:
    """Give the form of the message shortcut: what should the agent do with this message?"""
    quoted = [section(code_block(text, _QUOTED))] if text.strip() else []
    blocks = [*quoted, _words_input("What should the agent do?", is_optional=True)]
    meta: JsonObject = {"action": "ask", "context": context}
    return _view("ask", "Ask the agent", "Ask", blocks, sign_metadata(secret, meta))


def form_fields(card: QuestionCard) -> tuple[Field, ...]:
    """Give what the form of this question asks, in the order of its blocks."""
    schema = card.schema or {}
    return schema_fields(schema) or (_whole("Your answer", schema={}),)


def edit_fields(card: QuestionCard) -> tuple[Field, ...]:
    """Give the arguments that can be edited, in the order of their blocks."""
    arguments = card.arguments or {}
    return argument_fields(arguments) or (_whole("Arguments", default=arguments),)


def _whole(
    label: str, *, schema: JsonObject | None = None, default: JsonObject | None = None
) -> Field:
    return Field(
        name="",
        label=label,
        shape="json",
        is_required=True,
        is_whole=True,
        schema=schema,
        default=default,
    )


def _view(name: str, title: str, submit: str, blocks: list[Block], metadata: str) -> Block:
    view: dict[str, Any] = {
        "type": "modal",
        "callback_id": f"{ACTION_PREFIX}{name}",
        "title": plain(title, limits.MODAL_TITLE),
        "close": plain("Cancel" if submit else "Close", limits.MODAL_BUTTON),
        "private_metadata": metadata,
        "blocks": blocks,
    }
    return {**view, "submit": plain(submit, limits.MODAL_BUTTON)} if submit else view


# --- one for each action --------------------------------------------------------------------------

_Made = tuple[str, str, list[Block]]


def _deny(card: QuestionCard) -> _Made:
    return "Deny", "Deny", [*_prompt(card), _words_input("Why not? The agent is told.")]


def _answer(card: QuestionCard) -> _Made:
    return "Answer", "Send", [*_prompt(card), _words_input("Your answer")]


def _fill(card: QuestionCard) -> _Made:
    inputs = [input_block(field, at) for at, field in enumerate(form_fields(card))]
    return "Fill in", "Send", [*_prompt(card), *inputs]


def _edit(card: QuestionCard) -> _Made:
    blocks = [_edit_block(field, at) for at, field in enumerate(edit_fields(card))]
    submit = "Approve" if any(block["type"] == "input" for block in blocks) else ""
    return "Approve with edits", submit, [*_prompt(card), *blocks]


def _edit_block(field: Field, at: int) -> Block:
    if can_show(field):
        return input_block(field, at)
    return section(f"*{mrkdwn(visible(field.label), 200)}* is too long to edit here: it stays.")


def _show(card: QuestionCard) -> _Made:
    parts = list(whole_lines(spelled(card.arguments or {}), limits.SECTION // 2))
    shown = [section(code) for part in parts for code in _code_sections(part)]
    if len(shown) > _MOST_SECTIONS:
        note = section("_… cut here: the rest stands in the thread's log._")
        shown = [*shown[:_MOST_SECTIONS], note]
    return "Arguments", "", shown or [section("There are no arguments.")]


def _code_sections(part: str) -> list[str]:
    """Escaping can make text five times as long: then in smaller parts."""
    whole = code_block(part, limits.SECTION * 3)
    if len(whole) <= limits.SECTION:
        return [whole]
    small = (limits.SECTION - 20) // 5
    return [code_block(part[at : at + small], limits.SECTION) for at in range(0, len(part), small)]


def _pick(card: QuestionCard) -> _Made:
    options = [
        {"text": plain(option.name, limits.OPTION), "value": str(at)}
        for at, option in enumerate(card.options)
    ]
    groups = [
        {"label": plain(f"{at + 1} to {at + len(part)}", limits.OPTION), "options": part}
        for at in range(0, len(options), limits.OPTIONS)
        if (part := options[at : at + limits.OPTIONS])
    ]
    offered = {"option_groups": groups[:100]} if len(groups) > 1 else {"options": options}
    menu = {
        "type": "input",
        "block_id": PICK,
        "label": plain("Choose one", limits.LABEL),
        "element": {"type": "static_select", "action_id": PICK, **offered},
    }
    return "Choose", "Send", [*_prompt(card), menu]


def _prompt(card: QuestionCard) -> list[Block]:
    shown = brief(card.prompt, limits.SECTION)
    return [section(shown)] if shown.strip() else []


def _words_input(label: str, *, is_optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": WORDS,
        "label": plain(label, limits.LABEL),
        "optional": is_optional,
        "element": {"type": "plain_text_input", "action_id": WORDS, "multiline": True},
    }


_MODALS: Final = {
    "deny-reason": _deny,
    "answer": _answer,
    "fill": _fill,
    "edit": _edit,
    "show": _show,
    "pick": _pick,
}
