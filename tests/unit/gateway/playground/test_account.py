"""What a kill hit and how it went on, told from the log; and the log itself, in order."""

from __future__ import annotations

from gateway.playground.account import accounts
from gateway.playground.chronicle import chronicle
from tests.unit.gateway.playground.scenes import answered, asking, event, killed, scene, seen


def test_kill_while_a_question_waited() -> None:
    """Which process, which question, how long it took, and who answered."""
    log = [
        *asking(),
        event(4, 9, "QuestionAnswered", question="q1", value={"approved": True}, by="olga"),
    ]
    (told,) = accounts(scene(seen(log), lives=killed(3.5)))

    assert told == (
        "Process 1 was killed while “May I?” waited. Process 2 answered 1.0 s later. "
        "The question was still open, and olga answered it."
    )


def test_kill_in_the_middle_of_a_tool() -> None:
    """The tool, the event, the same key again, and the result."""
    log = [
        *answered(),
        event(6, 8, "ToolStarted", call="2.0", key="th_1/2.0", attempt=2),
        event(7, 9, "ToolReturned", call="2.0", result="all back"),
    ]
    (told,) = accounts(scene(seen(log), lives=killed(5.5)))

    assert told == (
        "Process 1 was killed in the middle of roll_back (event 5). Process 2 answered 1.0 s "
        "later. It found the call without a result and, as the tool is idempotent, ran it again "
        "with the same key, th_1/2.0 (event 6). Result: all back"
    )


def test_kill_of_a_server_that_did_nothing() -> None:
    """Then there is nothing to tell but that."""
    (told,) = accounts(scene(lives=killed(1)))

    assert "while nothing was under way" in told


def test_server_that_is_not_back_yet_is_being_started() -> None:
    """Nothing is claimed of what nobody can know."""
    (told,) = accounts(scene(seen(asking()), lives=killed(3.5)[:1]))

    assert told.endswith("It is being started again …")


def test_chronicle_has_events_and_lives_in_the_order_of_time() -> None:
    """A kill stands between the events that it fell between."""
    lines = chronicle(scene(seen(answered()), lives=killed(3.5)))

    assert [line.what for line in lines] == [
        "started",
        "answers",
        "ThreadLaunched",
        "ModelReplied",
        "QuestionAsked",
        "killed",
        "started",
        "QuestionAnswered",
        "answers",
        "ToolStarted",
    ]
    assert lines[2].clock == "12:00:01"
    assert {line.where for line in lines} == {"server", "release …th_1"}
