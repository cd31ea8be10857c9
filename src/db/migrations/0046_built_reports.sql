-- The choices of reports without SQL.
ALTER TABLE reports ADD COLUMN built TEXT CHECK (built IS NULL OR json_valid(built));
