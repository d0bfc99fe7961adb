"""The statements of letting go. The thread's row is locked: who wakes it waits, and finds out.

An UPDATE or DELETE that has waited for a lock looks at its conditions again, on the row as it is
then. Conditions on other tables are looked at once, at the start: so what comes in between must
show in the thread's own row. It does: every commit moves `seq` or the chain.
"""

from __future__ import annotations

_RESTS = """status IN ('finished', 'failed', 'cancelled') AND wake_at IS NULL
    AND (lease_until IS NULL OR lease_until <= {now})
    AND NOT EXISTS (
        SELECT FROM deliveries
        WHERE deliveries.status = 'pending' AND deliveries.thread = threads.id
    )"""

ENDED = f"""
SELECT id AS thread, agent, status, created_at, updated_at FROM threads
WHERE (created_at, id) > ($1::bigint, $2::text) AND created_at < $3 AND updated_at < $3
    AND status = ANY ($4::text[]) AND $5::text IN ('', agent) AND {_RESTS.format(now="$3")}
ORDER BY created_at, id LIMIT $6
"""

PURGE = f"""
WITH gone AS (
    DELETE FROM threads
    WHERE id = $1 AND seq = $4 AND updated_at = $11::bigint AND chain IS NOT DISTINCT FROM $6::bytea
        AND {_RESTS.format(now="$10::bigint")}
        AND NOT EXISTS (
            SELECT FROM questions
            WHERE id = ANY ($9::text[]) AND questions.thread = threads.id AND status = 'open'
        )
    RETURNING id
),
stone AS (
    INSERT INTO tombstones (thread, at, by, seq, entries, chain, records, mark)
    SELECT id, $2::bigint, $3::text, $4::bigint, $5::bigint, $6::bytea, $7::bytea, $8::bytea
    FROM gone
    ON CONFLICT (thread) DO UPDATE SET
        at = excluded.at, by = excluded.by, seq = excluded.seq, entries = excluded.entries,
        chain = excluded.chain, records = excluded.records, mark = excluded.mark
),
no_events AS (DELETE FROM events USING gone WHERE thread = gone.id),
no_snapshots AS (DELETE FROM snapshots USING gone WHERE thread = gone.id),
no_parties AS (DELETE FROM parties USING gone WHERE thread = gone.id),
no_deliveries AS (DELETE FROM deliveries USING gone WHERE thread = gone.id),
no_questions AS (
    DELETE FROM questions USING gone
    WHERE questions.id = ANY ($9::text[]) AND questions.thread = gone.id
),
no_places AS (DELETE FROM places USING gone WHERE thread = gone.id RETURNING address)
SELECT coalesce((SELECT array_agg(address) FROM no_places), '{{}}') AS places FROM gone
"""

_STONE = "SELECT thread, at, by, seq, entries, chain, records, mark FROM tombstones"
TOMBSTONE = f"{_STONE} WHERE thread = $1"
TOMBSTONES = f"{_STONE} WHERE thread > $1 ORDER BY thread LIMIT $2"

MARK = "UPDATE tombstones SET mark = $2 WHERE thread = $1"

COPIES = """
SELECT source, key, EXISTS (SELECT FROM threads WHERE id = inbox.thread) AS is_there FROM inbox
WHERE (source, key) > ($1, $2) ORDER BY source, key LIMIT $3
"""
FORGET_COPIES = """
DELETE FROM inbox USING unnest($1::text[], $2::text[]) AS gone (source, key)
WHERE inbox.source = gone.source AND inbox.key = gone.key
    AND NOT EXISTS (SELECT FROM threads WHERE id = inbox.thread)
"""

REWRITE = """
WITH moved AS (
    UPDATE threads SET
        seq = seq + 1, handled_seq = handled_seq + (handled_seq = seq)::int, epoch = epoch + 1,
        lease_until = NULL, origin = $5, requester = $6, thread_key = $7, summary = $8, chain = $9
    WHERE id = $1 AND seq = $2 AND updated_at = $25::bigint AND chain IS NOT DISTINCT FROM $3::bytea
        AND (lease_until IS NULL OR lease_until <= $4::bigint)
    RETURNING id, seq
),
new_words AS (
    UPDATE events SET body = given.body
    FROM moved, unnest($11::bigint[], $12::text[]) AS given (seq, body)
    WHERE events.thread = moved.id AND events.seq = given.seq
),
told AS (INSERT INTO events (thread, seq, body) SELECT id, seq, $10::text FROM moved),
new_deliveries AS (
    UPDATE deliveries SET
        address = given.address, body = given.body,
        receipt = CASE WHEN clears THEN NULL ELSE receipt END,
        error = CASE WHEN ends AND status = 'pending' THEN $26::text WHEN clears THEN ''
                     ELSE error END,
        lease_until = CASE WHEN ends THEN NULL ELSE lease_until END,
        status = CASE WHEN ends AND status = 'pending' THEN 'failed' ELSE status END
    FROM moved, unnest($13::text[], $14::text[], $15::text[], $16::bool[], $17::bool[])
        AS given (id, address, body, clears, ends)
    WHERE deliveries.thread = moved.id AND deliveries.id = given.id
),
new_questions AS (
    UPDATE questions SET
        status = given.status, expires_at = given.expires_at, body = given.body,
        asked = given.asked
    FROM moved, unnest($18::text[], $19::text[], $20::bigint[], $21::text[], $22::text[])
        AS given (id, status, expires_at, body, asked)
    WHERE questions.thread = moved.id AND questions.id = given.id
),
new_snapshot AS (
    INSERT INTO snapshots (thread, seq, body)
    SELECT id, $23::bigint, $24::bytea FROM moved WHERE $23::bigint IS NOT NULL
    ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, body = excluded.body
),
no_snapshot AS (
    DELETE FROM snapshots USING moved WHERE thread = moved.id AND $23::bigint IS NULL
)
SELECT pg_notify('parley', '-' || seq || ' ' || id) FROM moved
"""

FORGET_PLACES = """
WITH gone AS (
    DELETE FROM places USING unnest($1::text[]) AS theirs (address)
    WHERE starts_with(lower(places.address) || ':', lower(theirs.address) || ':')
    RETURNING 1
)
SELECT count(*) AS gone FROM gone
"""

FORGET_PARTIES = """
WITH gone AS (DELETE FROM parties WHERE party = ANY ($1::text[]) RETURNING 1)
SELECT count(*) AS gone FROM gone
"""

FORGET_SENDERS = """
WITH gone AS (
    DELETE FROM inbox
    WHERE lower(source) = ANY ($1::text[])
        OR EXISTS (SELECT FROM unnest($2::text[]) AS word WHERE strpos(lower(key), word) > 0)
    RETURNING 1
)
SELECT count(*) AS gone FROM gone
"""

FORGET_KEPT = """
WITH gone AS (
    DELETE FROM kept USING (
        SELECT owner, key FROM kept
        WHERE expires_at < $3 AND owner = $1 AND starts_with(key, $2::text) LIMIT $4
    ) AS old
    WHERE kept.owner = old.owner AND kept.key = old.key
    RETURNING 1
)
SELECT count(*) AS gone FROM gone
"""
