"""The CI pipeline: it fails, and says so by a webhook that is signed as GitHub signs its own."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count

import aiohttp

_PAUSES = (0.3, 0.5, *(1.0,) * 30)
"""Between two tries while the server is away; a delivery that comes twice has one effect."""


@dataclass
class Pipeline:
    """Builds of `acme/shop`, all of which fail."""

    url: str
    secret: str
    runs: list[str] = field(default_factory=list)
    """What became of each."""
    _numbers: count[int] = field(default_factory=lambda: count(101))

    async def fail(self) -> str:
        """Let a build fail, and tell until the server has taken it."""
        number = next(self._numbers)
        body = json.dumps(_payload(number)).encode()
        digest = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "workflow_run",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={digest}",
        }
        told = await self._tell(body, headers)
        self.runs.append(f"build #{number} failed: {told}")
        return self.runs[-1]

    async def _tell(self, body: bytes, headers: dict[str, str]) -> str:
        async with aiohttp.ClientSession(trust_env=False) as session:
            for pause in _PAUSES:
                try:
                    async with session.post(self.url, data=body, headers=headers) as answer:
                        if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                            return f"POST /hooks/ci → {answer.status}"
                except aiohttp.ClientConnectionError:
                    pass
                await asyncio.sleep(pause)
        return "nobody took it"


def _payload(number: int) -> dict[str, object]:
    return {
        "action": "completed",
        "repository": {"full_name": "acme/shop"},
        "workflow_run": {
            "id": 9_000_000 + number,
            "name": "Build and test",
            "conclusion": "failure",
            "run_number": number,
            "run_attempt": 1,
            "html_url": f"https://github.example/acme/shop/actions/runs/{9_000_000 + number}",
            "head_branch": "main",
            "head_sha": hashlib.sha256(str(number).encode()).hexdigest()[:40],
            "event": "push",
            "actor": {"login": "ann"},
            "head_commit": {"message": "Make the checkout faster"},
        },
    }
