-- Records that an import made have no rows of their own in the audit any more, only a number there, which
-- their row of the import keeps. Those of earlier imports keep the rows that they have.
ALTER TABLE batch_rows ADD COLUMN change_id INTEGER;
CREATE INDEX batch_rows_change ON batch_rows (change_id) WHERE change_id IS NOT NULL;
