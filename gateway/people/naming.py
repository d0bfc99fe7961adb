"""Naming: do the names in an audience lead to somebody? Checked at the start, and as agents ask.

What the operator and an agent's author write is refused at the start. What a model names goes back
to it with the names that there are. An address that nobody has listed is nothing that a model can
write to: it must be that of somebody who is in the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from agent_core.agent.agent import Agent
from agent_core.thread.state import ThreadState
from agent_core.tools.tool import Tool
from gateway.people.directory import Directory
from gateway.settings.config import Config
from gateway.settings.environment import SettingsError

_LISTED = 50
"""How many names a model is told at most."""


class Naming:
    """Knows the names, and the addresses that authors and the operator have written."""

    def __init__(self, people: Directory, written: Iterable[str] = ()) -> None:
        self._people = people
        self._written = frozenset(map(str.casefold, written))

    def check(self, state: ThreadState, audience: Sequence[str]) -> None:
        """Raise ValueError, in words for a model, if there is somebody whom nobody knows."""
        own = (state.requester, *state.audience, *state.participants)
        known = self._written.union(map(str.casefold, own))
        unknown = [one for one in audience if one.casefold() not in known and self._is_odd(one)]
        if unknown:
            names = self._people.names()
            listed = ", ".join(names[:_LISTED]) or "none"
            raise ValueError(
                f"nobody is called {', '.join(map(repr, unknown))}. The names and roles are: "
                f"{listed}. Leave it out to ask whoever started this."
            )

    def _is_odd(self, entry: str) -> bool:
        """Tell whether it is unknown; where nobody is listed, a mere name may be anybody's."""
        is_address = ":" in entry or "@" in entry
        return not self._people.knows(entry) and (is_address or bool(self._people.names()))


def check_names(config: Config, agents: Mapping[str, Agent], people: Directory) -> None:
    """Refuse names that lead nowhere, in agents and in hooks, each by its place."""
    problems = name_problems(config, agents, people)
    if problems:
        known = ", ".join(people.names())
        raise SettingsError("\n".join([*problems, f"The names and roles are: {known}"]))


def name_problems(config: Config, agents: Mapping[str, Agent], people: Directory) -> list[str]:
    """Tell of all that keeps a server from starting."""
    return [*unknown_names(config, agents, people), *too_few_people(agents, people)]


def unknown_names(config: Config, agents: Mapping[str, Agent], people: Directory) -> list[str]:
    """Tell of each name that leads nowhere; without people, nobody can say."""
    if not people.names():
        return []
    return [
        f"{place} names {entry!r}, and nobody is called so"
        for place, entry in _written_names(config, agents)
        if ":" not in entry and "{" not in entry and not people.knows(entry)
    ]


def too_few_people(agents: Mapping[str, Agent], people: Directory) -> list[str]:
    """Tell of each tool that more people must approve than there are."""
    if not people.names():
        return []
    return [
        f"agent {name}: {tool.policy.quorum} people must approve the tool {tool.name}, and its "
        f"approvers are {count}"
        for name, agent in agents.items()
        for tool in agent.definition.tools.values()
        if (count := _approvers(agent, tool, people)) is not None and count < tool.policy.quorum
    ]


def _approvers(agent: Agent, tool: Tool, people: Directory) -> int | None:
    """Count who could ever approve a tool; None where nobody can say."""
    later = agent.definition.waiting_of(tool)["normal"].escalation_names()
    entries = (*tool.approvers, *later)
    if not tool.approvers or any(":" in entry or not people.knows(entry) for entry in entries):
        return None
    return len({one.identities for entry in entries for one in people.reaches(entry)})


def written_names(config: Config, agents: Mapping[str, Agent]) -> list[str]:
    """Give all that authors and the operator have written as an audience."""
    return [entry for _, entry in _written_names(config, agents)]


def _written_names(config: Config, agents: Mapping[str, Agent]) -> Iterator[tuple[str, str]]:
    for name, hook in config.hooks.items():
        for entry in hook.audience:
            yield f"parley.toml: hooks.{name}.audience", entry
    for name, agent in agents.items():
        definition = agent.definition
        for tool in definition.tools.values():
            for entry in tool.approvers:
                yield f"agent {name}: approvers of the tool {tool.name}", entry
            for entry in tool.waiting.escalation_names() if tool.waiting else ():
                yield f"agent {name}: escalate_to of the tool {tool.name}", entry
        everywhere = (rule.escalation_names() for rule in definition.waiting.values())
        for entry in dict.fromkeys(chain.from_iterable(everywhere)):
            yield f"agent {name}: escalate_to", entry
