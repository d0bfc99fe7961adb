"""What an operator writes in two places, as the email channel is handed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.channel_wiring import make_channels
from gateway.settings.channel_settings import SlackSettings
from gateway.settings.config import Config, EmailRules, Person
from gateway.settings.email_options import email_options
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings, load

SECRET = b"s" * 32


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where no `.env` is."""
    monkeypatch.chdir(tmp_path)


def settings(**more: object) -> EmailSettings:
    """Set email up."""
    given = {"email_address": "agent@example.com", "smtp_url": "smtp+plain://h"}
    return EmailSettings.model_validate({**given, **more})


def test_settings_and_rules_come_together() -> None:
    """Servers from the environment, people and limits from the file."""
    config = Config(email=EmailRules(senders=("@example.com",), mails_per_hour=3))
    email = settings(
        imap_url="imaps://u@h/INBOX",
        smtp_url="smtp://u@h",
        email_oauth_token_url="https://login.example.com/token",
        email_oauth_client_id="c",
        email_oauth_refresh_token="r",
    )
    made = email_options(
        Settings.model_validate({"public_url": "https://p.example.com"}), email, config, SECRET
    )

    assert (made.address, made.smtp_url, made.imap_url) == (
        "agent@example.com",
        "smtp://u@h",
        "imaps://u@h/INBOX",
    )
    assert (made.senders, made.mails_per_hour) == (("@example.com",), 3)
    assert (made.public_url, made.secret_key) == ("https://p.example.com", SECRET)
    assert made.oauth is not None
    assert (made.oauth.refresh_token, made.oauth.client_secret) == ("r", "")


def test_people_who_may_begin_are_named_by_their_addresses() -> None:
    """Where nobody has one, nobody may: the list never becomes empty, which is anybody."""
    otto = Person(name="otto", email=("otto@example.com", "otto@home.example"))
    rules = EmailRules(senders=("people",))
    some = email_options(load(Settings), settings(), Config(email=rules, people=(otto,)), SECRET)
    nobody = email_options(load(Settings), settings(), Config(email=rules), SECRET)

    assert some.senders == ("people", "otto@example.com", "otto@home.example")
    assert nobody.senders == ("people",)


def test_email_is_a_channel_only_when_it_can_send() -> None:
    """An address alone turns nothing on."""
    off = EmailSettings.model_validate({"email_address": "agent@example.com"})
    made = [
        make_channels(load(Settings), load(SlackSettings), one, Config(), SECRET)
        for one in (off, settings())
    ]

    assert ["email" in channels for channels in made] == [False, True]


def test_secrets_are_known_to_the_log() -> None:
    """Also as they stand in a URL."""
    email = settings(smtp_url="smtp://u:p%40ss@h", email_mailgun_key="mailgun-key")

    assert set(email.secrets) == {"p%40ss", "p@ss", "mailgun-key"}
