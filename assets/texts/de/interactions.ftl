interactions-export-as-csv = Als CSV exportieren
interactions-nothing-so-far-there-is-more-further = Bisher nichts. Weiter zurück gibt es mehr.
interactions-nothing-was-undone-yet = Noch wurde nichts rückgängig gemacht.
interactions-nothing-yet-what-gates-and-apps-send = Noch nichts. Was Gates und Apps senden, erscheint hier sofort.
interactions-no-conflicts = Keine Konflikte
interactions-a-gate-that-works-without-the-network = Ein Gate ohne Netz lässt selbst ein. Wo die Regeln jemanden abgelehnt hätten, steht es hier.
interactions-the-gate-let-these-people-in-and = Das Gate ließ diese Personen ein, und die Regeln hätten sie abgelehnt.
interactions-delete-interaction-id = Interaktion { $id } löschen?
interactions-the-gate-admitted-this-the-rules-would = Das Gate ließ ein; die Regeln hätten abgelehnt: { $conflict }
interactions-admitted = Eingelassen
interactions-in-spite-of-refusal = trotz „{ $refusal }“
interactions-against-the-rules = gegen die Regeln
interactions-answers = Antworten
interactions-count-bytes-of-data-too-long-to = { $count } Bytes Daten: zu lang, um sie hier zu zeigen. Ein Export hat sie ganz.
interactions-no-data = Keine Daten.
interactions-happened = Geschehen
interactions-received = Empfangen
interactions-user = Benutzer
interactions-import-batch = Import { $batch }
interactions-decided-by = Entschieden von
interactions-the-gate-offline = dem Gate, offline
interactions-scans-of-codes-that-were-unknown = Scans von damals unbekannten Codes
interactions-gates-refused-late = Gates lehnten <strong>{ $late }</strong>
interactions-scan-of-a-code = Scan eines Codes ab,
interactions-scans-of-codes = Scans von Codes ab,
interactions-that-attendees-have-by-now-for-example = den Teilnehmer inzwischen haben, etwa weil eine Liste später importiert wurde.
interactions-record-late = { $late } nachtragen:
interactions-scan = Scan
interactions-scans = Scans
interactions-refusals = Ablehnungen
interactions-no-refusals = Keine Ablehnungen
interactions-refused-check-ins-appear-here-with-the = Abgelehnte Check-ins stehen hier, mit dem Grund.
interactions-admitted-offline = offline eingelassen
interactions-refused = abgelehnt
interactions-with-other = mit { $other }
interactions-came-in = kam
interactions-later = später an,
interactions-undone-by-by-recorded-recorded-at = Rückgängig gemacht von { $by }, festgehalten { $recorded_at }
interactions-by-sender = von { $sender }
interactions-conflict = Konflikt:
interactions-undo-delegate-told = Rückgängig<span class="unseen">: { $delegate } { $told }</span>
interactions-solve-delegate = Lösen<span class="unseen">: { $delegate }</span>
interactions-at-places = bei { $places }
interactions-show-them-one-by-one = Einzeln zeigen
interactions-count-kind-imported-from-file = <strong>{ $kind }: { $count }</strong>, importiert aus <a href="/console/import/batches/{ $id }">{ $file }</a>
interactions-undone = rückgängig gemacht
interactions-everything = Alles
interactions-today = heute
interactions-imports-and-bulk = Importe und Massenaktionen
interactions-record-late-scans =
    Trägt diese Scans nach, als hätten die Gates die Personen eingelassen. { $count ->
        [one] 1 Scan
       *[other] { $count } Scans
    } nachtragen?
interactions-places-and-others = { $places } und anderen
