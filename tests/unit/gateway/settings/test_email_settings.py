"""What email needs from the environment, and what is refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import SettingsError, load, load_settings

CANARY = "canary-7f3a9c"
OURS = {"EMAIL_ADDRESS": "agent@example.com", "SMTP_URL": "smtp://a:b@mx.example.com"}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working folder, and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("PARLEY_", "OPENAI_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_")):
            monkeypatch.delenv(name)


def given(monkeypatch: pytest.MonkeyPatch, **variables: str) -> EmailSettings:
    """Load what an environment says."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load(EmailSettings)


def refusal(monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    """Give what is told of wrong settings."""
    with pytest.raises(SettingsError) as caught:
        given(monkeypatch, **variables)
    return str(caught.value)


def test_without_a_server_to_send_by_there_is_no_email(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address alone is good for looking at mails."""
    assert not load(EmailSettings).is_on
    assert not given(monkeypatch, EMAIL_ADDRESS="agent@example.com").is_on
    assert given(monkeypatch, **OURS).is_on


@pytest.mark.parametrize(
    ("name", "value", "looks_like"),
    [
        ("EMAIL_ADDRESS", f"agent+{CANARY}@example.com", "agent@example.com"),
        ("EMAIL_ADDRESS", CANARY, "agent@example.com"),
        ("EMAIL_NAME", f"{CANARY}\nBcc: eve@example.com", "in From"),
        ("SMTP_URL", f"{CANARY}.example.com", "smtp://USER:PASSWORD@host:587"),
        ("SMTP_URL", f"http://{CANARY}", "smtp://USER:PASSWORD@host:587"),
        ("SMTP_URL", f"smtp://host:{CANARY}", "smtp://USER:PASSWORD@host:587"),
        ("SMTP_URL", f"smtp://:{CANARY}@host", "smtp://USER:PASSWORD@host:587"),
        ("IMAP_URL", f"imaps://{CANARY} @host", "imaps://USER:PASSWORD@host/INBOX"),
        ("IMAP_URL", f"smtp://{CANARY}", "imaps://USER:PASSWORD@host/INBOX"),
        ("EMAIL_LISTEN", f"lmtp://{CANARY}", "lmtp://127.0.0.1:2424"),
        ("EMAIL_LISTEN", f"smtp://{CANARY}@host:25", "lmtp://127.0.0.1:2424"),
        ("EMAIL_VERIFY_DKIM", CANARY, "true"),
        ("EMAIL_OAUTH_TOKEN_URL", CANARY, "https://oauth2.googleapis.com/token"),
        ("EMAIL_INBOUND_SECRET", CANARY[:8], "openssl rand -hex 32"),
        ("EMAIL_SNS_TOPICS", f"arn:aws:sns:eu-west-1:123456789012:mail,{CANARY}", "arn:aws:sns:"),
    ],
)
def test_wrong_setting_is_named_and_never_shown(
    name: str, value: str, looks_like: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold a password."""
    told = refusal(monkeypatch, **{**OURS, name: value})

    assert told.startswith(f"{name} ")
    assert looks_like in told
    assert CANARY[:8] not in told


@pytest.mark.parametrize(
    ("variables", "missing"),
    [
        ({"SMTP_URL": "smtp://h"}, "EMAIL_ADDRESS"),
        ({"IMAP_URL": "imaps://h"}, "SMTP_URL"),
        ({"EMAIL_LISTEN": "lmtp://127.0.0.1:24"}, "SMTP_URL"),
        ({"EMAIL_MAILGUN_KEY": "k"}, "SMTP_URL"),
        ({"EMAIL_INBOUND_SECRET": "0123456789abcdef"}, "SMTP_URL"),
        ({"EMAIL_SNS_TOPICS": "arn:aws:sns:eu-west-1:123456789012:mail"}, "SMTP_URL"),
        ({**OURS, "EMAIL_OAUTH_REFRESH_TOKEN": "r"}, "EMAIL_OAUTH_TOKEN_URL"),
        ({**OURS, "EMAIL_OAUTH_CLIENT_ID": "c"}, "EMAIL_OAUTH_REFRESH_TOKEN"),
        ({**OURS, "EMAIL_OAUTH_CLIENT_SECRET": "c"}, "EMAIL_OAUTH_CLIENT_ID"),
    ],
)
def test_what_another_setting_needs_is_missed_by_name(
    variables: dict[str, str], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the server starts."""
    assert refusal(monkeypatch, **variables).startswith(f"{missing} is not set")
    with pytest.raises(SettingsError):
        load_settings()


@pytest.mark.parametrize(
    ("url", "words"), [("smtp://u:p@h", "holds a password"), ("smtp://h", "names nobody")]
)
def test_oauth_takes_the_place_of_a_password(
    url: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs somebody to log in as, and nothing else."""
    oauth = {
        "EMAIL_OAUTH_TOKEN_URL": "https://login.example.com/token",
        "EMAIL_OAUTH_CLIENT_ID": "c",
        "EMAIL_OAUTH_REFRESH_TOKEN": "r",
    }

    assert words in refusal(monkeypatch, **{**OURS, **oauth, "SMTP_URL": url})
    assert given(monkeypatch, SMTP_URL="smtp://agent%40example.com@h").has_oauth


def test_ways_in_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the doctor."""
    settings = given(
        monkeypatch,
        **OURS,
        IMAP_URL="imap+plain://u:p@[::1]:143/Agents",
        EMAIL_LISTEN="smtp://[::]:25",
        EMAIL_SNS_TOPICS="arn:aws:sns:eu-west-1:123456789012:mail",
    )

    assert settings.ways_in == ("IMAP_URL", "EMAIL_LISTEN", "EMAIL_SNS_TOPICS")
