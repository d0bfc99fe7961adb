"""The reply in a mail's bodies: plain text where there is some, else HTML."""

from __future__ import annotations

from channels.email.markup.body import lines_of
from channels.email.parts import Body
from channels.email.trimming.lines import MOST_CHARACTERS, split
from channels.email.trimming.trimmer import Reply, reply_of


def reply_in(bodies: list[Body], *, forwarded: bool) -> tuple[Reply, bool]:
    """Find the reply; tell also whether the bodies were longer than what is looked at."""
    lines: list[str] = []
    for body in bodies:
        lines += split(body.plain) if body.plain.strip() else lines_of(body.html)
        if sum(map(len, lines)) > MOST_CHARACTERS:
            break
    structured = any(not body.plain.strip() and body.html for body in bodies)
    is_truncated = sum(len(body.plain) for body in bodies) > MOST_CHARACTERS
    return reply_of(lines, forwarded=forwarded, structured=structured), is_truncated
