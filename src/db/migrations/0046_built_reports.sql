-- The choices of reports without SQL; the language of users; attendees who only look like one person; who was refused in
-- something done to many.
ALTER TABLE reports ADD COLUMN built TEXT CHECK (built IS NULL OR json_valid(built));
ALTER TABLE users ADD COLUMN language TEXT;

CREATE TABLE distinct_delegates (
    one_id   INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    other_id INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    actor    TEXT NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (one_id, other_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX distinct_delegates_other ON distinct_delegates (other_id);

CREATE TABLE batch_refusals (
    batch_id    INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    line        INTEGER NOT NULL,
    delegate_id INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    PRIMARY KEY (batch_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_refusals_delegate ON batch_refusals (delegate_id);

