"""Who may decide, and when enough have: four eyes, quorum, veto, and taking an approval back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.errors import (
    AlreadySettled,
    AlreadyVoted,
    DefinitionError,
    ImpossibleEvent,
    MayNotDecide,
    TooLate,
    UnknownQuestion,
)
from agent_core.json_values import Json, JsonObject
from agent_core.thread import commands
from agent_core.thread.events import (
    ApprovalTakenBack,
    Event,
    Millis,
    QuestionAnswered,
    QuestionAsked,
    VoteCast,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import Policy, QuestionId
from agent_core.thread.state import ThreadState
from agent_core.thread.voting import Decider, standing, takes_words
from tests.unit.agent_core.thread.logs import (
    CHOSEN,
    NO,
    SPOKEN,
    START,
    YES,
    answered,
    approval,
    ask,
    asked,
    call_in,
    cancelled,
    launched,
    paused,
    question_in,
    replied,
    returned,
    said,
    started,
    state_of,
    taken_back,
)

NOW = Millis(START + 60_000)
Q1, Q2 = QuestionId("q1"), QuestionId("q2")
EDITED = {"approved": True, "arguments": {"order": "124"}}

OTTO = {"slack:T1:U2", "email:otto@example.com", "otto"}
"""One person, three identities."""


def canonical(identity: str) -> str:
    """Know who otto is."""
    return "otto" if identity in OTTO else identity


def gated(policy: Policy, *more: Event) -> ThreadState:
    """A call that waits for its approval; ada began the thread."""
    return state_of(*CHOSEN, asked(approval(policy=policy, to=("leads",))), *more)


def say(state: ThreadState, value: Json, by: str, *, person: str = "") -> Event:
    """Let somebody answer, and give the one event of it."""
    [event] = commands.answer(
        state,
        {Q1: value},
        at=NOW,
        by=by,
        person=person,
        canonical=canonical,
        check_arguments=_any_arguments,
    )
    return event


def _any_arguments(_tool: str, arguments: JsonObject) -> JsonObject:
    return arguments


def after(state: ThreadState, *said: tuple[Json, str]) -> ThreadState:
    """Let people answer, one after the other."""
    for value, by in said:
        state = fold([say(state, value, by)], onto=state)
    return state


# Quorum


def test_an_approval_counts_when_enough_people_have_given_it() -> None:
    """Until then each is a vote, and nothing runs."""
    first = after(gated(Policy(quorum=3)), (YES, "otto"), (YES, "lea"))

    assert question_in(first).status == "open"
    assert call_in(first).status == "gated"

    last = after(first, (YES, "kim"))

    assert question_in(last).status == "answered"
    assert call_in(last).status == "approved"
    assert [one.by for one in question_in(last).votes] == ["otto", "lea", "kim"]


def test_one_person_decides_alone_unless_more_are_wanted() -> None:
    """And no votes are kept: the answer says it all."""
    state = after(gated(Policy()), (YES, "otto"))

    assert question_in(state).status == "answered"
    assert question_in(state).votes == ()


@pytest.mark.parametrize("again", sorted(OTTO))
def test_the_same_person_counts_once_by_whichever_door(again: str) -> None:
    """And is told that others are needed."""
    state = after(gated(Policy(quorum=2)), (YES, "slack:T1:U2"))

    with pytest.raises(AlreadyVoted, match="approved this already; one more person"):
        say(state, YES, again)


def test_somebody_whom_only_their_channel_knows_counts_once() -> None:
    """A profile's address may tell who it is, where the identity alone does not."""
    state = gated(Policy(quorum=3))
    state = fold([say(state, YES, "slack:T1:U9", person="otto")], onto=state)

    with pytest.raises(AlreadyVoted, match="2 more people"):
        say(state, YES, "email:otto@example.com")


def test_nobody_counts_where_nobody_can_be_told_apart() -> None:
    """An answer without a name can't be one of two."""
    with pytest.raises(MayNotDecide, match="say who you are"):
        say(gated(Policy(quorum=2)), YES, "")


def test_a_denial_needs_no_name() -> None:
    """Whoever it was, the safe side is not to run it."""
    assert isinstance(say(gated(Policy(quorum=2)), NO, ""), QuestionAnswered)


# Edits


def test_only_approvals_of_the_very_same_thing_count_together() -> None:
    """An edit is another thing: it must find its own people."""
    state = after(gated(Policy(quorum=2)), (YES, "otto"), (EDITED, "lea"))

    assert question_in(state).status == "open"

    decided = after(state, (EDITED, "kim"))

    assert question_in(decided).status == "answered"
    assert call_in(decided).arguments == {"order": "124"}


