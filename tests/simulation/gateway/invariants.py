"""What must hold once all is mended and has come to rest: read from the tables and from outside.

Each rule gives what is wrong, in words; nothing if all is well. None of them asks the code under
test, but for the fold itself where that is the rule.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from agent_core.thread.events import (
    Event,
    MessageReceived,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionWithdrawn,
    ThreadId,
    ThreadLaunched,
    ToolStarted,
    VoteCast,
)
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState
from agent_core.thread.steps import next_step, status_with
from gateway.work.consequences import summary
from storage.memory import MemoryTables
from storage.memory.audit import MemoryAudit
from storage.seals import Seal, fault
from storage.texts import read_events
from storage.values import Delivery
from tests.simulation.gateway.courier import Parcel
from tests.simulation.gateway.database import at_once
from tests.simulation.gateway.outside import ASKING, Outside, Post
from tests.simulation.gateway.people import KEYS
from tests.simulation.gateway.town import Town

_ENDS = (QuestionAnswered, QuestionExpired, QuestionWithdrawn)
_TOLD = ("thread.finished", "thread.failed", "thread.cancelled")


@dataclass
class Evidence:
    """All that can be looked at in the end."""

    tables: MemoryTables
    seal: Seal
    outside: Outside
    parcels: list[Parcel]
    town: Town
    logs: dict[ThreadId, list[Event]] = field(default_factory=dict)
    states: dict[ThreadId, ThreadState] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read every log."""
        for thread, texts in self.tables.events.items():
            self.logs[thread] = read_events(",".join(texts), thread)
            self.states[thread] = fold(self.logs[thread])

    def own(self, thread: ThreadId) -> list[Event]:
        """Give what happened in a thread itself, without what it has from its original."""
        return self.logs[thread][self.states[thread].forked_at :]

    def settled(self, question: str) -> bool:
        """Tell whether a question is over."""
        row = self.tables.questions.get(question)  # type: ignore[call-overload]  # an id is a str
        return row is not None and row.status != "open"


def logs_are_whole(seen: Evidence) -> Iterator[str]:
    """The log has no gap, and what the row caches of it is what it adds up to."""
    for thread, state in seen.states.items():
        row = seen.tables.threads[thread]
        if row.seq != len(seen.logs[thread]):
            yield f"{thread}: the row says {row.seq} events, the log has {len(seen.logs[thread])}"
        if row.status != status_with(state, next_step(state)):
            yield f"{thread}: the row says {row.status}, and the log does not"
        if row.summary != msgspec.json.decode(msgspec.json.encode(summary(state))):
            yield f"{thread}: its summary is not what the log adds up to"
        for current in state.questions.values():
            index = seen.tables.questions.get(current.question.id)
            if index is None or (index.thread == thread and index.status != current.status):
                yield f"{thread}: the index of {current.question.id} is not what the log says"


def chains_fit(seen: Evidence) -> Iterator[str]:
    """Nothing was changed behind the audit's back."""
    audit = MemoryAudit(seen.tables)
    for thread in seen.logs:
        wrong = fault(seen.seal, at_once(audit.log(thread)))
        if wrong:
            yield f"{thread}: {wrong}"


def questions_end_once(seen: Evidence) -> Iterator[str]:
    """Each question has exactly one outcome."""
    for thread in seen.logs:
        asked = [one.question.id for one in seen.own(thread) if isinstance(one, QuestionAsked)]
        ends = Counter(one.question for one in seen.own(thread) if isinstance(one, _ENDS))
        for question in asked:
            if ends[question] != 1:
                yield f"{thread}: {question} has {ends[question]} outcomes"


def only_who_is_asked_decides(seen: Evidence) -> Iterator[str]:
    """Nobody outside the audience has decided anything."""
    for thread, log in seen.logs.items():
        launched = log[0]
        assert isinstance(launched, ThreadLaunched)
        audiences: dict[str, tuple[str, ...]] = {}
        for event in log:
            match event:
                case QuestionAsked(question=one):
                    own = launched.audience or (launched.requester,)
                    audiences[one.id] = (*(one.to or own), f"event:{one.awaited}")
                case QuestionEscalated(question=key, to=to):
                    audiences[key] += to
                case QuestionAnswered(question=key, by=by) | VoteCast(question=key, by=by):
                    may = by in KEYS or by in audiences[key]
                    if not may and not seen.town.is_asked(by, audiences[key]):
                        yield f"{thread}: {by} decided {key}, which is for {audiences[key]}"


def what_was_acknowledged_counts_once(seen: Evidence) -> Iterator[str]:
    """Each acknowledged message has exactly one effect; what was refused has none."""
    words: Counter[str] = Counter()
    rulings: Counter[str] = Counter()
    for thread in seen.logs:
        for event in seen.own(thread):
            if isinstance(event, MessageReceived):
                words[event.text.partition(":")[0]] += 1
            elif isinstance(event, QuestionAnswered | VoteCast):
                rulings[event.comment] += 1
                if isinstance(event.value, str):
                    words[event.value.partition(":")[0]] += 1
    for parcel in seen.parcels:
        if not parcel.token.startswith(("m", "d")):
            continue
        found = (words if parcel.token.startswith("m") else rulings)[parcel.token]
        is_repeated = parcel.inbound is None and parcel.token.startswith("d")
        if found > 1 and not is_repeated:  # an answer over the API has no key of its own
            yield f"{parcel.token} had {found} effects"
        if parcel.was_taken and not found:
            yield f"{parcel.token} was acknowledged and had no effect"


