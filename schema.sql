-- The whole current schema of a Gatepost file; a fresh file runs exactly this, and then what every file begins
-- with (src/db/migrations/messages.sql, reports.sql and reports_readers.sql).
-- Older files get here through src/db/migrations/, and a test compares the two ways.
--
-- Times are Unix milliseconds UTC. JSON is kept as text. A record that can be deleted softly has
-- deleted_at; its unique codes are unique among the records that are not deleted, so that a code
-- is free again once its holder is gone.

-- # Settings and numbers

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

-- Numbers that outlive a restart: 'order', the position that was given last in the order of events;
-- 'automations', the newest interaction that automations have seen; 'moves', which grows when a place with
-- people inside is moved, deleted or restored, or its `oneAtATime` changes, or a device becomes a door or is none any
-- more, and 'moves_counted', up to which of them those inside were counted anew; 'day_begins' and 'day_ends', the day
-- that daily entry goes by (src/domain/interactions/days.rs); 'file', by which a file and its copies are known from
-- others, and 'in use', a number of whoever has the file open to write, which the lock file has, too
-- (src/db/usage.rs); 'file interaction' and 'file change', which the file has at least without its log
-- (src/db/moments.rs); 'anonymous announced' and 'anonymous begun', since when that is so
-- (src/domain/erasure/anonymous.rs); 'head office run MARK', when the server with that mark began to push to
-- the head office (src/core/head_office/venue.rs).
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Secret keys of this file: 'hashes' is for what must not be kept but recognised, 'messages' signs the addresses of pictures in
-- e-mails (whoever opens one has opened the e-mail), 'tickets' the addresses of tickets and certificates, 'epochs'
-- proves that an epoch (table `standby`) is one of this file.
CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    key  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The second machine that takes over (contract §14): one row once `standby init` was run.
CREATE TABLE standby (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    -- Grows with each `promote`. Its proof is a hash of it under the key 'epochs'.
    epoch         INTEGER NOT NULL,
    -- A higher epoch that came with its proof: another machine took over, and nothing is stored here any more.
    superseded_by INTEGER,
    -- The mark that `promote` restored: what the machine before stored after it is in no replica.
    restored      INTEGER,
    -- Where Litestream sends the log: a folder, or an address.
    replica       TEXT NOT NULL,
    -- The name on the LAN and the `--public-url` that clients know; they stay with the file.
    host          TEXT,
    public_url    TEXT
) STRICT;

-- The head office that this venue belongs to (contract §14): one row once it was joined.
CREATE TABLE head_office (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    -- The venue's id and name there.
    venue     INTEGER NOT NULL,
    name      TEXT NOT NULL,
    -- Addresses of its hubs as a JSON list, in the order in which they are tried.
    hubs      TEXT NOT NULL CHECK (json_valid(hubs)),
    -- The bearer of requests to them; never shown or exported.
    secret    TEXT NOT NULL,
    -- The authority that signed the hubs' certificates (PEM), where the machine does not trust it anyway.
    ca        TEXT,
    joined_at INTEGER NOT NULL
) STRICT;

-- How far this venue is in the head office's own feed: one row. It goes back with the records, unlike the row above.
CREATE TABLE office_feed (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    -- Where to go on; NULL: with a snapshot.
    cursor        TEXT,
    -- Grows with each snapshot; while one is read, records of earlier rounds may be gone there.
    round         INTEGER NOT NULL,
    is_snapshot   INTEGER NOT NULL,
    -- The head office's configuration that was applied last, and settings of it that the venue's own stand against.
    configuration TEXT CHECK (configuration IS NULL OR json_valid(configuration)),
    kept          TEXT CHECK (kept IS NULL OR json_valid(kept))
) STRICT;

