"""Logs: a constant message and ids; never a secret, an address or what people wrote."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

import pytest
import structlog
from hypothesis import given, strategies

from gateway.settings.environment import LogFormat, LogLevel
from gateway.telemetry import logs
from gateway.telemetry.redaction import FIELDS, HARMLESS, clean_record, clean_text
from storage.errors import StoreFull

CANARY = "canary7f3a9c"
ODD = 'a "quoted" ümlaut-secret'
SECRETS = {
    "bearer": f"Bearer {CANARY}",
    "basic": f"authorization: Basic {CANARY}",
    "slack": f"xoxb-12345-{CANARY}",
    "slack app": f"xapp-1-{CANARY}",
    "openai": f"sk-proj-{CANARY}",
    "ours": f"pk_{CANARY}_more",
    "github": f"ghp_{CANARY}",
    "jwt": f"eyJ{CANARY}.eyJ{CANARY}.x{CANARY}",
    "mail": f"{CANARY}@{CANARY}.example.com",
    "person": f"Otto <{CANARY}@example.com>",
    "password": f"postgresql://parley:{CANARY}@db.example.com/parley",
    "query": f"https://example.com/page?token={CANARY}&x=1#{CANARY}",
    "link": f"https://parley.example.com/a/{CANARY}",
    "pair": f"api_key={CANARY}",
    "json": f'{{"client_secret": "{CANARY}"}}',
}
BODIES = [
    "text",
    "body",
    "prompt",
    "comment",
    "answer",
    "value",
    "arguments",
    "result",
    "message",
    "content",
    "payload",
    "instructions",
    "metadata",
    "name",
    "to",
    "sender",
    "requester",
    "subject",
    "headers",
    "data",
    "reason",
]
CREDENTIALS = [
    "token",
    "secret",
    "password",
    "authorization",
    "api_key",
    "cookie",
    "session_id",
    "signature",
]


@contextmanager
def configured(
    level: LogLevel, form: LogFormat, *, secrets: tuple[str, ...] = ()
) -> Iterator[io.StringIO]:
    """Log into a text; afterwards all is as before, or other tests would hear more, or less."""
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("", *logs._OURS)]
    handlers, levels = list(loggers[0].handlers), [one.level for one in loggers]
    logs.configure(level, form, stream=stream, secrets=secrets)
    try:
        yield stream
    finally:
        loggers[0].handlers[:] = handlers
        for logger, before in zip(loggers, levels, strict=True):
            logger.setLevel(before)
        logging.captureWarnings(capture=False)
        structlog.reset_defaults()


@pytest.fixture(params=get_args(LogFormat))
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What is logged, in each format."""
    with configured("debug", request.param, secrets=(f"set-{CANARY}", ODD)) as stream:
        yield stream


@pytest.fixture
def json_lines() -> Iterator[io.StringIO]:
    """What is logged, as JSON lines."""
    with configured("info", "json") as stream:
        yield stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def noted(fields: dict[str, object]) -> None:
    """Write a line by the short way."""
    write = logs.noting()
    assert write is not None
    write("request", fields)


@pytest.mark.parametrize("shape", SECRETS)
def test_secret_in_any_field_is_in_no_line(written: io.StringIO, shape: str) -> None:
    """Whatever the field, as a value, in a list, bound to the context or in the message."""
    log = structlog.get_logger()
    secret = SECRETS[shape]

    for name in FIELDS - {"event"}:
        log.info("something happened", **{name: secret})
        log.info("something happened", **{name: [secret, "x"]})
        with logs.bound(**{name: secret}):
            log.info("something happened")
    message = f"something happened to {secret}"
    log.warning(message)

    assert "something happened" in written.getvalue()
    assert CANARY not in written.getvalue()


@pytest.mark.parametrize("name", [*BODIES, *CREDENTIALS])
def test_what_people_wrote_is_in_no_line_whatever_it_looks_like(
    written: io.StringIO, name: str
) -> None:
    """Only named fields keep their text: of any other, the line tells its size at the most."""
    log = structlog.get_logger()

    for value in (CANARY, CANARY.encode(), {"a": CANARY}, [CANARY], ({CANARY: CANARY},)):
        log.info("came", **{name: value})
        with logs.bound(**{name: value}):
            logging.getLogger("some.library").warning("came")

    assert written.getvalue().count("came") == 10
    assert CANARY not in written.getvalue()


