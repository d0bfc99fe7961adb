"""The one statement that writes commits: a batch of them in one round trip and one transaction.

Each commit of the batch stands or falls by itself: what it may not do is left out, and the row that
it gets back says why. All that a statement reads is of one moment, except that a row which another
transaction has just changed is looked at again as it is now (READ COMMITTED), and that includes the
conditions on `seq` and `epoch`. The rows of threads are locked in the order of their ids, so that
two batches never wait for each other.
"""

from __future__ import annotations

_CONDITIONS_AND_EVENTS = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bool[],
        $8::bigint[], $9::bigint[], $10::bool[], $11::text[], $12::text[], $13::text[],
        $14::text[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bool[],
        $20::bool[]
    ) WITH ORDINALITY AS given (
        thread, size, seen, epoch, status, summary, keeps_wake, wake_at, now, is_new, agent,
        origin, requester, thread_key, source, key, digest, expires_at,
        has_hint, has_deliveries, place
    )
),
first AS MATERIALIZED (
    SELECT given.thread AS given_thread, inbox.*
    FROM given JOIN inbox USING (source, key)
    WHERE inbox.expires_at IS NULL OR inbox.expires_at > given.now
),
locked AS MATERIALIZED (
    SELECT id, seq, epoch, lease_until FROM threads
    WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE
),
ready AS MATERIALIZED (
    SELECT given.*
    FROM given
    LEFT JOIN first ON first.given_thread = given.thread
    LEFT JOIN locked ON locked.id = given.thread
    WHERE first.key IS NULL
),
born AS (
    INSERT INTO threads (
        id, agent, status, origin, requester, thread_key, seq, handled_seq, wake_at,
        lease_until, epoch, summary, created_at, updated_at
    )
    SELECT thread, agent, coalesce(status, 'running'), origin, requester, thread_key, size, 0,
           wake_at, NULL, 0, coalesce(summary, '{}'), now, now
    FROM ready
    WHERE is_new AND coalesce(seen, 0) = 0 AND epoch IS NULL
    ON CONFLICT DO NOTHING
    RETURNING id, seq
),
moved AS (
    UPDATE threads SET
        seq = threads.seq + ready.size,
        status = coalesce(ready.status, threads.status),
        summary = coalesce(ready.summary, threads.summary),
        wake_at = CASE WHEN ready.keeps_wake THEN threads.wake_at ELSE ready.wake_at END,
        updated_at = ready.now
    FROM ready
    WHERE threads.id = ready.thread AND NOT ready.is_new
      AND threads.seq = coalesce(ready.seen, threads.seq)
      AND (ready.epoch IS NULL
           OR (threads.epoch = ready.epoch AND threads.lease_until IS NOT NULL))
    RETURNING threads.id, threads.seq
),
done AS MATERIALIZED (SELECT id, seq FROM born UNION ALL SELECT id, seq FROM moved),
new_events AS (
    INSERT INTO events (thread, seq, body)
    SELECT done.id, done.seq + event.back, event.body
    FROM unnest($21::text[], $22::int[], $23::text[]) AS event (thread, back, body)
    JOIN done ON done.id = event.thread
),
"""

_QUESTIONS_AND_DELIVERIES = """
new_questions AS (
    INSERT INTO questions (id, thread, status, asked_at, expires_at, body)
    SELECT question.id, done.id, question.status, asked_at, expires_at, body
    FROM unnest($24::text[], $25::text[], $26::text[], $27::bigint[], $28::bigint[], $29::text[])
        AS question (thread, id, status, asked_at, expires_at, body)
    JOIN done ON done.id = question.thread
    ON CONFLICT (id) DO UPDATE SET
        thread = CASE WHEN questions.thread = excluded.thread THEN excluded.thread END,
        status = excluded.status,
        asked_at = excluded.asked_at,
        expires_at = excluded.expires_at,
        body = excluded.body
),
new_deliveries AS (
    INSERT INTO deliveries (
        id, thread, seq, address, body, question, status, due_at, epoch, attempts, error
    )
    SELECT delivery.id, done.id, done.seq, address, body, question, 'pending', due_at, 0, 0, ''
    FROM unnest(
        $30::text[], $31::text[], $32::text[], $33::text[], $34::bigint[], $35::text[]
    ) WITH ORDINALITY AS delivery (thread, id, address, body, due_at, question, place)
    JOIN done ON done.id = delivery.thread
    ORDER BY delivery.place
),
"""

_INBOX_AND_HINTS = """
new_inbox AS (
    INSERT INTO inbox (source, key, thread, seq, digest, expires_at)
    SELECT source, key, done.id, done.seq, digest, expires_at
    FROM given JOIN done ON done.id = given.thread
    WHERE key IS NOT NULL
    ON CONFLICT (source, key) DO UPDATE SET
        thread = CASE WHEN inbox.expires_at <= $9[1] THEN excluded.thread END,
        seq = excluded.seq,
        digest = excluded.digest,
        expires_at = excluded.expires_at
),
told AS MATERIALIZED (
    SELECT pg_notify(
        'parley', CASE WHEN octet_length(hints) < 8000 THEN hints ELSE '0 *' END
    ) AS nothing
    FROM (
        SELECT concat_ws(
            E'\\n',
            string_agg(done.seq || ' ' || done.id, E'\\n') FILTER (WHERE has_hint),
            CASE WHEN bool_or(has_deliveries) THEN '0 deliveries' END
        ) AS hints
        FROM given JOIN done ON done.id = given.thread
    ) AS all_of_them
    WHERE hints <> ''
)
SELECT done.seq AS done,
       first.thread AS first_thread, first.seq AS first_seq, first.digest AS first_digest,
       locked.seq AS seq,
       locked.epoch = given.epoch AND locked.lease_until IS NOT NULL AS is_held,
       (SELECT true FROM threads
        WHERE given.is_new AND threads.agent = given.agent
          AND threads.thread_key = given.thread_key AND threads.thread_key <> '') AS key_is_taken,
       told.nothing
FROM given
LEFT JOIN done ON done.id = given.thread
LEFT JOIN first ON first.given_thread = given.thread
LEFT JOIN locked ON locked.id = given.thread
LEFT JOIN told ON true
ORDER BY given.place
"""

COMMIT = _CONDITIONS_AND_EVENTS + _QUESTIONS_AND_DELIVERIES + _INBOX_AND_HINTS
COMMIT_EVENTS = _CONDITIONS_AND_EVENTS + _INBOX_AND_HINTS
"""For the many batches without questions and deliveries: a sixth of the time less."""
