-- Over what venues pushed to a hub: the records of the generation that is complete, and what venues lost.
CREATE VIEW hub_venue_list AS
SELECT id AS venue, name, event, version, seen_at, revoked_at, expected, arrived, inside, conflicts FROM file.hub_venues WHERE id > 0;
CREATE VIEW hub_attendees AS
SELECT r.venue, v.name AS venue_name, r.id, r.name, r.code, r.email, r.subtype AS delegate_type, r.data
FROM file.hub_records r JOIN file.hub_venues v ON v.id = r.venue AND v.current = r.generation
WHERE r.venue > 0 AND r.type = 'delegate' AND NOT r.deleted;
CREATE VIEW hub_places AS
SELECT r.venue, v.name AS venue_name, r.id, r.name, r.subtype AS device_type, r.place AS parent, r.data
FROM file.hub_records r JOIN file.hub_venues v ON v.id = r.venue AND v.current = r.generation
WHERE r.venue > 0 AND r.type = 'device' AND NOT r.deleted;
CREATE VIEW hub_interactions AS
SELECT r.venue, v.name AS venue_name, r.id, r.subtype AS interaction_type, r.who, r.at,
    CASE WHEN d.subtype = 'door' AND d.place IS NOT NULL THEN d.place ELSE r.place END AS place
FROM file.hub_records r JOIN file.hub_venues v ON v.id = r.venue AND v.current = r.generation
LEFT JOIN file.hub_records d ON d.venue = r.venue AND d.generation = r.generation AND d.type = 'device' AND d.id = r.place
WHERE r.venue > 0 AND r.type = 'interaction' AND NOT r.deleted;
CREATE VIEW hub_sales AS
SELECT r.venue, v.name AS venue_name, r.id, r.code, r.amount, r.at, r.data
FROM file.hub_records r JOIN file.hub_venues v ON v.id = r.venue AND v.current = r.generation
WHERE r.venue > 0 AND r.type = 'transaction' AND NOT r.deleted;
CREATE VIEW hub_lost AS
SELECT r.venue, v.name AS venue_name, r.type, r.id, r.name, r.code, r.subtype, r.who, r.place, r.at, r.data
FROM file.hub_records r JOIN file.hub_venues v ON v.id = r.venue
WHERE r.lost;
