"""What Slack needs from the environment, and what does not fit together."""

from __future__ import annotations

import pytest

from gateway.settings.channel_settings import SlackSettings
from gateway.settings.environment import SettingsError, load

APP = {"SLACK_CLIENT_ID": "111.222", "SLACK_CLIENT_SECRET": "s"}
BOT = {"SLACK_BOT_TOKEN": "xoxb-1"}
SIGNED = {"SLACK_SIGNING_SECRET": "shhh"}


@pytest.mark.parametrize(
    ("given", "is_for_many"),
    [
        ({**BOT, **SIGNED}, False),
        ({**APP, **SIGNED}, True),
        ({**APP, **BOT, **SIGNED}, False),
        ({**APP, **BOT, "SLACK_APP_TOKEN": "xapp-1"}, False),
    ],
)
def test_a_client_id_is_for_many_workspaces_or_beside_a_token_for_signing_in(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], *, is_for_many: bool
) -> None:
    """By Socket Mode as well: signing in needs no signing secret."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load(SlackSettings)

    assert settings.is_on
    assert settings.is_for_many is is_for_many


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (APP, "SLACK_SIGNING_SECRET"),
        ({"SLACK_CLIENT_ID": "1"}, "SLACK_CLIENT_SECRET"),
        ({"SLACK_CLIENT_SECRET": "1", **BOT, **SIGNED}, "SLACK_CLIENT_ID"),
        (BOT, "SLACK_SIGNING_SECRET"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], named: str
) -> None:
    """With what it should look like, before anything starts."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=named):
        load(SlackSettings)
