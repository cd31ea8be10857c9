-- What SQL from outside sees, beside delegates and devices (`record_view`), under these names:
-- documented views, columns in snake case, deleted records left out; file stands for the database
-- file. Times are yyyy-mm-dd hh:mm:ss in UTC; amounts are in cents. Every table that a view reads must
-- have a view of its own name in front of it: otherwise a common table expression that is called like
-- the view could reach the table itself.

CREATE TEMP VIEW events AS
SELECT id, name, external_id, manager_email, manager_phone,
       datetime(start_at / 1000, 'unixepoch') AS start_at,
       datetime(end_at / 1000, 'unixepoch') AS end_at, data
FROM file.devices WHERE deleted_at IS NULL AND device_type = 'event';

-- Doors with the place that each is an entrance of (src/domain/devices/doors.rs), deleted doors included.
CREATE TEMP VIEW doors AS
SELECT d.id, p.id AS place_id FROM file.devices AS d JOIN file.devices AS p ON p.id = d.parent_id
WHERE d.device_type = 'door' AND p.deleted_at IS NULL AND coalesce(p.device_type, '') NOT IN ('event', 'door');

CREATE TEMP VIEW interactions AS
SELECT id, interaction_type, first_delegate_id, second_delegate_id, third_delegate_id,
       first_device_id, second_device_id, third_device_id, data, admitted,
       datetime(recorded_at / 1000, 'unixepoch') AS recorded_at,
       datetime(created_at / 1000, 'unixepoch') AS created_at,
       CAST(coalesce((SELECT place_id FROM doors WHERE doors.id = first_device_id), first_device_id) AS INTEGER) AS place_id
FROM file.interactions;

-- One pass over the index of what first delegates did tells when; what they did at a door, they did at its place. Few
-- left anywhere since they came in, and few joins were taken back: so that is asked before it is looked at closely. Only
-- where two things happened in one millisecond is it asked again: ids decide then, as they do at a gate.
CREATE TEMP VIEW presence AS
SELECT delegate_id, place_id AS device_id, check_ins,
       in_at IS NOT NULL AND CASE
           WHEN out_at IS NULL OR in_at > out_at THEN 1
           WHEN in_at < out_at THEN 0
           ELSE (SELECT max(i.id) FROM file.interactions AS i INDEXED BY interactions_first_delegate
                 WHERE i.first_delegate_id = delegate_id AND i.effect = 0 AND i.moment = in_at
                       AND i.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id))
              > (SELECT max(o.id) FROM file.interactions AS o INDEXED BY interactions_first_delegate
                 WHERE o.first_delegate_id = delegate_id AND o.effect = 1 AND o.moment = in_at
                       AND o.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id))
           -- Who left a place above left this one, too.
           END AND NOT day_ended(p.place_id, in_at) AND NOT iif(
               NOT EXISTS (SELECT 1 FROM file.interactions AS o INDEXED BY interactions_first_delegate
                           WHERE o.first_delegate_id = delegate_id AND o.effect = 1 AND o.moment >= in_at), 0, EXISTS (
               WITH RECURSIVE above (id) AS (
                   SELECT d.parent_id FROM devices AS d WHERE d.id = p.place_id
                   UNION SELECT d.parent_id FROM above JOIN devices AS d ON d.id = above.id)
               SELECT 1 FROM (SELECT id FROM above UNION ALL
                              SELECT doors.id FROM above JOIN doors ON doors.place_id = above.id) AS left_at
                    CROSS JOIN file.interactions AS o INDEXED BY interactions_first_delegate
               WHERE o.first_delegate_id = delegate_id AND o.first_device_id = left_at.id AND o.effect = 1
                     AND o.moment >= in_at AND (o.moment > in_at OR o.id >
                         (SELECT max(i.id) FROM file.interactions AS i INDEXED BY interactions_first_delegate
                 WHERE i.first_delegate_id = delegate_id AND i.effect = 0 AND i.moment = in_at
                       AND i.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id)))))
           -- So did who entered another room since, where people are in one at a time. Most venues have no such place.
           AND NOT iif((SELECT count(*) FROM devices AS narrow
                        WHERE iif(json_valid(narrow.data), narrow.data ->> '$.Access.oneAtATime', 0)) = 0, 0, EXISTS (
               WITH RECURSIVE own (id, child) AS (
                   SELECT d.parent_id, d.id FROM devices AS d WHERE d.id = p.place_id
                   UNION SELECT d.parent_id, d.id FROM own JOIN devices AS d ON d.id = own.id)
               SELECT 1 FROM (
                   SELECT coalesce((SELECT doors.place_id FROM doors WHERE doors.id = o.first_device_id), o.first_device_id) AS place
                   FROM file.interactions AS o INDEXED BY interactions_first_delegate
                   WHERE o.first_delegate_id = delegate_id AND o.effect = 0
                         AND o.moment >= in_at AND (o.moment > in_at OR o.id > (
                             SELECT max(i.id) FROM file.interactions AS i INDEXED BY interactions_first_delegate
                             WHERE i.first_delegate_id = delegate_id AND i.effect = 0 AND i.moment = in_at
                                   AND i.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id)))) AS later
               WHERE EXISTS (
                   WITH RECURSIVE other (id, child) AS (
                       SELECT d.parent_id, d.id FROM devices AS d WHERE d.id = later.place
                       UNION SELECT d.parent_id, d.id FROM other JOIN devices AS d ON d.id = other.id)
                   SELECT 1 FROM own JOIN other ON other.id = own.id AND other.child <> own.child
                   JOIN devices AS narrow ON narrow.id = own.id
                   WHERE iif(json_valid(narrow.data), narrow.data ->> '$.Access.oneAtATime', 0))))
           AS inside,
       join_at IS NOT NULL AND CASE
           WHEN leave_at IS NULL OR join_at > leave_at THEN 1
           WHEN join_at < leave_at THEN 0
           ELSE (SELECT max(j.id) FROM file.interactions AS j INDEXED BY interactions_first_delegate
                 WHERE j.first_delegate_id = delegate_id AND j.effect = 2 AND j.moment = join_at
                       AND j.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id))
              > (SELECT max(l.id) FROM file.interactions AS l INDEXED BY interactions_first_delegate
                 WHERE l.first_delegate_id = delegate_id AND l.effect = 3 AND l.moment = join_at
                       AND l.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id))
           END AND CASE iif(
               NOT EXISTS (SELECT 1 FROM file.interactions AS u INDEXED BY interactions_uninvited
                           WHERE u.second_delegate_id = delegate_id AND u.effect = 4), NULL, (
               SELECT u.moment > join_at FROM file.interactions AS u INDEXED BY interactions_uninvited
               WHERE u.second_delegate_id = delegate_id AND u.effect = 4 AND u.moment >= join_at
                     AND u.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id)
               ORDER BY u.moment DESC LIMIT 1))
           WHEN 1 THEN 0
           WHEN 0 THEN (SELECT max(j.id) FROM file.interactions AS j INDEXED BY interactions_first_delegate
                 WHERE j.first_delegate_id = delegate_id AND j.effect = 2 AND j.moment = join_at
                       AND j.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id))
                     > (SELECT max(u.id) FROM file.interactions AS u INDEXED BY interactions_uninvited
                        WHERE u.second_delegate_id = delegate_id AND u.effect = 4 AND u.moment = join_at
                              AND u.first_device_id IN (SELECT p.place_id UNION ALL SELECT doors.id FROM doors WHERE doors.place_id = p.place_id))
           ELSE 1 END AS joined,
       datetime(in_at / 1000, 'unixepoch') AS last_in_at,
       datetime(out_at / 1000, 'unixepoch') AS last_out_at,
       place_id
