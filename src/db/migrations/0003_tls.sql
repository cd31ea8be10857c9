CREATE TABLE tls_certificate (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    certificate BLOB NOT NULL,
    private_key BLOB NOT NULL,
    names       TEXT NOT NULL CHECK (json_valid(names)),
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT;
