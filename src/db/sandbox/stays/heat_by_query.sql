-- Everybody who was at a place at some time of the hour, each counted once, by readers and gates.
WITH RECURSIVE hours AS (
    -- Hours of the event's time zone.
    SELECT delegate_id, device_id, unixepoch(local_time(begins_at)) / 3600 AS hour,
           (unixepoch(local_time(coalesce(ends_at, unixepoch()))) - 1) / 3600 AS last_hour
    FROM stays_by_query
    UNION ALL SELECT delegate_id, device_id, hour + 1, last_hour FROM hours WHERE hour < last_hour
)
SELECT datetime(h.hour * 3600, 'unixepoch') AS hour, p.name AS place, count(DISTINCT h.delegate_id) AS people
FROM hours AS h JOIN devices AS p ON p.id = h.device_id
GROUP BY h.hour, h.device_id
ORDER BY h.hour, people DESC, place
