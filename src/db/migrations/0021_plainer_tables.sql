-- The program writes what an interaction does to presence, by its table of interaction types. What the file
-- computed from names of types before is what it holds afterwards.
DROP INDEX interactions_first_delegate;
DROP INDEX interactions_uninvited;
ALTER TABLE interactions DROP COLUMN effect;
ALTER TABLE interactions ADD COLUMN effect INTEGER;
UPDATE interactions SET effect = CASE interaction_type
        WHEN 'check-in' THEN 0 WHEN 'check-in-override' THEN 0
        WHEN 'check-out' THEN 1
        WHEN 'join' THEN 2 WHEN 'booking' THEN 2
        WHEN 'cancel-booking' THEN 3
        WHEN 'uninvite' THEN iif(second_delegate_id IS NULL, 3, 4)
    END
WHERE interaction_type IN ('check-in', 'check-in-override', 'check-out', 'join', 'booking', 'cancel-booking', 'uninvite');
CREATE INDEX interactions_first_delegate ON interactions (first_delegate_id, first_device_id, effect, moment)
    WHERE first_delegate_id IS NOT NULL;
CREATE INDEX interactions_uninvited ON interactions (second_delegate_id, first_device_id, moment)
    WHERE effect = 4;

-- Lists count their rows when they are asked for. What stays of the totals, and other tables of one row, are
-- counters and keys by name.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters (name, value)
    SELECT 'order', order_at FROM totals
    UNION ALL SELECT 'moves', tree_version FROM totals
    UNION ALL SELECT 'moves_counted', tree_counted FROM totals
    UNION ALL SELECT 'automations', interaction_id FROM automation_cursor;
CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    key  BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO keys (name, key)
    SELECT 'hashes', key FROM erasure_key
    UNION ALL SELECT 'messages', key FROM message_key;
DROP TRIGGER totals_devices_moved;
DROP TRIGGER totals_delegates_insert;
DROP TRIGGER totals_delegates_delete;
DROP TRIGGER totals_delegates_update;
DROP TRIGGER totals_interactions_delete;
DROP TABLE totals;
DROP TABLE automation_cursor;
DROP TABLE erasure_key;
DROP TABLE message_key;
CREATE TRIGGER devices_moved AFTER UPDATE OF parent_id, deleted_at ON devices
WHEN (old.parent_id IS NOT new.parent_id OR (old.deleted_at IS NULL) IS NOT (new.deleted_at IS NULL))
    AND EXISTS (SELECT 1 FROM occupancy WHERE device_id = new.id)
BEGIN
    INSERT INTO counters (name, value) VALUES ('moves', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
