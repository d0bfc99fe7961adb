"""Asking from inside a tool with `ctx.ask`: the process may be gone when the answer comes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_core import (
    Finished,
    Option,
    Paused,
    ToolContext,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import Stage, calling_each, expect, types_in


async def test_ask_gives_the_answer_and_the_tool_goes_on() -> None:
    """To the author it reads like a function call, a year or a process later."""

    @tool
    async def greet(ctx: ToolContext) -> str:
        return f"hello {await ctx.ask('What is your name?', to='anna', context='for the card')}"

    stage = calling_each(greet)
    paused = expect(await stage.agent.run("go"), Paused)
    (question,) = paused.questions
    assert (question.kind, question.prompt) == ("text", "What is your name?")
    assert (question.to, question.context) == (("anna",), "for the card")

    await stage.deploy(greet).resume(paused.checkpoint, "Otto")

    assert stage.last_results == ["hello Otto"]


async def test_an_ask_that_has_its_answer_gives_it_at_once_when_the_tool_runs_again() -> None:
    """Nobody is asked twice, and the effect after the last ask happens once."""
    deeds: list[str] = []

    @tool
    async def book(ctx: ToolContext) -> str:
        where = await ctx.ask("Where to?")
        when = await ctx.ask("When?")
        deeds.append(f"{where} {when}")
        return "booked"

    stage = calling_each(book)
    first = await stage.agent.run("go")
    second = await stage.agent.resume(first.checkpoint, "Bonn")
    assert expect(second, Paused).questions[0].prompt == "When?"

    outcome = await stage.agent.resume(second.checkpoint, "today")

    assert deeds == ["Bonn today"]
    assert types_in(outcome).count("QuestionAsked") == 2
    assert types_in(outcome).count("ToolStarted") == 3


async def test_asks_gathered_are_asked_at_once_and_answering_one_leaves_the_other_open() -> None:
    """The tool runs again only when it has all that it waits for."""
    runs = 0

    @tool
    async def book(ctx: ToolContext) -> str:
        nonlocal runs
        runs += 1
        where, when = await asyncio.gather(ctx.ask("Where to?"), ctx.ask("When?"))
        return f"{where} {when}"

    stage = calling_each(book)
    both = expect(await stage.agent.run("go"), Paused)
    assert [question.prompt for question in both.questions] == ["Where to?", "When?"]

    one = expect(await stage.agent.resume(both.checkpoint, {"q_2": "today"}), Paused)
    assert [question.id for question in one.questions] == ["q_1"]
    assert runs == 1
    await stage.agent.resume(one.checkpoint, "Bonn")

    assert stage.last_results == ["Bonn today"]
    assert runs == 2


async def test_asks_may_have_ids_of_their_own() -> None:
    """The caller's id is the handle of the pause, and the order no longer matters."""

    @tool
    async def book(ctx: ToolContext) -> str:
        where, when = await asyncio.gather(
            ctx.ask("Where to?", id="where"), ctx.ask("When?", id="when")
        )
        return f"{where} {when}"

    stage = calling_each(book)
    both = expect(await stage.agent.run("go"), Paused)
    assert [question.id for question in both.questions] == ["where", "when"]

    await stage.agent.resume(both.checkpoint, {"when": "today", "where": "Bonn"})

    assert stage.last_results == ["Bonn today"]


async def test_asks_with_and_without_ids_of_their_own_mix() -> None:
    """An id on one ask doesn't shift the others."""

    @tool
    async def book(ctx: ToolContext) -> str:
        where = await ctx.ask("Where to?", id="where")
        when = await ctx.ask("When?")
        who = await ctx.ask("Who?", id="who")
        return f"{where} {when} {who}"

    stage = calling_each(book)
    outcome = await stage.agent.run("go")
    for answer in ("Bonn", "today", "Otto"):
        outcome = await stage.agent.resume(outcome.checkpoint, answer)

    assert expect(outcome, Finished).result == "done"
    assert stage.last_results == ["Bonn today Otto"]


async def test_an_id_that_was_used_in_the_thread_before_is_refused() -> None:
    """An id names one question; the tool that reuses it fails, and the model is told."""

    @tool
    async def first(ctx: ToolContext) -> str:
        return str(await ctx.ask("Where to?", id="where"))

    @tool
    async def second(ctx: ToolContext) -> str:
        return str(await ctx.ask("Where from?", id="where"))

    stage = Stage([calls(call("first")), calls(call("second")), says("done")], first, second)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, "Bonn")

    assert (
        "a question with the id 'where' was asked in this thread before" in (stage.last_results[0])
    )


