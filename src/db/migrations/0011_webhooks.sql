CREATE TABLE webhooks (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    uid             TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL UNIQUE,
    url             TEXT NOT NULL,
    secret          TEXT NOT NULL,
    previous_secret TEXT,
    previous_until  INTEGER,
    interactions    TEXT NOT NULL CHECK (json_valid(interactions)),
    changes         TEXT NOT NULL CHECK (json_valid(changes)),
    devices         TEXT CHECK (devices IS NULL OR json_valid(devices)),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE webhook_states (
    webhook_id      INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
    interaction_id  INTEGER NOT NULL,
    audit_id        INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    failing_since   INTEGER,
    next_at         INTEGER,
    last_success_at INTEGER,
    paused_at       INTEGER,
    paused_why      TEXT CHECK (paused_why IN ('asked', 'failing', 'gone')),
    revision        INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE webhook_held (
    webhook_id    INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    source        TEXT NOT NULL CHECK (source IN ('interaction', 'audit')),
    source_id     INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    lane          TEXT NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    failing_since INTEGER,
    why           TEXT,
    PRIMARY KEY (webhook_id, source, source_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_attempts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    source     TEXT NOT NULL CHECK (source IN ('interaction', 'audit', 'test')),
    source_id  INTEGER NOT NULL,
    type       TEXT NOT NULL,
    lane       TEXT NOT NULL,
    people     TEXT NOT NULL CHECK (json_valid(people)),
    at         INTEGER NOT NULL,
    took_ms    INTEGER NOT NULL,
    outcome    TEXT NOT NULL CHECK (outcome IN ('delivered', 'refused', 'failed')),
    status     INTEGER,
    answer     TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_attempts_webhook ON webhook_attempts (webhook_id, id);