def test_secret_that_was_configured_is_in_no_line_whatever_its_shape(
    written: io.StringIO,
) -> None:
    """The server's own secrets are known by their text."""
    structlog.get_logger().info("started", path=f"/x/set-{CANARY}/y")
    structlog.get_logger().info("started", path='/x/a "quoted" ümlaut-secret/y')

    assert written.getvalue().count("[redacted]") == 2
    assert CANARY not in written.getvalue()
    assert "mlaut-secret" not in written.getvalue()


def test_records_of_libraries_show_their_message_and_none_of_its_texts(
    written: io.StringIO,
) -> None:
    """A library's texts may be anything; numbers, the logger and the level are kept."""
    library = logging.getLogger("some.library")

    library.warning("request %s failed with %d", CANARY, 503)
    library.error("mapping %(a)s", {"a": CANARY})
    library.error(f"to {SECRETS['mail']} by {SECRETS['bearer']}")
    library.error(f"Task exception was never retrieved\nfuture: <Task exception={CANARY}>")

    assert "request … failed with 503" in written.getvalue()
    assert "some.library" in written.getvalue()
    assert "Task exception was never retrieved" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_record_that_can_not_be_put_together_is_shown_with_its_places_empty() -> None:
    """A library's own mistake is no reason to lose the line, or to show what was in it."""
    assert clean_record("wrong %d", (CANARY,)) == "wrong %d"


def test_exceptions_are_told_by_class_and_place(written: io.StringIO) -> None:
    """What they say may quote what people wrote; so may their causes and groups."""
    try:
        try:
            raise KeyError(CANARY)  # noqa: TRY301 - the exception is what is tested
        except KeyError as exc:
            group = ExceptionGroup(CANARY, [ValueError(CANARY), OSError(28, "No space left")])
            raise group from exc
    except ExceptionGroup as exc:
        structlog.get_logger().error("it failed", exc_info=True)
        structlog.get_logger().error("it failed", error=exc)
        logging.getLogger("some.library").exception("it failed")

    shown = written.getvalue()
    assert shown.count("builtins.KeyError") == 2
    assert "test_logs.py:" in shown
    assert "No space left" in shown
    assert CANARY not in shown


def test_errors_of_the_machine_say_what_is_wrong(json_lines: io.StringIO) -> None:
    """An operator must see that the disk is full."""
    try:
        raise StoreFull("no room left on the disk")  # noqa: TRY301 - the exception is what is tested
    except StoreFull:
        structlog.get_logger().exception("commit failed", thread="th_1")

    assert "storage.errors.StoreFull: no room left on the disk" in lines(json_lines)[0]["exception"]


def test_ids_of_the_context_stand_on_every_line_inside(json_lines: io.StringIO) -> None:
    """Also on lines of libraries, and of tasks that were started inside; not on those outside."""

    async def work() -> None:
        structlog.get_logger().info("in a task")

    async def story() -> None:
        with logs.bound(thread="th_1", worker=3):
            await asyncio.create_task(work())
            logging.getLogger("some.library").warning("by a library")
        structlog.get_logger().info("outside", seq=7)

    asyncio.run(story())

    told = [{k: v for k, v in one.items() if k != "timestamp"} for one in lines(json_lines)]
    assert told == [
        {"level": "info", "event": "in a task", "thread": "th_1", "worker": 3},
        {
            "level": "warning",
            "event": "by a library",
            "logger": "some.library",
            "thread": "th_1",
            "worker": 3,
        },
        {"level": "info", "event": "outside", "seq": 7},
    ]


def test_id_of_the_request_stands_on_every_line_inside(json_lines: io.StringIO) -> None:
    """Ours, those of libraries, and the short way's; not on those outside."""
    before = logs.REQUEST.set("req_1")
    structlog.get_logger().info("ours")
    logging.getLogger("some.library").warning("a library's")
    noted({"status": 201})
    logs.REQUEST.reset(before)
    structlog.get_logger().info("outside")

    told = [(one["event"], one.get("request")) for one in lines(json_lines)]
    assert told == [
        ("ours", "req_1"),
        ("a library's", "req_1"),
        ("request", "req_1"),
        ("outside", None),
    ]


