"""`parley threads` and `parley launch`: what is sent, and what is shown."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from aiohttp import web

from tests.unit.gateway.canned import AT, EVENTS, QUESTION, THREAD, Canned
from tests.unit.gateway.cli.conftest import Parley

PAGE = {"items": [THREAD], "next_cursor": "next"}
FORGED = "\x1b]0;owned\x07\x1b[2Jevil\r\nline"


def test_list_shows_a_table_and_where_it_goes_on(parley: Parley, canned: Canned) -> None:
    """Data on stdout, talk on stderr."""
    canned.on("GET", "/v1/threads", PAGE)

    ran = parley("threads", "list", "--status", "finished", "--limit", "7")

    assert ran.code == 0
    header, row = ran.out.splitlines()
    assert header.split() == [
        "thread",
        "agent",
        "status",
        "updated",
        "waits",
        "for,",
        "or",
        "result",
    ]
    assert row.split() == ["th_1", "desk", "finished", "2026-11-16", "09:31", "All", "done."]
    assert ran.err == "there are more: --cursor next\n"
    assert canned.asked[0].query == {"status": "finished", "limit": "7"}


def test_json_is_exactly_what_the_api_said(parley: Parley, canned: Canned) -> None:
    """Programs get the same bytes from both."""
    odd = '{"items" : [ ],\n"next_cursor":null, "new_field": "ü\\u0000"}'
    canned.on("GET", "/v1/threads", odd)
    canned.on("GET", "/v1/threads/th_1", odd)

    assert parley("threads", "list", "--json").out == odd + "\n"
    assert parley("threads", "show", "th_1", "--json").out == odd + "\n"


def test_empty_list_is_said_and_not_printed(parley: Parley, canned: Canned) -> None:
    """Nothing on stdout: there is no data."""
    canned.on("GET", "/v1/threads", {"items": [], "next_cursor": None})

    ran = parley("threads", "list")

    assert (ran.code, ran.out, ran.err) == (0, "", "no threads\n")


def test_show_tells_the_story_event_by_event(parley: Parley, canned: Canned) -> None:
    """Head, days, events with the tools behind their calls, and the result."""
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.stream("th_1", [EVENTS])

    lines = parley("threads", "show", "th_1").out.splitlines()

    assert [" ".join(line.split()) for line in lines] == [
        "thread th_1",
        "agent desk",
        "status finished",
        "for otto",
        "tokens 1,200 in, 34 out",
        "2026-11-16 UTC",
        "1 09:30:00 ThreadLaunched desk",
        "2 09:30:00 MessageReceived otto: Refund 1042",
        "3 09:30:00 ModelReplied One moment. → refund(order: 1042, amount: 59.90)",
        "4 09:30:00 ToolStarted refund",
        "5 09:30:00 ToolReturned refund: Refunded.",
        "2026-11-17 UTC",
        "6 09:30:00 ThreadFinished All done.",
        "All done.",
    ]


def test_show_tells_who_heard_where(parley: Parley, canned: Canned) -> None:
    """Under the event that it was about; what stands in the log itself is no news."""
    said = {"id": "x", "event": 2, "kind": "question.asked", "attempts": 0}
    rows = [
        said | {"address": "slack:T1:C1", "status": "settled"},
        said | {"address": "email:a@x.org", "status": "failed", "error": "bounced"},
        said | {"address": "email:b@x.org", "status": "pending", "due_at": "2026-11-17T09:00"},
        said | {"address": "email:c@x.org", "status": "pending", "attempts": 3},
        said | {"address": "web:th_1", "status": "sent", "event": 6},
    ]
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.on("GET", "/v1/threads/th_1/deliveries", {"items": rows, "next_cursor": None})
    canned.stream("th_1", [EVENTS])

    lines = [line.strip() for line in parley("threads", "show", "th_1").out.splitlines()]

    at = next(number for number, line in enumerate(lines) if "MessageReceived" in line)
    assert lines[at + 1 : at + 5] == [
        "→ slack:T1:C1 (asked, settled)",
        "→ email:a@x.org (asked, failed: bounced)",
        "→ email:b@x.org (asked, waits until 2026-11-17T09:00)",
        "→ email:c@x.org (asked, tried 3 times)",
    ]
    assert not [line for line in lines if "web:th_1" in line]


def test_show_tells_how_to_answer_what_a_thread_waits_for(parley: Parley, canned: Canned) -> None:
    """The card of the demo, with the command below."""
    canned.on("GET", "/v1/threads/th_1", THREAD | {"status": "waiting", "questions": [QUESTION]})
    canned.stream("th_1", [EVENTS[:2]])

    out = parley("threads", "show", "th_1").out

    assert "question q_1" in out
    assert "amount: 59.90" in out
    assert "parley questions answer q_1 --approve | --deny" in out


def test_follow_goes_on_until_the_thread_is_over(parley: Parley, canned: Canned) -> None:
    """Also over a broken connection; events come once, and as JSON one a line."""
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.stream("th_1", [EVENTS[:3], EVENTS[3:]])

    ran = parley("threads", "show", "th_1", "--follow", "--json")

    assert ran.code == 0
    assert [json.loads(line) for line in ran.out.splitlines()] == EVENTS
    assert ran.err == ""


def test_follow_does_not_end_at_an_end_that_the_thread_has_left_behind(
    parley: Parley, canned: Canned
) -> None:
    """A finished thread that was woken by a message has more to tell."""
    more = [{"seq": 7, "type": "MessageReceived", "at": EVENTS[0]["at"], "text": "And 1043?"}]
    end = [EVENTS[5] | {"seq": 8, "result": "Twice done."}]
    canned.on("GET", "/v1/threads/th_1", THREAD | {"result": "Twice done."})
    canned.stream("th_1", [EVENTS + more + end])

    out = parley("threads", "show", "th_1", "--follow").out

    assert "somebody: And 1043?" in out
    assert out.endswith("Twice done.\n")


def test_follow_ends_also_if_the_last_event_is_no_end(parley: Parley, canned: Canned) -> None:
    """A late answer is noted after the end; a cancelled thread still undoes what it did."""
    late = {"seq": 7, "type": "AnswerRefused", "at": AT, "question": "q_1", "reason": "too late"}
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.stream("th_1", [[*EVENTS, late]])
    assert "q_1: too late" in parley("threads", "show", "th_1", "--follow").out

    cancelled = {"seq": 6, "type": "ThreadCancelled", "at": AT, "by": "otto"}
    undone = {"seq": 7, "type": "CompensationRan", "at": AT, "call": "3.0"}
    canned.on("GET", "/v1/threads/th_1", THREAD | {"status": "cancelled"})
    canned.stream("th_1", [[*EVENTS[:5], cancelled], [undone]])
    assert "refund: undone" in parley("threads", "show", "th_1", "--follow").out


def test_nothing_that_others_wrote_can_command_the_terminal(parley: Parley, canned: Canned) -> None:
    """Escape sequences in texts, ids, errors and refusals are taken out."""
    hostile = THREAD | {"id": f"th_{FORGED}", "agent": FORGED, "error": FORGED, "status": "failed"}
    canned.on("GET", "/v1/threads", {"items": [hostile], "next_cursor": None})
    canned.on("GET", "/v1/threads/th_1", hostile | {"questions": [QUESTION | {"prompt": FORGED}]})
    canned.stream("th_1", [[EVENTS[1] | {"text": FORGED, "sender": FORGED}]])
    canned.problem("GET", "/v1/threads/th_2", 404, FORGED)

    for command in (["list"], ["show", "th_1"], ["show", "th_2"]):
        ran = parley("threads", *command)
        assert "\x1b" not in ran.out + ran.err
        assert "\x07" not in ran.out + ran.err
        assert "evil" in ran.out + ran.err


@pytest.mark.parametrize(
    ("command", "path", "body"),
    [
        (["pause"], "pause", ""),
        (["pause", "--reason", "lunch"], "pause", '{"reason": "lunch"}'),
        (["resume", "--instruction", "be kind"], "resume", '{"instruction": "be kind"}'),
        (["cancel", "--reason", "wrong"], "cancel", '{"reason": "wrong"}'),
        (["retry"], "retry", ""),
        (["fork", "--at", "3"], "fork", '{"at": 3}'),
        (["fork"], "fork", ""),
    ],
)
def test_steering_sends_what_was_said_and_prints_the_id(
    parley: Parley, canned: Canned, command: list[str], path: str, body: str
) -> None:
    """The id is data: a script goes on with it."""
    canned.on("POST", f"/v1/threads/th_1/{path}", THREAD | {"status": "paused"})

    ran = parley("threads", command[0], "th_1", *command[1:])

    assert (ran.code, ran.out, ran.err) == (0, "th_1\n", "the thread is paused\n")
    assert canned.asked[0].body == body


def test_refusal_is_one_sentence_on_stderr_and_exit_code_1(parley: Parley, canned: Canned) -> None:
    """With --json too: stdout has data or nothing."""
    canned.problem("POST", "/v1/threads/th_1/resume", 409, "the thread is finished")

    ran = parley("threads", "resume", "th_1", "--json")

    assert (ran.code, ran.out, ran.err) == (1, "", "parley: the thread is finished\n")


def test_export_prints_the_checkpoint_or_tells_it_as_markdown(
    parley: Parley, canned: Canned
) -> None:
    """What is exported can be imported, to the byte."""
    checkpoint = (Path(__file__).parents[3] / "payloads/checkpoints/paused.json").read_text()
    canned.on("GET", "/v1/threads/th_1/export", checkpoint)
    expected = (Path(__file__).parents[3] / "payloads/checkpoints/paused.md").read_text()

    assert parley("threads", "export", "th_1").out.strip() == checkpoint.strip()
    assert parley("threads", "export", "th_1", "--markdown").out == expected
    assert parley("threads", "export", "th_1", "--markdown", "--json").code == 2


def test_import_sends_the_file_as_it_is(
    parley: Parley, canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a file or a pipe; one that is not there is wrong usage."""
    canned.on("POST", "/v1/threads/import", THREAD, 201)
    (tmp_path / "thread.json").write_text('{"parley": 1, "events": []}')
    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe"))

    assert parley("threads", "import", "thread.json").out == "th_1\n"
    assert parley("threads", "import", "-", "--json").data == THREAD
    assert [asked.body for asked in canned.asked] == ['{"parley": 1, "events": []}', "from a pipe"]

    (tmp_path / "picture.json").write_bytes(b"\x89PNG\xff")
    missing, picture = (parley("threads", "import", f"{n}.json") for n in ("missing", "picture"))
    assert (missing.code, missing.err) == (
        2,
        "parley: missing.json can't be read: No such file or directory\n",
    )
    assert (picture.code, picture.err) == (
        1,
        "parley: picture.json is no exported thread: it is not text\n",
    )


