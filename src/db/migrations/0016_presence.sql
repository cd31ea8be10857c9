-- What the rules need to know of a delegate at a device is read from an index of interactions instead of a
-- table of its own, which every check-in had to write on a page that nothing else needs.
ALTER TABLE interactions ADD COLUMN effect INTEGER GENERATED ALWAYS AS (
        CASE interaction_type
            WHEN 'check-in' THEN 0 WHEN 'check-in-override' THEN 0
            WHEN 'check-out' THEN 1
            WHEN 'join' THEN 2 WHEN 'booking' THEN 2
            WHEN 'cancel-booking' THEN 3
            WHEN 'uninvite' THEN iif(second_delegate_id IS NULL, 3, NULL)
        END) VIRTUAL;
ALTER TABLE interactions ADD COLUMN moment INTEGER GENERATED ALWAYS AS (min(recorded_at, created_at)) VIRTUAL;

DROP INDEX interactions_first_delegate;
CREATE INDEX interactions_first_delegate ON interactions (first_delegate_id, first_device_id, effect, moment)
    WHERE first_delegate_id IS NOT NULL;
CREATE INDEX interactions_uninvited ON interactions (second_delegate_id, first_device_id, moment)
    WHERE interaction_type = 'uninvite' AND second_delegate_id IS NOT NULL;

DROP TABLE presence;
