-- Scanned codes are found in any case.

-- For scanned codes whose case a keyboard changed; uhf_id has delegates_uhf_tag.
CREATE INDEX delegates_barcode_any_case ON delegates (barcode COLLATE NOCASE) WHERE barcode IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_rfid_any_case ON delegates (rfid COLLATE NOCASE) WHERE rfid IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_external_id_any_case ON delegates (external_id COLLATE NOCASE) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_public_id_any_case ON delegates (public_id COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX delegates_code_any_case ON delegates (code COLLATE NOCASE) WHERE code IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_slug_any_case ON delegates (slug COLLATE NOCASE) WHERE slug IS NOT NULL AND deleted_at IS NULL;
-- As those of delegates.
CREATE INDEX devices_code_any_case ON devices (code COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX devices_public_id_any_case ON devices (public_id COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX devices_external_id_any_case ON devices (external_id COLLATE NOCASE) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX devices_rfid_any_case ON devices (rfid COLLATE NOCASE) WHERE rfid IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX devices_slug_any_case ON devices (slug COLLATE NOCASE) WHERE slug IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX blocked_codes_any_case ON blocked_codes (value COLLATE NOCASE);
