-- Scans of unknown codes that gates admitted wait here for somebody who has the code.
ALTER TABLE refusals ADD COLUMN admitted INTEGER NOT NULL DEFAULT 0 CHECK (admitted IN (0, 1));
ALTER TABLE refusals ADD COLUMN nonce TEXT;
ALTER TABLE refusals ADD COLUMN data TEXT;
CREATE INDEX refusals_admitted ON refusals (substr(delegate, instr(delegate, ':') + 1)) WHERE admitted = 1;

-- By which of their codes those who were deleted were known.
DROP INDEX delegates_deleted;
CREATE INDEX delegates_deleted ON delegates (deleted_at, barcode, rfid, external_id, public_id, code, uhf_id, slug)
    WHERE deleted_at IS NOT NULL;

-- Addresses of readers are judged from now on; those that are there go on.
INSERT INTO settings (name, value)
SELECT 'earlierReaders', json_group_object(CAST(id AS TEXT), data ->> '$.Reader.address') FROM devices
WHERE device_type = 'rfidreader' AND deleted_at IS NULL AND iif(json_valid(data), data ->> '$.Reader.address', NULL) IS NOT NULL
HAVING count(*) > 0;
