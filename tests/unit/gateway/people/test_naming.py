"""Naming: names that lead nowhere are refused at the start, and told to a model."""

from __future__ import annotations

import pytest

from agent_core import (
    Agent,
    Escalation,
    RequestedCall,
    ScriptedModel,
    ToolContext,
    Waiting,
    call,
    calls,
    contact_human,
    tool,
)
from agent_core.loop.world import World
from agent_core.thread.events import ToolFailed
from agent_core.thread.state import ThreadState
from gateway.people.directory import Directory
from gateway.people.naming import Naming, check_names, written_names
from gateway.settings.config import Config, Person
from gateway.settings.environment import SettingsError
from storage.memory import MemoryStore
from tests.unit.gateway.workshop import workshop

ALL = [Person(name="otto", slack=("T1:U2",), email=("otto@x.org",), roles=("lead",))]
PEOPLE = Directory(ALL)
STATE = ThreadState(
    requester="slack:T1:U7",
    participants=("slack:T1:U7", "email:cc@x.org"),
    audience=("slack:T1:C1",),
)


@tool(approval=True, approvers=["lead", "bob", "slack:T1:C5"])
def pay() -> str:
    """Pay."""
    return "paid"


AGENT = Agent("payer", tools=[pay], waiting=Waiting(escalate_to=("otto", "boss")))


@pytest.mark.parametrize(
    "entry",
    [
        "otto",
        "LEAD",
        "slack:T1:U2",
        "otto@x.org",
        "slack:T1:U7",
        "email:CC@x.org",
        "slack:T1:C1",
        "slack:T1:C5",
    ],
)
def test_model_may_name_whom_we_know_and_who_is_in_the_conversation(entry: str) -> None:
    """By a name, a role, or an address that somebody has written down."""
    Naming(PEOPLE, ["slack:T1:C5"]).check(STATE, [entry])


@pytest.mark.parametrize("entry", ["bob", "slack:T1:C9", "email:eve@evil.org", "eve@evil.org", ""])
def test_model_is_told_the_names_that_there_are(entry: str) -> None:
    """It can't make somebody up, nor choose an address to write to."""
    with pytest.raises(ValueError, match="The names and roles are: otto, lead"):
        Naming(PEOPLE).check(STATE, ["otto", entry])


def test_without_a_directory_names_are_anybodys_but_addresses_are_not() -> None:
    """Nobody can be reached by a mere name; an address would be written to."""
    Naming(Directory()).check(STATE, ["legal"])

    with pytest.raises(ValueError, match=r"eve@evil\.org"):
        Naming(Directory()).check(STATE, ["email:eve@evil.org"])


def test_names_that_lead_nowhere_are_refused_at_the_start() -> None:
    """Each by its place, with the names that there are; addresses and templates are left alone."""
    hook = {"secret_env": "S", "audience": ["lisa", "otto", "{{ payload.team }}", "slack:T1:C1"]}
    config = Config.model_validate({"hooks": {"ci": hook}})

    with pytest.raises(SettingsError) as caught:
        check_names(config, {"payer": AGENT}, PEOPLE)

    assert str(caught.value).splitlines() == [
        "parley.toml: hooks.ci.audience names 'lisa', and nobody is called so",
        "agent payer: approvers of the tool pay names 'bob', and nobody is called so",
        "agent payer: escalate_to names 'boss', and nobody is called so",
        "The names and roles are: otto, lead",
    ]
    check_names(config, {"payer": AGENT}, Directory())
    assert "slack:T1:C5" in written_names(config, {"payer": AGENT})


@tool
async def consult(ctx: ToolContext, who: str) -> str:
    """Ask somebody."""
    return str(await ctx.ask("well?", to=who))


@pytest.mark.parametrize(
    "asking",
    [
        call("contact_human", question="?", to=["bob"]),
        call("contact_human", question="?", to=["bob"], wait=False),
        call("consult", who="bob"),
    ],
)
async def test_unknown_name_goes_back_to_the_model(asking: RequestedCall) -> None:
    """As the result of its call, so that it can ask somebody else."""
    model = ScriptedModel([calls(asking), calls(call("consult", who="otto"))])
    agent = Agent("agent", tools=[contact_human, consult], model=model)
    world = World(check_audience=Naming(PEOPLE).check)
    async with workshop(MemoryStore(), agent, world=world) as here:
        here.engine()
        thread = await here.launch()
        view = await here.rested(thread)

        (failed,) = [one for one in await here.log(thread) if isinstance(one, ToolFailed)]

    assert [one.audience for one in view.questions] == [["otto"]]
    assert "nobody is called 'bob'. The names and roles are: otto, lead" in failed.error


def test_whoever_a_tools_question_may_go_on_to_must_be_known() -> None:
    """Also along a chain of its own, and by urgency."""
    rule = Waiting(escalate_to=(Escalation(("nobody", "otto")),))

    @tool(approval=True, waiting=rule)
    def ship() -> str:
        """Ship it."""
        return "shipped"

    agent = Agent("shipper", tools=[ship], waiting={"high": Waiting(escalate_to=("ghost",))})

    assert sorted(entry for entry in written_names(Config(), {"shipper": agent})) == [
        "ghost",
        "nobody",
        "otto",
    ]


def test_quorum_that_nobody_could_reach_is_refused_at_the_start() -> None:
    """Counted as people, not as names; whom it goes on to counts, too; an address may be many's."""

    def agent(*approvers: str, later: tuple[str, ...] = ()) -> Agent:
        @tool(approval=True, approvers=approvers, quorum=2, waiting=Waiting(escalate_to=later))
        def ship() -> str:
            """Ship it."""
            return "shipped"

        return Agent("shipper", tools=[ship])

    two = Directory([*ALL, Person(name="lea", email=("lea@x.org",), roles=("lead",))])

    with pytest.raises(SettingsError, match="2 people must approve the tool ship, and its approv"):
        check_names(Config(), {"shipper": agent("otto", "lead")}, Directory(ALL))
    check_names(Config(), {"shipper": agent("lead")}, two)
    check_names(Config(), {"shipper": agent("otto", later=("lea",))}, two)
    check_names(Config(), {"shipper": agent("slack:T1:C5")}, Directory(ALL))
