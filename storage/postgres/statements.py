"""The statements of the engine, the outbox and the readers: each is one round trip.

Commits are told of by themselves (`saying`); the few others that one should hear of carry their own
NOTIFY. Conditions on a lease stand in the statement that writes, never in a look before it.
"""

from __future__ import annotations

THREAD_COLUMNS = """id, agent, status, origin, requester, thread_key, seq, handled_seq, wake_at,
    lease_until, epoch, summary, created_at, updated_at"""
QUESTION_COLUMNS = "id, thread, status, asked_at, expires_at, body, rank, asked"
DELIVERY_COLUMNS = """id, thread, seq, address, body, question, status, due_at,
    lease_until, epoch, attempts, receipt, error"""

DUE = "wake_at <= {now} AND (lease_until IS NULL OR lease_until <= {now})"

VERSION = """
SELECT version_num, (SELECT value FROM settings WHERE name = $1) AS serves FROM alembic_version
"""

# --- the engine

CLAIM = f"""
WITH leased AS (
    UPDATE threads SET epoch = epoch + 1, lease_until = $1::bigint + $2::bigint
    WHERE id = ANY (ARRAY(
        SELECT id FROM threads
        WHERE {DUE.format(now="$1")} AND id <> ALL ($4::text[])
        ORDER BY wake_at, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
    ))
    RETURNING id, epoch, seq, wake_at
)
SELECT id, epoch, seq FROM leased ORDER BY wake_at, id
"""
"""By an array and not by a join: for a join the planner would expect a third of all threads to be
due, and read the table."""

RENEW = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS given (id, epoch, place)
),
locked AS MATERIALIZED (
    SELECT id FROM threads WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE
),
renewed AS (
    UPDATE threads SET lease_until = $3
    FROM given JOIN locked USING (id)
    WHERE threads.id = given.id AND threads.epoch = given.epoch
      AND threads.lease_until IS NOT NULL
    RETURNING threads.id, threads.epoch, threads.seq, given.place
)
SELECT id, epoch, seq FROM renewed ORDER BY place
"""

RELEASE = """
WITH released AS (
    UPDATE threads SET
        lease_until = NULL,
        handled_seq = $3,
        wake_at = CASE WHEN seq > $3 THEN updated_at ELSE $4::bigint END
    WHERE id = $1 AND epoch = $2 AND lease_until IS NOT NULL
    RETURNING id, seq, seq > $3 AS has_grown
)
SELECT has_grown, CASE WHEN has_grown THEN pg_notify('parley', seq || ' ' || id) END
FROM released
"""

NOTIFY = "SELECT pg_notify('parley', $1)"

QUEUED = f"SELECT count(*) AS queued FROM threads WHERE {DUE.format(now='$1')}"

# --- the outbox

CLAIM_DELIVERIES = f"""
WITH leased AS (
    UPDATE deliveries
    SET lease_until = $1::bigint + $2::bigint, epoch = epoch + 1, attempts = attempts + 1
    WHERE n = ANY (ARRAY(
        SELECT n FROM deliveries AS one
        WHERE status = 'pending' AND due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
          AND NOT EXISTS (
              SELECT FROM deliveries AS earlier
              WHERE earlier.thread = one.thread AND earlier.address = one.address
                AND earlier.status = 'pending' AND earlier.n < one.n
          )
        ORDER BY due_at, n LIMIT $3 FOR NO KEY UPDATE OF one SKIP LOCKED
    ))
    RETURNING deliveries.*
)
SELECT {DELIVERY_COLUMNS} FROM leased ORDER BY due_at, n
"""

END_DELIVERIES = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::text[],
        $8::text[], $9::bigint[], $10::int[]
    ) WITH ORDINALITY
        AS given (thread, id, epoch, status, due_at, receipt, error, place, since, untried, number)
),
locked AS MATERIALIZED (
    SELECT n, thread, id FROM deliveries
    WHERE (thread, id) IN (SELECT thread, id FROM given) ORDER BY n FOR NO KEY UPDATE
),
ended AS (
    UPDATE deliveries SET
        status = given.status,
        lease_until = NULL,
        due_at = CASE given.status WHEN 'pending' THEN coalesce(given.due_at, deliveries.due_at)
                                   WHEN 'failed' THEN given.due_at END,
        receipt = coalesce(given.receipt, deliveries.receipt),
        error = given.error,
        attempts = deliveries.attempts - given.untried
    FROM given JOIN locked USING (thread, id)
    WHERE deliveries.n = locked.n AND deliveries.epoch = given.epoch
      AND (lease_until IS NOT NULL OR (deliveries.status = 'sent'
                                       AND given.status IN ('settled', 'failed')))
    RETURNING deliveries.thread, deliveries.id, given.place, given.since, given.number
),
bound AS (
    INSERT INTO places (address, thread, since)
    SELECT place, thread, since FROM ended WHERE place <> '' ORDER BY place, number
    ON CONFLICT (address) DO NOTHING
)
SELECT thread, id FROM ended
"""
"""Locked in the order of writing, so that two senders never wait for each other."""

DELIVERIES = f"""
SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE thread = $1 ORDER BY n
"""

_WISHED = """
status = 'failed' AND starts_with(address, $1) AND ($2 = '' OR address = $2)
  AND ($3 = '' OR thread = $3) AND ($4::bigint IS NULL OR due_at >= $4) ORDER BY n LIMIT $5
"""

