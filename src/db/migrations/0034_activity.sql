-- Activity by when it happened: what came in late, and what was taken back; and the views that users saved.

CREATE INDEX interactions_late ON interactions (moment) WHERE created_at - moment > 60000;
CREATE INDEX refusals_late ON refusals (recorded_at) WHERE at - recorded_at > 60000;
CREATE INDEX audit_undone_order ON audit (id)
    WHERE action = 'delete' AND record_type = 'interaction';
CREATE INDEX audit_undone_delegate ON audit (json_extract(before, '$.firstDelegate.id'))
    WHERE action = 'delete' AND record_type = 'interaction';

CREATE TABLE console_views (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    -- The filters as the address of the list has them, without typed words: nothing of a person.
    query   TEXT NOT NULL,
    UNIQUE (user_id, name)
) STRICT;