def tools_run_as_promised(seen: Evidence) -> Iterator[str]:
    """A call runs at most once, unless somebody said "run it again" or its tool is idempotent."""
    again: Counter[tuple[str, str]] = Counter()
    for thread in seen.logs:
        calls = seen.states[thread].questions
        for event in seen.own(thread):
            if isinstance(event, QuestionAnswered) and event.value == "run_again":
                again[thread, calls[event.question].question.call or ""] += 1
    runs: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for ran in seen.outside.ran:
        runs[ran.tool, ran.thread, ran.call].append(ran.key)
    for (tool, name, call), keys in runs.items():
        if len(set(keys)) > 1:
            yield f"{name}: {tool} {call} ran with {len(set(keys))} keys"
        if tool == "pay" and len(keys) > 1 + again[name, call]:
            yield f"{name}: {tool} {call} ran {len(keys)} times"


def what_runs_was_approved(seen: Evidence) -> Iterator[str]:
    """No tool that needs approval starts without one."""
    for thread, state in seen.states.items():
        approved = {
            current.question.call
            for event in seen.logs[thread]
            if isinstance(event, QuestionAnswered)
            for current in [state.questions[event.question]]
            if isinstance(event.value, dict) and event.value.get("approved")
        }
        for event in seen.own(thread):
            if not isinstance(event, ToolStarted) or event.call in approved:
                continue
            if state.calls[event.call].tool in ("pay", "book"):
                yield f"{thread}: {event.call} ran without approval"


def everybody_hears_the_end(seen: Evidence) -> Iterator[str]:
    """No copy of a settled question is left with buttons, and who was written to is told."""
    for post in seen.outside.posts:
        if post.kind not in ASKING or post.channel == "callback" or not seen.settled(post.question):
            continue
        if post.has_bounced:
            continue  # nobody has seen it
        if post.is_live and post.channel == "slack":
            yield f"post {post.number} of {post.delivery} still has its buttons"
        if post.channel == "email" and _says_open(post):
            yield f"mail {post.number} of {post.delivery} was never followed by the end"


def _says_open(post: Post) -> bool:
    return post.status == "open" and (post.shown or ["open"])[-1] == "open"


def outbox_is_empty(seen: Evidence) -> Iterator[str]:
    """Everything was sent, and what is recorded as sent is there."""
    there = {(post.thread, post.delivery) for post in seen.outside.posts}
    for row in seen.tables.deliveries.values():
        channel = row.address.partition(":")[0]
        if row.status == "failed" and _is_expected(row, seen.outside):
            continue
        if row.status in {"pending", "failed"}:
            yield f"{row.id} to {row.address} is {row.status}: {row.error}"
        elif channel not in {"slack", "email", "callback"} or row.body["kind"] not in _TOLD:
            continue
        elif (row.thread, row.id) not in there:
            yield f"{row.id} counts as {row.status}, and is not at {row.address}"


def _is_expected(row: Delivery, outside: Outside) -> bool:
    return row.address in outside.gone or row.error.startswith("came back")


def said_in_order(seen: Evidence) -> Iterator[str]:
    """Within a thread and address, nothing comes before what was said earlier."""
    order = {(row.thread, row.id): n for n, row in enumerate(seen.tables.deliveries.values())}
    last: dict[tuple[str, str], int] = {}
    first: set[tuple[str, str]] = set()
    for post in seen.outside.posts:
        if (post.thread, post.delivery) in first:
            continue  # a copy
        first.add((post.thread, post.delivery))
        number, where = order[post.thread, post.delivery], (post.thread, post.address)  # type: ignore[index]  # ids are str
        if number < last.get(where, -1):
            yield f"{post.delivery} came to {post.address} after something later"
        last[where] = max(number, last.get(where, -1))


def nothing_is_stuck(seen: Evidence) -> Iterator[str]:
    """No thread is queued or running, and nothing waits that nobody will ever look at."""
    for thread, row in seen.tables.threads.items():
        if row.status == "running" or row.wake_at is not None:
            yield f"{thread} is {row.status}, due at {row.wake_at}, leased until {row.lease_until}"


INVARIANTS: tuple[Callable[[Evidence], Iterator[str]], ...] = (
    logs_are_whole,
    chains_fit,
    questions_end_once,
    only_who_is_asked_decides,
    what_was_acknowledged_counts_once,
    tools_run_as_promised,
    what_runs_was_approved,
    everybody_hears_the_end,
    outbox_is_empty,
    said_in_order,
    nothing_is_stuck,
)


def violations(seen: Evidence) -> list[str]:
    """Hold it against every rule."""
    return [f"{rule.__name__}: {wrong}" for rule in INVARIANTS for wrong in rule(seen)]
