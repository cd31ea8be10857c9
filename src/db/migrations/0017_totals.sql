-- How many there are is told with every page of a list: it stands here now instead of being counted.
CREATE TABLE totals (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    delegates    INTEGER NOT NULL,
    interactions INTEGER NOT NULL,
    counted_to   INTEGER NOT NULL
) STRICT;
INSERT INTO totals (id, delegates, interactions, counted_to) VALUES (
    1,
    (SELECT count(*) FROM delegates WHERE deleted_at IS NULL),
    (SELECT count(*) FROM interactions),
    (SELECT coalesce(max(id), 0) FROM interactions)
);

CREATE TRIGGER totals_delegates_insert AFTER INSERT ON delegates WHEN new.deleted_at IS NULL BEGIN
    UPDATE totals SET delegates = delegates + 1;
END;
CREATE TRIGGER totals_delegates_delete AFTER DELETE ON delegates WHEN old.deleted_at IS NULL BEGIN
    UPDATE totals SET delegates = delegates - 1;
END;
CREATE TRIGGER totals_delegates_update AFTER UPDATE OF deleted_at ON delegates
WHEN (old.deleted_at IS NULL) IS NOT (new.deleted_at IS NULL) BEGIN
    UPDATE totals SET delegates = delegates + iif(new.deleted_at IS NULL, 1, -1);
END;
CREATE TRIGGER totals_interactions_delete AFTER DELETE ON interactions BEGIN
    UPDATE totals SET interactions = interactions - 1 WHERE old.id <= counted_to;
END;

-- With deleted_at in it, passing over rows need not look for them in the table.
DROP INDEX delegates_alive;
CREATE INDEX delegates_alive ON delegates (id, deleted_at) WHERE deleted_at IS NULL;
