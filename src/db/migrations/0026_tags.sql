-- A tag belongs to one attendee, in whatever case it is written. Of two who had the same the first keeps it; the other
-- has it in `data`.
UPDATE delegates
SET data = json_set(iif(json_valid(data), data, '{}'), '$.formerUhfId', uhf_id), uhf_id = NULL
WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY uhf_id COLLATE NOCASE ORDER BY id) AS place
        FROM delegates WHERE uhf_id IS NOT NULL AND deleted_at IS NULL)
    WHERE place > 1);
DROP INDEX delegates_uhf_tag;
CREATE UNIQUE INDEX delegates_uhf_tag ON delegates (uhf_id COLLATE NOCASE) WHERE uhf_id IS NOT NULL AND deleted_at IS NULL;
