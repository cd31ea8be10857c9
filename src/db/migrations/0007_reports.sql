-- Reports, and those that every file begins with (reports.sql, which a fresh file runs too).
CREATE TABLE reports (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    dashboard   TEXT NOT NULL,
    id          TEXT NOT NULL,
    label       TEXT NOT NULL,
    query       TEXT NOT NULL,
    parameters  TEXT NOT NULL CHECK (json_valid(parameters)),
    fixed       TEXT NOT NULL CHECK (json_valid(fixed)),
    api_clients TEXT NOT NULL CHECK (json_valid(api_clients)),
    UNIQUE (dashboard, id)
) STRICT;
