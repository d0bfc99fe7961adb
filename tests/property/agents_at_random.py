"""Random stories as plain data: what the model will choose, and what people and fate will do.

A story is drawn whole before anything runs, so that it prints as a short list and shrinks well.
Which question an act means is a number, taken modulo what there is when its turn comes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from hypothesis import Phase, settings
from hypothesis import strategies as st

from agent_core import Agent, Compaction, MaxSteps, Model, RetryPolicy, Waiting, World, render_chat
from agent_core.models import ModelReply, ModelRequest, RequestedCall, call, calls, says
from agent_core.thread.events import LimitAction
from agent_core.thread.limits import NO_LIMIT
from agent_core.thread.questions import OnExpiry
from tests.property.tools_at_random import TOOLS, arrived

NAME = "random"
INSTRUCTIONS = "be random"

Trouble = Literal["unavailable", "rejected", "bug", "cancelled"]
Kind = Literal[
    "release",
    "release all",
    "say",
    "answer",
    "expire",
    "tick",
    "time out",
    "withdraw",
    "pause",
    "resume",
    "cancel",
    "retry",
    "fork",
    "close",
    "halt",
    "lift",
    "crash",
    "then crash",
    "then halt",
    "run",
]


@dataclass(frozen=True)
class Choice:
    """A call that the model will choose."""

    tool: str
    n: int

    def requested(self) -> RequestedCall:
        """Write the call as the model would."""
        match self.tool:
            case "contact_human":
                return call("contact_human", question=f"well, {self.n}?", **_HUMAN[self.n])
            case "malformed":
                return RequestedCall("write", _MALFORMED[self.n])
            case "misfitting":
                return call("pay", n="many", m=self.n)
            case _:
                return call(self.tool, n=self.n)

    def __repr__(self) -> str:
        """Tell it briefly."""
        return f"{self.tool}({self.n})"


_HUMAN: list[dict[str, object]] = [
    {},
    {"wait": False},
    {"kind": "choice", "options": ["red", {"name": "blue"}]},
    {"kind": "form", "schema": {"type": "object", "required": ["n"]}, "wait": False},
    {"kind": "form", "schema": {"type": "nonsense"}},
]
_MALFORMED = ["{", "[1]", '{"n": "\\ud800"}', '{"n": 1e999}', "nul\0"]


@dataclass(frozen=True)
class Setting:
    """How the agent is made."""

    ask_after_failures: int = 0
    max_steps: int = 0
    on_limit: LimitAction = "ask"
    on_expiry: OnExpiry = "tell_agent"
    keep: int = 0


@dataclass(frozen=True)
class Act:
    """Something that a person, a clock or fate does."""

    kind: Kind
    which: int = 0
    how: str = ""
    ticks: int | None = None
    """How far the loop gets before the next act: so many rounds, or until nothing moves."""
    run: bool = True
    """Whether a worker takes the thread up afterwards, if none has it."""

    def __repr__(self) -> str:
        """Tell it briefly."""
        ticks = "" if self.ticks is None else f", then {self.ticks} ticks"
        run = "" if self.run else ", nobody runs it"
        return f"{self.kind} {self.which} {self.how}".rstrip() + ticks + run


@dataclass(frozen=True)
class Story:
    """All that is decided beforehand."""

    script: tuple[tuple[Choice, ...], ...]
    acts: tuple[Act, ...] = ()
    setting: Setting = Setting()
    troubles: tuple[tuple[int, Trouble], ...] = ()
    """At which turns the model fails, and how; each once, in order."""
    slow_model: bool = False
    """Whether the model, too, waits to be let go."""
    ends_in_cancel: bool = False

    def told(self) -> str:
        """Tell the story, one line each."""
        turns = [f"  turn {number}: {list(turn)}" for number, turn in enumerate(self.script)]
        acts = [f"  {act!r}" for act in self.acts]
        end = "cancelled" if self.ends_in_cancel else "treated kindly"
        model = f"slow: {self.slow_model}, troubles: {self.troubles}"
        return "\n".join([f"{self.setting}, {model}", *turns, "then", *acts, f"  and {end}"])


def agent_for(story: Story, model: Model, world: World) -> Agent:
    """Make the story's agent: a fresh one, as in a new process."""
    setting = story.setting
    agent = Agent(
        NAME,
        INSTRUCTIONS,
        TOOLS.values(),
        model=model,
        limits=MaxSteps(setting.max_steps) if setting.max_steps else NO_LIMIT,
        on_limit=setting.on_limit,
        waiting=Waiting(
            remind_after=20,
            expires_after=60,
            on_expiry=setting.on_expiry,
            escalate_to=("anna", "otto"),
        ),
        ask_after_failures=setting.ask_after_failures,
        compaction=Compaction(after_messages=setting.keep + 2, keep=setting.keep)
        if setting.keep
        else None,
        model_retries=RetryPolicy(attempts=2),
        undo_attempts=2,
        render=render_chat,
        world=world,
    )
    agent.on("arrived")(arrived)
    return agent


