"""The page behind a link in a mail: what is asked, exactly, and a form to answer it. Pure.

It works without JavaScript, fetches nothing, and can't be framed. All that is not ours is escaped;
an agent's Markdown passes through the same sieve as in mail.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from typing import Final, assert_never

from agent_core.thread.events import Millis
from agent_core.thread.times import spoken
from channels.email.ballots import rules, votes
from channels.email.form_inputs import input_html
from channels.email.html import markdown_html
from channels.email.link_style import STYLE
from channels.form_inputs import input_name
from channels.outgoing import QuestionCard
from channels.posted_answers import SHOWN, Mistakes, Posted, card_digest, form_fields
from channels.proposals import proposed
from channels.spelling import difference, spelled, tidy, visible
from channels.web_routes import WebResponse

_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_HEADERS: Final = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
}
_TITLES: Final = {
    "text": "A question for you",
    "choice": "A choice for you",
    "approval": "Your approval is needed",
    "form": "A form for you",
    "event": "The agent waits",
}


def notice_page(status: int, title: str, words: str) -> WebResponse:
    """Give a page that only tells something."""
    shown = "".join(f"<p>{_line(one)}</p>" for one in tidy(words).split("\n") if one.strip())
    return _page(status, title, f"<h1>{_line(title)}</h1>{shown}")


def question_page(
    card: QuestionCard,
    email: str,
    *,
    posted: Posted | None = None,
    mistakes: Mistakes | None = None,
    status: int = 200,
) -> WebResponse:
    """Show an open question to one person; with what they typed, where something is to mend."""
    wrong = mistakes or Mistakes()
    told = f'<p class="wrong" role="alert">{_line(wrong.whole)}</p>' if wrong.whole else ""
    title = _TITLES[card.kind]
    parts = [
        f'<h1 class="dim">{_line(title)}{" · urgent" if card.urgency == "high" else ""}</h1>',
        f'<div class="prompt">{markdown_html(card.prompt)}</div>',
        _proposal(card),
        _ballot(card),
        f'<div class="context">{markdown_html(card.context)}</div>' if card.context.strip() else "",
        told,
        _form(card, posted, wrong),
        f'<p class="dim">{_circumstances(card, email)}</p>',
    ]
    return _page(status, title, "".join(parts))


def _page(status: int, title: str, body: str) -> WebResponse:
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="robots" content="noindex,nofollow">'
        f"<title>{_line(title)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )
    return WebResponse(status=status, body=html.encode("utf-8", "replace"), headers=_HEADERS)


def _proposal(card: QuestionCard) -> str:
    """Show the tool and its arguments, all of them."""
    if not card.tool:
        return ""
    arguments = spelled(card.arguments or {})
    told = "It wants to run exactly this:" if arguments else "It wants to run, without arguments:"
    shown = f"\n{escape(arguments)}" if arguments else ""
    return f"<p>{told}</p><pre><b>{escape(visible(card.tool))}</b>{shown}</pre>"


def _ballot(card: QuestionCard) -> str:
    """Show what it takes where several decide, who has said what, and what was changed."""
    told = f"<p>{_line(rules(card))}</p>" if rules(card) else ""
    said = "".join(f"<li>{_line(one)}</li>" for one in votes(card))
    newest = proposed(card)
    changed = difference(card.arguments or {}, newest[1]) if newest else ""
    shown = f"<p>Proposed in its place:</p><pre>{escape(changed)}</pre>" if newest else ""
    return told + (f"<ul>{said}</ul>" if said else "") + shown


def _circumstances(card: QuestionCard, email: str) -> str:
    until = f" It expires at {spoken(Millis(card.expires_at))}." if card.expires_at else ""
    return f"You answer as {_line(email)}. Opening this page has changed nothing.{until}"


# --- the form -------------------------------------------------------------------------------------


def _form(card: QuestionCard, posted: Posted | None, wrong: Mistakes) -> str:
    match card.kind:
        case "approval":
            inner = _approval(card, posted)
        case "choice":
            inner = _choice(card, posted)
        case "text":
            inner = f"{_area('text', 'Your answer', posted)}{_button('answer', 'Send')}"
        case "form":
            inner = f"{_fields(card, posted, wrong)}{_button('answer', 'Send')}"
        case "event":
            return "<p>There is nothing to do here: the agent goes on when it happens.</p>"
        case never:
            assert_never(never)
    shown = f'<input type="hidden" name="{SHOWN}" value="{card_digest(card)}">'
    return f'<form method="post" accept-charset="utf-8">{shown}{inner}</form>'


def _approval(card: QuestionCard, posted: Posted | None) -> str:
    arguments = json.dumps(card.arguments or {}, ensure_ascii=False, indent=2)
    edited = "".join((posted or {}).get("arguments", ())[:1]) or arguments
    is_edited = edited.replace("\r\n", "\n").strip() != arguments
    edits = (
        f"<details{' open' if is_edited else ''}><summary>Approve with other arguments</summary>"
        '<label for="arguments">The arguments, as JSON</label>'
        f'<textarea id="arguments" name="arguments" rows="8">\n{escape(edited)}</textarea>'
        f"{_button('edit', 'Approve with edits')}</details>"
    )
    newest = proposed(card)
    agree = _button(newest[0], "Approve what is proposed in its place") if newest else ""
    as_is = "Approve as it was asked" if newest else "Approve"
    buttons = f"{agree}{_button('approve', as_is)}{_button('deny', 'Deny', kind='deny')}"
    comment = _area("comment", "A reason or remark, if you like: the agent is told", posted, rows=3)
    return f'{comment}<div class="buttons">{buttons}</div>{edits if card.arguments else ""}'


def _choice(card: QuestionCard, posted: Posted | None) -> str:
    chosen = (posted or {}).get("choice", ())
    rows = "".join(
        f'<label class="choice"><input type="radio" name="choice" value="{at}" required'
        f"{' checked' if str(at) in chosen else ''}> <span><b>{_line(one.name)}</b>"
        f"{f'<br>{_line(one.description)}' if one.description.strip() else ''}</span></label>"
        for at, one in enumerate(card.options)
    )
    choices = f'<fieldset><legend class="dim">Choose one</legend>{rows}</fieldset>'
    return f"{choices}{_button('answer', 'Send')}"


def _fields(card: QuestionCard, posted: Posted | None, wrong: Mistakes) -> str:
    return "".join(
        input_html(
            one,
            at,
            None if posted is None else posted.get(input_name(at), ()),
            wrong.by_input.get(input_name(at), ""),
        )
        for at, one in enumerate(form_fields(card))
    )


def _area(name: str, label: str, posted: Posted | None, rows: int = 6) -> str:
    typed = "".join((posted or {}).get(name, ())[:1])
    return (
        f'<label for="{name}">{_line(label)}</label>'
        f'<textarea id="{name}" name="{name}" rows="{rows}">\n{escape(typed)}</textarea>'
    )


def _button(value: str, label: str, kind: str = "go") -> str:
    return f'<button class="{kind}" name="decision" value="{value}">{_line(label)}</button>'


def _line(text: str) -> str:
    return escape(visible(" ".join(text.split())))
