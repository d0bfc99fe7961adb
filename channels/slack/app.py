"""Bolt: what it does for us, and the one middleware that takes everything.

Bolt acknowledges an event before its listeners run, and answers what nobody listens to with 404
(over Socket Mode with nothing, and Slack sends it for ever). So we have no listeners: a middleware
takes every payload, durably, and only what it returns goes back.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp, AsyncBoltContext
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from agent_core.errors import ParleyError
from channels.slack.reception import Reception
from channels.slack.replies import Reply

_log = logging.getLogger("parley.slack")
_bolt_log = logging.getLogger("parley.slack.bolt")
_bolt_log.setLevel(logging.ERROR)  # it warns of tokens in the environment, which are ours to read
_SOON = 5


def new_app(reception: Reception, client: AsyncWebClient) -> AsyncApp:
    """Make the Bolt app; signatures are checked before it (see `signatures`)."""
    app = AsyncApp(
        name="parley",
        logger=_bolt_log,
        client=client,
        signing_secret="",
        authorize=_AnyWorkspace(),
        request_verification_enabled=False,
        ignoring_self_events_enabled=False,  # the parser knows every bot, and us
        attaching_function_token_enabled=False,
    )
    app.use(_TakeEverything(reception))
    return app


class _AnyWorkspace(AsyncAuthorize):
    """Let everything through to the reception, which knows the workspace better.

    Bolt would take `auth.test` for each event, and turn a failed one into a 200: the event is lost.
    """

    def __init__(self) -> None:
        """Need nothing."""

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,  # noqa: ARG002 (Bolt passes it)
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_actor: str | None,
    ) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, user_id=user_id)


class _TakeEverything(AsyncMiddleware):
    """The last middleware: nothing goes past it."""

    def __init__(self, reception: Reception) -> None:
        self._reception = reception

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 (Bolt passes it)
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002, ARG002 (Bolt's name; never called)
    ) -> BoltResponse:
        """Take it; a bug raises, and Bolt answers with 500."""
        try:
            reply = await self._reception.receive(req.body)
        except ParleyError as exc:  # the store, a full queue, or Slack itself: later
            _log.warning("slack payload not taken", extra={"error": type(exc).__name__})
            wait = getattr(exc, "retry_after", None) or _SOON
            return BoltResponse(status=503, headers={"Retry-After": str(int(wait))})
        return _response(reply)


def _response(reply: Reply) -> BoltResponse:
    return BoltResponse(status=reply.status, body="" if reply.body is None else reply.body)
