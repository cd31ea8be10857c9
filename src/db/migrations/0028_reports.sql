-- Reports of stays that are made faster; not where somebody changed them. They are put in again after this.

DELETE FROM reports WHERE dashboard = 'event' AND id IN ('time-spent', 'heat')
    AND number NOT IN (SELECT record_id FROM audit WHERE record_type = 'report' AND record_id IS NOT NULL);