def test_whoever_approves_something_else_has_changed_their_mind() -> None:
    """Their earlier approval counts no more."""
    state = after(gated(Policy(quorum=2)), (YES, "otto"), (EDITED, "slack:T1:U2"), (YES, "lea"))

    assert question_in(state).status == "open"
    assert [one.by for one in standing(question_in(state).votes, canonical)] == [
        "slack:T1:U2",
        "lea",
    ]

    assert isinstance(say(state, YES, "otto"), QuestionAnswered)


def test_an_edit_that_changes_nothing_is_no_edit() -> None:
    """It approves the same thing, so it counts with the others."""
    same = {"approved": True, "arguments": {"order": "123"}}

    state = after(gated(Policy(quorum=2)), (YES, "otto"), (same, "lea"))

    assert question_in(state).status == "answered"


# Veto


def test_one_denial_is_a_veto() -> None:
    """However many had approved; its comment goes to the model."""
    state = after(gated(Policy(quorum=3)), (YES, "otto"), (YES, "lea"), (NO, "kim"))

    result = call_in(state).result

    assert question_in(state).status == "answered"
    assert result is not None
    assert (result.outcome, result.by) == ("denied", "kim")


def test_somebody_who_approved_may_veto_after_all() -> None:
    """Until it is decided, a mind can change."""
    state = after(gated(Policy(quorum=3)), (YES, "otto"), (NO, "otto"))

    assert question_in(state).value == NO


def test_without_veto_it_takes_as_many_to_deny_as_to_approve() -> None:
    """Two of the leads say yes, or two say no; a person who denied may still approve."""
    policy = Policy(quorum=2, veto=False)

    torn = after(gated(policy), (NO, "otto"), (YES, "lea"))
    denied = after(torn, (NO, "kim"))
    approved = after(torn, (YES, "email:otto@example.com"))

    assert question_in(torn).status == "open"
    assert (question_in(denied).value, question_in(approved).value) == (NO, YES)
    with pytest.raises(AlreadyVoted, match="denied this already"):
        say(torn, NO, "otto")


# Four eyes


@pytest.mark.parametrize("by", ["ada", "slack:T1:U2"])
def test_whoever_began_it_cannot_approve_it(by: str) -> None:
    """By none of their identities; but they may deny it."""
    began = launched(requester="email:otto@example.com" if by != "ada" else "ada")
    state = state_of(
        began,
        *CHOSEN[1:],
        asked(approval(policy=Policy(not_requester=True), to=("leads",))),
    )

    with pytest.raises(MayNotDecide, match="somebody else must approve it"):
        say(state, YES, by)

    assert isinstance(say(state, NO, by), QuestionAnswered)
    assert isinstance(say(state, YES, "lea"), QuestionAnswered)


def test_whoever_began_it_is_known_as_they_were_then() -> None:
    """A profile told who they were when they began it; now they come by mail."""
    began = replace(launched(requester="slack:T1:U9"), person="otto")
    state = state_of(
        began, *CHOSEN[1:], asked(approval(policy=Policy(not_requester=True), to=("leads",)))
    )

    with pytest.raises(MayNotDecide):
        say(state, YES, "email:otto@example.com")


def test_four_eyes_hold_for_answers_in_words_too() -> None:
    """There is nothing to deny, so the one who began it can only wait."""
    question = replace(ask("q1", call=None), policy=Policy(not_requester=True))
    state = state_of(*SPOKEN, asked(question))

    with pytest.raises(MayNotDecide, match="somebody else must answer it"):
        say(state, "blue", "ada")

    assert isinstance(say(state, "blue", "otto"), QuestionAnswered)


@pytest.mark.parametrize(
    ("by", "policy", "taken"),
    [
        ("ada", Policy(not_requester=True), False),
        ("otto", Policy(not_requester=True), True),
        ("ada", Policy(), True),
    ],
)
def test_words_that_four_eyes_keep_out_are_a_message(by: str, policy: Policy, taken: bool) -> None:  # noqa: FBT001 (a case of the table)
    """Whoever began it may go on talking to the agent while others are asked."""
    question = replace(ask("q1", call=None), policy=policy)

    assert takes_words(state_of(*SPOKEN), question, Decider(by=by)) is taken
    assert takes_words(state_of(*SPOKEN), approval(policy=policy), Decider(by=by))


def test_four_eyes_and_a_quorum_go_together() -> None:
    """Two others."""
    policy = Policy(quorum=2, not_requester=True)
    state = after(gated(policy), (YES, "otto"))

    with pytest.raises(MayNotDecide):
        say(state, YES, "ada")

    assert isinstance(say(state, YES, "lea"), QuestionAnswered)


# What the log holds


def test_the_log_says_who_it_was_where_the_identity_does_not() -> None:
    """And nothing twice."""
    known = say(gated(Policy(quorum=2)), YES, "slack:T1:U2", person="otto")
    named = say(gated(Policy(quorum=2)), YES, "otto", person="otto")

    assert isinstance(known, VoteCast)
    assert isinstance(named, VoteCast)
    assert (known.by, known.person) == ("slack:T1:U2", "otto")
    assert (named.by, named.person) == ("otto", "")


