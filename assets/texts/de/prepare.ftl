prepare-prepare-name = { $name } vorbereiten
prepare-each-step-says-what-is-still-missing = Jeder Schritt sagt, was noch fehlt.
prepare-scan-a-test-ticket = Ein Testticket scannen
prepare-nothing-of-it-is-stored = Nichts davon wird gespeichert.
prepare-admitted-who-may-enter-place = <strong>Eingelassen.</strong> { $who } darf hinein: { $place }.
prepare-refused-who-at-place-refusal = <strong>Abgelehnt.</strong> { $who } bei { $place }: { $refusal }
prepare-needs-a-place-and-an-attendee = Braucht einen Ort und einen Teilnehmer.
prepare-scan = Scannen
prepare-ready-to-open = Bereit zum Öffnen?
prepare-count-of-steps-steps-done = <strong>{ $count }</strong> von { $steps } Schritten erledigt
prepare-nothing-is-missing = Nichts fehlt
prepare-to-try-everything-with-gates-start-a = Um alles mit Gates auszuprobieren, eine <a href="/console/settings/rehearsal">Probe</a> starten: Danach bleibt nichts davon.
prepare-nobody-is-registered = { $places }: Nur angemeldete Teilnehmer dürfen hinein, und niemand ist angemeldet. Teilnehmer auswählen und „Anmelden für…“ wählen.
