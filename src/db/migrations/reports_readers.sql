-- Reports of what readers and gates noticed; put in once, as those of reports.sql.

INSERT OR IGNORE INTO reports (dashboard, id, label, query, parameters, fixed, api_clients) VALUES

('event', 'time-spent', 'Time spent in sessions',
'-- Within the times of the session: from entries and exits at it by readers and gates, and by readers at the places above
-- it, up to the event. Certificate: stayed for so many percent of the session.
WITH RECURSIVE places (place_id, session_id, own) AS (
    SELECT id, id, 1 FROM devices
    WHERE device_type = ''session'' AND start_at IS NOT NULL AND end_at IS NOT NULL AND (:session IS NULL OR id = :session)
    UNION SELECT a.id, p.session_id, 0
    FROM places AS p JOIN devices AS d ON d.id = p.place_id JOIN devices AS a ON a.id = d.parent_id
    WHERE a.device_type IS NOT ''event''
), passages AS (
    SELECT i.first_delegate_id AS delegate_id, p.place_id, p.own, unixepoch(i.recorded_at) AS at,
           i.interaction_type IN (''entered'', ''check-in'', ''check-in-override'') AS enters,
           lead(unixepoch(i.recorded_at)) OVER (PARTITION BY i.first_delegate_id, p.place_id, p.own
                                                ORDER BY unixepoch(i.recorded_at), i.id) AS next_at
    FROM (SELECT DISTINCT place_id, own FROM places) AS p JOIN interactions AS i ON i.first_device_id = p.place_id
    WHERE i.interaction_type IN (''entered'', ''exited'')
       OR p.own AND i.interaction_type IN (''check-in'', ''check-in-override'', ''check-out'')
), stays AS (
    SELECT t.delegate_id, s.id AS session_id, max(t.at, unixepoch(s.start_at)) AS begins,
           min(coalesce(t.next_at, unixepoch()), t.at + 86400, unixepoch(s.end_at)) AS ends
    FROM passages AS t JOIN places AS p ON p.place_id = t.place_id AND p.own = t.own JOIN devices AS s ON s.id = p.session_id
    WHERE t.enters
), parts AS (
    -- Without what earlier stays cover already.
    SELECT session_id, delegate_id,
           ends - max(begins, coalesce(max(ends) OVER (PARTITION BY session_id, delegate_id ORDER BY begins, ends
                                                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), begins)) AS seconds
    FROM stays WHERE ends > begins
), spent AS (
    SELECT session_id, delegate_id, sum(max(0, seconds)) AS seconds FROM parts GROUP BY session_id, delegate_id
)
SELECT s.name AS session, d.barcode, d.first_name, d.last_name, t.seconds / 60 AS minutes,
       round(100.0 * t.seconds / (unixepoch(s.end_at) - unixepoch(s.start_at)), 1) AS percent,
       CASE WHEN coalesce(:percent, 80) BETWEEN 0 AND 100
           THEN iif(100.0 * t.seconds >= coalesce(:percent, 80) * (unixepoch(s.end_at) - unixepoch(s.start_at)), ''yes'', ''no'')
       END AS certificate
FROM spent AS t JOIN devices AS s ON s.id = t.session_id JOIN delegates AS d ON d.id = t.delegate_id
ORDER BY s.start_at, s.name, s.id, d.last_name, d.first_name, d.id',
'[{"name":"session","label":"Only the session with this id","type":"number","optional":true},{"name":"percent","label":"Percent of the session for a certificate, 0 to 100; 80 without it","type":"number","optional":true}]', '[]', '[]'),

('event', 'heat', 'People by place and hour',
'-- Everybody who was at a place at some time of the hour, each counted once, by entries and exits of readers and gates.
-- Who did not leave a session stayed to its end; nobody stays for more than a day.
WITH RECURSIVE passages AS (
    SELECT first_delegate_id AS delegate_id, first_device_id AS device_id, unixepoch(recorded_at) AS at,
           interaction_type IN (''entered'', ''check-in'', ''check-in-override'') AS enters,
           lead(unixepoch(recorded_at)) OVER (PARTITION BY first_delegate_id, first_device_id
                                              ORDER BY unixepoch(recorded_at), id) AS next_at
    FROM interactions
    WHERE interaction_type IN (''entered'', ''exited'', ''check-in'', ''check-in-override'', ''check-out'')
), stays AS (
    SELECT t.delegate_id, t.device_id, t.at,
           min(coalesce(t.next_at, iif(p.device_type = ''session'', unixepoch(p.end_at), NULL), unixepoch()),
               unixepoch(), t.at + 86400) AS until
    FROM passages AS t JOIN devices AS p ON p.id = t.device_id
    WHERE t.enters
), hours AS (
    -- Hours of the event''s time zone.
    SELECT delegate_id, device_id, unixepoch(local_time(at)) / 3600 AS hour,
           (unixepoch(local_time(until)) - 1) / 3600 AS last_hour
    FROM stays
    UNION ALL SELECT delegate_id, device_id, hour + 1, last_hour FROM hours WHERE hour < last_hour
)
SELECT datetime(h.hour * 3600, ''unixepoch'') AS hour, p.name AS place, count(DISTINCT h.delegate_id) AS people
FROM hours AS h JOIN devices AS p ON p.id = h.device_id
GROUP BY h.hour, h.device_id
ORDER BY h.hour, people DESC, place',
'[]', '[]', '[]');
