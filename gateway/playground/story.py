"""The first minute, played by itself and told in the terminal: what `parley demo --once` prints.

It goes the way of the page's guide: the same steps, done by the same means, and each is told when
the server's log says that it has happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from gateway.playground import guide
from gateway.playground.account import accounts
from gateway.playground.chronicle import Line, chronicle
from gateway.playground.guide import Step
from gateway.playground.scene import Scene, Seen
from gateway.playground.script import EARLIER, RELEASE
from gateway.playground.stage import Stage


class Stuck(Exception):
    """The story did not go on: our bug, or a machine in trouble."""


Deed = Callable[[Stage], Awaitable[str]]
_WITHIN: Final = 30.0
_TRIES: Final = 3
_HIDDEN: Final = frozenset({"ThreadLaunched", "answers"})


async def _mention(stage: Stage) -> str:
    await stage.mention(RELEASE)
    return f"Ann, in Slack: @parley {RELEASE}"


async def _asked(stage: Stage) -> str:
    question = await stage.until(stage.open_question, _WITHIN)
    return f"“{question['prompt']}” stands in Slack, in Olga's mailbox and in the inbox."


async def _by_mail(stage: Stage) -> str:
    await stage.until(stage.open_question, _WITHIN)
    stage.reply(stage.letters()[-1], "yes")
    return "Olga replies to her mail: yes"


async def _pipeline(stage: Stage) -> str:
    return f"The pipeline: {await stage.pipeline.fail()}"


async def _kill(stage: Stage) -> str:
    await stage.until(stage.open_question, _WITHIN)
    return f"kill -9 {stage.server.kill()}"


async def _cut(stage: Stage) -> str:
    """Kill it in the middle of a tool; on a slow machine the tool may be quicker than we are."""
    pid = await _approve_and_kill(stage)
    for _ in range(_TRIES):
        if _CUT.happened(stage.scene):
            break
        await stage.pipeline.fail()
        pid = await _approve_and_kill(stage)
    return f"Approved in the inbox; after the first machine: kill -9 {pid}"


async def _approve_and_kill(stage: Stage) -> int | None:
    """Kill the server when the first machine is switched, and wait for the next one."""
    question = await stage.until(stage.open_question, _WITHIN)
    before = _rolled_back(stage)
    await stage.answer(question["id"], {"approved": True})
    await stage.until(lambda _scene: _rolled_back(stage) > before or None, _WITHIN)
    pid = stage.server.kill()
    await stage.until(lambda scene: _is_back(scene, pid) or None, _WITHIN)
    return pid


def _rolled_back(stage: Stage) -> int:
    return sum(f" {EARLIER} " in line for line in stage.premises.fleet())


def _is_back(scene: Scene, pid: int | None) -> bool:
    return scene.is_up and scene.lives[-1].pid != pid


_CUT: Final = next(step for step in guide.STEPS if step.name == "cut")
_DEEDS: Final[Mapping[str, Deed]] = {
    "mention": _mention,
    "asked": _asked,
    "answered": _by_mail,
    "pipeline": _pipeline,
    "killed": _kill,
    "cut": _cut,
}
"""What is done for a step; the others happen by themselves."""


async def tell(stage: Stage, console: Console) -> None:
    """Play and tell it all."""
    console.print(Text("Parley: agents ask people where they are, and wait.", "bold"))
    words = "A real server on this machine; the model is a script: no key, no account, no network."
    console.print(Text(words, "dim"))
    await stage.until(lambda scene: scene.is_up or None, _WITHIN)
    told = 0
    for number, step in enumerate(guide.STEPS, start=1):
        console.print(Rule(Text(f"{number} · {step.title}", "bold"), align="left", style="dim"))
        await _play(stage, console, step)
        lines = chronicle(stage.scene)
        _print(console, lines[told:])
        told = len(lines)
    _end(stage, console)


async def _play(stage: Stage, console: Console, step: Step) -> None:
    try:
        if deed := _DEEDS.get(step.name):
            console.print(Text(await deed(stage)))
        await stage.until(lambda scene: step.happened(scene) or None, _WITHIN)
    except TimeoutError:
        log = stage.premises.log.read_text(errors="replace")[-2000:]
        raise Stuck(f"“{step.title}” has not happened within {_WITHIN:.0f} s. {log}") from None


def _print(console: Console, lines: list[Line]) -> None:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True, min_width=16)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for line in lines:
        if line.what not in _HIDDEN:
            table.add_row(line.clock, Text(line.what), Text(line.words))
    console.print(table)


def _end(stage: Stage, console: Console) -> None:
    console.print(Rule(Text("What the log says", "bold"), align="left", style="dim"))
    for told in accounts(stage.scene):
        console.print(Text(told))
    fleet, calls = stage.premises.fleet(), _calls(stage.scene)
    twice = len(fleet) - len(set(fleet))
    words = f"{calls} approved calls have switched {len(fleet)} machines, {twice} of them twice."
    console.print(Text(words, "red" if twice else "green"))
    console.print(Text("Try it yourself: ./parley demo", "dim"))


def _calls(scene: Scene) -> int:
    """Count the calls that people gave leave for."""

    def approved(seen: Seen) -> int:
        return sum(event["value"] == {"approved": True} for event in seen.of("QuestionAnswered"))

    return sum(approved(seen) for seen in scene.threads)
