-- Schemas of sections have no references any more.

ALTER TABLE sections ADD COLUMN checked INTEGER NOT NULL DEFAULT 1 CHECK (checked IN (0, 1));
-- What they refer to is written out by `migrate_sections.rs`, where it can be.
UPDATE sections SET checked = 0
WHERE instr(schema, '"$ref"') OR instr(schema, '"$dynamicRef"') OR instr(schema, '"$recursiveRef"');
