"""What the email channel needs to know, from the environment and `parley.toml`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import SecretStr

from channels.email.options import EmailOptions, OAuth
from gateway.settings.config import Config
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings

_PEOPLE = "people"


def email_options(
    settings: Settings, email: EmailSettings, config: Config, secret: bytes
) -> EmailOptions:
    """Put together what an operator has written in two places."""
    return EmailOptions(
        address=email.email_address,
        name=email.email_name,
        smtp_url=_text(email.smtp_url),
        imap_url=_text(email.imap_url),
        listen=email.email_listen,
        authserv_id=email.email_authserv_id,
        verify_dkim=email.email_verify_dkim,
        oauth=_oauth(email),
        mailgun_key=_text(email.email_mailgun_key),
        inbound_secret=_text(email.email_inbound_secret),
        sns_topics=email.email_sns_topics,
        senders=tuple(_senders(config)),
        mails_per_hour=config.email.mails_per_hour,
        threads_per_hour=config.email.threads_per_hour,
        public_url=settings.url,
        secret_key=secret,
    )


def _oauth(email: EmailSettings) -> OAuth | None:
    if not email.has_oauth:
        return None
    return OAuth(
        token_url=email.email_oauth_token_url,
        client_id=email.email_oauth_client_id,
        client_secret=_text(email.email_oauth_client_secret),
        refresh_token=_text(email.email_oauth_refresh_token),
    )


def _senders(config: Config) -> Iterable[str]:
    """Name those who may begin; `people` stays in the list, so that no list becomes "anybody"."""
    for one in config.email.senders:
        yield one
        if one == _PEOPLE:
            yield from (address for person in config.people for address in person.email)


def _text(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
