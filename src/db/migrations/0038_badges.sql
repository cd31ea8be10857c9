-- Layouts of badges.

CREATE TABLE badge_layouts (
    name   TEXT PRIMARY KEY,
    layout TEXT NOT NULL CHECK (json_valid(layout))
) STRICT, WITHOUT ROWID;