-- Records of the head office, and which of the venue's they are.
CREATE TABLE office_records (
    -- As in the feed: delegate, device, blocked-code.
    type      TEXT NOT NULL,
    office_id INTEGER NOT NULL,
    local_id  INTEGER NOT NULL,
    -- The properties as the head office had them when they were last applied: what differs here was changed here.
    applied   TEXT NOT NULL CHECK (json_valid(applied)),
    -- Properties that were changed at both ends, with the head office's value: the venue's stays.
    kept      TEXT CHECK (kept IS NULL OR json_valid(kept)),
    round     INTEGER NOT NULL,
    PRIMARY KEY (type, office_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX office_records_local ON office_records (local_id, type);
CREATE INDEX office_records_kept ON office_records (type, office_id) WHERE kept IS NOT NULL;

-- The picture that apps and the console show.
CREATE TABLE logo (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    content_type TEXT NOT NULL,
    content      BLOB NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;

-- # Attendees

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
-- Readers report EPCs in hexadecimal; attendees are found by that, however it was typed.
CREATE UNIQUE INDEX delegates_uhf_tag ON delegates (uhf_id COLLATE NOCASE) WHERE uhf_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX delegates_slug ON delegates (slug) WHERE slug IS NOT NULL AND deleted_at IS NULL;
-- For scanned codes whose case a keyboard changed; uhf_id has delegates_uhf_tag.
CREATE INDEX delegates_barcode_any_case ON delegates (barcode COLLATE NOCASE) WHERE barcode IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_rfid_any_case ON delegates (rfid COLLATE NOCASE) WHERE rfid IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_external_id_any_case ON delegates (external_id COLLATE NOCASE) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_public_id_any_case ON delegates (public_id COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX delegates_code_any_case ON delegates (code COLLATE NOCASE) WHERE code IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_slug_any_case ON delegates (slug COLLATE NOCASE) WHERE slug IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_parent ON delegates (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX delegates_previous ON delegates (previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX delegates_owner ON delegates (owner_id) WHERE owner_id IS NOT NULL;
-- For an OTP sign-in and for ties between users and delegates.
CREATE INDEX delegates_email ON delegates (email COLLATE NOCASE) WHERE email IS NOT NULL AND deleted_at IS NULL;
-- The console lists the types there are, and the delegates of one, in no time.
CREATE INDEX delegates_type ON delegates (delegate_type) WHERE delegate_type IS NOT NULL AND deleted_at IS NULL;
-- With the codes in it: a scan that a gate admitted may be of somebody who was deleted since.
CREATE INDEX delegates_deleted ON delegates (deleted_at, barcode, rfid, external_id, public_id, code, uhf_id, slug)
    WHERE deleted_at IS NOT NULL;

-- A few bytes a row: passing over half a million of them takes milliseconds. With deleted_at in it,
-- SQLite need not look for the row itself.
CREATE INDEX delegates_alive ON delegates (id, deleted_at) WHERE deleted_at IS NULL;

CREATE TRIGGER delegates_take_part BEFORE DELETE ON delegates
WHEN EXISTS (SELECT 1 FROM interactions WHERE first_delegate_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE second_delegate_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE third_delegate_id = OLD.id)
BEGIN
    SELECT RAISE(ABORT, 'this delegate takes part in an interaction');
END;

CREATE TRIGGER delegates_search_insert AFTER INSERT ON delegates BEGIN
    INSERT OR IGNORE INTO delegates_search_pending (id, is_indexed) VALUES (new.id, 0);
END;
CREATE TRIGGER delegates_search_delete AFTER DELETE ON delegates BEGIN
    INSERT OR IGNORE INTO delegates_search_pending
    VALUES (old.id, 1, old.first_name, old.last_name, old.email, old.phone, old.job_title, old.company, old.barcode, old.external_id);
END;
CREATE TRIGGER delegates_search_update
AFTER UPDATE OF first_name, last_name, email, phone, job_title, company, barcode, external_id ON delegates
WHEN (old.first_name, old.last_name, old.email, old.phone, old.job_title, old.company, old.barcode, old.external_id)
    IS NOT (new.first_name, new.last_name, new.email, new.phone, new.job_title, new.company, new.barcode, new.external_id)
BEGIN
    INSERT OR IGNORE INTO delegates_search_pending
    VALUES (old.id, 1, old.first_name, old.last_name, old.email, old.phone, old.job_title, old.company, old.barcode, old.external_id);
END;

-- Finds any three letters in a row of a delegate's folded texts (src/types/fold.rs); what it finds is compared again
-- with the row itself. Deleted records are in it, so that the console finds those too.
CREATE VIRTUAL TABLE delegates_search USING fts5 (
    first_name, last_name, email, phone, job_title, company, barcode, external_id,
    content = '', tokenize = 'trigram case_sensitive 1', detail = 'column', columnsize = 0
);

-- Rows that changed and what the index has of them; Gatepost writes the index by it before it commits
-- (src/db/search_index.rs). SQLite cannot fold, and another program that writes the file need not.
CREATE TABLE delegates_search_pending (
    id          INTEGER PRIMARY KEY,
    is_indexed  INTEGER NOT NULL,
    first_name  TEXT,
    last_name   TEXT,
    email       TEXT,
    phone       TEXT,
    job_title   TEXT,
    company     TEXT,
    barcode     TEXT,
    external_id TEXT
) STRICT;

-- Codes of lost badges: nobody gets in with one, and nobody else may be given it.
CREATE TABLE blocked_codes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    value       TEXT NOT NULL,
    delegate_id INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    reason      TEXT NOT NULL,
    actor       TEXT NOT NULL,
    at          INTEGER NOT NULL,
    UNIQUE (kind, value)
) STRICT;
CREATE INDEX blocked_codes_delegate ON blocked_codes (delegate_id);
CREATE INDEX blocked_codes_any_case ON blocked_codes (value COLLATE NOCASE);

-- Two who look like one person and are two, as somebody said. one_id is the lower one.
CREATE TABLE distinct_delegates (
    one_id   INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    other_id INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    actor    TEXT NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (one_id, other_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX distinct_delegates_other ON distinct_delegates (other_id);

-- What a gate shows when a delegate is scanned.
CREATE TABLE gate_notes (
    delegate_id INTEGER PRIMARY KEY REFERENCES delegates (id) ON DELETE CASCADE,
    level       TEXT NOT NULL CHECK (level IN ('info', 'warning', 'stop')),
    note        TEXT NOT NULL,
    actor       TEXT NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

-- A named value per delegate or device: a read-only SQL scalar over :id that searches use (st).
CREATE TABLE statements (
    name        TEXT PRIMARY KEY,
    record_type TEXT NOT NULL CHECK (record_type IN ('delegate', 'device')),
    label       TEXT,
    sql         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- # Places

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
-- As those of delegates.
CREATE INDEX devices_code_any_case ON devices (code COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX devices_public_id_any_case ON devices (public_id COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX devices_external_id_any_case ON devices (external_id COLLATE NOCASE) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX devices_rfid_any_case ON devices (rfid COLLATE NOCASE) WHERE rfid IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX devices_slug_any_case ON devices (slug COLLATE NOCASE) WHERE slug IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX devices_parent ON devices (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX devices_type ON devices (device_type);
-- Few, so that all can be read at once (src/domain/devices/doors.rs).
CREATE INDEX devices_doors ON devices (parent_id) WHERE device_type = 'door';

CREATE TRIGGER devices_take_part BEFORE DELETE ON devices
WHEN EXISTS (SELECT 1 FROM interactions WHERE first_device_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE second_device_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE third_device_id = OLD.id)
BEGIN
    SELECT RAISE(ABORT, 'this device takes part in an interaction');
END;

-- A door has nobody inside; those who came in by it are inside its place.
CREATE TRIGGER devices_moved AFTER UPDATE OF parent_id, deleted_at, device_type ON devices
WHEN (old.parent_id IS NOT new.parent_id OR (old.deleted_at IS NULL) IS NOT (new.deleted_at IS NULL)
        OR (old.device_type IS NOT new.device_type AND ('door' IN (old.device_type, new.device_type)
            OR 'event' IN (old.device_type, new.device_type))))
    AND ('door' IN (old.device_type, new.device_type) OR EXISTS (SELECT 1 FROM occupancy WHERE device_id = new.id))
BEGIN
    INSERT INTO counters (name, value) VALUES ('moves', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;

CREATE TRIGGER devices_one_at_a_time AFTER UPDATE OF data ON devices
WHEN iif(json_valid(old.data), old.data ->> '$.Access.oneAtATime', NULL)
    IS NOT iif(json_valid(new.data), new.data ->> '$.Access.oneAtATime', NULL)
    AND EXISTS (SELECT 1 FROM occupancy WHERE device_id = new.id)
BEGIN
    INSERT INTO counters (name, value) VALUES ('moves', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;

CREATE TRIGGER devices_everybody_out_made AFTER INSERT ON devices
WHEN iif(json_valid(new.data), new.data ->> '$.Access.everybodyOutAt', NULL) IS NOT NULL
BEGIN
    INSERT INTO everybody_out (device_id, since, handled_to) VALUES (new.id, new.updated_at, new.updated_at);
END;
-- Another time, and a place that was restored, begin anew.
CREATE TRIGGER devices_everybody_out_changed AFTER UPDATE OF data, deleted_at ON devices
WHEN iif(json_valid(old.data) AND old.deleted_at IS NULL, old.data ->> '$.Access.everybodyOutAt', NULL)
    IS NOT iif(json_valid(new.data) AND new.deleted_at IS NULL, new.data ->> '$.Access.everybodyOutAt', NULL)
BEGIN
    DELETE FROM everybody_out WHERE device_id = new.id;
    INSERT INTO everybody_out (device_id, since, handled_to)
    SELECT new.id, new.updated_at, new.updated_at
    WHERE iif(json_valid(new.data) AND new.deleted_at IS NULL, new.data ->> '$.Access.everybodyOutAt', NULL) IS NOT NULL;
END;

-- The document of `app_config` names a device by its code, and what is set for a device is meant for that device: it
-- follows the code, whoever changes that. What apps are told stays the same, so there is no new
-- version, and older ones stay as they were published.
CREATE TRIGGER app_config_follows_code AFTER UPDATE OF code ON devices
WHEN OLD.code IS NOT NEW.code AND OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL
BEGIN
    UPDATE app_config SET document = json_set(document, '$.byDevice', (
        SELECT json_group_object(iif(key = OLD.code, NEW.code, key), json(value))
        FROM json_each(document, '$.byDevice') WHERE key IS NOT NEW.code))
    WHERE version = (SELECT max(version) FROM app_config)
        AND OLD.code IN (SELECT key FROM json_each(document, '$.byDevice'));
    UPDATE app_config_draft SET document = json_set(document, '$.byDevice', (
        SELECT json_group_object(iif(key = OLD.code, NEW.code, key), json(value))
        FROM json_each(document, '$.byDevice') WHERE key IS NOT NEW.code))
    WHERE OLD.code IN (SELECT key FROM json_each(document, '$.byDevice'));
END;

-- Places with `everybodyOutAt`, and how far it was carried out (src/domain/interactions/everybody_out).
CREATE TABLE everybody_out (
    device_id  INTEGER PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    -- The moment comes each day from then on.
    since      INTEGER NOT NULL,
    -- At every moment up to then everybody left.
    handled_to INTEGER NOT NULL,
    -- The time zone in which it was so; NULL before the first look.
    zone       TEXT
) STRICT;

-- How many delegates are inside a device now, there or at anything below it, counted with every
-- interaction; device 0 stands for the whole venue.
CREATE TABLE occupancy (
    device_id INTEGER PRIMARY KEY,
    inside    INTEGER NOT NULL
) STRICT;

-- Places that took everybody before an upgrade and take the registered alone since, because of a
-- place above; the dashboard shows them until an administrator has seen it.
CREATE TABLE closed_by_upgrade (
    device_id INTEGER PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE
) STRICT;

-- # Interactions

-- What happened, once and for all: rows are written and deleted, never changed.
--
-- Who and what takes part was found in the transaction that writes a row; SQLite would look for each
-- record again, on a page of a large table that nothing else needs, for an eighth of the time that
-- recording takes. So these are no foreign keys: triggers keep whoever takes part from being deleted,
-- and `gatepost check` and every backup look for those who are missing (src/db/integrity.rs).
CREATE TABLE interactions (
    -- None is given twice: the last one stands in sqlite_sequence, as with AUTOINCREMENT, but is looked
    -- up and written once a transaction (src/db/counters.rs).
    id                 INTEGER PRIMARY KEY,
    interaction_type   TEXT NOT NULL,
    first_delegate_id  INTEGER,
    second_delegate_id INTEGER,
    third_delegate_id  INTEGER,
    first_device_id    INTEGER,
    second_device_id   INTEGER,
    third_device_id    INTEGER,
    data               TEXT,
    -- Where in data a shared value belongs: [["/photo", <shared_values.id>], ...] (JSON Pointer).
    shared             TEXT,
    recorded_at        INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    -- Who sent it; without a foreign key, because a client or user may be removed and this may not.
    client_id          INTEGER,
    user_id            INTEGER,
    -- 1: the gate had let the person in before it asked (contract §6).
    admitted           INTEGER NOT NULL DEFAULT 0 CHECK (admitted IN (0, 1)),
    -- Its position in the order of events, before its id, so that a corrected clock changes no order
    -- (contract §6).
    moment INTEGER GENERATED ALWAYS AS (coalesce(order_at, min(recorded_at, created_at))) VIRTUAL,
    -- The position where it is another than the earlier of recording and arrival.
    order_at INTEGER,
    -- What it does to presence at the first device, by its type (src/domain/interactions/types.rs); NULL:
    -- nothing. The first delegate: 0 enters, 1 leaves, 2 is joined, 3 is no longer joined. 4: the second
    -- delegate is no longer joined.
    effect INTEGER
) STRICT;

-- What the rules of contract §6 need to know of one delegate at one device stands side by side, so that
-- a decision costs the same with five interactions in the file and with five million.
CREATE INDEX interactions_first_delegate ON interactions (first_delegate_id, first_device_id, effect, moment)
    WHERE first_delegate_id IS NOT NULL;
CREATE INDEX interactions_uninvited ON interactions (second_delegate_id, first_device_id, moment)
    WHERE effect = 4;
CREATE INDEX interactions_second_delegate ON interactions (second_delegate_id) WHERE second_delegate_id IS NOT NULL;
CREATE INDEX interactions_third_delegate ON interactions (third_delegate_id) WHERE third_delegate_id IS NOT NULL;
CREATE INDEX interactions_first_device ON interactions (first_device_id) WHERE first_device_id IS NOT NULL;
CREATE INDEX interactions_second_device ON interactions (second_device_id) WHERE second_device_id IS NOT NULL;
CREATE INDEX interactions_third_device ON interactions (third_device_id) WHERE third_device_id IS NOT NULL;
-- Lists by type and by time. Each type's entries, and those of each ten minutes, are in the order of ids,
-- as lists are. Both are expressions, so that no other statement takes them for better than the indexes
-- above, of which SQLite knows no numbers.
CREATE INDEX interactions_kind ON interactions (lower(interaction_type));
CREATE INDEX interactions_stretch ON interactions (recorded_at / 600000);
-- The last passages that a user recorded at a desk; gates have none.
CREATE INDEX interactions_user ON interactions (user_id) WHERE user_id IS NOT NULL AND admitted = 0;
-- What came in more than a minute after it happened: activity lists it by then, and all others by id.
CREATE INDEX interactions_late ON interactions (moment) WHERE created_at - moment > 60000;

-- Nonces live as long as the file; they outlive their interaction, so that a resend never creates
-- it a second time. Below zero: a row of `refusals`.
CREATE TABLE nonces (
    client_id      INTEGER NOT NULL,
    nonce          TEXT NOT NULL,
    fingerprint    BLOB NOT NULL,
    interaction_id INTEGER NOT NULL,
    PRIMARY KEY (client_id, nonce)
) STRICT, WITHOUT ROWID;

-- Interactions that the rules or an unknown code kept out: what the crew looks at when a guest
-- complains. And scans of unknown codes that a gate had admitted before it asked, until somebody has the code:
-- these count for who is inside, and become interactions then (src/domain/interactions/late_codes.rs).
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
    message          TEXT NOT NULL,
    -- 1: the gate had admitted it. Its nonce stands in `nonces` with the id of this row, negative.
    admitted         INTEGER NOT NULL DEFAULT 0 CHECK (admitted IN (0, 1)),
    nonce            TEXT,
    data             TEXT
) STRICT;
CREATE INDEX refusals_at ON refusals (at);
CREATE INDEX refusals_delegate ON refusals (delegate_id) WHERE delegate_id IS NOT NULL;
CREATE INDEX refusals_user ON refusals (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX refusals_late ON refusals (recorded_at) WHERE at - recorded_at > 60000;
CREATE INDEX refusals_admitted ON refusals (substr(delegate, instr(delegate, ':') + 1)) WHERE admitted = 1;

-- Interactions that a gate let through and the rules would not have.
CREATE TABLE conflicts (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    at             INTEGER NOT NULL,
    interaction_id INTEGER NOT NULL REFERENCES interactions (id) ON DELETE CASCADE,
    code           INTEGER NOT NULL,
    message        TEXT NOT NULL
) STRICT;
CREATE INDEX conflicts_interaction ON conflicts (interaction_id);

-- Tags that readers saw and no attendee had, until one gets it as `uhfId`.
CREATE TABLE unknown_tags (
    -- Hexadecimal, upper case.
    epc       TEXT PRIMARY KEY,
    first_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL,
    reads     INTEGER NOT NULL,
    -- The reader that saw it last, and at which antenna and place.
    reader_id INTEGER NOT NULL,
    antenna   INTEGER NOT NULL,
    place_id  INTEGER,
    rssi      REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX unknown_tags_last ON unknown_tags (last_at);

-- A value that several interactions of a batch share stands here once.
CREATE TABLE shared_values (
    id     INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    value  TEXT NOT NULL
) STRICT;

-- Evacuations: of a place and all below it, or of the whole venue. Each begins with nobody ticked as safe.
CREATE TABLE evacuations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: the whole venue.
    device_id  INTEGER REFERENCES devices (id) ON DELETE CASCADE,
    started_at INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    ended_at   INTEGER
) STRICT;

-- Who was seen outside, and by whom. This is no check-out.
CREATE TABLE evacuation_safe (
    evacuation_id INTEGER NOT NULL REFERENCES evacuations (id) ON DELETE CASCADE,
    delegate_id   INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    at            INTEGER NOT NULL,
    actor         TEXT NOT NULL,
    PRIMARY KEY (evacuation_id, delegate_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evacuation_safe_delegate ON evacuation_safe (delegate_id);
-- Who was inside when it ended, and since when.
CREATE TABLE evacuation_inside (
    evacuation_id INTEGER NOT NULL REFERENCES evacuations (id) ON DELETE CASCADE,
    delegate_id   INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    -- Where they checked in last.
    device_id     INTEGER REFERENCES devices (id) ON DELETE SET NULL,
    since         INTEGER NOT NULL,
    PRIMARY KEY (evacuation_id, delegate_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evacuation_inside_delegate ON evacuation_inside (delegate_id);
CREATE INDEX evacuation_inside_device ON evacuation_inside (device_id);

-- # History and erasure

-- Every change to a record that can change: who, what, before and after. What only `changes` tells has
-- a number here and no row. Sorted by id, which the
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
    after       TEXT,
    -- The newest interaction by then: by it changes and interactions have one order (src/core/changes).
    interaction_id INTEGER
) STRICT;
CREATE INDEX audit_record ON audit (record_type, record_id);
-- Interactions that were taken back, by the user who had recorded them.
CREATE INDEX audit_undone ON audit (json_extract(before, '$.origin.user'))
    WHERE action = 'delete' AND record_type = 'interaction';
-- The same in their order, and by attendee.
CREATE INDEX audit_undone_order ON audit (id)
    WHERE action = 'delete' AND record_type = 'interaction';
CREATE INDEX audit_undone_delegate ON audit (json_extract(before, '$.firstDelegate.id'))
    WHERE action = 'delete' AND record_type = 'interaction';

-- Changes that neither the audit nor interactions tell: records that an import made or took back, purchases,
-- blocked codes, what went with a person who was erased, and records that show something else because of
-- another; and without its content what the audit had of records that are gone for good, where a webhook still
-- has to tell of it. They number together with the audit.
CREATE TABLE changes (
    id             INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    interaction_id INTEGER,
    action         TEXT NOT NULL,
    record_type    TEXT NOT NULL,
    record_id      INTEGER
) STRICT;

-- Who was erased, so that it can be done again in a backup that takes the file's place: which record,
-- and a salted hash of its id and of the moment at which it was made. The id alone will not do: a file
-- that went back to an older state may give it again.
CREATE TABLE erasures (
    record_type TEXT NOT NULL CHECK (record_type IN ('delegate', 'user')),
    record_id   INTEGER NOT NULL,
    salt        BLOB NOT NULL,
    hash        BLOB NOT NULL,
    at          INTEGER NOT NULL,
    -- When the file was compacted after it, which removes the last traces.
    wiped_at    INTEGER,
    PRIMARY KEY (record_type, record_id, hash)
) STRICT, WITHOUT ROWID;

-- Nonces of interactions of people who were erased, keyed hashes alone (contract §8): a resend still
-- creates nothing. The key stands in the file too; it keeps hashes from being looked up in a list.
CREATE TABLE erased_nonces (
    client_id   INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    PRIMARY KEY (client_id, hash)
) STRICT, WITHOUT ROWID;

-- # Clients and users

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
    roles         TEXT NOT NULL CHECK (json_valid(roles)),
    delegate_id   INTEGER REFERENCES delegates (id),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    -- What the user may do in the console; NULL: the user has no business there.
    console_role  TEXT CHECK (console_role IN ('viewer', 'operator', 'administrator')),
    -- The language of the console, such as `de`; NULL: the browser's.
    language      TEXT
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

-- A user's authenticator app (TOTP, RFC 6238). The secret cannot be hashed, as codes are computed
-- from it; recovery codes are random and long, and hashed (SHA-256).
CREATE TABLE second_factors (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret     BLOB NOT NULL,
    -- The newest time step that a code was taken for: no code is taken twice.
    used_step  INTEGER NOT NULL,
    recovery   TEXT NOT NULL CHECK (json_valid(recovery)),
    created_at INTEGER NOT NULL
) STRICT;

-- One-time passwords: the newest of each e-mail address, whether somebody has that address or not, so
-- that nothing tells. Both are hashed: the address under the file's key, the code (argon2id, PHC
-- string) slowly, as it is short. It goes when it is used, and soon after it ended.
CREATE TABLE one_time_passwords (
    address    BLOB PRIMARY KEY,
    code_hash  TEXT NOT NULL,
    -- How often it was guessed at, right or wrong.
    tries      INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_passwords_expires ON one_time_passwords (expires_at);

-- Who is signed in to the console; the cookie's value as SHA-256.
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

-- Views of the list of attendees that users saved.
CREATE TABLE console_views (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    -- The filters as the address of the list has them, without typed words: nothing of a person.
    query   TEXT NOT NULL,
    UNIQUE (user_id, name)
) STRICT;

-- The link that opens the wall display: SHA-256 of its secret, when it was made and by whom.
CREATE TABLE wall_link (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    hash    BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    actor   TEXT NOT NULL
) STRICT;

-- # Requests and TLS

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

-- The certificate of `serve --tls-self-signed` and the local CA that signed it, DER, and their private keys,
-- PKCS #8. In the file, so that devices trust them over restarts and on another laptop; whoever has the file has
-- the keys, as they have everything else.
CREATE TABLE tls_certificate (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    certificate BLOB NOT NULL,
    private_key BLOB NOT NULL,
    -- Names and addresses that it is for.
    names       TEXT NOT NULL CHECK (json_valid(names)),
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    -- None of these in a file of an earlier version that was not served since.
    ca          BLOB,
    ca_key      BLOB,
    -- What the CA may sign for beside private addresses and `.local`.
    ca_names    TEXT CHECK (json_valid(ca_names)),
    ca_expires_at INTEGER
) STRICT;

-- # Apps

-- Apps that ask to be let in while discovery is open. A code is free again when its request is
-- dismissed, a day old, or its client revoked.
CREATE TABLE device_requests (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    code           TEXT NOT NULL,
    -- SHA-256 of the app's secret; the four check digits are made from it.
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
    -- Until when the app gets its credentials. The client's secret is an HMAC of salt under the app's
    -- own secret, which only the app sends: so it can be shown for a while, after a restart too, and
    -- stands nowhere. The salt goes when the time is over.
    shown_until    INTEGER,
    salt           BLOB
) STRICT;
CREATE INDEX device_requests_code ON device_requests (code);
CREATE INDEX device_requests_client ON device_requests (client_id) WHERE client_id IS NOT NULL;

-- What is known of a device that runs an app: its last ping, what it keeps by itself, and which
-- configuration it has.
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

-- Pings as they came; of those older than a day one an hour is kept.
CREATE TABLE device_pings (
    device_id     INTEGER NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    at            INTEGER NOT NULL,
    ping          TEXT NOT NULL CHECK (json_valid(ping)),
    clock_skew_ms INTEGER NOT NULL,
    PRIMARY KEY (device_id, at)
) STRICT, WITHOUT ROWID;

-- What apps are to do, each version as it was published; the newest is in force.
CREATE TABLE app_config (
    version      INTEGER PRIMARY KEY,
    document     TEXT NOT NULL CHECK (json_valid(document)),
    actor        TEXT NOT NULL,
    published_at INTEGER NOT NULL
) STRICT;

-- What the next version is to be, while somebody still works on it.
CREATE TABLE app_config_draft (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    document   TEXT NOT NULL CHECK (json_valid(document)),
    actor      TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- # Imports and backups

-- A batch is one import: what it was made from, how far it came, and what its rows became.
CREATE TABLE batches (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL CHECK (kind IN ('delegates', 'devices', 'interactions')),
    device_id   INTEGER REFERENCES devices (id),
    file_name   TEXT NOT NULL,
    file_sha256 BLOB NOT NULL,
    -- How columns were mapped and rows matched, so that it can be taken up again.
    options     TEXT NOT NULL CHECK (json_valid(options)),
    -- Rows in the file, and how many of them are done with.
    total       INTEGER NOT NULL,
    done        INTEGER NOT NULL DEFAULT 0,
    actor       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    -- When taking it back was begun; it is done when no rows are left.
    undone_at   INTEGER
) STRICT;
CREATE INDEX batches_device ON batches (device_id) WHERE device_id IS NOT NULL;

-- What each row of an import became; before: the columns of the record as they were, and the id of its
-- newest change by then (newest_change), NULL where the row made it. Rows go when the import is taken back, and with a person who is erased.
CREATE TABLE batch_rows (
    batch_id       INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    line           INTEGER NOT NULL,
    record_id      INTEGER NOT NULL,
    before         TEXT,
    -- The newest change to anything when the row was written; a later one of the record means that
    -- somebody changed it since.
    audit_id       INTEGER,
    -- What the row made beside its record: a join, or the `connected` of two delegates.
    interaction_id INTEGER,
    -- References that wait for other rows: names of properties, separated by commas.
    unlinked       TEXT,
    -- The change (`changes`) by which the row made its record.
    change_id      INTEGER,
    PRIMARY KEY (batch_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_rows_record ON batch_rows (record_id);

-- The first of those who were refused when something was done to many.
CREATE TABLE batch_refusals (
    batch_id    INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    line        INTEGER NOT NULL,
    delegate_id INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    PRIMARY KEY (batch_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_refusals_delegate ON batch_refusals (delegate_id);

-- Backups that were made from the console or by its schedule.
CREATE TABLE backups (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL CHECK (kind IN ('manual', 'scheduled', 'rehearsal')),
    path        TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    bytes       INTEGER,
    failure     TEXT,
    -- When it was read in full last, and what was wrong with it.
    checked_at INTEGER,
    check_failure TEXT
) STRICT;

-- # Messages and webhooks

-- Messages to people: what is to be sent, and what became of it. Those that were sent are known to
-- searches (comms); template is the template's slug. An attempt is 'sending' from before it begins
-- until its outcome is known, so that one that was cut off by a crash is found ('unknown') and not
-- sent a second time by itself.
CREATE TABLE messages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: to a user, or a test.
    delegate_id INTEGER REFERENCES delegates (id),
    channel     TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    template    TEXT,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed', 'unknown', 'cancelled')),
    created_at  INTEGER NOT NULL,
    sent_at     INTEGER,
    -- An e-mail address, a phone number, or an app's push token.
    address     TEXT NOT NULL DEFAULT '',
    subject     TEXT,
    body        TEXT,
    html        TEXT,
    -- 1: it holds a secret, such as a one-time password: what it says is never written here.
    secret      INTEGER NOT NULL DEFAULT 0 CHECK (secret IN (0, 1)),
    -- What had it sent, such as 'api' or 'automation:order-cleared'.
    origin      TEXT NOT NULL DEFAULT '',
    attempts    INTEGER NOT NULL DEFAULT 0,
    tried_at    INTEGER,
    failure     TEXT,
    opened_at   INTEGER
) STRICT;
CREATE INDEX messages_delegate ON messages (delegate_id) WHERE delegate_id IS NOT NULL;
CREATE INDEX messages_template ON messages (channel, template, delegate_id) WHERE state = 'sent';
CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';
CREATE INDEX messages_address ON messages (address COLLATE NOCASE) WHERE delegate_id IS NULL;

CREATE TRIGGER messages_outbox AFTER DELETE ON messages BEGIN
    DELETE FROM outbox WHERE source = 'message' AND source_id = old.id;
END;

-- What messages say: Jinja over the delegate. An app names an e-mail's by its id, a text's by its slug.
CREATE TABLE message_templates (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    slug       TEXT NOT NULL,
    -- An e-mail's subject, a push message's title.
    subject    TEXT,
    content    TEXT NOT NULL,
    html       TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (channel, slug)
) STRICT;

-- How messages leave. The secret (a password, a token, a service account's key) stands apart: the
-- definition is shown and exported, the secret never is.
CREATE TABLE gateways (
    channel    TEXT PRIMARY KEY CHECK (channel IN ('email', 'sms', 'push')),
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    secret     TEXT,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A template that is sent by itself when an interaction of a type is stored.
CREATE TABLE automations (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    name             TEXT NOT NULL UNIQUE,
    active           INTEGER NOT NULL CHECK (active IN (0, 1)),
    interaction_type TEXT NOT NULL,
    -- At this device or one below it; NULL: anywhere.
    device_id        INTEGER REFERENCES devices (id),
    delegate_type    TEXT,
    channel          TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    template         TEXT NOT NULL,
    -- What an app uploads later than this after it happened sends nothing.
    within_minutes   INTEGER NOT NULL CHECK (within_minutes > 0),
    -- Only what comes after it was made or switched on counts.
    since            INTEGER NOT NULL
) STRICT;

-- Who is told by HTTP what happens. The secret cannot be hashed, as deliveries are signed with it;
-- the one before signs along for a while, so that a receiver can change over.
CREATE TABLE webhooks (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Goes into the ids of deliveries, so that those of two files or two webhooks never are the same.
    uid             TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL UNIQUE,
    secret          TEXT NOT NULL,
    previous_secret TEXT,
    previous_until  INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    -- What an administrator sets up (src/domain/webhooks/webhook.rs).
    definition      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(definition))
) STRICT;

-- The last attempts of each webhook, for people who look why something did not arrive.
CREATE TABLE webhook_attempts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    source     TEXT NOT NULL CHECK (source IN ('interaction', 'audit', 'test')),
    source_id  INTEGER NOT NULL,
    type       TEXT NOT NULL,
    ordering_key TEXT NOT NULL,
    -- Delegates it was about: an answer may repeat what it was told of them, and goes with them.
    people     TEXT NOT NULL CHECK (json_valid(people)),
    at         INTEGER NOT NULL,
    took_ms    INTEGER NOT NULL,
    outcome    TEXT NOT NULL CHECK (outcome IN ('delivered', 'refused', 'failed')),
    status     INTEGER,
    -- How the answer begins, or why there was none.
    answer     TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_attempts_webhook ON webhook_attempts (webhook_id, id);

-- Where deliveries go: 'webhook:ID', 'printer:ID', 'check-ins' (those that print a badge by themselves), or a channel
-- of messages, such as 'email' (to delegates) and 'email:users' (one-time passwords, tests).
CREATE TABLE outbox_destinations (
    name            TEXT PRIMARY KEY,
    -- Of one that follows the change feed: up to these every change is delivered, pending, or irrelevant.
    interaction_id  INTEGER,
    audit_id        INTEGER,
    -- In a row, of whatever delivery.
    failures        INTEGER NOT NULL DEFAULT 0,
    failing_since   INTEGER,
    -- Why it fails as a whole.
    why             TEXT,
    next_at         INTEGER,
    last_success_at INTEGER,
    paused_at       INTEGER,
    paused_why      TEXT CHECK (paused_why IN ('asked', 'failing', 'gone')),
    -- Grows whenever a person decides something, so that an older outcome does not undo it.
    revision        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Pending deliveries, each pointing at the record that it is about. Of a destination that follows the change
-- feed only those that failed, and those behind them with the same ordering key.
CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    destination   TEXT NOT NULL REFERENCES outbox_destinations (name),
    source        TEXT NOT NULL CHECK (source IN ('interaction', 'audit', 'message', 'print')),
    source_id     INTEGER NOT NULL,
    -- Deliveries with the same one go out one after the other.
    ordering_key  TEXT NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    -- A late message is worse than none.
    expires_at    INTEGER,
    failing_since INTEGER,
    why           TEXT,
    UNIQUE (source, source_id, destination)
) STRICT;
CREATE INDEX outbox_due ON outbox (destination, next_at);
CREATE INDEX outbox_expires ON outbox (expires_at) WHERE expires_at IS NOT NULL;

-- # Badges

-- Layouts of badges, as the crate `badges` reads them: what stands where, in millimetres.
CREATE TABLE badge_layouts (
    name   TEXT PRIMARY KEY,
    layout TEXT NOT NULL CHECK (json_valid(layout))
) STRICT, WITHOUT ROWID;

-- Fonts for scripts that those in the program lack: files, in pieces (src/domain/badges/fonts.rs).
CREATE TABLE badge_fonts (
    name    TEXT PRIMARY KEY,
    content BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- `definition` is all but the name (src/domain/printing/printers.rs).
CREATE TABLE printers (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL CHECK (json_valid(definition))
) STRICT;

-- Badges that were, or are to be, printed. A queued one waits in the outbox.
CREATE TABLE print_jobs (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    printer_id     INTEGER NOT NULL REFERENCES printers (id) ON DELETE CASCADE,
    delegate_id    INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    -- Where it was asked for.
    device_id      INTEGER REFERENCES devices (id) ON DELETE SET NULL,
    -- The check-in that it is printed for by itself: one only.
    trigger_id     INTEGER UNIQUE,
    -- Why it is printed once more, as somebody wrote.
    reason         TEXT,
    actor          TEXT NOT NULL,
    -- What is 'sending' when the server starts becomes 'unknown': a person decides about it.
    state          TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'unknown')),
    why            TEXT,
    -- The interaction 'print', recorded once it was sent.
    interaction_id INTEGER,
    created_at     INTEGER NOT NULL,
    ended_at       INTEGER
) STRICT;
CREATE INDEX print_jobs_printer ON print_jobs (printer_id, id);
CREATE INDEX print_jobs_delegate ON print_jobs (delegate_id);
CREATE INDEX print_jobs_open ON print_jobs (state) WHERE state IN ('queued', 'sending', 'unknown');
CREATE TRIGGER print_jobs_outbox AFTER DELETE ON print_jobs BEGIN
    DELETE FROM outbox WHERE source = 'print' AND source_id = old.id;
END;

-- # Signed tickets

-- The keys that tickets are signed by (Ed25519), by the number that tickets name.
CREATE TABLE ticket_keys (
    kid        INTEGER PRIMARY KEY CHECK (kid BETWEEN 1 AND 255),
    -- The private key; gone once the key is retired.
    seed       BLOB,
    public_key BLOB NOT NULL,
    -- The first of the 16 days that a ticket can name, such as 2026-11-27.
    first_day  TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- From then on nothing that it signed is valid.
    retired_at INTEGER
) STRICT;

-- The attendee who has, or had, the barcode of a serial, since there are keys. Of one that nobody has any more a signed
-- ticket is cancelled: so rows stay when an attendee goes, and name nobody then.
CREATE TABLE ticket_serials (
    serial      INTEGER PRIMARY KEY,
    delegate_id INTEGER NOT NULL
) STRICT;

-- # Sales

-- Purchases at a till, by purchase code, as far as they could be loaded. Amounts are in cents.
CREATE TABLE transactions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    code         TEXT NOT NULL UNIQUE,
    context_id   INTEGER REFERENCES devices (id),
    total_amount INTEGER,
    notes        TEXT,
    recorded_by  TEXT,
    -- What the till calls createdAt.
    bought_at    INTEGER,
    client_id    INTEGER,
    user_id      INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    -- Since when it says no more of somebody who was deleted for good; no snapshot brings that back.
    erased_at    INTEGER
) STRICT;
-- The list and the totals, by the time of the purchase; a till without a clock says none. What the
-- totals add up is in it, so that they need not read every purchase.
CREATE INDEX transactions_bought ON transactions (coalesce(bought_at, created_at), id, recorded_by, total_amount);
CREATE INDEX transactions_staff ON transactions (recorded_by);

-- What tills sent, word for word: the first of a purchase is loaded; one that differs is kept, adds its
-- tickets, and is told as an inconsistency.
CREATE TABLE transaction_bodies (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    digest         BLOB NOT NULL,
    body           BLOB NOT NULL,
    client_id      INTEGER,
    user_id        INTEGER,
    received_at    INTEGER NOT NULL,
    -- Tickets in it, and how many of them have been looked at; it is finished when a start finds it not.
    tickets        INTEGER NOT NULL,
    loaded         INTEGER NOT NULL DEFAULT 0,
    UNIQUE (transaction_id, digest)
) STRICT;
CREATE INDEX transaction_bodies_unfinished ON transaction_bodies (id) WHERE loaded < tickets;

CREATE TABLE transaction_payments (
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    line           INTEGER NOT NULL,
    method         TEXT,
    amount         INTEGER,
    change         INTEGER,
    reference      TEXT,
    -- What stayed in the till: tills send what was handed over, or that less the change.
    net            INTEGER,
    PRIMARY KEY (transaction_id, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE transaction_items (
    transaction_id  INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    line            INTEGER NOT NULL,
    code            TEXT,
    product_id      INTEGER REFERENCES devices (id),
    quantity        INTEGER,
    description     TEXT,
    unit_amount     INTEGER,
    total_amount    INTEGER,
    discount_amount INTEGER,
    PRIMARY KEY (transaction_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX transaction_items_product ON transaction_items (product_id) WHERE product_id IS NOT NULL;

-- The delegates that were made for tickets, by the barcode that was sold.
CREATE TABLE transaction_delegates (
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    barcode        TEXT NOT NULL,
    delegate_id    INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    product_id     INTEGER REFERENCES devices (id),
    PRIMARY KEY (transaction_id, barcode)
) STRICT, WITHOUT ROWID;
CREATE INDEX transaction_delegates_delegate ON transaction_delegates (delegate_id);
-- Whether another purchase sold a ticket before.
CREATE INDEX transaction_delegates_barcode ON transaction_delegates (barcode);

-- Tickets of people who were deleted for good, as keyed hashes: neither the purchase that is sent once
-- more nor another one makes them anew.
CREATE TABLE erased_tickets (
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    hash           BLOB NOT NULL,
    PRIMARY KEY (transaction_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX erased_tickets_hash ON erased_tickets (hash);

-- What did not fit in a purchase, until somebody has looked into it.
CREATE TABLE inconsistencies (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    body_id    INTEGER NOT NULL REFERENCES transaction_bodies (id) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    message    TEXT NOT NULL,
    settled_at INTEGER,
    settled_by TEXT,
    -- What whoever settled it found out.
    note       TEXT
) STRICT;
CREATE INDEX inconsistencies_body ON inconsistencies (body_id);
CREATE INDEX inconsistencies_open ON inconsistencies (id) WHERE settled_at IS NULL;
CREATE INDEX inconsistencies_settled ON inconsistencies (settled_at, id) WHERE settled_at IS NOT NULL;

-- # Content and reports

-- Sections of data that have a schema (JSON Schema), by which they are checked.
CREATE TABLE sections (
    record_type TEXT NOT NULL CHECK (record_type IN ('delegate', 'device')),
    name        TEXT NOT NULL,
    schema      TEXT NOT NULL CHECK (json_valid(schema)),
    -- 0 where an earlier version stored a schema that is too large, or has references that could not be written out:
    -- the section takes anything until the schema is changed.
    checked     INTEGER NOT NULL DEFAULT 1 CHECK (checked IN (0, 1)),
    PRIMARY KEY (record_type, name)
) STRICT, WITHOUT ROWID;

-- Content regions: templates that are rendered for a delegate or a device, by the path that apps ask
-- for. Outside of published_from and published_to nobody gets it; without them there is no such bound.
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

-- Every save of a region, whole, so that any of them can be taken up again.
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

-- Lists that an administrator defined in SQL over documented views (src/db/sandbox/views.sql). number is
-- how the audit knows one; an id is told apart in its dashboard only, and both can be changed. Clients
-- are named by client_id, `*` for all, and may well be of another instance, where the configuration
-- was prepared.
CREATE TABLE reports (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    dashboard   TEXT NOT NULL,
    id          TEXT NOT NULL,
    label       TEXT NOT NULL,
    query       TEXT NOT NULL,
    parameters  TEXT NOT NULL CHECK (json_valid(parameters)),
    fixed       TEXT NOT NULL CHECK (json_valid(fixed)),
    api_clients TEXT NOT NULL CHECK (json_valid(api_clients)),
    -- The choices of which query and fixed were made (src/domain/reports/built); NULL: somebody wrote the SQL.
    built       TEXT CHECK (built IS NULL OR json_valid(built)),
    UNIQUE (dashboard, id)
) STRICT;

-- # A head office over many venues (contract §14): empty but in the file of a hub, and there unless its store is PostgreSQL


-- The venues that were paired. Number 0 is the head office itself, whose feed the hub reads in process.
CREATE TABLE hub_venues (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    -- The event of the hub's file that the venue is sent; all of it without one.
    event        INTEGER,
    -- It takes the configuration of the head office.
    configured   INTEGER NOT NULL DEFAULT 1,
    -- The hash of its bearer; none before it was paired.
    secret_hash  TEXT UNIQUE,
    -- The number of its file, and the highest epoch seen of it.
    file         TEXT UNIQUE,
    epoch        INTEGER NOT NULL DEFAULT 0,
    version      TEXT,
    -- How far its feed has come; none: it begins a snapshot.
    cursor       TEXT,
    -- The cursor behind the first push of the newest generation: the same once more begins no other.
    begun        TEXT,
    -- Grows with each record that is stored.
    sequence     INTEGER NOT NULL DEFAULT 0,
    -- The last complete generation, the one that is arriving, and the one before, while it is compared.
    current      INTEGER,
    coming       INTEGER,
    previous     INTEGER,
    -- Its clock is so much ahead of the hub's.
    clock_ms     INTEGER NOT NULL DEFAULT 0,
    -- Changes that it has not pushed, and how long the oldest has waited.
    behind       INTEGER NOT NULL DEFAULT 0,
    behind_ms    INTEGER NOT NULL DEFAULT 0,
    seen_at      INTEGER,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    -- The sequence at which the figures below were counted.
    counted      INTEGER NOT NULL DEFAULT 0,
    expected     INTEGER NOT NULL DEFAULT 0,
    arrived      INTEGER NOT NULL DEFAULT 0,
    inside       INTEGER NOT NULL DEFAULT 0,
    -- Attendees whose ticket was admitted at another venue, too.
    conflicts    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Pairing codes that were not used yet, by their hash; 'run MARK', the running server that pushes for the venue, until
-- when others wait for it to go on; and 'copy MARK', another server with the venue's file that was refused, until when that is
-- said.
CREATE TABLE hub_codes (
    hash       TEXT PRIMARY KEY,
    venue      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Records as their venue's feed showed them last. Of generations before the current one only those are left that it lacks:
-- the venue lost them.
CREATE TABLE hub_records (
    venue      INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    type       TEXT NOT NULL,
    id         INTEGER NOT NULL,
    sequence   INTEGER NOT NULL,
    deleted    INTEGER NOT NULL,
    -- The current generation lacks it; kind is 'sent-back' once the venue is to have it again.
    lost       INTEGER NOT NULL DEFAULT 0,
    kind       TEXT NOT NULL,
    -- What is searched and counted: of an attendee or a place its name, of an attendee also barcode and e-mail; of an
    -- interaction the first delegate, first device and type; of a place what it belongs to; the type of either; the time of
    -- an interaction or purchase, and the amount of this, in cents.
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
-- Reports read it alone; attendees' pages find what somebody did.
CREATE INDEX hub_records_activity ON hub_records (venue, who, generation, subtype, place, at)
    WHERE type = 'interaction' AND NOT deleted;
CREATE INDEX hub_records_code ON hub_records (code) WHERE type = 'delegate';
CREATE INDEX hub_records_name ON hub_records (name) WHERE type = 'delegate';
CREATE INDEX hub_records_email ON hub_records (email) WHERE type = 'delegate';
CREATE INDEX hub_records_lost ON hub_records (venue, generation, id) WHERE lost;
-- What venues are sent.
CREATE INDEX hub_records_office ON hub_records (sequence) WHERE venue = 0;

-- Values that venues kept against the head office's, in JSON; id is the record's there.
CREATE TABLE hub_kept (
    venue    INTEGER NOT NULL,
    type     TEXT NOT NULL,
    id       INTEGER NOT NULL,
    property TEXT NOT NULL,
    office   TEXT NOT NULL CHECK (json_valid(office)),
    value    TEXT NOT NULL CHECK (json_valid(value)),
    PRIMARY KEY (venue, type, id, property)
) STRICT, WITHOUT ROWID;

-- The configuration of the head office, each time it changed; the last one only.
CREATE TABLE hub_configuration (
    id       INTEGER PRIMARY KEY,
    hash     TEXT NOT NULL,
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;

-- The addresses of hubs before this store, and when each was last there.
CREATE TABLE hub_hubs (
    url     TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
