ALTER TABLE users ADD COLUMN console_role TEXT CHECK (console_role IN ('viewer', 'operator', 'administrator'));
UPDATE users SET console_role = 'administrator' WHERE admin = 1;
ALTER TABLE users DROP COLUMN admin;

CREATE TABLE second_factors (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret     BLOB NOT NULL,
    used_step  INTEGER NOT NULL,
    recovery   TEXT NOT NULL CHECK (json_valid(recovery)),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE console_sessions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hash       BLOB NOT NULL UNIQUE,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX console_sessions_user ON console_sessions (user_id);

CREATE TABLE device_requests (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    code           TEXT NOT NULL,
    secret_hash    BLOB NOT NULL,
    preferred_type TEXT,
    agent          TEXT,
    address        TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    cleared_at     INTEGER,
    cleared_status TEXT CHECK (cleared_status IN ('added', 'dismissed')),
    device_id      INTEGER REFERENCES devices (id),
    client_id      INTEGER REFERENCES clients (id),
    shown_until    INTEGER,
    salt           BLOB
) STRICT;
CREATE INDEX device_requests_code ON device_requests (code);
CREATE INDEX device_requests_client ON device_requests (client_id) WHERE client_id IS NOT NULL;

CREATE TABLE device_states (
    device_id      INTEGER PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    seen_at        INTEGER NOT NULL,
    pinged_at      INTEGER,
    ping           TEXT CHECK (ping IS NULL OR json_valid(ping)),
    clock_skew_ms  INTEGER,
    config_version INTEGER,
    confirmed_at   INTEGER,
    local_settings TEXT CHECK (local_settings IS NULL OR json_valid(local_settings))
) STRICT;

CREATE TABLE device_pings (
    device_id     INTEGER NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    at            INTEGER NOT NULL,
    ping          TEXT NOT NULL CHECK (json_valid(ping)),
    clock_skew_ms INTEGER NOT NULL,
    PRIMARY KEY (device_id, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE app_config (
    version      INTEGER PRIMARY KEY,
    document     TEXT NOT NULL CHECK (json_valid(document)),
    actor        TEXT NOT NULL,
    published_at INTEGER NOT NULL
) STRICT;

CREATE TABLE app_config_draft (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    document   TEXT NOT NULL CHECK (json_valid(document)),
    actor      TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sections (
    record_type TEXT NOT NULL CHECK (record_type IN ('delegate', 'device')),
    name        TEXT NOT NULL,
    schema      TEXT NOT NULL CHECK (json_valid(schema)),
    PRIMARY KEY (record_type, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocked_codes (
    kind        TEXT NOT NULL,
    value       TEXT NOT NULL,
    delegate_id INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    actor       TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocked_codes_delegate ON blocked_codes (delegate_id);

CREATE TABLE gate_notes (
    delegate_id INTEGER PRIMARY KEY REFERENCES delegates (id) ON DELETE CASCADE,
    level       TEXT NOT NULL CHECK (level IN ('info', 'warning', 'stop')),
    note        TEXT NOT NULL,
    actor       TEXT NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE logo (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    content_type TEXT NOT NULL,
    content      BLOB NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE backups (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL CHECK (kind IN ('manual', 'scheduled', 'rehearsal')),
    path        TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    bytes       INTEGER,
    failure     TEXT
) STRICT;

CREATE INDEX delegates_type ON delegates (delegate_type) WHERE delegate_type IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE erased_nonces (
    client_id   INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    PRIMARY KEY (client_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
) STRICT;
