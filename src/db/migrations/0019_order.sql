-- Clock corrections change the order of events no more (contract §6). A row of before keeps the
-- position it had: none is stored, so no row and no index is written anew.
ALTER TABLE interactions ADD COLUMN order_at INTEGER;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
    SET sql = replace(sql, 'AS (min(recorded_at, created_at))', 'AS (coalesce(order_at, min(recorded_at, created_at)))')
    WHERE type = 'table' AND name = 'interactions';
PRAGMA writable_schema = RESET;

ALTER TABLE totals ADD COLUMN order_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN tree_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN tree_counted INTEGER NOT NULL DEFAULT 0;
-- Who is inside a place is inside what it belongs to as well: the server counts anew beside the gates.
UPDATE totals SET tree_version = 1, order_at = coalesce(
    (SELECT max(created_at) FROM (SELECT created_at FROM interactions ORDER BY id DESC LIMIT 1000)), 0);

CREATE TRIGGER totals_devices_moved AFTER UPDATE OF parent_id, deleted_at ON devices
WHEN (old.parent_id IS NOT new.parent_id OR (old.deleted_at IS NULL) IS NOT (new.deleted_at IS NULL))
    AND EXISTS (SELECT 1 FROM occupancy WHERE device_id = new.id)
BEGIN
    UPDATE totals SET tree_version = tree_version + 1;
END;

-- Places that took everybody and now take their rule set from a place above that lets in the registered
-- alone: an administrator is told.
CREATE TABLE closed_by_upgrade (
    device_id INTEGER PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE
) STRICT;
INSERT INTO closed_by_upgrade (device_id)
WITH RECURSIVE
    own (id, parent_id, rule_set) AS (
        SELECT id, parent_id,
            iif(json_valid(data) AND deleted_at IS NULL, json_extract(data, '$.Access.ruleSet'), NULL)
        FROM devices),
    above (id, at, rule_set, depth) AS (
        SELECT id, parent_id, NULL, 0 FROM own
        WHERE rule_set IS NULL AND id IN (SELECT id FROM devices WHERE deleted_at IS NULL)
        UNION
        SELECT above.id, own.parent_id, own.rule_set, depth + 1 FROM above JOIN own ON own.id = above.at
        WHERE above.rule_set IS NULL AND depth < 100)
SELECT DISTINCT id FROM above WHERE rule_set = 'simple'
AND coalesce((SELECT json_extract(value, '$.ruleSet') FROM settings WHERE name = 'access'), 'open') <> 'simple'
-- Only where somebody checked in already can a gate have been open.
AND id IN (SELECT device_id FROM occupancy);
