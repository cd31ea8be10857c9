-- Reports of what readers and gates noticed; put in once, as those of reports.sql.

INSERT OR IGNORE INTO reports (dashboard, id, label, query, parameters, fixed, api_clients) VALUES

('event', 'time-spent', 'Time spent in sessions',
'-- Within the times of the session: at it by readers and gates, and at the place where it is by readers. Certificate:
-- stayed for so many percent of the session.
WITH sessions AS MATERIALIZED (
    SELECT id, parent_id, name, start_at, unixepoch(start_at) AS begins, unixepoch(end_at) AS ends FROM devices
    WHERE device_type = ''session'' AND start_at IS NOT NULL AND end_at IS NOT NULL AND (:session IS NULL OR id = :session)
), places (place_id, own, session_id, begins, ends) AS MATERIALIZED (
    SELECT id, 1, id, begins, ends FROM sessions
    UNION ALL SELECT p.id, 0, s.id, s.begins, s.ends FROM sessions AS s JOIN devices AS p ON p.id = s.parent_id
    WHERE p.device_type <> ''event''
), clipped AS (
    SELECT t.delegate_id, p.session_id, max(unixepoch(t.begins_at), p.begins) AS begins,
           min(coalesce(unixepoch(t.ends_at), unixepoch()), p.ends) AS ends
    FROM stays AS t CROSS JOIN places AS p ON p.place_id = t.device_id AND (p.own OR t.noticed_by = ''reader'')
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
       (1000 * t.seconds / (s.ends - s.begins)) / 10.0 AS percent,
       iif(100.0 * t.seconds >= coalesce(:percent, 80) * (s.ends - s.begins), ''yes'', ''no'') AS certificate
FROM spent AS t JOIN sessions AS s ON s.id = t.session_id JOIN delegates AS d ON d.id = t.delegate_id
ORDER BY s.start_at, s.name, s.id, d.last_name, d.first_name, d.id',
'[{"name":"session","label":"Only the session with this id","type":"number","optional":true},{"name":"percent","label":"Percent of the session for a certificate; 80 without it","type":"number","optional":true}]', '[]', '[]'),

('event', 'heat', 'People by place and hour',
'-- Everybody who was at a place at some time of the hour, each counted once, by readers and gates.
WITH RECURSIVE hours AS (
    -- Hours of the event''s time zone.
    SELECT delegate_id, device_id, unixepoch(local_time(begins_at)) / 3600 AS hour,
           (unixepoch(local_time(coalesce(ends_at, unixepoch()))) - 1) / 3600 AS last_hour
    FROM stays
    UNION ALL SELECT delegate_id, device_id, hour + 1, last_hour FROM hours WHERE hour < last_hour
)
SELECT datetime(h.hour * 3600, ''unixepoch'') AS hour, p.name AS place, h.people
FROM (SELECT hour, device_id, count(DISTINCT delegate_id) AS people FROM hours GROUP BY hour, device_id) AS h
     JOIN devices AS p ON p.id = h.device_id
ORDER BY h.hour, people DESC, place',
'[]', '[]', '[]');
