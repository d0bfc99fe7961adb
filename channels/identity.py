"""Identity: how somebody shows who they are, who signs in to our pages by way of a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from agent_core.errors import ParleyError
from channels.people import Actor

SLACK_BACK: Final = "/signin/slack/back"
"""Where Slack sends people back to, who sign in with it: the app's settings must name it."""


class Unidentified(ParleyError):
    """The service did not say who it is; the message is for the person."""


class IdentityProvider(Protocol):
    """Signs people in by OpenID Connect."""

    def address(self, *, state: str, nonce: str) -> str:
        """Give the service's page where somebody says that it is them."""
        ...

    async def identify(self, code: str, *, nonce: str) -> Actor:
        """Exchange the code that they came back with for who they are, or raise Unidentified."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@runtime_checkable
class Mailer(Protocol):
    """Who mails a link to somebody that wants to sign in: the email channel does."""

    async def mail_link(self, email: str, *, subject: str, words: Sequence[str], url: str) -> None:
        """Send it, with one sentence before the link and the rest behind; raises ChannelError."""
        ...
