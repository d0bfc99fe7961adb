"""Settings: the environment, or `.env` in the working folder; the environment wins.

Read once, at the start, and trusted from there on. Whatever is wrong is told all at once, by the
variable's name and what it should look like, and never with a value that may be a secret. Every
setting stands in `.env.example` with its default; a test compares the two.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from dotenv import dotenv_values
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic import model_validator as model_rule
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agent_core.errors import ModelRejected
from agent_core.models.server import server_from
from gateway.settings import setting_rules as rules
from gateway.settings.callback_settings import CallbackSettings
from gateway.settings.channel_settings import SlackSettings
from gateway.settings.email_settings import EmailSettings
from gateway.settings.setting_rules import SettingsError as SettingsError  # noqa: PLC0414 (ours to give)
from storage.locations import File, Server, locate

_PREFIX = "PARLEY_"
NOT_SETTINGS = frozenset({"PARLEY_PYTHON"})
"""Names that begin like ours and are read elsewhere: `./parley` builds `.venv` with this one."""

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["json", "text"]


class DatabaseSettings(BaseSettings):
    """What `keys`, `db` and `doctor` need: where the database is."""

    model_config = SettingsConfigDict(**rules.COMMON, env_prefix=_PREFIX)

    database_url: Annotated[str, AfterValidator(rules.database)] = Field(
        "sqlite:///parley.db",
        description="sqlite:///parley.db (or sqlite:////a/whole/path.db), "
        "or postgresql://user:password@host/database",
    )


class Settings(DatabaseSettings):
    """What the server needs."""

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="an address to listen on: 127.0.0.1, or 0.0.0.0 for every network",
    )
    port: int = Field(8080, ge=0, le=65_535, description="a port, from 0 (any free one) to 65535")
    public_url: Annotated[str, AfterValidator(lambda url: url and rules.http(url))] = Field(
        "", description="where people reach the server, like https://parley.example.com"
    )
    secret_key: Annotated[SecretStr, AfterValidator(rules.secret)] | None = Field(
        None,
        description=f"at least {rules.SHORTEST_SECRET} characters of chance, "
        "like what `openssl rand -hex 32` prints",
    )
    agents: Annotated[tuple[str, ...], NoDecode, BeforeValidator(rules.listed)] = Field(
        (), description="modules that define agents, like shop.agents or ./agents.py, with commas"
    )
    config: str = Field(
        "", description="a file like parley.toml, with people, routes and rules of channels"
    )
    log: Annotated[str, AfterValidator(rules.log)] = Field(
        "info/text", description="debug, info, warning or error, a slash, and json or text"
    )

    @model_rule(mode="after")
    def _many_machines_share_one_secret(self) -> Self:
        if self.secret_key is None and isinstance(locate(self.database_url), Server):
            raise SettingsError(
                "PARLEY_SECRET_KEY is not set: with PostgreSQL every machine needs the same one, "
                f"{rules.described(type(self), 'secret_key')}"
            )
        return self

    @property
    def url(self) -> str:
        """Where people reach the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def log_level(self) -> LogLevel:
        """From which level on to log."""
        return self.log.partition("/")[0]  # type: ignore[return-value]  # `rules.log` has checked it

    @property
    def log_format(self) -> LogFormat:
        """How a log line is written."""
        return self.log.partition("/")[2]  # type: ignore[return-value]  # `rules.log` has checked it


class ModelSettings(BaseSettings):
    """Where agents without a model of their own find one; `agent_core` reads the same names."""

    model_config = SettingsConfigDict(**rules.COMMON, env_prefix="OPENAI_", protected_namespaces=())

    api_key: SecretStr | None = Field(None, description="the key of the model server, like sk-…")
    base_url: str = Field("", description="like http://localhost:8000/v1 or https://host/v1")
    model: str = Field("", description="the name of a model, like gpt-4.1-mini")

    @model_rule(mode="after")
    def _is_usable(self) -> Self:
        if self.api_key or self.base_url:
            key = self.api_key.get_secret_value() if self.api_key else None
            try:
                server_from(model=self.model, api_key=key, base_url=self.base_url, environ={})
            except ModelRejected as exc:
                raise SettingsError(str(exc)) from None
        return self


