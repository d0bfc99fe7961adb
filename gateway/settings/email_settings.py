"""What email needs from the environment: our address, how mail goes out and comes in.

What can't work together is refused before anything starts, by the names of the variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Annotated, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic import model_validator as model_rule
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gateway.settings import setting_rules as rules

_SMTP = ("smtp", "smtps", "smtp+plain")
_IMAP = ("imap", "imaps", "imap+plain")
_LISTEN = ("smtp", "lmtp")
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]{1,256}")


def _server(schemes: Collection[str]) -> Callable[[SecretStr], SecretStr]:
    """Let pass the address of a mail server; it may hold a password, so it is never told."""

    def check(secret: SecretStr) -> SecretStr:
        url = secret.get_secret_value()
        parts = urlsplit(url)
        if parts.scheme not in schemes or not parts.hostname or parts.port == 0:
            raise ValueError
        if not url.isprintable() or " " in url or parts.query or parts.fragment:
            raise ValueError
        if parts.password and not parts.username:
            raise ValueError
        return secret

    return check


def _door(url: str) -> str:
    """Let pass where to listen: a host and a port, and nothing else."""
    if not url:
        return url
    parts = urlsplit(url)
    if parts.scheme not in _LISTEN or not parts.hostname or parts.port is None:
        raise ValueError
    if parts.username is not None or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError
    return url.rstrip("/")


def _topics(names: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_TOPIC.fullmatch(one) for one in names):
        raise ValueError
    return names


def _one_line(name: str) -> str:
    if not name.isprintable():
        raise ValueError
    return name


class EmailSettings(BaseSettings):
    """The agents' own mailbox. Variables have no prefix in common: they are named in full."""

    model_config = SettingsConfigDict(**rules.COMMON, env_prefix="")

    email_address: str = Field(
        "",
        pattern=r"^$|^[^@\s+<>,;:\"]+@[^@\s<>,;:\"]+$",
        description="an address, like agent@example.com",
    )
    email_name: Annotated[str, AfterValidator(_one_line)] = Field(
        "Parley",
        min_length=1,
        max_length=100,
        description="how the agents are called in From, like Parley",
    )
    smtp_url: Annotated[SecretStr, AfterValidator(_server(_SMTP))] | None = Field(
        None,
        description="like smtp://USER:PASSWORD@host:587 (STARTTLS), smtps://USER:PASSWORD@host:465,"
        " or smtp+plain://host:25 without encryption",
    )
    imap_url: Annotated[SecretStr, AfterValidator(_server(_IMAP))] | None = Field(
        None,
        description="like imaps://USER:PASSWORD@host/INBOX, imap://… (STARTTLS), "
        "or imap+plain://… without encryption",
    )
    email_listen: Annotated[str, AfterValidator(_door)] = Field(
        "", description="where to take mail ourselves, like lmtp://127.0.0.1:2424 or smtp://[::]:25"
    )
    email_authserv_id: str = Field(
        "",
        pattern=r"^\S*$",
        description="how your mail server calls itself in Authentication-Results, "
        "like mx.example.com",
    )
    email_verify_dkim: bool = Field(
        default=False, description="true, to check the signatures of mail ourselves, or false"
    )
    email_oauth_token_url: Annotated[str, AfterValidator(lambda url: url and rules.http(url))] = (
        Field(
            "",
            description="where access tokens are to be had, like https://oauth2.googleapis.com/token",
        )
    )
    email_oauth_client_id: str = Field("", description="the client id, to log in by XOAUTH2")
    email_oauth_client_secret: SecretStr | None = Field(
        None, description="the client secret that goes with the client id, if it has one"
    )
    email_oauth_refresh_token: SecretStr | None = Field(
        None, description="the refresh token of the mailbox, which gives access tokens"
    )
    email_mailgun_key: SecretStr | None = Field(
        None, description="the HTTP webhook signing key of Mailgun"
    )
    email_inbound_secret: Annotated[SecretStr, AfterValidator(rules.secret)] | None = Field(
        None,
        description=f"at least {rules.SHORTEST_SECRET} characters of chance, like what "
        "`openssl rand -hex 32` prints: Postmark and SendGrid bring it",
    )
    email_sns_topics: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(rules.listed), AfterValidator(_topics)
    ] = Field(
        (),
        description="topics of Amazon SNS, like arn:aws:sns:eu-west-1:123456789012:mail, "
        "with commas",
    )

    @property
    def is_on(self) -> bool:
        """Whether agents have a mailbox at all: an address alone is only good for `inspect`."""
        return self.smtp_url is not None

    @property
    def has_oauth(self) -> bool:
        """Whether to log in by XOAUTH2."""
        return self.email_oauth_refresh_token is not None

    @property
    def ways_in(self) -> tuple[str, ...]:
        """Name the variables that let mail in."""
        return tuple(name for name in _WAYS_IN if getattr(self, name.lower()))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Give what must never be logged."""
        urls = [url.get_secret_value() for url in (self.smtp_url, self.imap_url) if url]
        passwords = [urlsplit(url).password or "" for url in urls]
        kept = (
            self.email_oauth_client_secret,
            self.email_oauth_refresh_token,
            self.email_mailgun_key,
            self.email_inbound_secret,
        )
        secrets = [one.get_secret_value() for one in kept if one]
        found = (*passwords, *map(unquote, passwords), *secrets)
        return tuple(dict.fromkeys(one for one in found if one))

    @model_rule(mode="after")
    def _fits_together(self) -> Self:
        for name, other, why in _NEEDS:
            if getattr(self, name.lower()) and not getattr(self, other.lower()):
                looks = rules.described(type(self), other.lower())
                raise rules.SettingsError(
                    f"{other} is not set, and {name} needs it: {why}. It should be {looks}"
                )
        for name in ("SMTP_URL", "IMAP_URL"):
            url = getattr(self, name.lower())
            if self.has_oauth and url:
                _check_oauth(name, url.get_secret_value())
        return self


def _check_oauth(name: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.password is not None:
        raise rules.SettingsError(
            f"{name} holds a password, and EMAIL_OAUTH_REFRESH_TOKEN is set: keep one of them"
        )
    if not parts.username:
        raise rules.SettingsError(
            f"{name} names nobody to log in as, and EMAIL_OAUTH_REFRESH_TOKEN is set: "
            "write the user before the host, with %40 for @"
        )


_WAYS_IN = (
    "IMAP_URL",
    "EMAIL_LISTEN",
    "EMAIL_MAILGUN_KEY",
    "EMAIL_INBOUND_SECRET",
    "EMAIL_SNS_TOPICS",
)
_ANSWERS = "whoever writes must get an answer"
_TOGETHER = "they are one login"
_NEEDS = (
    ("SMTP_URL", "EMAIL_ADDRESS", "mail is sent from there"),
    *((way, "SMTP_URL", _ANSWERS) for way in _WAYS_IN),
    ("EMAIL_OAUTH_REFRESH_TOKEN", "EMAIL_OAUTH_TOKEN_URL", _TOGETHER),
    ("EMAIL_OAUTH_REFRESH_TOKEN", "EMAIL_OAUTH_CLIENT_ID", _TOGETHER),
    ("EMAIL_OAUTH_CLIENT_ID", "EMAIL_OAUTH_REFRESH_TOKEN", _TOGETHER),
    ("EMAIL_OAUTH_CLIENT_SECRET", "EMAIL_OAUTH_CLIENT_ID", _TOGETHER),
    ("EMAIL_OAUTH_TOKEN_URL", "EMAIL_OAUTH_REFRESH_TOKEN", _TOGETHER),
)
