"""Whom a callback stands for: who launched the thread and chose it, and nobody else. Pure.

See docs/adr/0015. A response URL is the right of one callback to answer one question. That is worth
something only where the question is for whoever launched the thread: they chose where the question
goes, and so who answers. Where it is for other people, no program may decide in their place.
"""

from __future__ import annotations

from agent_core.thread.state import QuestionState, ThreadState
from channels.callback.addresses import PREFIX, mark
from channels.callback.responding import HOW
from channels.inbound import Inbound
from channels.people import Actor
from gateway.people.directory import Directory
from gateway.people.routing import audience

_API = "web:"
"""How the origin of a thread begins that was launched over the API, by the name of a key."""


def answers_for_requester(
    inbound: Inbound, state: ThreadState, current: QuestionState, people: Directory
) -> bool:
    """Tell whether a callback may answer in the place of whoever launched the thread."""
    if inbound.actor.how != HOW or not inbound.place.startswith(PREFIX):
        return False
    if inbound.place not in (f"{PREFIX}{mark(one)}" for one in state.watchers):
        return False
    if set(audience(state, current)) != {state.requester}:
        return False
    # A hook's requester may be a person whom its payload names: they have chosen nothing.
    is_person = people.person(Actor(id=state.requester)) is not None
    return state.origin.startswith(_API) or not is_person


def person_behind(actor: Actor, state: ThreadState, people: Directory) -> str:
    """Tell who somebody counts as, where several must decide: a callback, as who launched it.

    So nobody approves twice, or what they began themselves, by also having a callback.
    """
    return people.whois(Actor(id=state.requester) if actor.how == HOW else actor)
