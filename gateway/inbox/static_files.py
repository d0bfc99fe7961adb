"""Serving our own files, and taking browsers' reports of what our policy has stopped."""

from __future__ import annotations

import structlog
from aiohttp import web

from gateway.http.problems import NOT_FOUND, Problem
from gateway.inbox.answers import Answer
from gateway.inbox.headers import STATIC
from gateway.inbox.requests import InboxRequest

log = structlog.get_logger(__name__)


async def serve(request: InboxRequest) -> Answer:
    """Give a file by its address, which holds its digest."""
    found = request.house.assets.find(request.params["file"])
    if found is None:
        raise Problem(NOT_FOUND, "There is no such file.")
    headers = {**STATIC, "Content-Type": found.content_type}
    return web.Response(body=found.body, headers=headers)


async def report(request: InboxRequest) -> Answer:
    """Count a report; what it says is a stranger's, so it is not kept."""
    request.house.desk.meters.policy_reports += 1
    if await request.house.limits.is_worth_a_line():
        log.warning("browser reports that the policy stopped something")
    return web.Response(status=204)
