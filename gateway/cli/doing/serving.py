"""`parley serve`: read and check everything, and only then start."""

from __future__ import annotations

import asyncio
from typing import Literal

from gateway.cli.doing import screen
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import (
    ModelSettings,
    Settings,
    adopt_env_file,
    load,
    load_settings,
    warnings,
)
from gateway.telemetry import logs


def serve(role: Literal["all", "web", "worker"], *, as_json: bool) -> None:
    """Run the server until it is told to stop."""
    for line in warnings():
        screen.say(f"parley: {line}")
    settings = load_settings()
    adopt_env_file()
    if not settings.agents:
        screen.say("parley: PARLEY_AGENTS is not set, so no agent can be launched")
    form = "json" if as_json else settings.log_format
    logs.configure(settings.log_level, form, secrets=_secrets(settings))
    from gateway.server import serve as run  # noqa: PLC0415 - after the logs are set up

    asyncio.run(run(settings, role))


def _secrets(settings: Settings) -> tuple[str, ...]:
    found = (settings.secret_key, load(ModelSettings).api_key)
    return (
        *(secret.get_secret_value() for secret in found if secret is not None),
        *load(EmailSettings).secrets,
    )
