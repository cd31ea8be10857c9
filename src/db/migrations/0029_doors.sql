-- A device of the type 'door' is an entrance of the place above it from now on. Devices that have that type by chance
-- stay places of their own, as entrances; the dashboard lists them.
INSERT INTO settings (name, value)
SELECT 'notices', json_array(json_object('at', unixepoch() * 1000, 'what',
    'A device of the type "door" is an entrance of its place from now on: what happens at a door counts as at the '
    || 'place. Devices that had this type by chance have the type "entrance" now, and nothing else changed for them: '
    || group_concat(called, ', ')
    || iif(max(found) > 50, ' and ' || (max(found) - 50) || ' more', '') || '. '
    || 'Where one is a door of the place above it, give it the type "door" again.'))
FROM (SELECT coalesce(nullif(name, ''), nullif(short_name, ''), code) AS called, count(*) OVER () AS found
      FROM devices WHERE device_type = 'door' AND parent_id IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT 50)
HAVING count(*) > 0
ON CONFLICT (name) DO UPDATE SET value =
    json_insert(iif(json_valid(value), value, '[]'), '$[#]', json_extract(excluded.value, '$[0]'));
-- As if somebody had changed them, so that whoever follows the changes has their new type.
INSERT INTO audit (at, actor, action, record_type, record_id, before, after, interaction_id)
SELECT unixepoch() * 1000, 'upgrade', 'update', 'device', id, '{"deviceType":"door"}', '{"deviceType":"entrance"}',
       max(coalesce((SELECT max(id) FROM interactions), 0),
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'interactions'), 0))
FROM devices WHERE device_type = 'door' AND parent_id IS NOT NULL AND deleted_at IS NULL;
UPDATE devices SET device_type = 'entrance', updated_at = max(updated_at + 1, unixepoch() * 1000)
WHERE device_type = 'door' AND parent_id IS NOT NULL;

CREATE INDEX devices_doors ON devices (parent_id) WHERE device_type = 'door';
DROP TRIGGER devices_moved;
CREATE TRIGGER devices_moved AFTER UPDATE OF parent_id, deleted_at, device_type ON devices
WHEN (old.parent_id IS NOT new.parent_id OR (old.deleted_at IS NULL) IS NOT (new.deleted_at IS NULL)
        OR (old.device_type IS NOT new.device_type AND ('door' IN (old.device_type, new.device_type)
            OR 'event' IN (old.device_type, new.device_type))))
    AND ('door' IN (old.device_type, new.device_type) OR EXISTS (SELECT 1 FROM occupancy WHERE device_id = new.id))
BEGIN
    INSERT INTO counters (name, value) VALUES ('moves', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;

-- Of a place with doors: what happens there counts. Not where somebody changed it.
UPDATE reports SET query = replace(query, 'first_device_id = :device)', 'CAST(:device AS INTEGER) IN (first_device_id, place_id))')
WHERE dashboard = 'event' AND id = 'check-ins'
    AND number NOT IN (SELECT record_id FROM audit WHERE record_type = 'report' AND record_id IS NOT NULL);
