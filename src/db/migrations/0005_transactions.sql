CREATE TABLE transactions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    code         TEXT NOT NULL UNIQUE,
    context_id   INTEGER REFERENCES devices (id),
    total_amount INTEGER,
    notes        TEXT,
    recorded_by  TEXT,
    bought_at    INTEGER,
    client_id    INTEGER,
    user_id      INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE transaction_bodies (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    digest         BLOB NOT NULL,
    body           BLOB NOT NULL,
    client_id      INTEGER,
    user_id        INTEGER,
    received_at    INTEGER NOT NULL,
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

CREATE TABLE transaction_delegates (
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    barcode        TEXT NOT NULL,
    delegate_id    INTEGER NOT NULL REFERENCES delegates (id) ON DELETE CASCADE,
    product_id     INTEGER REFERENCES devices (id),
    PRIMARY KEY (transaction_id, barcode)
) STRICT, WITHOUT ROWID;
CREATE INDEX transaction_delegates_delegate ON transaction_delegates (delegate_id);

CREATE TABLE inconsistencies (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    body_id    INTEGER NOT NULL REFERENCES transaction_bodies (id) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    message    TEXT NOT NULL,
    settled_at INTEGER,
    settled_by TEXT
) STRICT;
CREATE INDEX inconsistencies_body ON inconsistencies (body_id);
CREATE INDEX inconsistencies_open ON inconsistencies (id) WHERE settled_at IS NULL;
