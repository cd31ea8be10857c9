-- The whole current schema of a Gatepost file; a fresh file runs exactly this.
-- Older files get here through src/store/migrations/, and a test compares the two ways.
--
-- Times are Unix milliseconds UTC. JSON is kept as text. A record that can be deleted softly has
-- deleted_at; its unique codes are unique among the records that are not deleted, so that a code
-- is free again once its holder is gone.

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT throughout: an id that was printed on a badge or stored by an app must never come
-- to mean somebody else.
CREATE TABLE delegates (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id     INTEGER REFERENCES delegates (id),
    previous_id   INTEGER REFERENCES delegates (id),
    owner_id      INTEGER REFERENCES delegates (id),
    barcode       TEXT,
    rfid          TEXT,
    external_id   TEXT,
    public_id     TEXT NOT NULL,
    code          TEXT,
    uhf_id        TEXT,
    slug          TEXT,
    first_name    TEXT,
    last_name     TEXT,
    email         TEXT,
    phone         TEXT,
    job_title     TEXT,
    company       TEXT,
    delegate_type TEXT,
    raw_flags     TEXT,
    sources       TEXT NOT NULL CHECK (json_valid(sources)),
    data          TEXT CHECK (data IS NULL OR json_valid(data)),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;

CREATE UNIQUE INDEX delegates_barcode ON delegates (barcode) WHERE barcode IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_rfid ON delegates (rfid) WHERE rfid IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_external_id ON delegates (external_id) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_public_id ON delegates (public_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_code ON delegates (code) WHERE code IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_uhf_id ON delegates (uhf_id) WHERE uhf_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_slug ON delegates (slug) WHERE slug IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_parent ON delegates (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX delegates_previous ON delegates (previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX delegates_owner ON delegates (owner_id) WHERE owner_id IS NOT NULL;
-- For an OTP sign-in and for ties between users and delegates.
CREATE INDEX delegates_email ON delegates (email COLLATE NOCASE) WHERE email IS NOT NULL AND deleted_at IS NULL;
-- Small enough to count the living quickly.
CREATE INDEX delegates_deleted ON delegates (deleted_at) WHERE deleted_at IS NOT NULL;

-- A room, a session, a reader, an app, a product; an event is a device whose device_type is 'event'.
CREATE TABLE devices (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id     INTEGER REFERENCES devices (id),
    code          TEXT NOT NULL,
    public_id     TEXT NOT NULL,
    external_id   TEXT,
    rfid          TEXT,
    slug          TEXT,
    name          TEXT,
    short_name    TEXT,
    description   TEXT,
    device_type   TEXT,
    device_tags   TEXT,
    category      TEXT,
    manager_email TEXT,
    manager_phone TEXT,
    start_at      INTEGER,
    end_at        INTEGER,
    available     INTEGER NOT NULL DEFAULT 1 CHECK (available IN (0, 1)),
    sources       TEXT NOT NULL CHECK (json_valid(sources)),
    -- Not checked by SQLite: rules that somebody broke in the file must close one gate (743), not
    -- make the row unwritable.
    data          TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;

CREATE UNIQUE INDEX devices_code ON devices (code) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX devices_public_id ON devices (public_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX devices_external_id ON devices (external_id) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX devices_rfid ON devices (rfid) WHERE rfid IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX devices_slug ON devices (slug) WHERE slug IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX devices_parent ON devices (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX devices_type ON devices (device_type);

-- What happened, once and for all: rows are written and deleted, never changed.
CREATE TABLE interactions (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    interaction_type   TEXT NOT NULL,
    first_delegate_id  INTEGER REFERENCES delegates (id),
    second_delegate_id INTEGER REFERENCES delegates (id),
    third_delegate_id  INTEGER REFERENCES delegates (id),
    first_device_id    INTEGER REFERENCES devices (id),
    second_device_id   INTEGER REFERENCES devices (id),
    third_device_id    INTEGER REFERENCES devices (id),
    data               TEXT,
    -- Where in data a shared value belongs: [["/photo", <shared_values.id>], ...] (JSON Pointer).
    shared             TEXT,
    recorded_at        INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    -- Who sent it; without a foreign key, because a client or user may be removed and this may not.
    client_id          INTEGER,
    user_id            INTEGER,
    -- 1: the gate had let the person in before it asked (contract §6).
    admitted           INTEGER NOT NULL DEFAULT 0 CHECK (admitted IN (0, 1))
) STRICT;

CREATE INDEX interactions_first_delegate ON interactions (first_delegate_id) WHERE first_delegate_id IS NOT NULL;
CREATE INDEX interactions_second_delegate ON interactions (second_delegate_id) WHERE second_delegate_id IS NOT NULL;
CREATE INDEX interactions_third_delegate ON interactions (third_delegate_id) WHERE third_delegate_id IS NOT NULL;
CREATE INDEX interactions_first_device ON interactions (first_device_id) WHERE first_device_id IS NOT NULL;
CREATE INDEX interactions_second_device ON interactions (second_device_id) WHERE second_device_id IS NOT NULL;
CREATE INDEX interactions_third_device ON interactions (third_device_id) WHERE third_device_id IS NOT NULL;

-- What the rules of contract §6 need to know of one delegate at one device, kept with every
-- interaction, so that a decision costs the same with five interactions in the file and with five
-- million. An order is (moment, interaction id); the moment is the earlier of recorded_at and
-- created_at. It can be made anew from interactions at any time.
CREATE TABLE presence (
    delegate_id INTEGER NOT NULL,
    device_id   INTEGER NOT NULL,
    entries     INTEGER NOT NULL DEFAULT 0, -- check-ins and overrides
    in_at       INTEGER,
    in_id       INTEGER,
    out_at      INTEGER,
    out_id      INTEGER,
    join_at     INTEGER,
    join_id     INTEGER,
    leave_at    INTEGER,
    leave_id    INTEGER,
    PRIMARY KEY (delegate_id, device_id)
) STRICT, WITHOUT ROWID;

-- How many delegates are inside a device now; changes with presence.
CREATE TABLE occupancy (
    device_id INTEGER PRIMARY KEY,
    inside    INTEGER NOT NULL
) STRICT;

-- Nonces live as long as the file; they outlive their interaction, so that a resend never creates
-- it a second time.
CREATE TABLE nonces (
    client_id      INTEGER NOT NULL,
    nonce          TEXT NOT NULL,
    fingerprint    BLOB NOT NULL,
    interaction_id INTEGER NOT NULL,
    PRIMARY KEY (client_id, nonce)
) STRICT, WITHOUT ROWID;

-- Answers under an Idempotency-Key. A batch is written in slices, each with its part of the answer.
CREATE TABLE idempotency_keys (
    id          INTEGER PRIMARY KEY,
    client_id   INTEGER NOT NULL,
    key         TEXT NOT NULL,
    operation   TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    UNIQUE (client_id, key)
) STRICT;
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

CREATE TABLE idempotency_parts (
    key_id INTEGER NOT NULL REFERENCES idempotency_keys (id) ON DELETE CASCADE,
    part   INTEGER NOT NULL,
    -- How many items of the request are done with this part.
    done   INTEGER NOT NULL,
    status INTEGER NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (key_id, part)
) STRICT, WITHOUT ROWID;

-- A value that several interactions of a batch share stands here once.
CREATE TABLE shared_values (
    id     INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    value  TEXT NOT NULL
) STRICT;

-- Interactions that the rules or an unknown code kept out: what the crew looks at when a guest
-- complains.
CREATE TABLE refusals (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    at               INTEGER NOT NULL,
    interaction_type TEXT NOT NULL,
    -- The selector as scanned, or the id that was sent.
    delegate         TEXT,
    delegate_id      INTEGER,
    device           TEXT,
    device_id        INTEGER,
    recorded_at      INTEGER NOT NULL,
    client_id        INTEGER,
    user_id          INTEGER,
    code             INTEGER NOT NULL,
    message          TEXT NOT NULL
) STRICT;
CREATE INDEX refusals_at ON refusals (at);
CREATE INDEX refusals_delegate ON refusals (delegate_id) WHERE delegate_id IS NOT NULL;

-- Interactions that a gate let through and the rules would not have.
CREATE TABLE conflicts (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    at             INTEGER NOT NULL,
    interaction_id INTEGER NOT NULL REFERENCES interactions (id) ON DELETE CASCADE,
    code           INTEGER NOT NULL,
    message        TEXT NOT NULL
) STRICT;
CREATE INDEX conflicts_interaction ON conflicts (interaction_id);

-- Every change to a record that can change: who, what, before and after. Sorted by id, which the
-- single writer hands out in the order of commits; the clock may jump.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    request_id  TEXT,
    action      TEXT NOT NULL,
    record_type TEXT NOT NULL,
    record_id   INTEGER,
    before      TEXT,
    after       TEXT
) STRICT;
CREATE INDEX audit_record ON audit (record_type, record_id);

CREATE TABLE clients (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id          TEXT NOT NULL UNIQUE,
    -- SHA-256: the secret is random and long, so a slow hash would protect nothing more.
    secret_hash        BLOB NOT NULL,
    name               TEXT NOT NULL,
    roles              TEXT NOT NULL CHECK (json_valid(roles)),
    scopes             TEXT NOT NULL CHECK (json_valid(scopes)),
    device_id          INTEGER REFERENCES devices (id),
    -- The delegate properties it sees; NULL: all.
    visible_properties TEXT CHECK (visible_properties IS NULL OR json_valid(visible_properties)),
    created_at         INTEGER NOT NULL,
    revoked_at         INTEGER
) STRICT;
CREATE INDEX clients_device ON clients (device_id) WHERE device_id IS NOT NULL;

CREATE TABLE users (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    email         TEXT NOT NULL UNIQUE COLLATE NOCASE,
    -- argon2id, PHC string; NULL: no password, one-time passwords only.
    password_hash TEXT,
    admin         INTEGER NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
    roles         TEXT NOT NULL CHECK (json_valid(roles)),
    delegate_id   INTEGER REFERENCES delegates (id),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX users_delegate ON users (delegate_id) WHERE delegate_id IS NOT NULL;

-- Access and refresh tokens, as SHA-256. Tokens that descend from one sign-in are a family, and
-- are cancelled together when a refresh token is used twice.
CREATE TABLE tokens (
    id         INTEGER PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
    client_id  INTEGER NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    user_id    INTEGER REFERENCES users (id) ON DELETE CASCADE,
    family     INTEGER NOT NULL,
    scopes     TEXT NOT NULL CHECK (json_valid(scopes)),
    issued_at  INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- A refresh token is used once; used again, it cancels its family.
    used_at    INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_family ON tokens (family);
CREATE INDEX tokens_client ON tokens (client_id);
CREATE INDEX tokens_user ON tokens (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX tokens_expires ON tokens (expires_at);