def test_launch_prints_the_id_and_can_be_repeated_safely(parley: Parley, canned: Canned) -> None:
    """What was said goes out whole, with a key that makes a repetition harmless."""
    canned.on("POST", "/v1/threads", THREAD | {"status": "queued"}, 201)

    ran = parley(
        "launch", "desk", "Refund 1042", "--key", "k1", "--metadata", "n=1", "--metadata", "s=a=b"
    )

    assert (ran.code, ran.out, ran.err) == (0, "th_1\n", "")
    assert json.loads(canned.asked[0].body) == {
        "agent": "desk",
        "text": "Refund 1042",
        "thread_key": "k1",
        "metadata": {"n": 1, "s": "a=b"},
    }
    assert len(canned.asked[0].headers["Idempotency-Key"]) == 32


def test_launch_reads_its_text_from_a_pipe(
    parley: Parley, canned: Canned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` stands for stdin; nothing to say is wrong usage."""
    canned.on("POST", "/v1/threads", THREAD, 201)
    monkeypatch.setattr("sys.stdin", io.StringIO("long\ntext\n"))

    assert parley("launch", "desk", "-").code == 0
    assert json.loads(canned.asked[0].body)["text"] == "long\ntext\n"
    assert parley("launch", "desk", " ").code == 2
    assert parley("launch", "desk", "x", "--metadata", "no pair").code == 2


def test_launch_over_a_connection_that_breaks_off_launches_once(
    parley: Parley, canned: Canned
) -> None:
    """It is tried again with the same key, by which the server knows it."""

    async def break_off(request: web.Request) -> web.StreamResponse:
        canned.on("POST", "/v1/threads", THREAD, 201)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    canned.answers["POST", "/v1/threads"] = break_off

    ran = parley("launch", "desk", "Refund 1042")

    assert (ran.code, ran.out) == (0, "th_1\n")
    assert len({asked.headers["Idempotency-Key"] for asked in canned.asked}) == 1
    assert len(canned.asked) == 2


def test_launch_waits_for_the_result_through_questions(parley: Parley, canned: Canned) -> None:
    """The question is told on stderr with how to answer; the result is all that stdout has."""
    asked = {"seq": 3, "type": "QuestionAsked", "at": EVENTS[0]["at"], "question": QUESTION}
    canned.on("POST", "/v1/threads", THREAD | {"status": "queued"}, 201)
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.stream("th_1", [[*EVENTS[:2], asked], [EVENTS[5]]])

    ran = parley("launch", "desk", "Refund 1042", "--wait")

    assert (ran.code, ran.out) == (0, "All done.\n")
    assert ran.err.splitlines() == [
        "launched th_1",
        "May I refund order 1042?",
        "  parley questions answer q_1 --approve | --deny [--comment WHY]",
    ]


def test_launch_that_waited_for_a_failure_exits_1(parley: Parley, canned: Canned) -> None:
    """A pipeline must not go on as if it had been done."""
    failed = THREAD | {"status": "failed", "error": "no model", "result": None}
    canned.on("POST", "/v1/threads", failed | {"status": "queued"}, 201)
    canned.on("GET", "/v1/threads/th_1", failed)
    canned.stream("th_1", [[EVENTS[0], EVENTS[5] | {"type": "ThreadFailed", "error": "no model"}]])

    ran = parley("launch", "desk", "x", "--wait")
    assert (ran.code, ran.out, ran.err) == (
        1,
        "",
        "launched th_1\nthe thread th_1 is failed: no model\n",
    )
    canned.stream("th_1", [[EVENTS[0], EVENTS[5] | {"type": "ThreadFailed", "error": "no model"}]])
    assert parley("launch", "desk", "x", "--wait", "--json").data == failed | {"outcome": "failed"}
