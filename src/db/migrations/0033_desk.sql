-- What a desk shows: the last passages that its user recorded, was refused, or took back.

CREATE INDEX interactions_user ON interactions (user_id) WHERE user_id IS NOT NULL AND admitted = 0;
CREATE INDEX refusals_user ON refusals (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_undone ON audit (json_extract(before, '$.origin.user'))
    WHERE action = 'delete' AND record_type = 'interaction';