def turn_of(request: ModelRequest) -> int:
    """Count the turns taken so far, also those that a summary stands for."""
    turn = 0
    for message in request.messages:
        if message["role"] == "assistant":
            turn += 1
        elif message["content"].startswith("[what happened so far, in short]\nturns:"):
            turn += int(message["content"].partition("turns:")[2])
    return turn


def reply_at(story: Story, request: ModelRequest) -> ModelReply:
    """Reply as the story has it: a function of the request, and of nothing else."""
    turn = turn_of(request)
    if not request.tools:
        return says(f"turns:{turn}")
    chosen = story.script[turn] if turn < len(story.script) else ()
    if not chosen:
        return says(f"turn {turn}: done")
    return calls(*(one.requested() for one in chosen), text=f"turn {turn}")


# Strategies

_NUMBERS = st.integers(0, 4)
_CHOICES = st.builds(
    Choice, st.sampled_from([*TOOLS, "unknown", "malformed", "misfitting"]), _NUMBERS
)
_TURNS = st.lists(_CHOICES, min_size=1, max_size=3).map(tuple)
_SCRIPTS = st.lists(_TURNS, min_size=1, max_size=4).map(tuple)
_SETTINGS = st.builds(
    Setting,
    ask_after_failures=st.sampled_from([0, 0, 1, 2]),
    max_steps=st.sampled_from([0, 0, 0, 1, 2]),
    on_limit=st.sampled_from(["ask", "finish", "fail"]),
    on_expiry=st.sampled_from(["tell_agent", "deny", "escalate", "wait"]),
    keep=st.sampled_from([0, 0, 0, 1, 2, 3]),
)
_TROUBLE = st.tuples(
    st.integers(0, 4), st.sampled_from(["unavailable", "rejected", "bug", "cancelled"])
)
_TROUBLES = st.just(()) | st.lists(_TROUBLE, max_size=3).map(tuple)
_ODD_ANSWERS = ["misfit", "stranger", "old", "many", "bare"]
_HOW: dict[Kind, list[str]] = {
    "answer": [
        *["yes"] * 4,
        *["edits"] * 2,
        *["no"] * 2,
        "misfit",
        "stranger",
        "old",
        "many",
        "bare",
    ],
    "say": ["words", "words", "words", "odd"],
    "close": ["", "withdraw", "withdraw"],
    "resume": ["", "instruction"],
    "retry": ["", "instruction"],
}
_WEIGHTS: dict[Kind, int] = {
    "release": 8,
    "release all": 2,
    "say": 2,
    "answer": 10,
    "expire": 2,
    "tick": 2,
    "time out": 3,
    "withdraw": 2,
    "pause": 2,
    "resume": 2,
    "cancel": 1,
    "retry": 1,
    "fork": 1,
    "close": 1,
    "halt": 1,
    "lift": 1,
    "crash": 1,
    "then crash": 2,
    "then halt": 1,
    "run": 1,
}
_KINDS = [kind for kind, weight in _WEIGHTS.items() for _ in range(weight)]


@st.composite
def acts(draw: st.DrawFn) -> Act:
    """Draw something to happen."""
    kind = draw(st.sampled_from(_KINDS))
    return Act(
        kind,
        which=draw(_NUMBERS),
        how=draw(st.sampled_from(_HOW.get(kind, [""]))),
        ticks=draw(st.sampled_from([None, None, None, 0, 1, 2, 3, 5])),
        run=draw(st.sampled_from([True, True, True, False])),
    )


def stories(most_acts: int = 24) -> st.SearchStrategy[Story]:
    """Draw whole stories, many of them long."""
    short = st.lists(acts(), max_size=most_acts)
    long = st.lists(acts(), min_size=most_acts // 2, max_size=most_acts)
    return st.builds(
        Story,
        script=_SCRIPTS,
        acts=(short | long).map(tuple),
        setting=_SETTINGS,
        troubles=_TROUBLES,
        slow_model=st.sampled_from([False, False, True]),
        ends_in_cancel=st.booleans(),
    )


def examples(count: int) -> settings:
    """Try so many examples, or PARLEY_PROPERTY_EXAMPLES times as many in a long run.

    A failing story is made smaller, but not explained: that takes minutes and says little.
    """
    times = int(os.environ.get("PARLEY_PROPERTY_EXAMPLES", "1"))
    phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
    return settings(max_examples=count * times, phases=phases)


def misfit(kind: str) -> object:
    """Give an answer that no question of that kind takes."""
    return {"text": 7, "choice": "mauve", "approval": "perhaps", "form": [], "event": "x"}[kind]