async def test_an_id_used_twice_in_one_run_is_refused() -> None:
    """Two different questions can't share a handle: one is asked, and then the tool fails."""

    @tool
    async def book(ctx: ToolContext) -> str:
        await asyncio.gather(ctx.ask("Where to?", id="it"), ctx.ask("When?", id="it"))
        return "booked"

    stage = calling_each(book)
    paused = expect(await stage.agent.run("go"), Paused)
    assert [question.prompt for question in paused.questions] == ["Where to?"]

    outcome = await stage.agent.resume(paused.checkpoint, "Bonn")

    assert expect(outcome, Finished).result == "done"
    assert "'it' was asked in this thread before" in stage.last_results[0]


async def test_a_tool_that_asks_something_else_on_its_re_run_is_stopped() -> None:
    """An answer never goes to a question that it wasn't given for."""
    prompts = iter(["Where to?", "Where from?"])

    @tool
    async def moody(ctx: ToolContext) -> str:
        return str(await ctx.ask(next(prompts)))

    stage = calling_each(moody)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, "Bonn")

    (told,) = stage.last_results
    assert "on its first run the tool asked 'Where to?' here, and now 'Where from?'" in told


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"kind": "riddle"}, "there is no kind of question 'riddle'"),
        ({"kind": "choice"}, "a choice needs options"),
        ({"options": ["a"]}, "options belong to a choice"),
        ({"kind": "choice", "options": ["a", "a"]}, "two options have the same name"),
        ({"kind": "choice", "options": [" "]}, "an option needs a name"),
        ({"kind": "choice", "options": [7]}, "an option is a name"),
        ({"kind": "choice", "options": [str(n) for n in range(101)]}, "at most 100 options"),
        ({"kind": "form"}, "a form needs a JSON schema"),
        ({"schema": {}}, "a schema belongs to a form"),
        ({"kind": "form", "schema": {"type": "array"}}, "describes an object, not 'array'"),
        ({"kind": "form", "schema": {"type": 3}}, "describes an object"),
        ({"kind": "form", "schema": {"properties": 3}}, "schema is not usable"),
        ({"kind": "form", "schema": {"$ref": "http://x.invalid/"}}, "schema is not usable"),
        ({"kind": "form", "schema": {"default": {1}}}, "schema.default is not JSON"),
        ({"urgency": "urgent"}, "urgen"),
        ({"to": [7]}, "to"),
        ({"context": 7}, "context"),
    ],
)
async def test_a_question_that_cannot_be_asked_is_told_to_the_model_and_never_stored(
    parts: dict[str, Any], problem: str
) -> None:
    """The tool fails in words; nobody is asked; the checkpoint stays readable."""

    @tool
    async def ask(ctx: ToolContext) -> str:
        return str(await ctx.ask("Well?", **parts))

    stage = calling_each(ask)

    outcome = await stage.agent.run("go")

    stage.agent.open(outcome.checkpoint)
    assert expect(outcome, Finished).result == "done"
    assert problem in stage.last_results[0]
    assert "QuestionAsked" not in types_in(outcome)


async def test_a_question_needs_words() -> None:
    """An empty one helps nobody."""

    @tool
    async def ask(ctx: ToolContext) -> str:
        return str(await ctx.ask("  "))

    stage = calling_each(ask)
    await stage.agent.run("go")

    assert "a question needs words" in stage.last_results[0]


async def test_options_may_be_names_descriptions_or_both() -> None:
    """Whatever is handy for the author becomes named options with descriptions."""
    spellings: tuple[Any, ...] = (
        ["a", Option("b", "the second")],
        {"a": "", "b": "the second"},
        [{"name": "a"}, {"name": "b", "description": "the second"}],
    )
    for options in spellings:

        @tool
        async def ask(ctx: ToolContext) -> str:
            return str(await ctx.ask("Which?", kind="choice", options=options))  # noqa: B023

        (question,) = expect(await calling_each(ask).agent.run("go"), Paused).questions

        assert question.options == (Option("a"), Option("b", "the second"))


async def test_the_same_id_in_two_calls_of_one_turn_belongs_to_the_first() -> None:
    """They run side by side; the second to ask fails, and the first keeps its question."""

    @tool
    async def book(ctx: ToolContext, what: str) -> str:
        return f"{what} {await ctx.ask('Where to?', id='where')}"

    stage = Stage([calls(call("book", what="a"), call("book", what="b")), says("done")], book)
    paused = expect(await stage.agent.run("go"), Paused)
    assert [question.id for question in paused.questions] == ["where"]

    await stage.agent.resume(paused.checkpoint, "Bonn")

    told = sorted(stage.last_results)
    assert told[0].startswith("The tool failed: ")
    assert "'where' was asked in this thread before" in told[0]
    assert told[1] in ("a Bonn", "b Bonn")