class ClientSettings(BaseSettings):
    """What the command line needs to talk to a server."""

    model_config = SettingsConfigDict(**rules.COMMON, env_prefix=_PREFIX)

    url: Annotated[str, AfterValidator(rules.http)] = Field(
        "http://127.0.0.1:8080", description="where the server is, like http://127.0.0.1:8080"
    )
    api_key: Annotated[SecretStr, AfterValidator(rules.header)] | None = Field(
        None, description="a key like pk_…, as `parley keys create NAME --scope admin` prints it"
    )


ALL: tuple[type[BaseSettings], ...] = (
    Settings,
    ModelSettings,
    SlackSettings,
    EmailSettings,
    CallbackSettings,
    ClientSettings,
)

_Kind = TypeVar("_Kind", bound=BaseSettings)


def load(kind: type[_Kind], **given: str) -> _Kind:
    """Read one kind of settings, or raise a SettingsError that tells all that is wrong.

    What is given counts, and not what the environment says of it.
    """
    try:
        return kind(**given)  # type: ignore[arg-type]  # of BaseSettings' own, which ours don't have
    except ValidationError as exc:
        raise SettingsError("\n".join(_told(kind, error) for error in exc.errors())) from None
    except (OSError, UnicodeError) as exc:
        raise SettingsError(f"{Path(rules.ENV_FILE).resolve()} can't be read: {exc}") from exc


def load_settings() -> Settings:
    """Read what the server needs; what its models and channels need is checked with it."""
    settings = load(Settings)
    load(ModelSettings)
    load(SlackSettings)
    load(EmailSettings)
    load(CallbackSettings)
    return settings


def adopt_env_file() -> None:
    """Put what `.env` says, and the environment doesn't, into the environment.

    Agents and their tools read settings of their own there.
    """
    for name, value in _env_file().items():
        if value is not None and not os.environ.get(name):
            os.environ[name] = value


def warnings(environ: Mapping[str, str] | None = None) -> list[str]:
    """Name variables that look like ours and mean nothing: most often a typing mistake."""
    given = os.environ if environ is None else environ
    known = {name for kind in ALL for name in variables(kind)} | NOT_SETTINGS
    unknown = sorted({*given, *_env_file()} - known)
    return [_strange(name, known) for name in unknown if name.startswith(_PREFIX)]


def variables(kind: type[BaseSettings]) -> dict[str, Any]:
    """Give the variables that a kind of settings reads, with their defaults."""
    prefix = kind.model_config.get("env_prefix", "")
    return {f"{prefix}{name}".upper(): f.default for name, f in kind.model_fields.items()}


def sqlite_file(url: str) -> Path | None:
    """Give the file of an SQLite database; nothing for another one."""
    place = locate(url)
    return place.path if isinstance(place, File) else None


def _env_file() -> dict[str, str | None]:
    try:
        return dotenv_values(rules.ENV_FILE)
    except (OSError, UnicodeError) as exc:
        raise SettingsError(f"{Path(rules.ENV_FILE).resolve()} can't be read: {exc}") from exc


def _strange(name: str, known: set[str]) -> str:
    ends = [one.removeprefix(_PREFIX) for one in known if one.startswith(_PREFIX)]
    near = difflib.get_close_matches(name.removeprefix(_PREFIX), sorted(ends), n=1)
    hint = f"; did you mean {_PREFIX}{near[0]}?" if near else ""
    return f"{name} is no setting of Parley's{hint}"


def _told(kind: type[BaseSettings], error: ErrorDetails) -> str:
    field = next(_places(kind, error), "")
    if not field:
        return error["msg"]
    prefix = kind.model_config.get("env_prefix", "")
    return f"{prefix}{field.upper()} can't be used: it should be {rules.described(kind, field)}"


def _places(kind: type[BaseSettings], error: ErrorDetails) -> Iterator[str]:
    return (str(part) for part in error["loc"] if part in kind.model_fields)
