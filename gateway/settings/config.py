"""`parley.toml`: people, routes, webhooks, and the rules of channels. Read once, at the start.

The environment holds secrets and addresses (`environment.py`); this file holds what an operator
writes about people and agents. Whatever is wrong is told all at once, by its place in the file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from gateway.settings.ages import parse_age
from gateway.settings.environment import SettingsError
from gateway.settings.hours import Hours, parse_hours, parse_zone

DEFAULT = "parley.toml"

_SLACK = re.compile(r"[TE][A-Z0-9]{1,20}:[UW][A-Z0-9]{1,20}")
_EMAIL = re.compile(r"[^@\s<>,;:\"]+@[^@\s<>,;:\"]+")
_NAME = re.compile(r"[^\s:@][^:@\n]{0,99}")
_HOOK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HEADER = re.compile(r"[A-Za-z0-9-]{0,100}")
_SHORTEST_AGE_MS = parse_age("1d")
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


def _senders(entries: tuple[str, ...]) -> tuple[str, ...]:
    for one in entries:
        if one != "people" and not _EMAIL.fullmatch(f"anybody{one}" if one[:1] == "@" else one):
            raise ValueError('a sender is "ann@example.com", "@example.com" or "people"')
    return tuple(one.lower() for one in entries)


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


def _age(text: str) -> str:
    if text and parse_age(text) < _SHORTEST_AGE_MS:
        raise ValueError("at least a day: what has just ended may still be talked about")
    return text


_Several = Annotated[tuple[str, ...], BeforeValidator(_several)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(_Table):
    """Somebody, and all the ways in which they write to us."""

    name: Annotated[str, AfterValidator(_name)]
    slack: Annotated[_Several, AfterValidator(_slack)] = ()
    email: Annotated[_Several, AfterValidator(_email)] = ()
    roles: Annotated[_Several, AfterValidator(_names)] = ()
    prefer: Annotated[tuple[Literal["slack", "email"], ...], BeforeValidator(_several)] = ()
    """Which channels to try, in this order; without it: slack, then email."""
    ask: Literal["first", "all"] = "first"
    """By the first of them, and the next when that has failed; or by all at once."""
    hours: str = ""
    """When they may be asked elsewhere than where they write, like Mon-Fri 09:00-18:00."""
    timezone: str = ""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        self.works()
        parse_zone(self.timezone)
        return self

    def works(self) -> Hours | None:
        """Give their working hours, if they have any."""
        return parse_hours(self.hours, self.timezone) if self.hours else None


class Asking(_Table):
    """How people are asked who say nothing about it themselves."""

    ask: Literal["first", "all"] = "first"
    hours: str = ""
    timezone: str = ""


class Routes(_Table):
    """Which agent answers a mention, a mail; with one agent no route is needed."""

    slack: str = ""
    email: str = ""


class SlackRules(_Table):
    """How the bot behaves in Slack."""

    require_mention: bool = False
    """Also replies in a thread that the agent is in must mention it."""


class EmailRules(_Table):
    """Who may write to the agents' mailbox, and how much they may be written."""

    senders: Annotated[_Several, AfterValidator(_senders)] = ()
    """Who may begin threads: addresses, `@domains`, `people` (those listed); empty is anybody."""
    mails_per_hour: Annotated[int, Field(ge=1, le=10_000)] = 20
    """For each thread: what is left of a loop is slowed to this."""
    threads_per_hour: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """For each sender: a loop that begins a thread with each mail ends here."""


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
    callback_url: str = ""
    """No template: no payload chooses where anything goes."""
    on_repeat: Literal["resume", "wait", "supersede"] = "resume"
    per_second: Annotated[float, Field(ge=0, le=100_000)] = 100
    """How many deliveries are taken on all machines together, ten seconds' worth at once; 0 is
    any number. Each may begin a thread, and a thread costs money."""
    event_key: str = ""
    event_value: str = ""
    header: _Header = ""
    prefix: str = ""
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    timestamp: _Header = ""
    signed: str = ""


class EventRules(_Table):
    """What happens before somebody waits for it."""

    keep_days: Annotated[int, Field(ge=1, le=90)] = 30


class RetentionRules(_Table):
    """What goes by itself, each night; without a word about it, nothing does."""

    threads: Annotated[str, AfterValidator(_age)] = ""
    """Threads that ended so long ago, like 365d."""
    mails: Annotated[str, AfterValidator(_age)] = ""
    """Mails as they came; without it, after 90 days."""

    def threads_ms(self) -> int:
        """Give how old a thread may get."""
        return parse_age(self.threads)

    def mails_ms(self) -> int:
        """Give how old a mail may get."""
        return parse_age(self.mails)


class Config(_Table):
    """The whole file."""

    people: tuple[Person, ...] = ()
    asking: Asking = Asking()
    routes: Routes = Routes()
    slack: SlackRules = SlackRules()
    events: EventRules = EventRules()
    email: EmailRules = EmailRules()
    retention: RetentionRules = RetentionRules()
    hooks: dict[Annotated[str, AfterValidator(_hook_name)], Hook] = {}

    @model_validator(mode="before")
    @classmethod
    def _same_for_all(cls, given: Any) -> Any:  # noqa: ANN401 (whatever stands in the file)
        """Write what is said of everybody under everybody who says nothing else."""
        match given:
            case {"people": [*people], "asking": dict(asking)}:
                return {**given, "people": [_with(asking, one) for one in people]}
        return given

    @model_validator(mode="after")
    def _nobody_twice(self) -> Self:
        """Refuse one name, account or address for two people: nobody could tell them apart."""
        owners: dict[str, Person] = {}
        for one in self.people:
            for identity in (one.name, *(f"slack {id_}" for id_ in one.slack), *one.email):
                first = owners.setdefault(identity.casefold(), one)
                if first is not one:
                    raise ValueError(f"people: {identity} is both {first.name}'s and {one.name}'s")
        for one in self.people:
            for role in one.roles:
                if owners.get(role.casefold(), one) is not one:
                    raise ValueError(f"people: {role} is a role of {one.name}'s, and a name")
        return self


def _with(asking: dict[str, Any], person: Any) -> Any:  # noqa: ANN401 (whatever stands in the file)
    return {**asking, **person} if isinstance(person, dict) else person


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
    place = "".join(f"{part}." for part in error["loc"]).removesuffix(".")
    unknown = error["type"] == "extra_forbidden"
    told = "there is no such setting" if unknown else error["msg"]
    return ": ".join(part for part in (str(file), place, told) if part)
