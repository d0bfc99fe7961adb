"""What goes back to Slack at once, on the connection that brought something. Values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_core.json_values import JsonObject
from channels.slack.render import limits
from channels.slack.render.cards import section
from channels.slack.render.filled import Mistakes, mistaken
from channels.slack.render.limits import plain
from channels.slack.wording import wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """200 acknowledges: Slack sends it no more. A JSON body says something to whoever acted."""

    status: int = 200
    body: JsonObject | None = None


DONE = Reply()


def mend(mistakes: Mistakes) -> Reply:
    """Keep a form open, and show at its inputs what to mend."""
    return Reply(body={"response_action": "errors", "errors": mistakes.errors})


def mend_whole(view: Mapping[str, Any], words: str, team: str) -> Reply:
    """Keep a form open, and say what is wrong with all of it."""
    mistakes = mistaken(view, words)
    return mend(mistakes) if mistakes.errors else note(words, team)


def note(words: str, team: str) -> Reply:
    """Show words in the place of a form."""
    view = {
        "type": "modal",
        "title": plain("Not taken", limits.MODAL_TITLE),
        "close": plain("Close", limits.MODAL_BUTTON),
        "blocks": [section(wording(words, team, limits.SECTION))],
    }
    return Reply(body={"response_action": "update", "view": view})
