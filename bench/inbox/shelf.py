"""What the pages are opened on: thousands of threads, and one with thousands of events."""

from __future__ import annotations

from agent_core.thread import events as ev
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.questions import CallKey, Question, QuestionId
from agent_core.thread.usage import Usage
from gateway.work.consequences import consequences
from storage.store import Store
from storage.values import Commit, NewThread

LONG = ThreadId("th_long")
_MINUTE = 60_000
_BATCH = 500
_WORDS = "The customer of order {n} writes that the parcel came late and asks for her money back."


async def stock(store: Store, *, threads: int, events: int, now: Millis) -> None:
    """Write them all: every twentieth thread waits for somebody."""
    for number in range(threads):
        at = Millis(now - (threads - number) * _MINUTE)
        await _write(store, ThreadId(f"th_{number:06}"), _story(number, at), at)
    await _write(store, LONG, _long(events, now), now)


def _story(number: int, at: Millis) -> list[Event]:
    thread = ThreadId(f"th_{number:06}")
    begin: list[Event] = [
        ev.ThreadLaunched(
            at=at,
            thread=thread,
            agent="desk" if number % 3 else "release",
            requester="ann",
            origin=f"web:{thread}",
        ),
        ev.MessageReceived(at=at, text=_WORDS.format(n=number), sender="ann"),
    ]
    if number % 20:
        said = ev.ModelReplied(at=at, text="She has it.", usage=Usage(900, 40, 0.002))
        return [*begin, said, ev.ThreadFinished(at=at)]
    arguments = {"order": str(number), "amount": 49.9}
    question = Question(
        id=QuestionId(f"q_{number}"),
        kind="approval",
        prompt="May I run refund?",
        purpose="approval",
        tool="refund",
        arguments=arguments,
        call=CallKey("3.0"),
        to=("otto",),
    )
    chosen = ev.ModelReplied(at=at, calls=(ev.ChosenCall("refund", arguments),))
    return [*begin, chosen, ev.QuestionAsked(at=at, question=question)]


def _long(events: int, now: Millis) -> list[Event]:
    """Give a thread in which a tool is called over and over."""
    log: list[Event] = _story(1, now)[:2]
    while len(log) < events:
        call = CallKey(f"{len(log) + 1}.0")
        log += [
            ev.ModelReplied(
                at=now,
                text="I look once more.",
                calls=(ev.ChosenCall("look", {"order": str(len(log)), "where": "the archive"}),),
                usage=Usage(2_000, 30, 0.004),
            ),
            ev.ToolStarted(at=now, call=call, key=call),
            ev.ToolReturned(at=now, call=call, result={"found": True, "text": "x" * 200}),
        ]
    return log[:events]


async def _write(store: Store, thread: ThreadId, log: list[Event], now: Millis) -> None:
    """Commit a log in pieces, with what lists know of it at its end."""
    state = fold(log)
    told = consequences(log, state, now)
    first = log[0]
    assert isinstance(first, ev.ThreadLaunched)
    made = NewThread(agent=first.agent, requester=first.requester, origin=first.origin)
    for begin in range(0, len(log), _BATCH):
        is_last = begin + _BATCH >= len(log)
        await store.commit(
            Commit(
                thread=thread,
                create=made if begin == 0 else None,
                events=log[begin : begin + _BATCH],
                status=told.status,
                summary=told.summary,
                questions=told.questions if is_last else (),
                wake_at=None,
                now=now,
            )
        )
