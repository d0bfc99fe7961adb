"""Whole logs with names: between them they hold every event type and every kind of turn."""

from __future__ import annotations

from agent_core.thread.events import Event
from agent_core.thread.questions import YES_NO, Option, Policy, Waiting
from agent_core.thread.usage import Usage
from tests.unit.agent_core.thread.logs import (
    CHOSEN,
    NO,
    RUNNING,
    SPOKEN,
    YES,
    answered,
    approval,
    ask,
    asked,
    broke,
    cancelled,
    chose,
    compacted,
    doubt,
    erased,
    escalated,
    expired,
    failed,
    finished,
    launched,
    limited,
    log,
    may_go_on,
    moved,
    noted,
    paused,
    refused,
    reminded,
    replied,
    resumed,
    returned,
    said,
    started,
    taken_back,
    undone,
    voted,
    what_now,
    withdrawn,
)

_CHAIN = Waiting(remind_after=60, expires_after=300, on_expiry="escalate", escalate_to=("boss",))

APPROVED = log(
    *CHOSEN,
    asked(approval(waiting=_CHAIN)),
    60,
    reminded(),
    240,
    escalated("boss"),
    said("any news?"),
    refused(by="eve", reason="you may not approve this"),
    answered(
        {"approved": True, "arguments": {"order": "124"}}, comment="the other one", digest="d"
    ),
    started(compensable=True),
    noted(),
    returned({"refund": 7}),
    replied("Refunded.", usage=Usage(120, 30, 0.5)),
    finished(),
    refused(reason="already answered"),
    said("and order 125?", sender="bob"),
    replied("Nothing to do there."),
    finished(result="both done"),
)
"""An approval, with everything that can happen on the way to it."""

SEVERAL = log(
    *SPOKEN,
    replied(
        "Three things.", chose("refund", order="1"), chose("mail", to="x"), chose("look", at=[1, 2])
    ),
    asked(approval("q1", "3.0")),
    started("3.1"),
    asked(ask("q2", "3.1", resume_to="ask")),
    asked(ask("q3", "3.1", kind="choice", options=YES_NO, resume_to="ask")),
    started("3.2"),
    failed("timeout", "after 5 seconds.", "3.2"),
    answered("at noon", "q2"),
    said("hurry up"),
    answered("yes", "q3", by="bob"),
    started("3.1", attempt=2),
    asked(ask("q4", "3.1", wait=False)),
    returned("posted", "3.1"),
    answered(NO, "q1", comment="too much"),
    said("one more thing"),
    replied("I see.", chose("wait_for_ci", ref="main"), seen=16),
    started("18.0", compensable=True),
    asked(ask("q5", "18.0", kind="event", resume_to="event", handler="ci")),
    answered({"ok": True}, "q5"),
    started("18.0", attempt=2),
    returned("green", "18.0"),
    answered("later", "q4"),
    replied("All done."),
    finished(),
)
"""Several calls in one turn, and several questions of one tool."""

CRASHED = log(
    launched(metadata={"ticket": 7}),
    said(),
    replied("", chose(order="123"), chose("mail", to="x"), chose("look"), chose("mail", to="y")),
    started("3.0", compensable=True),
    started("3.1"),
    started("3.2"),
    started("3.3"),
    3600,
    asked(doubt("q1", "3.0")),
    asked(doubt("q2", "3.1")),
    started("3.2", attempt=2),
    asked(doubt("q3", "3.3")),
    returned("seen", "3.2"),
    answered("it_happened", "q1"),
    answered("run_again", "q2"),
    started("3.1", attempt=2),
    returned("sent", "3.1"),
    answered("skip", "q3", comment="look in the outbox"),
    broke(),
    said("are you there?"),
    broke("again"),
    resumed("ada", "try the other model"),
    replied("Here I am."),
    finished(),
)
"""Calls that a crash cut off, and a model that fails."""

LIMITED = log(
    *SPOKEN,
    replied("one", chose(order="1")),
    failed("unknown_tool"),
    limited("ask"),
    asked(may_go_on("q1")),
    answered("go_on", "q1"),
    replied("two", chose(order="1")),
    failed("bad_arguments", call="8.0"),
    asked(what_now("q2")),
    answered("try harder", "q2"),
    compacted(3, "A refund was asked for.", Usage(50, 10, 0.01)),
    limited("ask"),
    asked(may_go_on("q3", Waiting(expires_after=60))),
    60,
    expired("q3"),
    finished("Stopped."),
    said("go on then"),
    limited("finish"),
    finished("Stopped again."),
)
"""Limits of each kind, failures, and a summary."""

