CREATE TABLE hub_venues (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    event        INTEGER,
    configured   INTEGER NOT NULL DEFAULT 1,
    secret_hash  TEXT UNIQUE,
    file         TEXT UNIQUE,
    epoch        INTEGER NOT NULL DEFAULT 0,
    version      TEXT,
    cursor       TEXT,
    begun        TEXT,
    sequence     INTEGER NOT NULL DEFAULT 0,
    current      INTEGER,
    coming       INTEGER,
    previous     INTEGER,
    clock_ms     INTEGER NOT NULL DEFAULT 0,
    behind       INTEGER NOT NULL DEFAULT 0,
    behind_ms    INTEGER NOT NULL DEFAULT 0,
    seen_at      INTEGER,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    counted      INTEGER NOT NULL DEFAULT 0,
    expected     INTEGER NOT NULL DEFAULT 0,
    arrived      INTEGER NOT NULL DEFAULT 0,
    inside       INTEGER NOT NULL DEFAULT 0,
    conflicts    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE hub_codes (
    hash       TEXT PRIMARY KEY,
    venue      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE hub_records (
    venue      INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    type       TEXT NOT NULL,
    id         INTEGER NOT NULL,
    sequence   INTEGER NOT NULL,
    deleted    INTEGER NOT NULL,
    lost       INTEGER NOT NULL DEFAULT 0,
    kind       TEXT NOT NULL,
    name       TEXT,
    code       TEXT,
    email      TEXT,
    who        INTEGER,
    place      INTEGER,
    subtype    TEXT,
    at         INTEGER,
    amount     INTEGER,
    data       TEXT CHECK (json_valid(data)),
    PRIMARY KEY (venue, generation, type, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_records_activity ON hub_records (venue, who, generation, subtype, place, at)
    WHERE type = 'interaction' AND NOT deleted;
CREATE INDEX hub_records_code ON hub_records (code) WHERE type = 'delegate';
CREATE INDEX hub_records_name ON hub_records (name) WHERE type = 'delegate';
CREATE INDEX hub_records_email ON hub_records (email) WHERE type = 'delegate';
CREATE INDEX hub_records_lost ON hub_records (venue, generation, id) WHERE lost;
CREATE INDEX hub_records_office ON hub_records (sequence) WHERE venue = 0;
CREATE TABLE hub_kept (
    venue    INTEGER NOT NULL,
    type     TEXT NOT NULL,
    id       INTEGER NOT NULL,
    property TEXT NOT NULL,
    office   TEXT NOT NULL CHECK (json_valid(office)),
    value    TEXT NOT NULL CHECK (json_valid(value)),
    PRIMARY KEY (venue, type, id, property)
) STRICT, WITHOUT ROWID;
CREATE TABLE hub_configuration (
    id       INTEGER PRIMARY KEY,
    hash     TEXT NOT NULL,
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
CREATE TABLE hub_hubs (
    url     TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
