"""Bolt as its documentation shows it, with a listener that does nothing, and no calls to Slack."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bench.slack.mentions import BOT, BOT_TOKEN, SIGNING_SECRET, TEAM


async def main(port: int) -> None:
    """Serve until killed."""

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=TEAM, bot_token=BOT_TOKEN, bot_id="BBOT", bot_user_id=BOT
        )

    app = AsyncApp(signing_secret=SIGNING_SECRET, authorize=authorize)

    @app.event("app_mention")
    async def nothing() -> None:
        pass

    async def ready(_request: web.Request) -> web.Response:
        return web.Response()

    served = app.web_app(path="/slack/events")
    served.router.add_get("/readyz", ready)
    runner = web.AppRunner(served, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[2])))
