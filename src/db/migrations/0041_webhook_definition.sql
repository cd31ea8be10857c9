-- What an administrator sets up of a webhook is one document, as printers and gateways have it.
ALTER TABLE webhooks ADD COLUMN definition TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(definition));
UPDATE webhooks SET definition = json_patch(
    json_object('name', name, 'url', url, 'interactions', json(interactions), 'changes', json(changes), 'expand', json(expand)),
    iif(devices IS NULL, '{}', json_object('devices', json(devices))));
ALTER TABLE webhooks DROP COLUMN url;
ALTER TABLE webhooks DROP COLUMN interactions;
ALTER TABLE webhooks DROP COLUMN changes;
ALTER TABLE webhooks DROP COLUMN devices;
ALTER TABLE webhooks DROP COLUMN expand;