FROM (
    SELECT first_delegate_id AS delegate_id, first_device_id AS place_id,
           count(*) FILTER (WHERE effect = 0) AS check_ins,
           max(moment) FILTER (WHERE effect = 0) AS in_at, max(moment) FILTER (WHERE effect = 1) AS out_at,
           max(moment) FILTER (WHERE effect = 2) AS join_at, max(moment) FILTER (WHERE effect = 3) AS leave_at
    FROM file.interactions INDEXED BY interactions_first_delegate
    WHERE first_delegate_id IS NOT NULL AND effect < 4
          AND first_device_id NOT IN (SELECT id FROM doors UNION ALL SELECT place_id FROM doors)
    GROUP BY first_delegate_id, first_device_id
    -- Apart, since these have to be sorted. Where there are no doors the index is not gone through once more.
    UNION ALL
    SELECT first_delegate_id, at.place_id,
           count(*) FILTER (WHERE effect = 0),
           max(moment) FILTER (WHERE effect = 0), max(moment) FILTER (WHERE effect = 1),
           max(moment) FILTER (WHERE effect = 2), max(moment) FILTER (WHERE effect = 3)
    FROM file.interactions INDEXED BY interactions_first_delegate
    CROSS JOIN (SELECT id, place_id FROM doors UNION SELECT place_id, place_id FROM doors) AS at ON at.id = first_device_id
    WHERE first_delegate_id > (SELECT iif(EXISTS (SELECT 1 FROM doors), -9223372036854775808, 9223372036854775807)) AND effect < 4
    GROUP BY first_delegate_id, at.place_id
) AS p;

