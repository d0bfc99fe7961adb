"""`parley.toml`: people, routes, webhooks, and the rules of channels. Read once, at the start.

The environment holds secrets and addresses (`settings.py`); this file holds what an operator
writes about people and agents. Whatever is wrong is told all at once, by its place in the file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from gateway.settings import SettingsError

DEFAULT = "parley.toml"

_SLACK = re.compile(r"[TE][A-Z0-9]{1,20}:[UW][A-Z0-9]{1,20}")
_EMAIL = re.compile(r"[^@\s<>,;:\"]+@[^@\s<>,;:\"]+")
_NAME = re.compile(r"[^\s:@][^:@\n]{0,99}")
_HOOK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HEADER = re.compile(r"[A-Za-z0-9-]{0,100}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _slack(ids: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_SLACK.fullmatch(one) for one in ids):
        raise ValueError('a person in Slack is TEAM:USER, like "T024BE7LD:U061F7AUR"')
    return ids


def _email(addresses: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_EMAIL.fullmatch(one) for one in addresses):
        raise ValueError("an address looks like otto@example.com")
    return tuple(one.lower() for one in addresses)


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    for one in names:
        _name(one)
    return names


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("a name has no colon and no @: those are addresses")
    return name


def _hook_name(name: str) -> str:
    if not _HOOK.fullmatch(name):
        raise ValueError("a hook's name is part of its address: letters, digits, - and _")
    return name


def _header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError("a header's name looks like X-Signature")
    return name


def _listed(value: object) -> object:
    """Read names that are separated by commas."""
    names = [one.strip() for one in value.split(",")] if isinstance(value, str) else value
    return tuple(one for one in names if one) if isinstance(names, list) else names


def _variables(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or not all(_VARIABLE.fullmatch(one) for one in names):
        raise ValueError("it names environment variables, like CI_SECRET or CI_OLD,CI_NEW")
    return names


_Several = Annotated[tuple[str, ...], BeforeValidator(_several)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(_Table):
    """Somebody, and all the ways in which they write to us."""

    name: Annotated[str, AfterValidator(_name)]
    slack: Annotated[_Several, AfterValidator(_slack)] = ()
    email: Annotated[_Several, AfterValidator(_email)] = ()
    roles: Annotated[_Several, AfterValidator(_names)] = ()
    prefer: _Several = ()
    """Which channels to try, in this order; without it: slack, then email."""


class Routes(_Table):
    """Which agent answers a mention, a mail; with one agent no route is needed."""

    slack: str = ""
    email: str = ""


class SlackRules(_Table):
    """How the bot behaves in Slack."""

    require_mention: bool = False
    """Also replies in a thread that the agent is in must mention it."""


_Header = Annotated[str, AfterValidator(_header)]


class Hook(_Table):
    """A source of webhooks; what is left out, its preset says. Checked by `channels.webhook`."""

    secret_env: Annotated[tuple[str, ...], BeforeValidator(_listed), AfterValidator(_variables)]
    """Variables, not secrets: this file may be shown to anybody."""
    agent: str = ""
    scheme: (
        Literal["standard", "github", "gitlab", "circleci", "buildkite", "hmac", "bearer", "basic"]
        | None
    ) = None
    preset: str = ""
    message: str = ""
    thread_key: str = ""
    when: str = ""
    requester: str = ""
    audience: _Several = ()
    on_repeat: Literal["resume", "wait", "supersede"] = "resume"
    header: _Header = ""
    prefix: str = ""
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    timestamp: _Header = ""
    signed: str = ""


class Config(_Table):
    """The whole file."""

    people: tuple[Person, ...] = ()
    routes: Routes = Routes()
    slack: SlackRules = SlackRules()
    hooks: dict[Annotated[str, AfterValidator(_hook_name)], Hook] = {}


def load_config(path: str) -> Config:
    """Read the file; without a name, `parley.toml` in the working folder if there is one."""
    file = Path(path or DEFAULT)
    if not path and not file.exists():
        return Config()
    try:
        text = file.read_text(encoding="utf-8")
        return Config.model_validate(tomllib.loads(text))
    except (OSError, UnicodeError) as exc:
        raise SettingsError(f"PARLEY_CONFIG: {file.absolute()} can't be read: {exc}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{file}: not TOML: {exc}") from exc
    except ValidationError as exc:
        lines = [_told(file, one) for one in exc.errors(include_url=False, include_input=False)]
        raise SettingsError("\n".join(lines)) from None


def check_agents(config: Config, agents: list[str]) -> None:
    """Refuse a route to an agent that isn't there."""
    known = ", ".join(agents) or "none"
    for channel, agent in config.routes:
        if agent and agent not in agents:
            raise SettingsError(
                f"parley.toml: routes.{channel} names the agent {agent!r}; the agents are: {known}"
            )


def _told(file: Path, error: Any) -> str:  # noqa: ANN401 (pydantic's ErrorDetails, as a dict)
    place = ".".join(str(part) for part in error["loc"])
    unknown = error["type"] == "extra_forbidden"
    return f"{file}: {place}: {'there is no such setting' if unknown else error['msg']}"
