-- Reports of what readers and gates noticed; put in once, as those of reports.sql.

INSERT OR IGNORE INTO reports (dashboard, id, label, query, parameters, fixed, api_clients) VALUES

('event', 'time-spent', 'Time spent in sessions',
'-- From entries and exits of readers and gates, within the times of the session. Certificate: stayed for so many percent of it.
WITH passages AS (
    SELECT first_delegate_id AS delegate_id, first_device_id AS device_id, unixepoch(recorded_at) AS at,
           interaction_type IN (''entered'', ''check-in'', ''check-in-override'') AS enters,
           lead(unixepoch(recorded_at)) OVER (PARTITION BY first_delegate_id, first_device_id
                                              ORDER BY unixepoch(recorded_at), id) AS next_at
    FROM interactions
    WHERE interaction_type IN (''entered'', ''exited'', ''check-in'', ''check-in-override'', ''check-out'')
), stays AS (
    SELECT p.delegate_id, s.id AS session_id,
           max(0, min(coalesce(p.next_at, unixepoch()), unixepoch(s.end_at)) - max(p.at, unixepoch(s.start_at))) AS seconds
    FROM passages AS p JOIN devices AS s ON s.id = p.device_id
    WHERE p.enters AND s.device_type = ''session'' AND s.start_at IS NOT NULL AND s.end_at IS NOT NULL
      AND (:session IS NULL OR s.id = :session)
)
SELECT s.name AS session, d.barcode, d.first_name, d.last_name, sum(t.seconds) / 60 AS minutes,
       round(100.0 * sum(t.seconds) / max(1, unixepoch(s.end_at) - unixepoch(s.start_at)), 1) AS percent,
       iif(100.0 * sum(t.seconds) >= coalesce(:percent, 80) * (unixepoch(s.end_at) - unixepoch(s.start_at)), ''yes'', ''no'') AS certificate
FROM stays AS t JOIN devices AS s ON s.id = t.session_id JOIN delegates AS d ON d.id = t.delegate_id
GROUP BY t.session_id, t.delegate_id
ORDER BY s.start_at, s.name, d.last_name, d.first_name',
'[{"name":"session","label":"Only the session with this id","optional":true},{"name":"percent","label":"Percent of the session for a certificate; 80 without it","optional":true}]', '[]', '[]'),

('event', 'heat', 'People by place and hour',
'-- Everybody who was at a place at some time of the hour, each counted once, by entries and exits of readers and gates.
WITH RECURSIVE passages AS (
    SELECT first_delegate_id AS delegate_id, first_device_id AS device_id, unixepoch(recorded_at) AS at,
           interaction_type IN (''entered'', ''check-in'', ''check-in-override'') AS enters,
           lead(unixepoch(recorded_at)) OVER (PARTITION BY first_delegate_id, first_device_id
                                              ORDER BY unixepoch(recorded_at), id) AS next_at
    FROM interactions
    WHERE interaction_type IN (''entered'', ''exited'', ''check-in'', ''check-in-override'', ''check-out'')
), hours AS (
    SELECT delegate_id, device_id, at / 3600 AS hour,
           min(coalesce(next_at, unixepoch()), at + 86400) / 3600 AS last_hour
    FROM passages WHERE enters
    UNION ALL SELECT delegate_id, device_id, hour + 1, last_hour FROM hours WHERE hour < last_hour
)
SELECT local_time(h.hour * 3600) AS hour, p.name AS place, count(DISTINCT h.delegate_id) AS people
FROM hours AS h JOIN devices AS p ON p.id = h.device_id
GROUP BY h.hour, h.device_id
ORDER BY h.hour, people DESC, place',
'[]', '[]', '[]');
