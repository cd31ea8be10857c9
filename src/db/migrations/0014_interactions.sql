-- Two things that SQLite did with every interaction are done otherwise: ids are counted by the store,
-- once a transaction, and who takes part is kept by triggers on the other side (see schema.sql). Both are
-- a matter of the statement alone, no row changes: so the table need not be written anew.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
    SET sql = replace(replace(replace(sql, ' PRIMARY KEY AUTOINCREMENT', ' PRIMARY KEY'),
        ' REFERENCES delegates (id)', ''), ' REFERENCES devices (id)', '')
    WHERE type = 'table' AND name = 'interactions';
PRAGMA writable_schema = RESET;

CREATE TRIGGER delegates_take_part BEFORE DELETE ON delegates
WHEN EXISTS (SELECT 1 FROM interactions WHERE first_delegate_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE second_delegate_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE third_delegate_id = OLD.id)
BEGIN
    SELECT RAISE(ABORT, 'this delegate takes part in an interaction');
END;
CREATE TRIGGER devices_take_part BEFORE DELETE ON devices
WHEN EXISTS (SELECT 1 FROM interactions WHERE first_device_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE second_device_id = OLD.id)
    OR EXISTS (SELECT 1 FROM interactions WHERE third_device_id = OLD.id)
BEGIN
    SELECT RAISE(ABORT, 'this device takes part in an interaction');
END;
