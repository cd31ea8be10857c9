-- People who were erased, and one-time passwords; see schema.sql for the reasons.

CREATE TABLE erasures (
    record_type TEXT NOT NULL CHECK (record_type IN ('delegate', 'user')),
    record_id   INTEGER NOT NULL,
    salt        BLOB NOT NULL,
    hash        BLOB NOT NULL,
    at          INTEGER NOT NULL,
    wiped_at    INTEGER,
    PRIMARY KEY (record_type, record_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE one_time_passwords (
    address    BLOB PRIMARY KEY,
    code_hash  TEXT NOT NULL,
    tries      INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_passwords_expires ON one_time_passwords (expires_at);
