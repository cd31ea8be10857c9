-- The tables of a hub in PostgreSQL: those of schema.sql, with the records in 16 partitions by venue.
CREATE TABLE hub_schema (version BIGINT NOT NULL);
CREATE TABLE hub_venues (
    id           BIGINT PRIMARY KEY,
    name         TEXT NOT NULL,
    event        BIGINT,
    configured   BOOLEAN NOT NULL DEFAULT TRUE,
    secret_hash  TEXT UNIQUE,
    file         TEXT UNIQUE,
    epoch        BIGINT NOT NULL DEFAULT 0,
    version      TEXT,
    cursor       TEXT,
    begun        TEXT,
    sequence     BIGINT NOT NULL DEFAULT 0,
    current      BIGINT,
    coming       BIGINT,
    previous     BIGINT,
    clock_ms     BIGINT NOT NULL DEFAULT 0,
    behind       BIGINT NOT NULL DEFAULT 0,
    behind_ms    BIGINT NOT NULL DEFAULT 0,
    seen_at      BIGINT,
    created_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    counted      BIGINT NOT NULL DEFAULT 0,
    expected     BIGINT NOT NULL DEFAULT 0,
    arrived      BIGINT NOT NULL DEFAULT 0,
    inside       BIGINT NOT NULL DEFAULT 0,
    conflicts    BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE hub_codes (
    hash       TEXT PRIMARY KEY,
    venue      BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE hub_records (
    venue      BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    type       TEXT NOT NULL,
    id         BIGINT NOT NULL,
    sequence   BIGINT NOT NULL,
    deleted    BOOLEAN NOT NULL,
    lost       BOOLEAN NOT NULL DEFAULT FALSE,
    kind       TEXT NOT NULL,
    name       TEXT,
    code       TEXT,
    email      TEXT,
    who        BIGINT,
    place      BIGINT,
    subtype    TEXT,
    at         BIGINT,
    amount     BIGINT,
    data       JSON,
    PRIMARY KEY (venue, generation, type, id)
) PARTITION BY HASH (venue);
CREATE INDEX hub_records_activity ON hub_records (venue, who, generation, subtype, place, at)
    WHERE type = 'interaction' AND NOT deleted;
CREATE INDEX hub_records_code ON hub_records (code) WHERE type = 'delegate';
CREATE INDEX hub_records_name ON hub_records (name) WHERE type = 'delegate';
CREATE INDEX hub_records_email ON hub_records (email) WHERE type = 'delegate';
CREATE INDEX hub_records_lost ON hub_records (venue, generation, id) WHERE lost;
CREATE INDEX hub_records_office ON hub_records (sequence) WHERE venue = 0;
CREATE TABLE hub_kept (
    venue    BIGINT NOT NULL,
    type     TEXT NOT NULL,
    id       BIGINT NOT NULL,
    property TEXT NOT NULL,
    office   JSON NOT NULL,
    value    JSON NOT NULL,
    PRIMARY KEY (venue, type, id, property)
);
CREATE TABLE hub_configuration (
    id       BIGINT PRIMARY KEY,
    hash     TEXT NOT NULL,
    document JSON NOT NULL
);
CREATE TABLE hub_hubs (
    url     TEXT PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
DO $$ BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('CREATE TABLE hub_records_%s PARTITION OF hub_records FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    END LOOP;
END $$;
