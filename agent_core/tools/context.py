"""What a running tool knows, and how it asks people.

Asking ends the run of the tool: the process may be gone when the answer comes. What happens
then is the tool's choice. `ask` runs the tool again from its start, and each `ask` that has
its answer gives it at once: put side effects after the last one. `pause_for` says where to go
on: the answer is the result (`next`), the tool runs again knowing the answer (`self`), or a
handler of the agent's takes over (`{"event": name}`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias

from agent_core.json_values import Json, JsonObject, plain
from agent_core.thread.questions import (
    WAIT_FOR_EVER,
    CallKey,
    Policy,
    Question,
    QuestionId,
    ResumeTo,
    Urgency,
    Waiting,
    WaitingRules,
)
from agent_core.thread.state import QuestionState
from agent_core.tools.asking import AskKind, Options, build_question

ResumeTarget: TypeAlias = Literal["next", "self"] | Mapping[str, str]


class TooManyResumes(Exception):
    """The tool has paused and resumed as often as it may."""


@dataclass(frozen=True)
class ThreadInfo:
    """The thread that a tool runs for."""

    id: str
    agent: str
    origin: str = ""
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Resumed:
    """The answer that a tool was resumed with."""

    question: str
    value: Json
    by: str = ""
    comment: str = ""
    count: int = 1


def _anybody(_audience: Sequence[str]) -> None:
    """Accept every name."""


@dataclass(kw_only=True)
class Surface:
    """What a context needs from whoever runs the tool."""

    new_id: Callable[[], QuestionId]
    is_taken: Callable[[str], bool]
    has_handler: Callable[[str], bool]
    interrupt: Callable[[], None]
    note: Callable[[str], None]
    waiting: WaitingRules = field(default_factory=lambda: WAIT_FOR_EVER)
    asked_before: Sequence[QuestionState] = ()
    posted_before: Sequence[QuestionState] = ()
    resumes: int = 0
    may_ask: bool = True
    check_audience: Callable[[Sequence[str]], None] = _anybody
    """Raises ValueError if a question names somebody who isn't there."""


