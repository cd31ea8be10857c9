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
