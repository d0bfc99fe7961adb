"""What callbacks need from the environment: the secrets that sign, and what is allowed inside."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from channels.callback.allowing import AllowList, parse_allowance
from channels.callback.signing import parse_secret
from gateway.settings import setting_rules as rules


def _secrets(secret: SecretStr) -> SecretStr:
    for one in _separated(secret):
        parse_secret(one)
    return secret


def _separated(secret: SecretStr | None) -> list[str]:
    given = secret.get_secret_value() if secret else ""
    return [one.strip() for one in given.split(",") if one.strip()]


def _allowed(entries: tuple[str, ...]) -> tuple[str, ...]:
    for one in entries:
        parse_allowance(one)
    return entries


class CallbackSettings(BaseSettings):
    """How callbacks are signed, and where inside they may go all the same."""

    model_config = SettingsConfigDict(**rules.COMMON, env_prefix="PARLEY_CALLBACK_")

    secret: Annotated[SecretStr, AfterValidator(_secrets)] | None = Field(
        None,
        description="whsec_ and 24 to 64 bytes of chance in base64, as `parley callbacks secret "
        "--new` prints it; several with commas while one is rotated",
    )
    allow: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(rules.listed), AfterValidator(_allowed)
    ] = Field(
        (),
        description="networks and hosts, with a port or without, separated by commas: "
        "10.1.0.0/16, ci.internal:8443",
    )

    @property
    def keys(self) -> tuple[bytes, ...]:
        """Give the keys that sign; none where the operator has set none."""
        return tuple(parse_secret(one) for one in _separated(self.secret))

    @property
    def allowed(self) -> AllowList:
        """Give what is allowed, beside everything outside."""
        return AllowList(parse_allowance(one) for one in self.allow)
