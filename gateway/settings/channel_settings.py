"""What Slack needs from the environment: tokens and secrets. Mail's: `email_settings.py`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr
from pydantic import model_validator as model_rule
from pydantic_settings import BaseSettings, SettingsConfigDict

from gateway.settings import setting_rules as rules


class SlackSettings(BaseSettings):
    """How to be in Slack: one workspace by a token, or many by OAuth; HTTP or Socket Mode."""

    model_config = SettingsConfigDict(**rules.COMMON, env_prefix="SLACK_")

    bot_token: Annotated[SecretStr, AfterValidator(rules.begins("xoxb-"))] | None = Field(
        None, description="the bot's token, xoxb-…, from the app's page OAuth & Permissions"
    )
    signing_secret: SecretStr | None = Field(
        None, description="the signing secret from the app's page Basic Information"
    )
    app_token: Annotated[SecretStr, AfterValidator(rules.begins("xapp-"))] | None = Field(
        None, description="the app-level token for Socket Mode, xapp-…, with connections:write"
    )
    client_id: str = Field(
        "", description="the client id, like 111.222, to install by OAuth and to sign in with Slack"
    )
    client_secret: SecretStr | None = Field(
        None, description="the client secret from the app's page Basic Information"
    )
    api_url: Annotated[str, AfterValidator(rules.http)] = Field(
        "https://slack.com/api", description="where Slack's Web API is, like https://slack.com/api"
    )

    @property
    def is_on(self) -> bool:
        """Whether the server is in Slack at all."""
        return self.bot_token is not None or bool(self.client_id)

    @property
    def is_for_many(self) -> bool:
        """Whether workspaces install it by OAuth; with a token, OAuth is for signing in alone."""
        return bool(self.client_id) and self.bot_token is None

    @model_rule(mode="after")
    def _fits_together(self) -> Self:
        for field, other in _SLACK_NEEDS:
            if getattr(self, field) and not getattr(self, other):
                raise rules.SettingsError(
                    f"SLACK_{other.upper()} is not set, and SLACK_{field.upper()} needs it: "
                    f"{rules.described(type(self), other)}"
                )
        if self.is_for_many and not self.signing_secret:
            raise rules.SettingsError(
                "SLACK_SIGNING_SECRET is not set, and SLACK_CLIENT_ID needs it where there is no "
                f"SLACK_BOT_TOKEN: {rules.described(type(self), 'signing_secret')}"
            )
        if self.bot_token and not (self.signing_secret or self.app_token):
            raise rules.SettingsError(
                "SLACK_SIGNING_SECRET is not set (nor SLACK_APP_TOKEN for Socket Mode): without "
                "one of them nothing can come in from Slack"
            )
        if self.app_token and not self.is_on:
            raise rules.SettingsError(
                "SLACK_BOT_TOKEN is not set, and SLACK_APP_TOKEN alone can't post: "
                f"{rules.described(type(self), 'bot_token')}"
            )
        return self


_SLACK_NEEDS = (
    ("client_id", "client_secret"),
    ("client_secret", "client_id"),
)
