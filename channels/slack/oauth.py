"""Installing the app by OAuth: two pages, one that leads to Slack and one to come back to.

Slack sends people back with a code that we exchange for the workspace's token. Bolt's own flow does
the work; the state is single use, ten minutes old at most, and bound to the browser by a cookie.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from logging import Logger, getLogger
from urllib.parse import urlsplit, urlunsplit

from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore

from channels.intake import Memory
from channels.slack.clients import UNREACHABLE
from channels.slack.connections import DEFAULT_API_URL, Connections
from channels.slack.installations import Installations
from channels.slack.manifest import BOT_SCOPES
from channels.web_routes import WebHandler, WebRequest, WebResponse

INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
_STATE_SECONDS = 600
_NOT_YET = WebResponse(status=503, headers={"Retry-After": "5"})
_log = getLogger("parley.slack")

_AWAY = "Slack can't be reached just now. Begin again in a moment."
_REASONS = {
    "access_denied": "The installation was cancelled. Nothing has changed.",
    "invalid_browser": "This page was opened in another browser, or too late. Begin again.",
    "invalid_state": "This link was used before, or is too old. Begin again.",
    "missing_code": "Slack sent no code along. Begin again.",
    "invalid_code": "Slack did not take the code: it was used before, or is too old. Begin again.",
}


class States(AsyncOAuthStateStore):
    """The states that were given out: each counts once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def logger(self) -> Logger:
        """Where Bolt's own flow writes."""
        return _log

    async def async_issue(self, *_args: object, **_kwargs: object) -> str:
        """Make one."""
        state = secrets.token_urlsafe(24)
        await self._memory.keep(f"state:{state}", b"1", seconds=_STATE_SECONDS)
        return state

    async def async_consume(self, state: str) -> bool:
        """Use one up."""
        return await self._memory.take(f"state:{state}") is not None


class _Flow(AsyncOAuthFlow):
    """Bolt's flow, with a page of our own: its own one loads a picture from elsewhere."""

    async def build_install_page_html(self, url: str, request: AsyncBoltRequest) -> str:  # noqa: ARG002 (Bolt passes it)
        """Lead to Slack."""
        return _html(
            "Add the agent to Slack", "Slack asks you what it may do.", url, "Add to Slack"
        )


class Installing:
    """The two pages; before the channel has started, they ask for patience."""

    def __init__(
        self, connections: Connections, *, client_id: str, client_secret: str, public_url: str
    ) -> None:
        self._connections = connections
        self._client_id = client_id
        self._client_secret = client_secret
        self._public_url = public_url
        self._flow: _Flow | None = None

    def begin(self, memory: Memory) -> None:
        """Learn where states and installations are kept."""
        settings = AsyncOAuthSettings(
            client_id=self._client_id,
            client_secret=self._client_secret,
            scopes=list(BOT_SCOPES),
            authorization_url=_authorize_url(self._connections.api_url),
            redirect_uri=f"{self._public_url}{REDIRECT_PATH}",
            install_path=INSTALL_PATH,
            redirect_uri_path=REDIRECT_PATH,
            installation_store=Installations(memory),
            state_store=States(memory),
            state_expiration_seconds=_STATE_SECONDS,
            callback_options=AsyncCallbackOptions(success=_succeeded, failure=_failed),
        )
        self._flow = _Flow(client=self._connections.bare(), settings=settings, logger=_log)

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Give the pages by their addresses."""
        return {("GET", INSTALL_PATH): self.install, ("GET", REDIRECT_PATH): self.come_back}

    async def install(self, request: WebRequest) -> WebResponse:
        """Show the button that leads to Slack."""
        if self._flow is None:
            return _NOT_YET
        return _answer(await self._flow.handle_installation(_asked(request)))

    async def come_back(self, request: WebRequest) -> WebResponse:
        """Exchange the code, and keep what we get."""
        if self._flow is None:
            return _NOT_YET
        try:
            return _answer(await self._flow.handle_callback(_asked(request)))
        except UNREACHABLE as exc:  # Bolt knows only of errors that Slack names
            _log.warning("not installed", extra={"why": type(exc).__name__})
            return _answer(_page(HTTPStatus.SERVICE_UNAVAILABLE, "Not installed", _AWAY))


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    where = args.installation.team_name or args.installation.enterprise_name or "the workspace"
    _log.info("installed", extra={"team": args.installation.team_id or ""})
    return _page(HTTPStatus.OK, f"Installed in {where}", "Mention the bot in a channel to begin.")


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    words = _REASONS.get(args.reason, "Something went wrong. Begin again.")
    _log.warning("not installed", extra={"why": args.reason if args.reason in _REASONS else "?"})
    return _page(HTTPStatus(args.suggested_status_code), "Not installed", words)


def _page(status: HTTPStatus, title: str, words: str) -> BoltResponse:
    body = _html(title, words, INSTALL_PATH, "Install")
    return BoltResponse(
        status=status, body=body, headers={"Content-Type": "text/html; charset=utf-8"}
    )


def _html(title: str, words: str, url: str, link: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<h1>{escape(title)}</h1><p>{escape(words)}</p>"
        f'<p><a href="{escape(url)}">{escape(link)}</a></p></html>'
    )


def _asked(request: WebRequest) -> AsyncBoltRequest:
    return AsyncBoltRequest(
        body="", query=request.query, headers=dict(request.headers), mode="http"
    )


def _answer(response: BoltResponse) -> WebResponse:
    headers = {name: values[0] for name, values in response.headers.items() if values}
    return WebResponse(status=response.status, body=(response.body or "").encode(), headers=headers)


def _authorize_url(api_url: str) -> str | None:
    """Let a double that stands in for Slack stand in for its page, too."""
    if api_url == DEFAULT_API_URL:
        return None
    parts = urlsplit(api_url)
    return urlunsplit((parts.scheme, parts.netloc, "/oauth/v2/authorize", "", ""))
