-- Places are chosen by name, where nobody changed what a report asks for.
UPDATE reports SET parameters = '[{"name":"device","label":"Place","type":"place","optional":true}]'
WHERE dashboard = 'event' AND parameters = '[{"name":"device","label":"Only at the device with this id","optional":true}]';
UPDATE reports SET parameters = '[{"name":"session","label":"Session or event","type":"place","optional":true}]'
WHERE dashboard = 'event' AND parameters = '[{"name":"session","label":"Of the session or event with this id","optional":true}]';
UPDATE reports SET parameters = '[{"name":"sponsor","label":"Sponsor","type":"place","optional":true}]'
WHERE dashboard = 'event' AND parameters = '[{"name":"sponsor","label":"Only of the sponsor with this id","optional":true}]';
UPDATE reports SET parameters = '[{"name":"session","label":"Session","type":"place","optional":true},{"name":"percent","label":"Percent of the session for a certificate; 80 without it","type":"number","optional":true}]'
WHERE dashboard = 'event' AND parameters = '[{"name":"session","label":"Only the session with this id","type":"number","optional":true},{"name":"percent","label":"Percent of the session for a certificate; 80 without it","type":"number","optional":true}]';