def test_short_way_writes_what_the_long_one_would(json_lines: io.StringIO) -> None:
    """The same fields in the same order, and a time of the same form."""
    fields: dict[str, object] = {"method": "POST", "status": 201, "ms": 1.5, "thread": "th_1"}
    with logs.bound(request="req_1"):
        structlog.get_logger().info("request", **fields)
    before = logs.REQUEST.set("req_1")
    noted(fields)
    logs.REQUEST.reset(before)

    long, short = (list(one.items()) for one in lines(json_lines))
    assert long[1:] == short[1:]
    assert len(str(long[0])) == len(str(short[0]))


@pytest.mark.parametrize("shape", SECRETS)
def test_short_way_is_as_careful_as_the_long_one(written: io.StringIO, shape: str) -> None:
    """A caller may choose a request's id: it passes the same sieves."""
    before = logs.REQUEST.set(SECRETS[shape])
    noted({"thread": SECRETS[shape], "text": CANARY, "path": f"/x/set-{CANARY}/y"})
    logs.REQUEST.reset(before)

    assert "request" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_short_way_heeds_the_level() -> None:
    """Its lines are of level "info"."""
    with configured("warning", "json"):
        assert logs.noting() is None


def test_lines_below_the_level_are_left_out(json_lines: io.StringIO) -> None:
    """Libraries are heard from "warning" on: their chatter holds what they were given."""
    structlog.get_logger().debug("too fine")
    logging.getLogger("some.library").info("chatter")
    logging.getLogger("gateway.somewhere").info("ours")

    assert [line["event"] for line in lines(json_lines)] == ["ours"]


def test_extra_fields_of_a_record_are_ids_like_any_other(json_lines: io.StringIO) -> None:
    """`logging` is as good as structlog for our own lines, and as careful."""
    extra = {"port": 8080, "question": "q_1", "text": CANARY, "token": CANARY}
    logging.getLogger("parley.server").info("listening", extra=extra)

    line = lines(json_lines)[0]
    assert (line["event"], line["port"], line["question"]) == ("listening", 8080, "q_1")
    assert CANARY not in json_lines.getvalue()


def test_one_event_is_one_line_of_text_whatever_is_in_it(written: io.StringIO) -> None:
    """A line break or an escape sequence in an id can't forge a line or colour a terminal."""
    structlog.get_logger().info("came", thread="th_1\n2026-01-01 error forged", agent="\x1b[31mred")

    assert len(written.getvalue().splitlines()) == 1
    assert "\x1b" not in written.getvalue()


def test_log_that_can_not_be_written_stops_nobody() -> None:
    """A closed stderr is no reason to fail."""
    with configured("info", "text") as stream:
        stream.close()

        structlog.get_logger().info("said to nobody")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("otto@example.com", "o***@e***"),
        ("to Otto <otto.b@mail.example.com>, now", "to Otto <o***@m***>, now"),
        ("sqlite:///parley.db", "sqlite:///parley.db"),
        ("postgresql://me:pw@db:5432/parley", "postgresql://db:5432/parley"),
        ("http://127.0.0.1:8080/v1/threads?x=1", "http://127.0.0.1:8080/v1/threads?[redacted]"),
        ("th_0123abc of desk, seq 12", "th_0123abc of desk, seq 12"),
        ("task-force and risk-free", "task-force and risk-free"),
    ],
)
def test_what_is_cleaned_stays_readable(text: str, cleaned: str) -> None:
    """An operator still sees whose, where, and of what kind."""
    assert cleaned == clean_text(text)


@given(strategies.from_regex(HARMLESS, fullmatch=True))
def test_what_is_not_searched_could_not_have_held_anything(text: str) -> None:
    """The short way for ids, words and routes gives what the long way would."""
    searched = clean_text(f"{text} ").removesuffix(" ")

    assert searched == text


def test_hostile_text_is_cleaned_in_no_time() -> None:
    """No pattern backtracks without bound: only the head of a text is looked at."""
    for text in ("a@" * 50_000, "Bearer " * 20_000, "x" * 200_000, "http://" * 20_000):
        assert len(clean_text(text)) <= 301


def test_logging_does_not_load_the_terminal_s_libraries() -> None:
    """By itself structlog would import rich: a tenth of a second at each start."""
    code = (
        "import sys; from gateway.telemetry import logs; logs.configure('info', 'json'); "
        "print('rich.console' in sys.modules); import rich.console; print('and now it is')"
    )

    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert result.stdout == "False\nand now it is\n"
