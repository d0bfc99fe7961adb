"""What must hold of every log, whatever people did: read by itself, without the code under test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_core.thread.events import (
    ApprovalTakenBack,
    Event,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    ThreadLaunched,
    ToolStarted,
    VoteCast,
)
from agent_core.thread.questions import Escalation, Question, QuestionId
from tests.simulation.people.city import City


@dataclass
class Story:
    """What a log tells of one question."""

    question: Question
    audience: tuple[str, ...]
    waits_from: int
    nudged_at: int
    votes: list[VoteCast | QuestionAnswered] = field(default_factory=list)
    steps: int = 0
    reminders: int = 0
    end: Event | None = None
    taken_back: bool = False


class Inspector:
    """Reads a log from its first event to its last."""

    def __init__(self, city: City, ran: Sequence[tuple[str, str, int]]) -> None:
        """Know the city, and what the tools did."""
        self._city = city
        self._ran = ran
        self.seen = Counter[str]()

    def inspect(self, log: Sequence[Event]) -> None:
        """Hold a log to all the rules."""
        launched = log[0]
        assert isinstance(launched, ThreadLaunched)
        stories: dict[QuestionId, Story] = {}
        chosen: dict[str, int] = {}
        for seq, event in enumerate(log, start=1):
            self.seen[type(event).__name__] += 1
            match event:
                case ModelReplied(calls=calls):
                    for index, one in enumerate(calls):
                        chosen[f"{seq}.{index}"] = one.arguments["number"]
                case QuestionAsked(question=question, at=at):
                    stories[question.id] = Story(question, question.to, at, at)
                case ToolStarted():
                    self._started(event, launched.thread, stories, chosen)
                case VoteCast() | QuestionAnswered():
                    self._voted(event, stories[event.question], launched)
                case QuestionReminded() | QuestionEscalated() | QuestionExpired():
                    self._fired(event, stories[event.question])
                case QuestionWithdrawn():
                    _end(event, stories[event.question])
                case ApprovalTakenBack():
                    story = stories[event.question]
                    assert isinstance(story.end, QuestionAnswered)
                    assert not story.taken_back
                    story.taken_back = True

    # Who decided

    def _voted(
        self, event: VoteCast | QuestionAnswered, story: Story, launched: ThreadLaunched
    ) -> None:
        assert story.end is None, "nobody decides twice"
        assert _is_in_time(event, story), "nobody decides after the end"
        citizen, policy = self._city.owner.get(event.by), story.question.policy
        assert citizen is None or citizen.is_asked(story.audience), "only who is asked decides"
        assert citizen is not None or event.by in ("desk", "night-desk")
        if policy.not_requester and event.value["approved"]:
            assert self._city.who(event.by) != self._city.who(launched.requester), "four eyes"
        story.votes.append(event)
        if isinstance(event, VoteCast):
            return
        last = {self._city.who(one.by): one for one in story.votes}
        same = [one for one in last.values() if _says(one) == _says(event)]
        needed = 1 if policy.veto and not event.value["approved"] else policy.quorum
        assert len(same) >= needed, "the quorum holds"
        _end(event, story)

    # When nobody answered

    def _fired(
        self, event: QuestionReminded | QuestionEscalated | QuestionExpired, story: Story
    ) -> None:
        assert story.end is None, "nobody is reminded of what is settled"
        rules, elapsed = story.question.waiting, event.at - story.waits_from
        if isinstance(event, QuestionReminded):
            assert rules.remind_after is not None
            wait = rules.remind_after * rules.remind_growth**story.reminders
            assert event.at - story.nudged_at >= wait * 1000, "no reminder before its time"
            story.reminders, story.nudged_at = story.reminders + 1, event.at
            assert story.reminders <= (rules.remind_times or story.reminders)
            return
        steps = _steps(story)
        assert rules.on_expiry != "wait"
        assert elapsed >= _patience(story) * 1000, "no end before its time"
        if isinstance(event, QuestionExpired):
            assert rules.on_expiry != "escalate" or story.steps == len(steps), "the chain first"
            _end(event, story)
            return
        assert event.to == steps[story.steps].to, "one step after the other"
        story.steps, story.reminders = story.steps + 1, 0
        story.audience += event.to
        story.waits_from = story.nudged_at = event.at

    # What ran

    def _started(
        self,
        event: ToolStarted,
        thread: str,
        stories: dict[QuestionId, Story],
        chosen: dict[str, int],
    ) -> None:
        standing = [
            one.end
            for one in stories.values()
            if one.question.call == event.call
            if isinstance(one.end, QuestionAnswered) and not one.taken_back
        ]
        assert len(standing) == 1, "what runs was approved, and that stands"
        assert standing[0].value["approved"]
        arguments = standing[0].value.get("arguments") or {"number": chosen[event.call]}
        ran = [number for where, call, number in self._ran if (where, call) == (thread, event.call)]
        assert ran == [arguments["number"]], "it ran once, with what was approved"


def _is_in_time(event: VoteCast | QuestionAnswered, story: Story) -> bool:
    """Tell whether an answer came before the end, as people were told it."""
    rules = story.question.waiting
    if rules.expires_after is None or rules.on_expiry == "wait":
        return True
    if rules.on_expiry == "escalate" and story.steps < len(rules.escalate_to):
        return True
    return event.at < story.waits_from + _patience(story) * 1000


def _steps(story: Story) -> list[Escalation]:
    steps = story.question.waiting.escalate_to
    return [one if isinstance(one, Escalation) else Escalation((one,)) for one in steps]


def _patience(story: Story) -> int:
    """Tell how many seconds those have who were asked last."""
    last = _steps(story)[story.steps - 1].after if story.steps else None
    return last or story.question.waiting.expires_after or 0


def _says(event: VoteCast | QuestionAnswered) -> tuple[bool, str]:
    return event.value["approved"], event.digest


def _end(event: Event, story: Story) -> None:
    assert story.end is None, "a question has one end"
    story.end = event
