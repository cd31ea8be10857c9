CREATE TABLE regions (
    path           TEXT PRIMARY KEY,
    version        INTEGER NOT NULL,
    content        TEXT NOT NULL,
    tags           TEXT NOT NULL CHECK (json_valid(tags)),
    refs           TEXT NOT NULL CHECK (json_valid(refs)),
    published_from INTEGER,
    published_to   INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE region_versions (
    path           TEXT NOT NULL REFERENCES regions (path) ON DELETE CASCADE,
    version        INTEGER NOT NULL,
    content        TEXT NOT NULL,
    tags           TEXT NOT NULL CHECK (json_valid(tags)),
    refs           TEXT NOT NULL CHECK (json_valid(refs)),
    published_from INTEGER,
    published_to   INTEGER,
    actor          TEXT NOT NULL,
    at             INTEGER NOT NULL,
    PRIMARY KEY (path, version)
) STRICT;
