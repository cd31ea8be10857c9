CREATE INDEX delegates_last_1 ON delegates (lower(substr(last_name, 1, 1))) WHERE last_name IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_last_2 ON delegates (lower(substr(last_name, 1, 2))) WHERE last_name IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_first_1 ON delegates (lower(substr(first_name, 1, 1))) WHERE first_name IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_first_2 ON delegates (lower(substr(first_name, 1, 2))) WHERE first_name IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_company_1 ON delegates (lower(substr(company, 1, 1))) WHERE company IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX delegates_company_2 ON delegates (lower(substr(company, 1, 2))) WHERE company IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX interactions_kind ON interactions (lower(interaction_type));
CREATE INDEX interactions_stretch ON interactions (recorded_at / 600000);
