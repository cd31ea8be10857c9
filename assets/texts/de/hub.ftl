hub-no-venue-has-an-attendee-like-that = Kein Standort hat so einen Teilnehmer.
hub-venue = Standort
hub-last-out = Zuletzt hinaus
hub-no-name = Kein Name
hub-not-yet = noch nicht
hub-venues = Standorte
hub-run-this-on-the-venues-machine = Auf dem Rechner des Standorts ausführen
hub-add-db-file-where-the-venues-file = <code>--db FILE</code> ergänzen, wenn die Datei des Standorts anders heißt. Der Server dort darf laufen.
hub-qr-code-of-the-command = QR-Code des Befehls
hub-good-once-for-a-day-it-is = Gilt einmal, einen Tag lang. Er steht nur auf dieser Seite; ein neuer beendet ihn.
hub-name-is-paired-already-once-the-code = { $name } ist schon gekoppelt: Sobald der Code benutzt wird, endet der frühere Schlüssel.
hub-csv = CSV
hub-json = JSON
hub-nothing-yet = Noch nichts
hub-only-the-first-count-rows-are-shown = Nur die ersten { $count } Zeilen stehen hier; die Dateien haben alle.
hub-new-pairing-code = Neuer Kopplungscode
hub-count-of-expected-arrived = <strong>{ $count }</strong> von { $expected } eingetroffen
hub-count-inside-now = <strong>{ $count }</strong> jetzt drinnen
hub-count-conflicts = <strong>{ $count }</strong> { $count ->
    [one] Konflikt
   *[other] Konflikte
    }
hub-lag = Verzug
hub-records-taken-in = Übernommene Datensätze
hub-lost-records = Verlorene Datensätze
hub-name-lost = { $name } hat verloren:
hub-it-went-back-to-an-earlier-state = der Standort ging auf einen früheren Stand zurück, oder ein anderer Rechner trat an seine Stelle, und die Zentrale hat sie noch.
hub-sent-on-the-way-back = { $sent } auf dem Weg zurück.
hub-send-interactions-back = Interaktionen zurücksenden
hub-download-for-import = Zum Import herunterladen
hub-drop = Verwerfen
hub-drop-all-lost-records-of-this-venue = Alle verlorenen Datensätze dieses Standorts verwerfen? Sie sind dann weg.
hub-changed-at-the-venue-and-at-the = Am Standort und in der Zentrale geändert: Der Standort behielt seinen Wert.
hub-add-venue = Standort hinzufügen
hub-no-venues-yet = Noch keine Standorte
hub-add-a-venue-and-hand-its-code = Einen Standort hinzufügen und den Code auf seinem Rechner eingeben. Was dort geschieht, ist dann hier zu sehen, und was hier eingerichtet wird, erreicht den Standort.
hub-add-the-first-venue = Ersten Standort hinzufügen
hub-count-of-expected = { $count } von { $expected }
hub-connected-of-paired-venues-connected = { $connected } von { $paired } Standorten verbunden
hub-arrived-at-all-venues = An allen Standorten eingetroffen
hub-inside-now-count = Jetzt drinnen <strong>{ $count }</strong>
hub-count-arrived-of-expected = <strong>{ $count }</strong> · { $arrived } von { $expected }
hub-revoke-the-key = Den Schlüssel dieses Standorts widerrufen? Sein Rechner sendet nichts, bis er mit einem neuen Code beitritt.
hub-have-the-venue-record = Diese Aktivität dort noch einmal aufzeichnen lassen?
hub-count-lost = { $count } verloren
hub-two-servers-run-with-copies = Zwei Server laufen mit Kopien der Datei dieses Standorts. Die Zentrale nimmt nur von einem an; was am anderen gescannt wird, bleibt in dessen Datei. Halten Sie den anderen an: Seine Seite <em>Einstellungen › Zentrale</em> sagt, dass er abgewiesen wird. <a href="/handbook/head-office#two-servers-with-one-file">Was zu tun ist</a>
hub-the-venues-clock-is = Uhr des Standorts: { $clock }. Die Zeiten seiner Aktivität sind die seiner Uhr: Stellen Sie sie dort.