@given(
    votes=st.lists(
        st.tuples(st.sampled_from([YES, NO, EDITED]), st.sampled_from(["a", "b", "c", "d"])),
        max_size=12,
    ),
    quorum=st.integers(1, 4),
    veto=st.booleans(),
)
def test_what_runs_was_approved_by_as_many_different_people(
    *, votes: list[tuple[Json, str]], quorum: int, veto: bool
) -> None:
    """Whatever is said in whichever order: the quorum holds, and the end is the end."""
    state = gated(Policy(quorum=quorum, veto=veto))
    for value, by in votes:
        try:
            state = fold([say(state, value, by)], onto=state)
        except (AlreadyVoted, AlreadySettled):
            continue

    current = question_in(state)
    if quorum > 1 and current.status == "answered":
        last = current.votes[-1]
        same = [
            one.by
            for one in standing(current.votes)
            if (one.value["approved"], one.digest) == (last.value["approved"], last.digest)
        ]
        assert len(set(same)) == len(same)
        assert len(same) >= (1 if veto and not last.value["approved"] else quorum)
        assert current.value == last.value


# Taking back


def take_back(state: ThreadState, key: QuestionId = Q1) -> list[Event]:
    """Let otto change his mind."""
    return commands.take_back(
        state, key, at=NOW, new_question=Q2, by="otto", reason="wrong customer"
    )


def test_an_approval_that_has_not_run_can_be_taken_back() -> None:
    """It is asked anew, as it was at first: edits and comments are gone with it."""
    state = gated(Policy(), answered(EDITED, comment="go", digest="d"))

    events = take_back(state)
    again = fold(events, onto=state)

    assert [type(one) for one in events] == [ApprovalTakenBack, QuestionAsked]
    assert (question_in(again).status, question_in(again).taken_back) == ("withdrawn", True)
    assert question_in(again, "q2").status == "open"
    call = call_in(again)
    assert (call.status, call.arguments) == ("gated", {"order": "123"})
    assert (call.edited, call.approved_digest, call.approval_comment) == (False, "", "")


def test_it_can_be_taken_back_while_the_thread_is_paused() -> None:
    """That is when there is time to think."""
    state = gated(Policy(), answered(YES), paused())

    assert fold(take_back(state), onto=state).lifecycle == "paused"


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), "still open"),
        ((answered(NO),), r"too late to take that back: refund is over \(denied\)"),
        ((answered(YES), started()), "too late to take that back: refund has begun to run"),
        ((answered(YES), started(), returned()), r"refund is over \(returned\)"),
        ((answered(YES), cancelled()), r"refund is over \(cancelled\)"),
    ],
)
def test_too_late_is_told_in_clear_words(events: tuple[Event, ...], words: str) -> None:
    """What has begun can't be unsaid; what was never approved needs no taking back."""
    with pytest.raises(TooLate, match=words):
        take_back(gated(Policy(), *events))


def test_only_approvals_of_tools_can_be_taken_back() -> None:
    """Words are heard as soon as they are said."""
    state = state_of(*SPOKEN, asked(ask("q1", call=None)), answered("blue"))

    with pytest.raises(TooLate, match="answered by otto"):
        take_back(state)
    with pytest.raises(UnknownQuestion):
        take_back(state, QuestionId("q9"))


def test_a_call_that_a_summary_stands_for_is_long_over() -> None:
    """Its question may still be asked about."""
    state = gated(Policy(), answered(YES), started(), returned(), replied("Done."), said("thanks"))
    state.calls.clear()

    with pytest.raises(TooLate, match="has begun to run"):
        take_back(state)


# Rules as they are written


@pytest.mark.parametrize("quorum", [0, -1, True, 1.5, "2"])
def test_a_quorum_is_a_number_of_people(quorum: object) -> None:
    """Refused where it is written."""
    with pytest.raises(DefinitionError, match="quorum is a number of people"):
        Policy(quorum=quorum)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("rules", [{"veto": 1}, {"not_requester": "yes"}])
def test_the_other_rules_are_true_or_false(rules: dict[str, object]) -> None:
    """Nothing in between."""
    with pytest.raises(DefinitionError, match="True or False"):
        Policy(**rules)  # type: ignore[arg-type]  # that is the point


def test_a_forged_log_cannot_take_back_what_approved_nothing() -> None:
    """Only an approval of a call lets something run."""
    state = state_of(*SPOKEN, asked(ask("q1", call=None)), answered("blue"))

    with pytest.raises(ImpossibleEvent, match="approved nothing"):
        fold([taken_back()], onto=state)
