"""The templates, with escaping on for all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from aiohttp import web
from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader

from channels.slack.double.page.markup import markdown, mrkdwn, web_link

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_KINDS = {"css": "text/css", "js": "text/javascript"}


def _at(ts: str) -> str:
    """Show when something was said."""
    return datetime.fromtimestamp(float(ts), UTC).strftime("%H:%M")


def environment(*more: BaseLoader) -> Environment:
    """Make the environment; whoever shows a workspace in a page of its own adds its templates."""
    ours = PackageLoader("channels.slack.double.page", "templates")
    made = Environment(
        loader=ChoiceLoader([*more, ours]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"markdown": markdown, "mrkdwn": mrkdwn, "web_link": web_link, "at": _at}
    return made


_ENVIRONMENT = environment()


def page(template: str, **values: Any) -> web.Response:  # noqa: ANN401 (whatever it shows)
    """Render a page; no script or style but our own runs in it."""
    text = _ENVIRONMENT.get_template(template).render(**values)
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return web.Response(text=text, content_type="text/html", headers=headers)


def asset(name: str) -> web.Response:
    """Give one of our own files: the style, the script."""
    text = files("channels.slack.double.page").joinpath("assets", name).read_text("utf-8")
    return web.Response(text=text, content_type=_KINDS[name.rpartition(".")[2]])
