"""Who has a part in what: for people who look for their own threads and questions.

Threads that are there get those who began them and those who are asked in them. What the
questions that are there ask whom is found in their bodies until they are written again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.online import make_index

revision = "0006"
down_revision = "0005"

_REQUESTERS = """
INSERT INTO parties (party, at, thread)
SELECT lower(requester), created_at, id FROM threads
WHERE requester LIKE 'slack:%' OR requester LIKE 'email:%'
"""
_ASKED = {
    "sqlite": """
INSERT INTO parties (party, at, thread)
SELECT DISTINCT lower(asked.value), threads.created_at, threads.id
FROM questions JOIN threads ON threads.id = questions.thread,
     json_each(questions.body, '$.audience') AS asked
WHERE true
ON CONFLICT DO NOTHING
""",
    "postgresql": """
INSERT INTO parties (party, at, thread)
SELECT DISTINCT lower(asked.value), threads.created_at, threads.id
FROM questions JOIN threads ON threads.id = questions.thread,
     json_array_elements_text(questions.body::json -> 'audience') AS asked (value)
ON CONFLICT DO NOTHING
""",
}


def upgrade() -> None:
    """Add what queues need to the index of questions; make the table of parties, and fill it."""
    _add("rank", "SMALLINT DEFAULT 1 NOT NULL")
    _add("asked", "TEXT DEFAULT '' NOT NULL")
    make_index(
        "questions_ranked",
        "questions",
        ["rank", "asked_at", "id"],
        where="status = 'open' AND rank <> 1",
    )
    op.create_table(
        "parties",
        sa.Column("party", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("thread", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("party", "at", "thread"),
        sqlite_with_rowid=False,
    )
    op.create_index("parties_of_thread", "parties", ["thread", "party"])
    op.execute(_REQUESTERS)
    op.execute(_ASKED[op.get_bind().dialect.name])


def _add(column: str, declared: str) -> None:
    """Add a column; a try that was cut off at the index may have done so before."""
    again = "IF NOT EXISTS " if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"ALTER TABLE questions ADD COLUMN {again}{column} {declared}")
