-- The view stays as a query for each row finds it: slow, and what the view is compared with in tests.
CREATE TEMP VIEW stays_by_query AS
SELECT delegate_id, device_id, iif(by_reader, 'reader', 'gate') AS noticed_by,
       datetime(at / 1000, 'unixepoch') AS begins_at,
       -- Empty while nothing tells of it, and its time has not come.
       iif(ends < told_at AND ends > unixepoch() * 1000, NULL, datetime(ends / 1000, 'unixepoch')) AS ends_at,
       device_id AS place_id
FROM (SELECT *, min(told_at, closes_at, at + 86400000) AS ends FROM (
    SELECT delegate_id, device_id, by_reader, at,
           iif(by_reader AND next_is_exit, never, max(at, coalesce(end_at, never))) AS closes_at,
           iif(by_reader, coalesce(next_at, never), min(
               coalesce(next_at, never), iif(is_session, coalesce(next_alike_at, never), never),
               coalesce((
                   WITH RECURSIVE above (id) AS (
                       SELECT p.device_id
                       UNION SELECT d.parent_id FROM above JOIN devices AS d ON d.id = above.id)
                   SELECT min(o.recorded_at)
                   FROM above CROSS JOIN file.interactions AS o INDEXED BY interactions_first_delegate
                   WHERE o.first_delegate_id = p.delegate_id AND o.first_device_id = above.id
                         AND o.interaction_type IN ('exited', 'check-out')
                         AND (o.recorded_at, o.id) > (p.at, p.id)), never))) AS told_at
    FROM (
        SELECT i.id, i.first_delegate_id AS delegate_id, i.first_device_id AS device_id, i.recorded_at AS at,
               1 << 60 AS never,
               i.interaction_type IN ('entered', 'exited') AS by_reader,
               i.interaction_type IN ('entered', 'check-in', 'check-in-override') AS enters,
               d.device_type = 'session' AS is_session,
               iif(d.device_type = 'session', unixepoch(d.end_at) * 1000, NULL) AS end_at,
               lead(i.recorded_at) OVER there AS next_at,
               lead(i.interaction_type = 'exited') OVER there AS next_is_exit,
               lead(i.recorded_at) OVER alike AS next_alike_at
        FROM file.interactions AS i JOIN devices AS d ON d.id = i.first_device_id
             JOIN delegates AS p ON p.id = i.first_delegate_id
        WHERE i.interaction_type IN ('entered', 'exited', 'check-in', 'check-in-override', 'check-out')
        WINDOW there AS (
                   PARTITION BY i.first_delegate_id, i.first_device_id, i.interaction_type IN ('entered', 'exited')
                   ORDER BY i.recorded_at, i.id),
               alike AS (
                   PARTITION BY i.first_delegate_id, d.device_type = 'session', i.interaction_type IN ('exited', 'check-out')
                   ORDER BY i.recorded_at, i.id)
    ) AS p WHERE enters
));

