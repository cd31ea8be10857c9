CREATE INDEX delegates_alive ON delegates (id) WHERE deleted_at IS NULL;

CREATE VIRTUAL TABLE delegates_search USING fts5 (
    first_name, last_name, email, phone, job_title, company, barcode, external_id,
    content = 'delegates', content_rowid = 'id', tokenize = 'trigram', detail = 'column', columnsize = 0
);
INSERT INTO delegates_search (delegates_search) VALUES ('rebuild');

CREATE TABLE delegates_search_later (
    id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;
CREATE TRIGGER delegates_search_insert AFTER INSERT ON delegates
WHEN NOT EXISTS (SELECT 1 FROM delegates_search_later) BEGIN
    INSERT INTO delegates_search (rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id)
    VALUES (new.id, new.first_name, new.last_name, new.email, new.phone, new.job_title, new.company, new.barcode, new.external_id);
END;
CREATE TRIGGER delegates_search_delete AFTER DELETE ON delegates BEGIN
    INSERT INTO delegates_search (delegates_search, rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id)
    VALUES ('delete', old.id, old.first_name, old.last_name, old.email, old.phone, old.job_title, old.company, old.barcode, old.external_id);
END;
CREATE TRIGGER delegates_search_update
AFTER UPDATE OF first_name, last_name, email, phone, job_title, company, barcode, external_id ON delegates
WHEN (old.first_name, old.last_name, old.email, old.phone, old.job_title, old.company, old.barcode, old.external_id)
    IS NOT (new.first_name, new.last_name, new.email, new.phone, new.job_title, new.company, new.barcode, new.external_id)
BEGIN
    INSERT INTO delegates_search (delegates_search, rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id)
    VALUES ('delete', old.id, old.first_name, old.last_name, old.email, old.phone, old.job_title, old.company, old.barcode, old.external_id);
    INSERT INTO delegates_search (rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id)
    VALUES (new.id, new.first_name, new.last_name, new.email, new.phone, new.job_title, new.company, new.barcode, new.external_id);
END;

CREATE TABLE batches (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL CHECK (kind IN ('delegates', 'devices', 'interactions')),
    device_id   INTEGER REFERENCES devices (id),
    file_name   TEXT NOT NULL,
    file_sha256 BLOB NOT NULL,
    options     TEXT NOT NULL CHECK (json_valid(options)),
    total       INTEGER NOT NULL,
    done        INTEGER NOT NULL DEFAULT 0,
    actor       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    undone_at   INTEGER
) STRICT;
CREATE INDEX batches_device ON batches (device_id) WHERE device_id IS NOT NULL;

CREATE TABLE batch_rows (
    batch_id       INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    line           INTEGER NOT NULL,
    record_id      INTEGER NOT NULL,
    before         TEXT,
    audit_id       INTEGER,
    interaction_id INTEGER,
    PRIMARY KEY (batch_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_rows_record ON batch_rows (record_id);

CREATE TABLE statements (
    name        TEXT PRIMARY KEY,
    record_type TEXT NOT NULL CHECK (record_type IN ('delegate', 'device')),
    label       TEXT,
    sql         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    delegate_id INTEGER REFERENCES delegates (id),
    channel     TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    template    TEXT,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'unknown')),
    created_at  INTEGER NOT NULL,
    sent_at     INTEGER
) STRICT;
CREATE INDEX messages_delegate ON messages (delegate_id) WHERE delegate_id IS NOT NULL;
CREATE INDEX messages_template ON messages (channel, template, delegate_id) WHERE state = 'sent';
