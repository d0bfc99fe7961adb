"""How the channel is set up: a value that the wiring makes from the settings."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackOptions:
    """One app of Slack's. What is a secret is not shown when this is printed."""

    secret_key: bytes = field(repr=False)
    """Signs what buttons and forms carry."""
    signing_secret: str = field(default="", repr=False)
    """Proves that a request over HTTP is Slack's; empty: nothing is taken over HTTP."""
    bot_token: str = field(default="", repr=False)
    """For one workspace; many bring their own clients."""
    app_token: str = field(default="", repr=False)
    """For Socket Mode; empty: no socket is opened."""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    """For many workspaces, by OAuth."""
    public_url: str = ""
    """Where we are, for OAuth's way back."""
    api_url: str = ""
    require_mention: bool = False
    """Words in a channel's thread that don't mention the agent are not for it."""
    ping_seconds: float = 10.0
    """How often the line of Socket Mode is looked after."""
