-- The reports that every file begins with, fresh or migrated: put in once, when its table is made, so
-- that one that was deleted stays deleted. Exposed to no client until somebody does so.

INSERT INTO reports (dashboard, id, label, query, parameters, fixed, api_clients) VALUES

('event', 'attendance', 'Attendance by session',
'-- Joined: invited or booked, and not taken back. Attended: checked in at least once.
SELECT s.name AS session, r.name AS room, local_time(s.start_at) AS starts,
       coalesce(p.attended, 0) AS attended, coalesce(p.joined, 0) AS joined,
       CASE WHEN p.joined > 0 THEN round(100.0 * p.joined_attended / p.joined, 1) END AS percent_of_joined,
       coalesce(p.inside, 0) AS inside_now, coalesce(p.check_ins, 0) AS check_ins
FROM devices AS s
LEFT JOIN devices AS r ON r.id = s.parent_id
LEFT JOIN (
    SELECT device_id, sum(joined) AS joined, sum(check_ins > 0) AS attended,
           sum(joined AND check_ins > 0) AS joined_attended, sum(inside) AS inside,
           sum(check_ins) AS check_ins
    FROM presence GROUP BY device_id
) AS p ON p.device_id = s.id
WHERE s.device_type = ''session''
ORDER BY s.start_at, s.name',
'[]', '[]', '[]'),

('event', 'check-ins', 'Check-ins by quarter hour',
'SELECT local_time(quarter * 900) AS quarter_hour, count(*) AS check_ins,
       count(DISTINCT first_delegate_id) AS people
FROM (
    SELECT unixepoch(recorded_at) / 900 AS quarter, first_delegate_id
    FROM interactions
    WHERE interaction_type IN (''check-in'', ''check-in-override'')
      AND (:device IS NULL OR CAST(:device AS INTEGER) IN (first_device_id, place_id))
)
GROUP BY quarter
ORDER BY quarter',
'[{"name":"device","label":"Only at the device with this id","optional":true}]', '[]', '[]'),

('event', 'no-shows', 'No-shows',
'-- Without a session: who never checked in anywhere. With one: who joined it and did not come.
SELECT d.id, d.barcode, d.first_name, d.last_name, d.company, d.delegate_type, d.email, d.phone
FROM delegates AS d
WHERE CASE WHEN :session IS NULL
    THEN NOT EXISTS (SELECT 1 FROM presence AS p WHERE p.delegate_id = d.id AND p.check_ins > 0)
    ELSE EXISTS (SELECT 1 FROM presence AS p
                 WHERE p.delegate_id = d.id AND p.device_id = :session AND p.joined AND p.check_ins = 0)
    END
ORDER BY d.last_name, d.first_name, d.id',
'[{"name":"session","label":"Of the session or event with this id","optional":true}]', '[]', '[]'),

('event', 'leads', 'Leads by sponsor with answers',
'-- The lead is the second delegate, where there is one; the first is who took it then.
SELECT s.name AS sponsor, local_time(i.recorded_at) AS recorded_at,
       trim(coalesce(g.first_name, '''') || '' '' || coalesce(g.last_name, '''')) AS lead,
       g.company, g.job_title, g.email, g.phone,
       coalesce((
           SELECT group_concat(a.key || '': '' || coalesce(a.value, ''''), ''; '')
           FROM json_each(iif(json_valid(i.data), i.data, NULL), ''$.reportData'') AS a
       ), i.data) AS answers,
       trim(coalesce(f.first_name, '''') || '' '' || coalesce(f.last_name, '''')) AS taken_by
FROM interactions AS i
LEFT JOIN devices AS s ON s.id = i.first_device_id
LEFT JOIN delegates AS g ON g.id = coalesce(i.second_delegate_id, i.first_delegate_id)
LEFT JOIN delegates AS f ON f.id = iif(i.second_delegate_id IS NULL, NULL, i.first_delegate_id)
WHERE i.interaction_type = ''lead'' AND (:sponsor IS NULL OR i.first_device_id = :sponsor)
ORDER BY s.name, i.recorded_at, i.id',
'[{"name":"sponsor","label":"Only of the sponsor with this id","optional":true}]', '[]', '[]'),

('event', 'sales', 'Sales by product and method',
'-- A purchase that was paid in several ways counts under all of them together, so that nothing counts twice.
WITH paid AS (
    SELECT transaction_id,
           replace(group_concat(DISTINCT coalesce(method, ''unknown'')), '','', '' + '') AS method
    FROM (SELECT transaction_id, method FROM transaction_payments ORDER BY transaction_id, method)
    GROUP BY transaction_id
)
SELECT coalesce(p.name, i.description, ''unknown'') AS product,
       coalesce(paid.method, ''unpaid'') AS method,
       sum(i.quantity) AS quantity, round(sum(i.total_amount) / 100.0, 2) AS amount,
       round(sum(coalesce(i.discount_amount, 0)) / 100.0, 2) AS discount,
       count(DISTINCT i.transaction_id) AS purchases
FROM transaction_items AS i
LEFT JOIN devices AS p ON p.id = i.product_id
LEFT JOIN paid ON paid.transaction_id = i.transaction_id
GROUP BY 1, 2
ORDER BY 1, 2',
'[]', '[]', '[]'),

('event', 'devices', 'Device health',
'SELECT d.name AS device, d.device_type AS type,
       iif(unixepoch(''now'') - unixepoch(s.seen_at) <= 900, ''online'', ''offline'') AS state,
       s.battery, local_time(s.seen_at) AS last_seen, s.network, s.status AS app, s.failed_uploads,
       s.clock_skew_s, s.config_version, local_time(s.confirmed_at) AS confirmed, d.code
FROM device_states AS s
JOIN devices AS d ON d.id = s.device_id
ORDER BY s.seen_at, d.id',
'[]', '[]', '[]');