FAILED_DELIVERIES = f"SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE {_WISHED}"

REQUEUE_DELIVERIES = f"""
WITH back AS (
    UPDATE deliveries SET status = 'pending', due_at = $6::bigint, attempts = 0, error = ''
    WHERE n = ANY (ARRAY(SELECT n FROM deliveries WHERE {_WISHED} FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING 1
)
SELECT count(*) AS back, pg_notify('parley', '0 deliveries') FROM back
"""

# --- reading

THREAD = f"SELECT {THREAD_COLUMNS} FROM threads WHERE id = $1"

THREAD_BY_KEY = f"""
SELECT {THREAD_COLUMNS} FROM threads WHERE agent = $1 AND thread_key = $2 AND thread_key <> ''
"""

TAKES_PART = "SELECT true FROM parties WHERE thread = $1 AND party = ANY ($2::text[]) LIMIT 1"

THREAD_AT = "SELECT thread FROM places WHERE address = $1"

LOAD = f"""
WITH thread AS (SELECT {THREAD_COLUMNS} FROM threads WHERE id = $1)
SELECT thread.*, snapshots.seq AS snapshot_seq, snapshots.body AS snapshot_body, (
    SELECT string_agg(events.body, ',' ORDER BY events.seq) FROM events
    WHERE events.thread = $1 AND events.seq > coalesce($2::bigint, snapshots.seq, 0)
) AS log
FROM thread LEFT JOIN snapshots ON snapshots.thread = thread.id AND $2::bigint IS NULL
"""
"""The log comes as one text: a row for each event would cost more than the event."""

EVENTS = """
SELECT string_agg(body, ',' ORDER BY seq) AS log FROM (
    SELECT seq, body FROM events WHERE thread = $1 AND seq > $2 ORDER BY seq LIMIT $3
) AS piece
"""

QUESTION = f"SELECT {QUESTION_COLUMNS} FROM questions WHERE id = $1"

INBOX = "SELECT thread, seq, digest FROM inbox WHERE source = $1 AND key = $2"

# --- keeping house

SAVE_SNAPSHOT = """
WITH there AS (SELECT id FROM threads WHERE id = $1),
saved AS (
    INSERT INTO snapshots (thread, seq, body) SELECT id, $2, $3 FROM there
    ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, body = excluded.body
    WHERE snapshots.seq < excluded.seq
)
SELECT id FROM there
"""

SWEEP = """
WITH messages AS (
    DELETE FROM inbox WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM inbox WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
),
things AS (
    DELETE FROM kept WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM kept WHERE expires_at <= $1
        LIMIT $2 - (SELECT count(*) FROM messages) FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
)
SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM things) AS gone
"""

# --- what is kept for others

_LASTS = "(expires_at IS NULL OR expires_at > {now})"

RECALL = f"""
SELECT value FROM kept WHERE owner = $1 AND key = $2 AND {_LASTS.format(now="$3")}
"""

KEEP = """
INSERT INTO kept (owner, key, value, expires_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
"""

_CLOCK = "(extract(epoch FROM now()) * 1000)::bigint"
SPEND = f"""
INSERT INTO kept (owner, key, value, expires_at)
SELECT 'rates', key, '', {_CLOCK} + cost
FROM unnest($1::text[], $2::bigint[]) AS spent (key, cost) ORDER BY key
ON CONFLICT (owner, key) DO UPDATE
SET expires_at = excluded.expires_at + greatest(kept.expires_at - {_CLOCK}, 0)
RETURNING key, expires_at - {_CLOCK} AS ahead
"""
"""By the server's clock, which is everybody's. A bucket that is full is one that has expired: who
sweeps what channels keep sweeps them, too. In the order of names, so that no two statements wait
for each other."""

FORGET = "DELETE FROM kept WHERE owner = $1 AND key = $2"

TAKE = f"""
DELETE FROM kept WHERE owner = $1 AND key = $2 AND {_LASTS.format(now="$3")} RETURNING value
"""

KEPT = f"""
SELECT key FROM kept WHERE owner = $1 AND {_LASTS.format(now="$2")} ORDER BY key COLLATE "C"
"""

KEPT_FROM = f"""
SELECT key FROM kept
WHERE owner = $1 AND key ~>=~ $2 AND key ~<~ $3 AND {_LASTS.format(now="$4")}
ORDER BY key COLLATE "C"
"""
"""By signs, and not in the order of a language: so the keys of a prefix lie side by side."""

# --- keys and the kill switch

KEY_COLUMNS = "id, name, hash, scopes, created_at, revoked_at"

ADD_KEY = f"INSERT INTO api_keys ({KEY_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)"

KEYS = f"SELECT {KEY_COLUMNS} FROM api_keys ORDER BY created_at, id"

KEY_BY_HASH = f"SELECT {KEY_COLUMNS} FROM api_keys WHERE hash = $1 AND revoked_at IS NULL"

REVOKE_KEY = """
UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id
"""

HALTED = "SELECT value FROM settings WHERE name = 'halt'"

SET_HALT = """
WITH halted AS (
    INSERT INTO settings (name, value) VALUES ('halt', $1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
)
SELECT pg_notify('parley', '0 halt')
"""
