-- The head office that this venue belongs to, and what came from it.
CREATE TABLE head_office (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    venue     INTEGER NOT NULL,
    name      TEXT NOT NULL,
    hubs      TEXT NOT NULL CHECK (json_valid(hubs)),
    secret    TEXT NOT NULL,
    ca        TEXT,
    joined_at INTEGER NOT NULL
) STRICT;

CREATE TABLE office_feed (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    cursor        TEXT,
    round         INTEGER NOT NULL,
    is_snapshot   INTEGER NOT NULL,
    configuration TEXT CHECK (configuration IS NULL OR json_valid(configuration)),
    kept          TEXT CHECK (kept IS NULL OR json_valid(kept))
) STRICT;

CREATE TABLE office_records (
    type      TEXT NOT NULL,
    office_id INTEGER NOT NULL,
    local_id  INTEGER NOT NULL,
    applied   TEXT NOT NULL CHECK (json_valid(applied)),
    kept      TEXT CHECK (kept IS NULL OR json_valid(kept)),
    round     INTEGER NOT NULL,
    PRIMARY KEY (type, office_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX office_records_local ON office_records (local_id, type);
CREATE INDEX office_records_kept ON office_records (type, office_id) WHERE kept IS NOT NULL;
