-- Everybody out: how far each place with `everybodyOutAt` is. One room at a time: a change of it has people counted anew.
CREATE TRIGGER devices_one_at_a_time AFTER UPDATE OF data ON devices
WHEN iif(json_valid(old.data), old.data ->> '$.Access.oneAtATime', NULL)
    IS NOT iif(json_valid(new.data), new.data ->> '$.Access.oneAtATime', NULL)
    AND EXISTS (SELECT 1 FROM occupancy WHERE device_id = new.id)
BEGIN
    INSERT INTO counters (name, value) VALUES ('moves', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;

-- Places with `everybodyOutAt`, and how far it was carried out (src/domain/interactions/everybody_out).
CREATE TABLE everybody_out (
    device_id  INTEGER PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    -- The moment comes each day from then on.
    since      INTEGER NOT NULL,
    -- At every moment up to then everybody left.
    handled_to INTEGER NOT NULL,
    -- The time zone in which it was so; NULL before the first look.
    zone       TEXT
) STRICT;

CREATE TRIGGER devices_everybody_out_made AFTER INSERT ON devices
WHEN iif(json_valid(new.data), new.data ->> '$.Access.everybodyOutAt', NULL) IS NOT NULL
BEGIN
    INSERT INTO everybody_out (device_id, since, handled_to) VALUES (new.id, new.updated_at, new.updated_at);
END;
-- Another time, and a place that was restored, begin anew.
CREATE TRIGGER devices_everybody_out_changed AFTER UPDATE OF data, deleted_at ON devices
WHEN iif(json_valid(old.data) AND old.deleted_at IS NULL, old.data ->> '$.Access.everybodyOutAt', NULL)
    IS NOT iif(json_valid(new.data) AND new.deleted_at IS NULL, new.data ->> '$.Access.everybodyOutAt', NULL)
BEGIN
    DELETE FROM everybody_out WHERE device_id = new.id;
    INSERT INTO everybody_out (device_id, since, handled_to)
    SELECT new.id, new.updated_at, new.updated_at
    WHERE iif(json_valid(new.data) AND new.deleted_at IS NULL, new.data ->> '$.Access.everybodyOutAt', NULL) IS NOT NULL;
END;
