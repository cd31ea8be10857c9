-- Signed tickets: keys, and the serials of the codes that attendees have or had.

CREATE TABLE ticket_keys (
    kid        INTEGER PRIMARY KEY CHECK (kid BETWEEN 1 AND 255),
    seed       BLOB,
    public_key BLOB NOT NULL,
    first_day  TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    retired_at INTEGER
) STRICT;

CREATE TABLE ticket_serials (
    serial      INTEGER PRIMARY KEY,
    delegate_id INTEGER NOT NULL
) STRICT;
