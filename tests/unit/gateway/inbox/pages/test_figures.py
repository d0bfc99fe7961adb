"""What has happened lately, counted and drawn."""

from __future__ import annotations

from agent_core.thread.events import Millis
from gateway.inbox.pages.charts import HEIGHT, WIDTH, lines, number, stacked
from gateway.inbox.pages.figures import (
    DAYS,
    STANDS,
    AnswerTime,
    ThreadCount,
    begin_of,
    count,
)

NOW = Millis(1_789_000_000_000)
DAY = 86_400_000


def thread(days_ago: int, status: str = "finished", **more: object) -> ThreadCount:
    """Make a thread that began so long ago."""
    return ThreadCount(
        **{"agent": "desk", "status": status, "created_at": Millis(NOW - days_ago * DAY), **more}  # type: ignore[arg-type]
    )


def test_threads_are_counted_by_their_day_and_how_they_stand() -> None:
    """Two weeks, the newest last; who is queued is at work."""
    figures = count([thread(0), thread(0, "queued"), thread(1, "failed")], [], NOW)

    assert len(figures.days) == DAYS
    assert dict(zip(STANDS, figures.days[-1].counts, strict=True)) == {
        "finished": 1,
        "waiting": 0,
        "running": 1,
        "paused": 0,
        "failed": 0,
        "cancelled": 0,
    }
    assert sum(figures.days[-2].counts) == 1
    assert begin_of(NOW) == NOW // DAY * DAY - (DAYS - 1) * DAY


def test_times_to_answer_are_told_by_median_and_nine_of_ten() -> None:
    """One who forgot for a day does not make everybody slow."""
    answers = [AnswerTime(NOW, Millis(NOW + minutes * 60_000)) for minutes in range(1, 12)]
    figures = count([], [*answers, AnswerTime(Millis(NOW - DAY), NOW)], NOW)

    assert figures.days[-1].median_minutes == 6
    assert figures.days[-1].p90_minutes == 10
    assert figures.days[-2].p90_minutes == DAY / 60_000
    assert figures.days[-3].median_minutes is None


def test_agents_are_told_by_what_they_cost() -> None:
    """The dearest first."""
    figures = count(
        [
            thread(0, input_tokens=10, output_tokens=1, cost=0.5),
            thread(0, input_tokens=10, output_tokens=1, cost=0.25),
            thread(0, agent="cheap", input_tokens=99),
        ],
        [],
        NOW,
    )

    assert [(one.agent, one.threads, one.input_tokens, one.cost) for one in figures.agents] == [
        ("desk", 2, 20, 0.75),
        ("cheap", 1, 99, 0.0),
    ]


def test_columns_stand_on_each_other_and_inside_the_picture() -> None:
    """Heights add up: a picture that lies is worse than none."""
    chart = stacked(["a", "b"], ["x", "y"], [[3, 5], [0, 2]])
    first = [one for one in chart.bars if one.says.startswith("a:")]

    assert [one.says for one in chart.bars] == ["a: 3 x", "a: 5 y", "b: 2 y"]
    assert first[0].y == first[1].y + first[1].height
    assert round(first[1].height / first[0].height, 1) == 1.7
    assert first[0].y + first[0].height == chart.bottom
    assert all(0 <= one.x <= WIDTH and 0 <= one.y <= HEIGHT for one in chart.bars)
    assert [one.label for one in chart.up] == ["0", "2", "4", "6", "8"]


def test_a_day_without_answers_is_a_gap_in_the_line() -> None:
    """Nothing is made up between two days."""
    chart = lines(["a", "b", "c", "d"], ["median"], [(1,), (2,), (None,), (4,)], "minutes")

    assert len(chart.lines[0].runs) == 1
    assert len(chart.lines[0].dots) == 3
    assert chart.lines[0].dots[-1][2] == "d: median 4 minutes"


def test_an_empty_picture_has_axes() -> None:
    """The first day of an installation is a picture, too."""
    assert stacked([], [], []).bars == ()
    assert lines(["a"], ["m"], [(None,)], "minutes").lines[0].dots == ()


def test_numbers_have_no_more_digits_than_they_need() -> None:
    """Nobody reads 1234.5678."""
    assert [number(one) for one in (0, 0.25, 1.5, 12, 1234.5)] == [
        "0",
        "0.25",
        "1.5",
        "12",
        "1,234",
    ]
