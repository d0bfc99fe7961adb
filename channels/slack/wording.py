"""The gateway's words as Slack shows them: harmless, and with people by their names. Pure."""

from __future__ import annotations

import re
from typing import Final

from channels.slack.render.escaping import mrkdwn

_PERSON: Final = re.compile(r"\bslack:([A-Z0-9]+):([UW][A-Z0-9]+)\b(?!:[0-9A-Z])")


def wording(words: str, team: str, limit: int) -> str:
    """Escape words, and write an actor's id as the mention that Slack shows as a name.

    Only one person sees it, so the one who is named is not called.
    """
    return _PERSON.sub(lambda found: _named(found, team), mrkdwn(words, limit))


def _named(found: re.Match[str], team: str) -> str:
    return f"<@{found[2]}>" if found[1] == team else found[0]
