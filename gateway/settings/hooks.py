"""Hooks from `parley.toml`: their secrets out of the environment, their agents, and the checking.

Whatever is wrong with any of them is told at once, by its place in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from channels.callback.addresses import BadCallback, parse_target
from channels.callback.guard import Guard
from channels.webhook.declaration import Declaration, Source, make_source
from gateway.settings.config import Hook
from gateway.settings.environment import SettingsError


def make_sources(
    hooks: Mapping[str, Hook],
    agents: Sequence[str],
    environ: Mapping[str, str],
    guard: Guard | None = None,
) -> list[Source]:
    """Give the sources that are declared, or raise a SettingsError with all that is wrong."""
    sources: list[Source] = []
    problems: list[str] = []
    for name, hook in hooks.items():
        wrong = [*_missing(hook, environ), *_agent_problems(hook, agents)]
        wrong += _callback_problems(hook, guard or Guard())
        try:
            sources.append(make_source(_declared(name, hook, agents, environ)))
        except* ValueError as group:
            wrong += [str(one) for one in group.exceptions]
        problems += [f"parley.toml: hooks.{name}.{one}" for one in wrong]
    if problems:
        raise SettingsError("\n".join(problems))
    return sources


def _declared(
    name: str, hook: Hook, agents: Sequence[str], environ: Mapping[str, str]
) -> Declaration:
    given = hook.model_dump(exclude={"secret_env", "agent", "per_second"})
    only = agents[0] if len(agents) == 1 else ""
    return Declaration(
        name=name, secrets=tuple(_secrets(hook, environ)), agent=hook.agent or only, **given
    )


def _secrets(hook: Hook, environ: Mapping[str, str]) -> Iterator[bytes]:
    found = (environ.get(variable, "").strip() for variable in hook.secret_env)
    return chain(secret.encode() for secret in found if secret)


def _missing(hook: Hook, environ: Mapping[str, str]) -> Iterator[str]:
    for variable in hook.secret_env:
        if not environ.get(variable, "").strip():
            yield f"secret_env: the environment variable {variable} is not set"


def _agent_problems(hook: Hook, agents: Sequence[str]) -> Iterator[str]:
    known = ", ".join(agents) or "none"
    if hook.event_key and not (hook.agent or hook.message or hook.preset):
        return  # it only reports: no agent is told anything
    if not hook.agent and len(agents) != 1:
        yield f"agent: it is missing; the agents are: {known}"
    elif hook.agent and "{" not in hook.agent and hook.agent not in agents:
        yield f"agent: there is no agent {hook.agent!r}; the agents are: {known}"


def _callback_problems(hook: Hook, guard: Guard) -> Iterator[str]:
    """Look at it as it stands: it is no template, so no payload can choose where anything goes."""
    if not hook.callback_url:
        return
    try:
        guard.check(parse_target(hook.callback_url))
    except BadCallback as exc:
        yield f"callback_url: {exc}"
