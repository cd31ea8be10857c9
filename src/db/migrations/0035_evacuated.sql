-- The list of an evacuation that ended.

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
