-- One order of all changes: each row of the audit knows the newest interaction by then, and what neither table
-- tells stands in `changes`, which numbers together with the audit. Changes of before, which know none, come
-- before all interactions that somebody has not been told yet.
ALTER TABLE audit ADD COLUMN interaction_id INTEGER;
CREATE TABLE changes (
    id             INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    interaction_id INTEGER,
    action         TEXT NOT NULL,
    record_type    TEXT NOT NULL,
    record_id      INTEGER
) STRICT;
INSERT INTO changes (id, at, action, record_type, record_id)
    SELECT r.change_id,
        coalesce(iif(b.kind = 'delegates', (SELECT created_at FROM delegates WHERE id = r.record_id),
            (SELECT created_at FROM devices WHERE id = r.record_id)), b.created_at),
        'create', iif(b.kind = 'delegates', 'delegate', 'device'), r.record_id
    FROM batch_rows r CROSS JOIN batches b ON b.id = r.batch_id
    WHERE r.change_id IS NOT NULL;
DROP INDEX batch_rows_change;

-- A blocked code has a number, by which copies of the list know it.
ALTER TABLE blocked_codes RENAME TO blocked_codes_before;
CREATE TABLE blocked_codes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    value       TEXT NOT NULL,
    delegate_id INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    actor       TEXT NOT NULL,
    at          INTEGER NOT NULL,
    UNIQUE (kind, value)
) STRICT;
INSERT INTO blocked_codes (kind, value, delegate_id, reason, actor, at)
    SELECT kind, value, delegate_id, reason, actor, at FROM blocked_codes_before ORDER BY at, kind, value;
DROP TABLE blocked_codes_before;
CREATE INDEX blocked_codes_delegate ON blocked_codes (delegate_id);

-- Pending deliveries and ordering keys have those names now.
CREATE TABLE webhook_pending (
    webhook_id    INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    source        TEXT NOT NULL CHECK (source IN ('interaction', 'audit')),
    source_id     INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    ordering_key  TEXT NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    failing_since INTEGER,
    why           TEXT,
    PRIMARY KEY (webhook_id, source, source_id)
) STRICT, WITHOUT ROWID;
INSERT INTO webhook_pending
    SELECT webhook_id, source, source_id, position, lane, attempts, next_at, failing_since, why FROM webhook_held;
DROP TABLE webhook_held;
ALTER TABLE webhook_attempts RENAME COLUMN lane TO ordering_key;
