"""Callbacks as the gateway sees them: who may choose one, and for whom one may answer."""

from __future__ import annotations

import pytest

from agent_core import Agent, ScriptedModel
from agent_core.thread.events import Millis, ThreadId, ThreadLaunched
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from channels.callback.addresses import BadCallback, mark
from channels.callback.allowing import AllowList, parse_allowance
from channels.callback.guard import Guard
from channels.inbound import Decision
from channels.people import Actor
from gateway.control.local import LocalGateway
from gateway.control.views import Launch
from gateway.intake.standing import answers_for_requester, person_behind
from gateway.people.directory import Directory
from gateway.settings.config import Hook, Person
from gateway.settings.environment import SettingsError
from gateway.settings.hooks import make_sources
from gateway.shortcuts.hints import Hints
from storage.memory import MemoryStore
from storage.values import Wish

URL = "https://ci.example.com/in"
ADDRESS = f"callback:{URL}"
PEOPLE = Directory([Person(name="otto", email=("otto@example.com",))])


def asked(*to: str) -> QuestionState:
    """A question, for these people or whoever began the thread."""
    question = Question(id=QuestionId("q_1"), kind="approval", prompt="May I?", to=to)
    return QuestionState(
        question=question, asked_at=Millis(0), nudged_at=Millis(0), timer_from=Millis(0)
    )


def thread(
    requester: str = "ci", origin: str = "web:th_1", audience: tuple[str, ...] = ()
) -> ThreadState:
    """A thread that a callback watches."""
    return ThreadState(
        requester=requester, origin=origin, watchers=("slack:T1:C1", ADDRESS), audience=audience
    )


def decided(place: str = f"callback:{mark(ADDRESS)}", how: str = "response_url") -> Decision:
    """An answer by a response URL."""
    actor = Actor(id="callback:ci.example.com", how=how)
    return Decision(key="k", place=place, actor=actor, question="q_1", value={"approved": True})


@pytest.mark.parametrize(
    ("state", "to", "may"),
    [
        (thread(), (), True),
        (thread(), ("ci",), True),
        (thread(), ("otto",), False),
        (thread(), ("ci", "otto"), False),
        (thread(audience=("approver",)), (), False),
        (thread(requester=""), (), False),
        (thread(requester="otto"), (), True),
        (thread(requester="webhook:ci", origin="webhook:ci:7"), (), True),
        (thread(requester="otto", origin="webhook:ci:7"), (), False),
        (thread(requester="otto@example.com", origin="webhook:ci:7"), (), False),
    ],
)
def test_a_callback_answers_for_who_launched_and_nobody_else(
    state: ThreadState,
    to: tuple[str, ...],
    may: bool,  # noqa: FBT001 (a case)
) -> None:
    """Nor for a person whom only a payload has named."""
    assert answers_for_requester(decided(), state, asked(*to), PEOPLE) is may


@pytest.mark.parametrize(
    "inbound",
    [decided(place=ADDRESS), decided(place="callback:other"), decided(how="slack"), decided("")],
)
def test_only_the_callback_that_was_chosen_may(inbound: Decision) -> None:
    """By the mark that stands in the signed token, and by no other way in."""
    assert not answers_for_requester(inbound, thread(), asked(), PEOPLE)


def test_where_several_decide_a_callback_is_who_launched() -> None:
    """So nobody has two votes."""
    state = thread(requester="otto")

    assert person_behind(decided().actor, state, PEOPLE) == PEOPLE.whois(Actor(id="otto"))
    lea = Actor(id="slack:T1:U9")
    assert person_behind(lea, state, PEOPLE) == PEOPLE.whois(lea)


async def test_a_callback_is_checked_before_anything_begins() -> None:
    """Also where the thread is there already, and kept as its watcher where it is good."""
    store = MemoryStore()
    await store.open()
    agents = {"desk": Agent("desk", model=ScriptedModel([]))}
    guard = Guard(AllowList([parse_allowance("ci.internal")]))
    gateway = LocalGateway(store, agents, Hints(store), guard=guard)
    for url in ("http://10.0.0.1/", "https://db/", "https://u:p@ci.example.com/", "http://[::1]/"):
        with pytest.raises(BadCallback):
            await gateway.launch(Launch(agent="desk", text="x", callback_url=url), by="ci")
    assert (await store.threads(Wish())).items == []

    launch = Launch(agent="desk", text="x", callback_url="http://ci.internal/in")
    view, _ = await gateway.launch(launch, by="ci")

    (first, *_) = await store.events(ThreadId(view.id))
    assert isinstance(first, ThreadLaunched)
    assert first.watchers == ("callback:http://ci.internal/in",)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "{{ payload.url }}", "https://x.example/{{a}}"]
)
def test_a_hooks_callback_is_the_operators_words_and_no_template(url: str) -> None:
    """No payload chooses where anything goes: what looks like a template is refused at start."""
    hook = Hook(secret_env=("S",), scheme="bearer", message="m", callback_url=url)

    with pytest.raises(SettingsError, match=r"hooks\.ci\.callback_url: "):
        make_sources({"ci": hook}, ["desk"], {"S": "s"})


def test_a_hooks_callback_watches_the_threads_that_begin_there() -> None:
    """As the operator wrote it."""
    hook = Hook(secret_env=("S",), scheme="bearer", message="m", callback_url=URL)

    (source,) = make_sources({"ci": hook}, ["desk"], {"S": "s"})

    assert source.watchers == (ADDRESS,)
