"""The one statement that writes commits: a batch of them in one round trip and one transaction.

Each commit of the batch stands or falls by itself: what it may not do is left out, and the row that
it gets back says why. All that a statement reads is of one moment, except that a row which another
transaction has just changed is looked at again as it is now (READ COMMITTED), and that includes the
conditions on `seq` and `epoch`. The rows of threads are locked in the order of their ids, so that
two batches never wait for each other.

A delivery of a transaction that we had to wait for is one that we can't see. So where the row of
the thread, once locked, is another version than the one we saw, no delivery is leased: whoever
claims the next one sees all. The chain of a thread (`storage.seals`) is moved from the row as it is
once it is locked: the links come with the commit, and PostgreSQL hashes them in one by one. Not in
the UPDATE itself: where that looks at a row again, it does not run the subquery again.
"""

from __future__ import annotations

_CONDITIONS_AND_EVENTS = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bool[],
        $8::bigint[], $9::bigint[], $10::bool[], $11::text[], $12::text[], $13::text[],
        $14::text[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[],
        $20::bool[], $21::bigint[], $22::bytea[]
    ) WITH ORDINALITY AS given (
        thread, size, seen, epoch, status, summary, keeps_wake, wake_at, now, is_new, agent,
        origin, requester, thread_key, source, key, digest, expires_at,
        lease_ms, releases, send_lease_ms, growth, place
    )
),
first AS MATERIALIZED (
    SELECT given.thread AS given_thread, inbox.*
    FROM given JOIN inbox USING (source, key)
    WHERE inbox.expires_at IS NULL OR inbox.expires_at > given.now
),
locked AS MATERIALIZED (
    SELECT id, seq, epoch, lease_until, chain, ctid AS version FROM threads
    WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE
),
ready AS MATERIALIZED (
    SELECT given.*,
           lease_ms IS NOT NULL AND (lease_until IS NULL OR lease_until <= now) AS leases,
           (
               WITH RECURSIVE link AS (
                   SELECT locked.chain, 1 AS start
                   UNION ALL
                   SELECT sha256(chain || substr(growth, start, 32)), start + 32
                   FROM link WHERE start < length(growth)
               )
               SELECT chain FROM link ORDER BY start DESC LIMIT 1
           ) AS chain
    FROM given
    LEFT JOIN first ON first.given_thread = given.thread
    LEFT JOIN locked ON locked.id = given.thread
    WHERE first.key IS NULL
),
born AS (
    INSERT INTO threads (
        id, agent, status, origin, requester, thread_key, seq, handled_seq, wake_at,
        lease_until, epoch, summary, created_at, updated_at, chain
    )
    SELECT thread, agent, coalesce(status, 'running'), origin, requester, thread_key, size, 0,
           wake_at, now + lease_ms, leases::int, coalesce(summary, '{}'), now, now, growth
    FROM ready
    WHERE is_new AND coalesce(seen, 0) = 0 AND epoch IS NULL
    ON CONFLICT DO NOTHING
    RETURNING id, seq, CASE WHEN lease_until IS NOT NULL THEN epoch END AS epoch
),
moved AS (
    UPDATE threads SET
        seq = threads.seq + ready.size,
        status = coalesce(ready.status, threads.status),
        summary = coalesce(ready.summary, threads.summary),
        wake_at = CASE WHEN ready.keeps_wake THEN threads.wake_at ELSE ready.wake_at END,
        lease_until = CASE WHEN ready.leases THEN ready.now + ready.lease_ms
                           WHEN NOT ready.releases THEN threads.lease_until END,
        epoch = threads.epoch + ready.leases::int,
        handled_seq = CASE WHEN ready.releases THEN threads.seq + ready.size
                           ELSE threads.handled_seq END,
        updated_at = ready.now,
        chain = CASE WHEN ready.growth IS NULL THEN threads.chain ELSE ready.chain END
    FROM ready
    WHERE threads.id = ready.thread AND NOT ready.is_new
      AND threads.seq = coalesce(ready.seen, threads.seq)
      AND (ready.epoch IS NULL
           OR (threads.epoch = ready.epoch AND threads.lease_until IS NOT NULL))
    RETURNING threads.id, threads.seq, CASE WHEN ready.leases THEN threads.epoch END AS epoch
),
done AS MATERIALIZED (
    SELECT id, seq, epoch FROM born UNION ALL SELECT id, seq, epoch FROM moved
),
new_events AS (
    INSERT INTO events (thread, seq, body)
    SELECT done.id, done.seq + event.back, event.body
    FROM unnest($23::text[], $24::int[], $25::text[]) AS event (thread, back, body)
    JOIN done ON done.id = event.thread
),
"""

_PLACES_QUESTIONS_AND_DELIVERIES = """
new_places AS (
    INSERT INTO places (address, thread, since)
    SELECT address, done.id, now
    FROM unnest($38::text[], $39::text[]) AS bound (thread, address)
    JOIN done ON done.id = bound.thread
    JOIN given ON given.thread = bound.thread
    ORDER BY address
    ON CONFLICT (address) DO UPDATE SET thread = NULL WHERE places.thread <> excluded.thread
),
new_parties AS (
    INSERT INTO parties (party, at, thread)
    SELECT party, coalesce(threads.created_at, given.now), done.id
    FROM unnest($42::text[], $43::text[]) AS joined (thread, party)
    JOIN done ON done.id = joined.thread
    JOIN given ON given.thread = joined.thread
    LEFT JOIN threads ON threads.id = joined.thread
    ORDER BY party, done.id
    ON CONFLICT DO NOTHING
),
new_questions AS (
    INSERT INTO questions (id, thread, status, asked_at, expires_at, body, rank, asked)
    SELECT question.id, done.id, question.status, asked_at, expires_at, body, rank, asked
    FROM unnest(
        $26::text[], $27::text[], $28::text[], $29::bigint[], $30::bigint[], $31::text[],
        $40::smallint[], $41::text[]
    ) AS question (thread, id, status, asked_at, expires_at, body, rank, asked)
    JOIN done ON done.id = question.thread
    ON CONFLICT (id) DO UPDATE SET
        thread = CASE WHEN questions.thread = excluded.thread THEN excluded.thread END,
        status = excluded.status,
        asked_at = excluded.asked_at,
        expires_at = excluded.expires_at,
        body = excluded.body,
        rank = excluded.rank,
        asked = excluded.asked
),
outgoing AS MATERIALIZED (
    SELECT delivery.*, done.seq, now + send_lease_ms AS until,
           send_lease_ms IS NOT NULL AND due_at <= now
           AND 1 = row_number() OVER (
               PARTITION BY delivery.thread, delivery.address ORDER BY delivery.place
           )
           AND NOT EXISTS (
               SELECT FROM deliveries AS earlier
               WHERE earlier.thread = delivery.thread AND earlier.address = delivery.address
                 AND earlier.status = 'pending'
           )
           AND NOT EXISTS (
               SELECT FROM locked JOIN threads USING (id)
               WHERE id = delivery.thread AND threads.ctid <> locked.version
           ) AS leases
    FROM unnest(
        $32::text[], $33::text[], $34::text[], $35::text[], $36::bigint[], $37::text[]
    ) WITH ORDINALITY AS delivery (thread, id, address, body, due_at, question, place)
    JOIN done ON done.id = delivery.thread
    JOIN given ON given.thread = delivery.thread
),
new_deliveries AS (
    INSERT INTO deliveries (
        id, thread, seq, address, body, question, status, due_at, lease_until, epoch, attempts,
        error
    )
    SELECT id, thread, seq, address, body, question, 'pending', due_at,
           CASE WHEN leases THEN until END, leases::int, leases::int, ''
    FROM outgoing ORDER BY place
),
leased AS MATERIALIZED (
    SELECT thread, array_agg(id) FILTER (WHERE leases) AS ids
    FROM outgoing GROUP BY thread
),
"""

_NO_DELIVERIES = """
leased AS (SELECT ''::text AS thread, NULL::text[] AS ids),
"""

_INBOX_AND_OUTCOMES = """
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
)
SELECT done.seq AS done, done.epoch, leased.ids AS leased,
       first.thread AS first_thread, first.seq AS first_seq, first.digest AS first_digest,
       locked.seq AS seq,
       locked.epoch = given.epoch AND locked.lease_until IS NOT NULL AS is_held,
       (SELECT true FROM threads
        WHERE given.is_new AND threads.agent = given.agent
          AND threads.thread_key = given.thread_key AND threads.thread_key <> '') AS key_is_taken
FROM given
LEFT JOIN done ON done.id = given.thread
LEFT JOIN first ON first.given_thread = given.thread
LEFT JOIN locked ON locked.id = given.thread
LEFT JOIN leased ON leased.thread = given.thread
ORDER BY given.place
"""

COMMIT = _CONDITIONS_AND_EVENTS + _PLACES_QUESTIONS_AND_DELIVERIES + _INBOX_AND_OUTCOMES
COMMIT_EVENTS = _CONDITIONS_AND_EVENTS + _NO_DELIVERIES + _INBOX_AND_OUTCOMES
"""For the many batches without places, questions and deliveries: a sixth of the time less."""
