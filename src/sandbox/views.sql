-- What SQL from outside sees, under these names: documented views, columns in snake case, deleted
-- records left out; file stands for the database file. Times are yyyy-mm-dd hh:mm:ss in UTC.

CREATE TEMP VIEW delegates AS
SELECT id, parent_id, previous_id, owner_id, barcode, rfid, external_id, public_id, code, uhf_id,
       slug, first_name, last_name, email, phone, job_title, company, delegate_type, raw_flags,
       data, datetime(created_at / 1000, 'unixepoch') AS created_at,
       datetime(updated_at / 1000, 'unixepoch') AS updated_at
FROM file.delegates WHERE deleted_at IS NULL;

CREATE TEMP VIEW devices AS
SELECT id, parent_id, code, public_id, external_id, rfid, slug, name, short_name, description,
       device_type, device_tags, category, datetime(start_at / 1000, 'unixepoch') AS start_at,
       datetime(end_at / 1000, 'unixepoch') AS end_at, available, data,
       datetime(created_at / 1000, 'unixepoch') AS created_at,
       datetime(updated_at / 1000, 'unixepoch') AS updated_at
FROM file.devices WHERE deleted_at IS NULL;

CREATE TEMP VIEW events AS
SELECT id, name, external_id, manager_email, manager_phone,
       datetime(start_at / 1000, 'unixepoch') AS start_at,
       datetime(end_at / 1000, 'unixepoch') AS end_at, data
FROM file.devices WHERE deleted_at IS NULL AND device_type = 'event';

CREATE TEMP VIEW interactions AS
SELECT id, interaction_type, first_delegate_id, second_delegate_id, third_delegate_id,
       first_device_id, second_device_id, third_device_id, data, admitted,
       datetime(recorded_at / 1000, 'unixepoch') AS recorded_at,
       datetime(created_at / 1000, 'unixepoch') AS created_at
FROM file.interactions;
