ALTER TABLE backups ADD COLUMN checked_at INTEGER;
ALTER TABLE backups ADD COLUMN check_failure TEXT;

CREATE TRIGGER app_config_follows_code AFTER UPDATE OF code ON devices
WHEN OLD.code IS NOT NEW.code AND OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL
BEGIN
    UPDATE app_config SET document = json_set(document, '$.byDevice', (
        SELECT json_group_object(iif(key = OLD.code, NEW.code, key), json(value))
        FROM json_each(document, '$.byDevice') WHERE key IS NOT NEW.code))
    WHERE version = (SELECT max(version) FROM app_config)
        AND OLD.code IN (SELECT key FROM json_each(document, '$.byDevice'));
    UPDATE app_config_draft SET document = json_set(document, '$.byDevice', (
        SELECT json_group_object(iif(key = OLD.code, NEW.code, key), json(value))
        FROM json_each(document, '$.byDevice') WHERE key IS NOT NEW.code))
    WHERE OLD.code IN (SELECT key FROM json_each(document, '$.byDevice'));
END;
