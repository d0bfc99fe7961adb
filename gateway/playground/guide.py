"""The first minute, step by step. A step is done when it has happened, by the server's own log.

Pure: a scene in, the steps with their ticks out. Nobody is asked what they clicked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gateway.playground.scene import Scene, Seen

_EVERYWHERE: Final = frozenset({"slack", "email"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what to do, where, and how to tell that it happened."""

    name: str
    title: str
    hint: str
    where: str
    """The part of the page that it is about."""
    happened: Callable[[Scene], bool]


@dataclass(frozen=True, slots=True)
class Ticked:
    """A step, and how it stands."""

    step: Step
    is_done: bool
    is_next: bool


def _asked_in_slack(scene: Scene) -> Iterator[tuple[Seen, str]]:
    for seen in scene.threads:
        if seen.origin == "slack":
            yield from ((seen, str(question["id"])) for question in seen.questions)


def _mentioned(scene: Scene) -> bool:
    return any(seen.origin == "slack" for seen in scene.threads)


def _stands_everywhere(scene: Scene) -> bool:
    return any(seen.places(question) >= _EVERYWHERE for seen, question in _asked_in_slack(scene))


def _answered(scene: Scene) -> bool:
    return any(seen.of("QuestionAnswered") for seen, _ in _asked_in_slack(scene))


def _settled(scene: Scene) -> bool:
    return any(seen.is_over and seen.is_settled(one) for seen, one in _asked_in_slack(scene))


def _pipeline_asked(scene: Scene) -> bool:
    return any(
        seen.origin == "webhook" and any(seen.places(str(one["id"])) for one in seen.questions)
        for seen in scene.threads
    )


def _killed_while_waiting(scene: Scene) -> bool:
    """Tell whether a question was open when the server died, and is there in its next life."""
    return any(
        after is not None and seen.open_at(life.ended or 0) is not None
        for life, after in scene.kills()
        for seen in scene.threads
    )


def _cut_off(scene: Scene) -> list[Seen]:
    """Give the threads of which a kill cut a tool off, by what the next process says of it."""
    return [
        seen
        for life, after in scene.kills()
        for seen in scene.threads
        if after is not None and seen.running_at(life.ended or 0) is not None
    ]


def _killed_in_a_tool(scene: Scene) -> bool:
    return bool(_cut_off(scene))


def _carried_on(scene: Scene) -> bool:
    """Tell whether a thread whose tool was cut off has come to its end, with a result for it."""
    return any(seen.is_over and seen.of("ToolReturned") for seen in _cut_off(scene))


STEPS: Final = (
    Step(
        name="mention",
        title="Mention the bot",
        hint="In Slack, send the message that is written there already.",
        where="slack",
        happened=_mentioned,
    ),
    Step(
        name="asked",
        title="It asks for approval, everywhere",
        hint="The same question stands in Slack, in Olga's mailbox and in the inbox.",
        where="guide",
        happened=_stands_everywhere,
    ),
    Step(
        name="answered",
        title="Answer in any of the three",
        hint="A button in Slack, a “yes” by mail, or a button in the inbox. The first one counts.",
        where="guide",
        happened=_answered,
    ),
    Step(
        name="settled",
        title="Every copy settles, and the thread goes on",
        hint="All three say who decided; what was approved runs, once.",
        where="log",
        happened=_settled,
    ),
    Step(
        name="pipeline",
        title="Let the build fail",
        hint="A signed webhook begins a thread. Nobody is in a channel with it, so people are "
        "found: Ann by a direct message, Olga by mail.",
        where="pipeline",
        happened=_pipeline_asked,
    ),
    Step(
        name="killed",
        title="Kill the server while it waits",
        hint="kill -9. It is started again, and the question is still there.",
        where="server",
        happened=_killed_while_waiting,
    ),
    Step(
        name="cut",
        title="Approve, and kill it in the middle of the work",
        hint="roll_back takes some seconds: watch the machines, and kill the server meanwhile.",
        where="server",
        happened=_killed_in_a_tool,
    ),
    Step(
        name="done",
        title="Watch it carry on",
        hint="The next process finds what was cut off, and finishes it. Nothing is done twice.",
        where="log",
        happened=_carried_on,
    ),
)


def ticked(scene: Scene) -> list[Ticked]:
    """Tick the steps off, and say which is next: the first that has not happened."""
    done = [step.happened(scene) for step in STEPS]
    first = done.index(False) if False in done else len(STEPS)
    return [
        Ticked(step, is_done, number == first)
        for number, (step, is_done) in enumerate(zip(STEPS, done, strict=True))
    ]