CANCELLED = log(
    *SPOKEN,
    replied("", chose(order="1"), chose("mail", to="x"), chose("look"), chose("dig")),
    started("3.0", compensable=True),
    returned("paid", "3.0"),
    started("3.1", compensable=True),
    asked(ask("q1", "3.1", kind="form", schema={"type": "object"})),
    started("3.2", compensable=True),
    paused("otto", "look at this first"),
    said("what is going on?"),
    noted("still digging", "3.2"),
    withdrawn("q1", "the thread was cancelled", "otto"),
    cancelled("otto", "wrong customer"),
    noted("nearly there", "3.2"),
    failed("interrupted", "", "3.2"),
    undone("3.2", error="no connection", settled=False),
    undone("3.2", attempt=2),
    undone("3.1"),
    undone("3.0", error="refused by the bank"),
    refused("q1", "the thread was cancelled"),
)
"""A pause, then a cancellation, with what was done undone."""

PAUSED = log(
    *SPOKEN,
    replied("", chose(order="1"), chose("mail", to="x"), chose("look"), chose("dig"), chose("ask")),
    asked(approval("q1", "3.0")),
    asked(approval("q2", "3.1")),
    asked(approval("q3", "3.2")),
    started("3.3"),
    started("3.4"),
    paused("ada"),
    asked(ask("q4", "3.4", kind="choice", options=[Option("red", "warm"), Option("blue")])),
    reminded("q1"),
    escalated("boss", key="q1"),
    returned("dug", "3.3"),
    answered(YES, "q1"),
    expired("q2"),
    withdrawn("q3", "no longer needed", "ada"),
    answered("red", "q4"),
    refused("q2"),
    resumed("ada", "be quick"),
    started("3.0"),
    paused(),
    failed("exception", "ValueError: no", "3.0"),
    resumed(),
    paused(),
    finished("closed by ada"),
)
"""All that may happen while a thread is paused."""

FAILED = log(
    *SPOKEN,
    replied("", chose("post")),
    started(),
    *(asked(ask(f"q{n}", wait=False)) for n in range(1, 6)),
    returned("asked five"),
    broke("no money"),
    reminded("q1"),
    escalated("boss", key="q1"),
    asked(ask("q6", wait=False), replaces="q1"),
    answered("x", "q6"),
    expired("q2"),
    withdrawn("q3"),
    refused("q2"),
    resumed(),
    expired("q4"),
    withdrawn("q5", "too late"),
    broke("no money"),
    finished("given up"),
)
"""All that may happen while a thread is failed."""

_TWO = Policy(quorum=2)

VOTED = log(
    *CHOSEN,
    asked(approval(policy=_TWO, to=("leads",))),
    voted(YES, by="otto", digest="d"),
    answered(YES, by="email:lea@example.com", digest="d"),
    taken_back(reason="wrong customer"),
    asked(approval("q2", policy=_TWO, to=("leads",))),
    paused(),
    voted({"approved": True, "arguments": {"order": "124"}}, "q2", by="lea", digest="e"),
    answered({"approved": True, "arguments": {"order": "124"}}, "q2", digest="e"),
    taken_back("q2", by="lea"),
    asked(approval("q3", policy=_TWO, to=("leads",))),
    resumed(),
    broke("no money"),
    voted(YES, "q3", by="lea", digest="d"),
    answered(YES, "q3", digest="d"),
    taken_back("q3"),
    asked(approval("q4", policy=_TWO, to=("leads",))),
    voted(YES, "q4", by="lea", digest="d"),
    resumed(),
    answered(NO, "q4", comment="not today"),
    replied("As you wish."),
    finished(),
)
"""Several people decide, and change their minds; a veto ends it."""

MOVED = log(
    *SPOKEN,
    moved(),
    paused("ada"),
    moved("slack:T1:U1"),
    resumed("ada"),
    broke("no money"),
    moved(),
    resumed("ada"),
    replied("All done."),
    finished(),
    moved("slack:T1:U1", by=""),
    said("thanks", "ada"),
    replied("You are welcome."),
    finished(),
)
"""A conversation goes on elsewhere, whatever state it is in."""

FORGOTTEN = log(
    *SPOKEN,
    erased(),
    paused("ada"),
    erased(),
    resumed("ada"),
    broke("no money"),
    erased(),
    resumed("ada"),
    replied("All done."),
    finished(),
    erased(by="", reason="asked for on 3 November"),
    said("hello again", "ada"),
    cancelled(),
    erased(),
)
"""Somebody is taken out of the log, whatever state it is in."""

STOPPED = log(*RUNNING, cancelled(), failed("outcome_unknown", ""))
FAILED_AND_CANCELLED = log(*RUNNING, returned(), broke(), cancelled())
PAUSED_AND_CANCELLED = log(*RUNNING, paused(), cancelled(), returned("too late"))

STORIES: dict[str, list[Event]] = {
    "approved": APPROVED,
    "several": SEVERAL,
    "crashed": CRASHED,
    "limited": LIMITED,
    "cancelled": CANCELLED,
    "paused": PAUSED,
    "failed": FAILED,
    "voted": VOTED,
    "moved": MOVED,
    "forgotten": FORGOTTEN,
    "stopped": STOPPED,
    "failed_and_cancelled": FAILED_AND_CANCELLED,
    "paused_and_cancelled": PAUSED_AND_CANCELLED,
}
