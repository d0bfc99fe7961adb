"""`parley people`: what its commands do, with the same file and settings as the server."""

from __future__ import annotations

import json

import typer

from gateway.cli.doing import screen
from gateway.cli.doing.screen import Column
from gateway.people.directory import Directory
from gateway.people.naming import name_problems
from gateway.people.reachability import advice, unreachable
from gateway.settings.agents import load_agents
from gateway.settings.channel_settings import SlackSettings
from gateway.settings.config import Config, Person, load_config
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings, adopt_env_file, load

_COLUMNS = (
    Column("name", whole=True),
    Column("roles"),
    Column("reached by", whole=True),
    Column("ask"),
    Column("hours"),
    Column("time zone"),
)


def list_(*, as_json: bool) -> None:
    """List the people."""
    config, _ = _config()
    directory = Directory(config.people)
    items = [_shown(one, directory) for one in config.people]
    if as_json:
        return screen.data(json.dumps({"items": items, "next_cursor": None}, ensure_ascii=False))
    if not items:
        return screen.say("nobody: parley.toml lists people, as [[people]]")
    return screen.print_table(_COLUMNS, [[_cell(value) for value in one.values()] for one in items])


def check(*, as_json: bool) -> None:
    """Tell what is wrong, and exit 1 if something is."""
    config, settings = _config()
    directory, on = Directory(config.people), _on()
    agents = load_agents(settings.agents)
    problems = [*name_problems(config, agents, directory), *unreachable(directory, config, on)]
    notes = advice(directory)
    if as_json:
        screen.data(json.dumps({"problems": problems, "notes": notes}, ensure_ascii=False))
    else:
        for one in (*problems, *notes):
            screen.data(one)
        count = len(config.people)
        screen.say(f"{count} people, {len(problems)} problems; channels: {', '.join(on) or 'none'}")
    if problems:
        raise typer.Exit(1)


def _config() -> tuple[Config, Settings]:
    settings = load(Settings)
    adopt_env_file()
    return load_config(settings.config), settings


def _on() -> list[str]:
    """Give the channels that reach people and are turned on."""
    switches = {"slack": load(SlackSettings).is_on, "email": load(EmailSettings).is_on}
    return [name for name, is_on in switches.items() if is_on]


def _shown(person: Person, directory: Directory) -> dict[str, str | list[str]]:
    (reach,) = directory.reaches(person.name)
    return {
        "name": person.name,
        "roles": list(person.roles),
        "ways": list(reach.ways),
        "ask": person.ask,
        "hours": person.hours,
        "timezone": person.timezone,
    }


def _cell(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
