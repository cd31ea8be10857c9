-- One outbox for webhooks and messages. A message keeps what became of it; while it waits, the outbox has its
-- pending delivery.
CREATE TABLE outbox_destinations (
    name            TEXT PRIMARY KEY,
    interaction_id  INTEGER,
    audit_id        INTEGER,
    failures        INTEGER NOT NULL DEFAULT 0,
    failing_since   INTEGER,
    why             TEXT,
    next_at         INTEGER,
    last_success_at INTEGER,
    paused_at       INTEGER,
    paused_why      TEXT CHECK (paused_why IN ('asked', 'failing', 'gone')),
    revision        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    destination   TEXT NOT NULL REFERENCES outbox_destinations (name),
    source        TEXT NOT NULL CHECK (source IN ('interaction', 'audit', 'message')),
    source_id     INTEGER NOT NULL,
    ordering_key  TEXT NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    expires_at    INTEGER,
    failing_since INTEGER,
    why           TEXT,
    UNIQUE (source, source_id, destination)
) STRICT;
CREATE INDEX outbox_due ON outbox (destination, next_at);
CREATE INDEX outbox_expires ON outbox (expires_at) WHERE expires_at IS NOT NULL;

INSERT INTO outbox_destinations (name, interaction_id, audit_id, failures, failing_since, next_at,
        last_success_at, paused_at, paused_why, revision)
    SELECT 'webhook:' || webhook_id, interaction_id, audit_id, failures, failing_since, next_at,
        last_success_at, paused_at, paused_why, revision
    FROM webhook_states;
INSERT INTO outbox (destination, source, source_id, ordering_key, attempts, next_at, failing_since, why)
    SELECT 'webhook:' || webhook_id, source, source_id, ordering_key, attempts, next_at, failing_since, why
    FROM webhook_pending ORDER BY webhook_id, position;
INSERT OR IGNORE INTO outbox_destinations (name)
    SELECT DISTINCT channel || iif(delegate_id IS NULL, ':users', '') FROM messages WHERE state = 'waiting';
INSERT INTO outbox (destination, source, source_id, ordering_key, attempts, next_at, expires_at, failing_since, why)
    SELECT channel || iif(delegate_id IS NULL, ':users', ''), 'message', id, 'message:' || id, attempts,
        coalesce(next_at, created_at), expires_at, iif(attempts > 0, tried_at, NULL), failure
    FROM messages WHERE state = 'waiting' ORDER BY id;
DROP TABLE webhook_pending;
DROP TABLE webhook_states;
DROP INDEX messages_waiting;
ALTER TABLE messages DROP COLUMN next_at;
ALTER TABLE messages DROP COLUMN expires_at;
CREATE TRIGGER messages_outbox AFTER DELETE ON messages BEGIN
    DELETE FROM outbox WHERE source = 'message' AND source_id = old.id;
END;
