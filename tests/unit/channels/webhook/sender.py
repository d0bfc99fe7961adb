"""A sender: knows a source's secret, and signs as the scheme has it."""

from __future__ import annotations

import hmac
import itertools
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from channels.recording import Recording
from channels.web_routes import WebRequest, WebResponse
from channels.webhook.channel import Limit, WebhookChannel
from channels.webhook.declaration import Declaration, Source, make_source
from channels.webhook.schemes import SchemeName

NOW = 1_763_272_900
SECRET = b"jenkins:hunter2"
KEY = b"0123456789abcdef0123456789abcdef"
WHSEC = b"whsec_" + b64encode(KEY)
SIGNED: tuple[SchemeName, ...] = ("standard", "github", "gitlab", "circleci", "buildkite", "hmac")
ALL: tuple[SchemeName, ...] = (*SIGNED, "bearer", "basic")

_numbers = itertools.count(1)


def code(body: bytes, secret: bytes = SECRET) -> str:
    """Give the HMAC that most schemes send."""
    return hmac.new(secret, body, "sha256").hexdigest()


def standard(body: bytes, time: int) -> dict[str, str]:
    """Sign as Standard Webhooks has it."""
    own = f"msg_{next(_numbers)}"
    digest = hmac.new(KEY, b"%b.%d.%b" % (own.encode(), time, body), "sha256").digest()
    return {
        "webhook-id": own,
        "webhook-timestamp": str(time),
        "webhook-signature": f"v1,{b64encode(digest).decode()}",
    }


_SIGN: dict[SchemeName, Callable[[bytes, int], dict[str, str]]] = {
    "standard": standard,
    "gitlab": standard,
    "github": lambda body, _: {
        "x-hub-signature-256": f"sha256={code(body)}",
        "x-github-delivery": f"d{next(_numbers)}",
    },
    "circleci": lambda body, _: {"circleci-signature": f"v1={code(body)}"},
    "buildkite": lambda body, time: {
        "x-buildkite-signature": f"timestamp={time},signature={code(b'%d.%b' % (time, body))}"
    },
    "hmac": lambda body, time: {
        "x-signature": code(b"%d.%b" % (time, body)),
        "x-time": str(time),
    },
    "bearer": lambda _body, _: {"authorization": f"Bearer {SECRET.decode()}"},
    "basic": lambda _body, _: {"authorization": f"Basic {b64encode(SECRET).decode()}"},
}


def sign(scheme: SchemeName, body: bytes, time: int = NOW) -> dict[str, str]:
    """Give the headers that prove it."""
    return _SIGN[scheme](body, time)


def source(scheme: SchemeName = "github", name: str = "ci", **more: Any) -> Source:  # noqa: ANN401 (of Declaration)
    """Declare a source that says what the payload's `text` says."""
    own = {"header": "X-Signature", "timestamp": "X-Time"} if scheme == "hmac" else {}
    told = {"message": "{{ payload.text }}", "agent": "agent", **own, **more}
    secret = WHSEC if scheme in {"standard", "gitlab"} else SECRET
    return make_source(Declaration(name=name, secrets=(secret,), scheme=scheme, **told))


@dataclass(frozen=True)
class Answer:
    """What the sender was told."""

    status: int
    kind: str
    body: Any
    retry_after: str = ""

    @classmethod
    def of(cls, response: WebResponse) -> Answer:
        """Read it."""
        kind = response.headers["Content-Type"]
        wait = response.headers.get("Retry-After", "")
        return cls(response.status, kind, json.loads(response.body), wait)


class Door:
    """A channel on a recording, and senders in front of it."""

    def __init__(
        self,
        *sources: Source,
        recording: Recording | None = None,
        limits: Mapping[str, Limit] | None = None,
    ) -> None:
        """Put the sources up."""
        self.now = float(NOW)
        self.recording = recording or Recording()
        self.channel = WebhookChannel(sources or [source()], limits=limits, clock=lambda: self.now)
        self._schemes = {one.name: one.lock.scheme for one in sources or [source()]}

    async def post(self, body: bytes, headers: dict[str, str], name: str = "ci") -> Answer:
        """Send raw bytes."""
        await self.channel.start(self.recording.house())
        (handler,) = self.channel.routes().values()
        request = WebRequest(method="POST", path=f"/hooks/{name}", headers=headers, body=body)
        return Answer.of(await handler(request))

    async def sends(self, payload: Any, name: str = "ci", **headers: str) -> Answer:  # noqa: ANN401 (any JSON)
        """Send a payload, signed."""
        body = json.dumps(payload).encode()
        more = {key.replace("_", "-"): value for key, value in headers.items()}
        return await self.post(body, {**sign(self._schemes[name], body), **more}, name)
