-- Within the times of the session: at it by readers and gates, and at the place where it is by readers. Certificate:
-- stayed for so many percent of the session.
WITH places (session_id, place_id, own) AS (
    SELECT id, id, 1 FROM devices WHERE device_type = 'session'
    UNION ALL SELECT s.id, p.id, 0 FROM devices AS s JOIN devices AS p ON p.id = s.parent_id
    WHERE s.device_type = 'session' AND p.device_type <> 'event'
), clipped AS (
    SELECT t.delegate_id, s.id AS session_id, max(unixepoch(t.begins_at), unixepoch(s.start_at)) AS begins,
           min(coalesce(unixepoch(t.ends_at), unixepoch()), unixepoch(s.end_at)) AS ends
    FROM stays_by_query AS t CROSS JOIN places AS p ON p.place_id = t.device_id AND (p.own OR t.noticed_by = 'reader')
    JOIN devices AS s ON s.id = p.session_id
    WHERE s.start_at IS NOT NULL AND s.end_at IS NOT NULL AND (:session IS NULL OR s.id = :session)
), parts AS (
    -- Without what earlier stays cover already.
    SELECT session_id, delegate_id,
           ends - max(begins, coalesce(max(ends) OVER (PARTITION BY session_id, delegate_id ORDER BY begins, ends
                                                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), begins)) AS seconds
    FROM clipped WHERE ends > begins
), spent AS (
    SELECT session_id, delegate_id, sum(max(0, seconds)) AS seconds FROM parts GROUP BY session_id, delegate_id
)
SELECT s.name AS session, local_time(s.start_at) AS starts, d.barcode, d.first_name, d.last_name,
       t.seconds / 60 AS minutes,
       -- Rounded down: whoever has 80.0 reached it.
       (1000 * t.seconds / (unixepoch(s.end_at) - unixepoch(s.start_at))) / 10.0 AS percent,
       iif(100.0 * t.seconds >= coalesce(:percent, 80) * (unixepoch(s.end_at) - unixepoch(s.start_at)), 'yes', 'no')
           AS certificate
FROM spent AS t JOIN devices AS s ON s.id = t.session_id JOIN delegates AS d ON d.id = t.delegate_id
ORDER BY s.start_at, s.name, s.id, d.last_name, d.first_name, d.id
