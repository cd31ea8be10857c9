-- Readers report EPCs in hexadecimal; attendees are found by that, however it was typed.
CREATE INDEX delegates_uhf_tag ON delegates (upper(uhf_id)) WHERE uhf_id IS NOT NULL AND deleted_at IS NULL;
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
