-- An import that was interrupted before this cannot tell which of its references wait.
ALTER TABLE batch_rows ADD COLUMN unlinked TEXT;
