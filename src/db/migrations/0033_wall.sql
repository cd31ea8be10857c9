-- The link that opens the wall display.

CREATE TABLE wall_link (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    hash    BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    actor   TEXT NOT NULL
) STRICT;
