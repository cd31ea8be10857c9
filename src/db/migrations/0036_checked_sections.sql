-- Schemas of sections have no references any more, and a largest size.

ALTER TABLE sections ADD COLUMN checked INTEGER NOT NULL DEFAULT 1 CHECK (checked IN (0, 1));
-- `migrate_sections.rs` looks at them, and has those checked that can be.
UPDATE sections SET checked = 0;