class ToolContext:
    """Given to a tool that has a parameter of this type."""

    def __init__(
        self,
        *,
        idempotency_key: str,
        thread: ThreadInfo,
        call: CallKey,
        surface: Surface,
        requester: str = "",
        attempt: int = 1,
        resumed: Resumed | None = None,
    ) -> None:
        """Made by the loop, for one run of one call."""
        self.idempotency_key = idempotency_key
        self.thread = thread
        self.requester = requester
        self.call = call
        self.attempt = attempt
        self.resumed = resumed
        self.questions: list[Question] = []
        """What this run has asked so far."""
        self._surface = surface
        self.misused = ""
        """Why this run can't count, if it paused for two things at once."""
        self._claimed: set[QuestionId] = set()
        self._posts = 0
        self._interrupting = False

    def start_over(self) -> None:
        """Forget what a failed attempt had begun to ask."""
        self.questions.clear()
        self._claimed.clear()
        self._posts = 0

    def note(self, text: str) -> None:
        """Tell people how far the tool is; kept in the thread's log."""
        self._surface.note(str(plain(text, "note")))

    async def ask(
        self,
        question: str,
        *,
        kind: AskKind = "text",
        context: str = "",
        options: Options = (),
        schema: Mapping[str, object] | None = None,
        to: str | Iterable[str] = (),
        urgency: Urgency = "normal",
        id: str | None = None,  # noqa: A002 (the public name)
        waiting: Waiting | None = None,
        policy: Policy | None = None,
    ) -> Any:  # noqa: ANN401 (an answer is any JSON)
        """Ask people and give their answer; until it comes, the thread waits for free."""
        before = self._asked_before(id)
        made = self._question(
            before.question.id if before else id,
            prompt=question,
            kind=kind,
            context=context,
            options=options,
            schema=schema,
            to=to,
            urgency=urgency,
            resume_to="ask",
            waiting=waiting,
            policy=policy,
        )
        if before is None:
            return await self._pause(made)
        if (before.question.prompt, before.question.kind) != (made.prompt, made.kind):
            raise ValueError(
                f"on its first run the tool asked {before.question.prompt!r} here, and now "
                f"{question!r}: asks must come in the same order, or have ids of their own"
            )
        return before.value

    async def pause_for(
        self,
        type: AskKind,  # noqa: A002 (the public name)
        payload: str | Mapping[str, object],
        *,
        resume_to: ResumeTarget = "next",
        id: str | None = None,  # noqa: A002 (the public name)
        key: str = "",
        to: str | Iterable[str] = (),
        urgency: Urgency = "normal",
        max_resumes: int | None = None,
        waiting: Waiting | None = None,
        policy: Policy | None = None,
    ) -> NoReturn:
        """Pause here; the answer goes where `resume_to` says. This never returns.

        A payload's `prompt`, `context`, `options` and `schema` are the question's own; the
        rest of it is kept with the question. For an event, `key` is what the outside knows it by:
        whoever reports an event of that key answers (without `key`, of the question's id).
        """
        if max_resumes is not None and self._surface.resumes >= max_resumes:
            raise TooManyResumes(f"it was resumed {self._surface.resumes} times")
        target, handler = self._target(resume_to)
        rest: dict[str, Any] = {"prompt": payload} if isinstance(payload, str) else dict(payload)
        made = self._question(
            id,
            prompt=str(rest.pop("prompt", "") or f"Waiting for {type} {key}".strip()),
            kind=type,
            context=str(rest.pop("context", "")),
            options=rest.pop("options", ()),
            schema=rest.pop("schema", None),
            payload=rest or None,
            event_key=key,
            to=to,
            urgency=urgency,
            resume_to=target,
            handler=handler,
            waiting=waiting,
            policy=policy,
        )
        await self._pause(made)

    def post(
        self,
        question: str,
        *,
        id: str | None = None,  # noqa: A002 (the public name)
        **parts: Any,  # noqa: ANN401 (as for `ask`)
    ) -> str:
        """Ask without waiting: the answer reaches the model later, as a message."""
        place = self._posts
        self._posts += 1
        if place < len(self._surface.posted_before):
            return self._surface.posted_before[place].question.id
        made = self._question(id, prompt=question, wait=False, **parts)
        self.questions.append(made)
        return made.id

    def _question(self, own_id: str | None, **parts: Any) -> Question:  # noqa: ANN401 (as for `build_question`)
        surface = self._surface
        if not surface.may_ask:
            raise ValueError("a compensation can't ask: nobody waits for it any more")
        known = {one.question.id for one in surface.asked_before}
        if own_id is not None and own_id not in known and self._taken(own_id):
            raise ValueError(f"a question with the id {own_id!r} was asked in this thread before")
        key = QuestionId(own_id) if own_id else surface.new_id()
        own = parts.get("waiting")
        parts["waiting"] = own or surface.waiting.get(parts.get("urgency", "normal"))
        made = build_question(key=key, call=self.call, **parts)
        surface.check_audience((*made.to, *made.waiting.escalation_names()))
        return made

    def _taken(self, own_id: str) -> bool:
        return self._surface.is_taken(own_id) or any(own_id == one.id for one in self.questions)

    def _asked_before(self, own_id: str | None) -> QuestionState | None:
        """Find this ask among those of earlier runs: by its own id, or by its place."""
        for one in self._surface.asked_before:
            ids = (one.question.id, one.stands_for)
            if one.question.id not in self._claimed and (own_id is None or own_id in ids):
                self._claimed.add(one.question.id)
                return one
        return None

    def _target(self, resume_to: ResumeTarget) -> tuple[ResumeTo, str]:
        match resume_to:
            case "next" | "self":
                return resume_to, ""
            case {"event": str(name)} if len(resume_to) == 1:
                if self._surface.has_handler(name):
                    return "event", name
                raise ValueError(
                    f"the agent has no handler for {name!r}: declare it with @agent.on"
                )
        raise ValueError(f'resume_to is "next", "self" or {{"event": name}}, not {resume_to!r}')

    def _interrupt(self) -> None:
        self._interrupting = False
        self._surface.interrupt()

    async def _pause(self, question: Question) -> NoReturn:
        waited_for = [one for one in self.questions if one.wait]
        if waited_for and {question.resume_to, *(one.resume_to for one in waited_for)} != {"ask"}:
            self.misused = "it paused for two things at once; use ctx.ask to ask several"
        self.questions.append(question)
        if not self._interrupting:
            # Not at once: questions asked together, as by asyncio.gather, are asked together.
            # And once for these: a second cancellation would cut off the tool's own `finally`.
            self._interrupting = True
            asyncio.get_running_loop().call_soon(self._interrupt)
        await asyncio.get_running_loop().create_future()
        raise AssertionError("unreachable: nobody completes that future")
