"""Whatever anybody writes is text: every string in every field leaves the page's markup alone."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from agent_core.thread.events import Millis
from gateway.control.views import HaltView
from gateway.inbox.assets import Assets
from gateway.inbox.pages.diffs import side_by_side
from gateway.inbox.pages.known import Delivered, Known, asked_questions, by_event, chosen_tools
from gateway.inbox.pages.timeline import timeline
from gateway.inbox.pages.waiting import Told, item
from gateway.inbox.rendering import Rendering
from gateway.inbox.visitor import Visitor
from gateway.outbox.cards import card
from gateway.people.directory import Directory
from tests.doubles.naughty_log import KINDS, log_of, row_of
from tests.payloads.naughty import naughty

AT = Millis(1_789_000_000_000)
_TAG = re.compile("<[^>]*>")
_VALUE = re.compile('"[^"]*"')
FRAME: dict[str, Any] = {
    "visitor": Visitor(kind="person", name="otto"),
    "csrf": "token",
    "notice": "",
    "path": "/",
    "theme": "",
    "halt": "",
}


@cache
def rendering() -> Rendering:
    """Compile the templates once."""
    return Rendering(Assets())


def rendered(template: str, **context: object) -> str:
    """Render a page as the site does."""
    return rendering().text(template, {**FRAME, **context})


def timeline_page(text: str) -> str:
    """Render entries of every kind that hold a text everywhere."""
    events = log_of(text, AT)
    copies = [Delivered(4, "question.asked", f"slack:{text}", "failed", text)]
    known = Known(
        agent=text,
        tools=chosen_tools(events, 1),
        questions=asked_questions(events),
        deliveries=by_event(copies),
    )
    return rendered("pages/entries.html", entries=timeline(events, 1, known))


def question_pages(text: str) -> str:
    """Render a question of every kind that holds a text everywhere, and edits of its arguments."""
    told = Told(agent=text, requester=text)
    rows = [row_of(text, kind, AT, "q", "t") for kind in KINDS]
    items = [item(card(row.body, Directory(), "inbox"), told, AT) for row in rows]
    context = {"told": text, "wrong": text, "typed": {"comment": text, "text": text}}
    pages = [rendered("pages/question.html", item=one, may_answer=True, **context) for one in items]
    sides = side_by_side({"a": text, text: 1}, {"a": f"{text}x", text: text})
    pages.append(
        rendered(
            "pages/review.html",
            item=items[0],
            rows=sides,
            is_changed=True,
            arguments=text,
            typed=[("field-0", text)],
        )
    )
    halted = HaltView(halted=True, reason=text)
    pages.append(rendered("pages/halt.html", halted=halted, wrong=text))
    return "".join(pages)


def markup(html: str) -> set[str]:
    """Give every tag with the names of its attributes, whatever stands in them."""
    return {_VALUE.sub('""', tag) for tag in _TAG.findall(html)}


def test_there_are_five_hundred_of_them() -> None:
    """A list that shrinks by accident would pass every other test."""
    assert len(naughty()) >= 500
    assert sum("pwned" in one for one in naughty()) > 400


def test_no_string_adds_markup_to_a_timeline() -> None:
    """Every tag that is there is there with harmless words, too."""
    harmless = markup(timeline_page("harmless") + timeline_page("harm:less"))

    for text in naughty():
        assert markup(timeline_page(text)) <= harmless, text


def test_no_string_adds_markup_to_a_question() -> None:
    """Prompts, options, forms, arguments, votes, comments, edits and reasons alike."""
    harmless = markup(question_pages("harmless") + question_pages("") + question_pages("x\ny"))

    for text in naughty():
        assert markup(question_pages(text)) <= harmless, text
