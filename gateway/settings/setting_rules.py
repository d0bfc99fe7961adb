"""What all kinds of settings share: where they are read from, and what a value must be like.

Each rule gives a value in its one form, or raises ValueError without a message: the description of
the setting tells what it should look like.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent_core.errors import ParleyError
from storage.errors import BadStoreUrl
from storage.locations import locate

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("json", "text")
SHORTEST_SECRET = 16
ENV_FILE = ".env"

COMMON = SettingsConfigDict(
    env_file=ENV_FILE,
    env_file_encoding="utf-8",
    env_ignore_empty=True,
    extra="ignore",
    frozen=True,
    hide_input_in_errors=True,
)


class SettingsError(ParleyError):
    """The operator must act: something can't work as it is configured, and nothing has started."""


def database(url: str) -> str:
    """Let pass what a store can be opened at."""
    try:
        locate(url)
    except BadStoreUrl as exc:
        raise ValueError from exc
    return url


def http(url: str) -> str:
    """Let pass an address of a server, without a slash at its end."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
        raise ValueError
    if not url.isprintable() or " " in url or parts.query or parts.fragment:
        raise ValueError
    return url.rstrip("/")


def secret(secret: SecretStr) -> SecretStr:
    """Let pass what nobody can guess."""
    if len(secret.get_secret_value()) < SHORTEST_SECRET:
        raise ValueError
    return secret


def header(key: SecretStr) -> SecretStr:
    """Let pass what fits into a header."""
    text = key.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError
    return SecretStr(text)


def begins(prefix: str) -> Callable[[SecretStr], SecretStr]:
    """Let pass a token of this kind."""

    def check(secret: SecretStr) -> SecretStr:
        text = secret.get_secret_value()
        if not text.startswith(prefix) or not text.isascii() or not text.isprintable():
            raise ValueError
        return secret

    return check


def listed(value: object) -> object:
    """Split a list with commas."""
    if not isinstance(value, str):
        return value
    return tuple(one.strip() for one in value.split(",") if one.strip())


def log(value: str) -> str:
    """Bring `level/format` to its full form."""
    words = value.lower().split("/")
    levels = [word for word in words if word in LEVELS]
    formats = [word for word in words if word in FORMATS]
    if len(levels) > 1 or len(formats) > 1 or len(levels) + len(formats) != len(words):
        raise ValueError
    return f"{(levels or ['info'])[0]}/{(formats or ['text'])[0]}"


def described(kind: type[BaseSettings], field: str) -> str:
    """Tell what a setting should look like."""
    return kind.model_fields[field].description or field