-- A reader's stay ends with its exit. One that a gate began ends with what comes first: whatever the gate tells next
-- there, a check-out or an exit above, an entry at another session, or the end of the session. Nobody stays for more
-- than a day.
CREATE TEMP VIEW stays AS
SELECT delegate_id, place_id AS device_id, iif(interaction_type = 'entered', 'reader', 'gate') AS noticed_by,
       datetime(at / 1000, 'unixepoch') AS begins_at,
       -- Empty while nothing tells of it, and its time has not come.
       datetime(ends / 1000, 'unixepoch') AS ends_at,
       place_id
FROM (
    SELECT *, CAST(iif(done_at IN (SELECT id FROM doors), (SELECT doors.place_id FROM doors WHERE doors.id = done_at),
                       done_at) AS INTEGER) AS place_id
    FROM (
        SELECT first_delegate_id AS delegate_id, interaction_type, recorded_at AS at, first_device_id AS done_at,
               -- 0: it begins none. It knows the doors itself: a query for each row would cost more than the rest.
               stay_end(
                   (SELECT stay_places(id, parent_id, is_session, end_at, door_of) FROM (
                        SELECT id, parent_id, coalesce(device_type = 'session', 0) AS is_session,
                               iif(device_type = 'session', unixepoch(end_at) * 1000, NULL) AS end_at, NULL AS door_of FROM devices
                        UNION ALL SELECT id, NULL, NULL, NULL, place_id FROM doors)),
                   recorded_at, first_device_id, interaction_type) OVER (
                   PARTITION BY first_delegate_id ORDER BY recorded_at DESC, id DESC ROWS UNBOUNDED PRECEDING) AS ends
        FROM file.interactions
        WHERE interaction_type IN ('entered', 'exited', 'check-in', 'check-in-override', 'check-out')
              -- Nobody knows when those left whom the server checked out when everybody had to.
              AND NOT (interaction_type = 'check-out' AND data IS '{"reason":"everybodyOutAt"}')
              -- Sorting them all costs less than looking each up in the order of the index, which + keeps SQLite from.
              AND +first_delegate_id IS NOT NULL AND +first_device_id IS NOT NULL
    )
)
-- One condition, which SQLite cannot ask of each row before they are sorted: then the delegates come in order.
WHERE iif(ends IS 0, 0, EXISTS (SELECT 1 FROM delegates AS d WHERE d.id = delegate_id));

CREATE TEMP VIEW refusals AS
SELECT id, interaction_type, delegate, delegate_id, device, device_id, code, message,
       datetime(recorded_at / 1000, 'unixepoch') AS recorded_at,
       datetime(at / 1000, 'unixepoch') AS refused_at
FROM file.refusals WHERE admitted = 0;

CREATE TEMP VIEW conflicts AS
SELECT id, interaction_id, code, message, datetime(at / 1000, 'unixepoch') AS found_at
FROM file.conflicts;

CREATE TEMP VIEW device_states AS
SELECT device_id, datetime(seen_at / 1000, 'unixepoch') AS seen_at,
       datetime(pinged_at / 1000, 'unixepoch') AS pinged_at,
       ping ->> '$.battery' AS battery, ping ->> '$.network' AS network, ping ->> '$.status' AS status,
       ping ->> '$.failedUploads' AS failed_uploads, ping ->> '$.lat' AS lat, ping ->> '$.lon' AS lon,
       clock_skew_ms / 1000.0 AS clock_skew_s, config_version,
       datetime(confirmed_at / 1000, 'unixepoch') AS confirmed_at
FROM file.device_states;

CREATE TEMP VIEW device_pings AS
SELECT device_id, datetime(at / 1000, 'unixepoch') AS pinged_at,
       ping ->> '$.battery' AS battery, ping ->> '$.network' AS network, ping ->> '$.status' AS status,
       ping ->> '$.failedUploads' AS failed_uploads, ping ->> '$.lat' AS lat, ping ->> '$.lon' AS lon,
       clock_skew_ms / 1000.0 AS clock_skew_s
FROM file.device_pings;

CREATE TEMP VIEW transactions AS
SELECT id, code, context_id, total_amount, notes, recorded_by,
       datetime(bought_at / 1000, 'unixepoch') AS bought_at,
       datetime(created_at / 1000, 'unixepoch') AS created_at,
       datetime(updated_at / 1000, 'unixepoch') AS updated_at
FROM file.transactions;

CREATE TEMP VIEW transaction_payments AS
SELECT transaction_id, line, method, amount, change, net, reference FROM file.transaction_payments;

CREATE TEMP VIEW transaction_items AS
SELECT transaction_id, line, code, product_id, quantity, description, unit_amount, total_amount,
       discount_amount
FROM file.transaction_items;

CREATE TEMP VIEW transaction_delegates AS
SELECT transaction_id, barcode, delegate_id, product_id FROM file.transaction_delegates;
