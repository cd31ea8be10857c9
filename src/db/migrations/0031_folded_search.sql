DROP TRIGGER delegates_search_insert;
DROP TRIGGER delegates_search_delete;
DROP TRIGGER delegates_search_update;
DROP TABLE delegates_search;
DROP TABLE delegates_search_later;
DROP INDEX delegates_last_1;
DROP INDEX delegates_last_2;
DROP INDEX delegates_first_1;
DROP INDEX delegates_first_2;
DROP INDEX delegates_company_1;
DROP INDEX delegates_company_2;

CREATE VIRTUAL TABLE delegates_search USING fts5 (
    first_name, last_name, email, phone, job_title, company, barcode, external_id,
    content = '', tokenize = 'trigram case_sensitive 1', detail = 'column', columnsize = 0
);

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

-- Indexed in slices afterwards (src/db/search_index.rs).
INSERT INTO delegates_search_pending (id, is_indexed) SELECT id, 0 FROM delegates;
