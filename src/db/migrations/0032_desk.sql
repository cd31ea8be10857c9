-- What a desk shows: the last passages that its user recorded, was refused, or took back; and evacuations.

CREATE INDEX interactions_user ON interactions (user_id) WHERE user_id IS NOT NULL AND admitted = 0;
CREATE INDEX refusals_user ON refusals (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_undone ON audit (json_extract(before, '$.origin.user'))
    WHERE action = 'delete' AND record_type = 'interaction';

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
