-- The second machine that takes over: epoch, replica, and what clients know this one by.
CREATE TABLE standby (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    epoch         INTEGER NOT NULL,
    superseded_by INTEGER,
    restored      INTEGER,
    replica       TEXT NOT NULL,
    host          TEXT,
    public_url    TEXT
) STRICT;
