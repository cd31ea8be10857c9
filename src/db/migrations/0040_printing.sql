-- Printers with their jobs, fonts of badges, and jobs as deliveries of the outbox.

CREATE TABLE badge_fonts (
    name    TEXT PRIMARY KEY,
    content BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE printers (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL CHECK (json_valid(definition))
) STRICT;

CREATE TABLE print_jobs (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    printer_id     INTEGER NOT NULL REFERENCES printers (id) ON DELETE CASCADE,
    delegate_id    INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    device_id      INTEGER REFERENCES devices (id) ON DELETE SET NULL,
    trigger_id     INTEGER UNIQUE,
    reason         TEXT,
    actor          TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'unknown')),
    why            TEXT,
    interaction_id INTEGER,
    created_at     INTEGER NOT NULL,
    ended_at       INTEGER
) STRICT;
CREATE INDEX print_jobs_printer ON print_jobs (printer_id, id);
CREATE INDEX print_jobs_delegate ON print_jobs (delegate_id);
CREATE INDEX print_jobs_open ON print_jobs (state) WHERE state IN ('queued', 'sending', 'unknown');

DROP TRIGGER messages_outbox;
ALTER TABLE outbox RENAME TO outbox_before;
CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    destination   TEXT NOT NULL REFERENCES outbox_destinations (name),
    source        TEXT NOT NULL CHECK (source IN ('interaction', 'audit', 'message', 'print')),
    source_id     INTEGER NOT NULL,
    ordering_key  TEXT NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    expires_at    INTEGER,
    failing_since INTEGER,
    why           TEXT,
    UNIQUE (source, source_id, destination)
) STRICT;
INSERT INTO outbox SELECT id, destination, source, source_id, ordering_key, attempts, next_at, expires_at, failing_since, why
    FROM outbox_before;
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'outbox_before') WHERE name = 'outbox';
DROP TABLE outbox_before;
CREATE INDEX outbox_due ON outbox (destination, next_at);
CREATE INDEX outbox_expires ON outbox (expires_at) WHERE expires_at IS NOT NULL;
CREATE TRIGGER messages_outbox AFTER DELETE ON messages BEGIN
    DELETE FROM outbox WHERE source = 'message' AND source_id = old.id;
END;
CREATE TRIGGER print_jobs_outbox AFTER DELETE ON print_jobs BEGIN
    DELETE FROM outbox WHERE source = 'print' AND source_id = old.id;
END;
