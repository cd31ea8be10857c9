-- Webhooks may send records within others whole.
ALTER TABLE webhooks ADD COLUMN expand TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(expand));
