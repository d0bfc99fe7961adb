"""What a clash with another process means: one more look decides between a copy and a stranger."""

from __future__ import annotations

from agent_core.thread.events import ThreadId
from storage.errors import PlaceTaken
from storage.postgres.batching import Job
from storage.postgres.commits import write
from storage.postgres.driver import Driver, Row, Tuning
from storage.postgres.failures import Clash
from storage.texts import written
from storage.values import Commit, Duplicate, InboxKey, InboxRecord
from tests.contract.stores.rows import NOW

COPY: Row = {
    "done": None,
    "first_thread": "t1",
    "first_seq": 1,
    "first_digest": "d",
}


class Answers(Driver):
    """A server that answers each statement as it was told to."""

    def __init__(self, *answers: Row | Clash) -> None:
        """Give these answers, one for each statement."""
        super().__init__("postgresql:///nowhere", Tuning())
        self.left = list(answers)

    async def fetch(
        self,
        sql: str,  # noqa: ARG002 (whatever is asked)
        *arguments: object,  # noqa: ARG002
        again: bool,  # noqa: ARG002
    ) -> list[Row]:
        """Give the next answer, as a server would that another process writes to meanwhile."""
        answer = self.left.pop(0)
        if isinstance(answer, Clash):
            raise answer
        return [answer]


def job() -> Job:
    """Make a commit that names a message and binds a place."""
    inbox = InboxKey(source="slack", key="Ev1")
    commit = Commit(thread=ThreadId("t2"), inbox=inbox, places=["slack:T1:C1:1"], now=NOW)
    return Job(commit, written(commit))


async def test_place_that_was_taken_a_moment_ago_may_be_that_of_a_copy() -> None:
    """Whoever took it is seen by the next look: with the same message, this one is a duplicate."""
    answers = Answers(Clash("places"), Clash("places"), COPY)

    outcome = await write(answers, [job()])

    assert [Duplicate(InboxRecord(ThreadId("t1"), 1, "d"))] == outcome


async def test_place_that_is_taken_at_the_second_look_is_a_strangers() -> None:
    """A place stays bound, so there is nothing to wait for."""
    answers = Answers(Clash("places"), Clash("inbox"), Clash("places"), Clash("places"), COPY)

    [outcome] = await write(answers, [job()])

    assert isinstance(outcome, PlaceTaken)
    assert "slack:T1:C1:1" in str(outcome)
    assert answers.left == [COPY]
