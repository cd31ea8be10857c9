day-numbers-of-the-day = Zahlen des Tages
day-count-arrived-today = <strong>{ $count }</strong> heute eingetroffen
day-count-of-expected-came-so-far = <strong>{ $count }</strong> von { $expected } bisher gekommen
day-count-in-the-busiest-hour-hour = <strong>{ $count }</strong> in der stärksten Stunde, { $hour }
day-count-refused = <strong>{ $count }</strong> abgelehnt
day-count-undone = <strong>{ $count }</strong> rückgängig gemacht
day-scans-of-gates = Scans der Gates
day-show-gates = Gates zeigen
day-every-scan-is-here = Jeder Scan ist da
day-count-scans-are-not-uploaded-leave-these = { $count ->
    [one] 1 Scan ist
   *[other] { $count } Scans sind
    } noch nicht hochgeladen. Diese Gates anlassen, bis es so weit ist:
day-count-scans = { $count ->
    [one] 1 Scan
   *[other] { $count } Scans
    }
day-no-contact = kein Kontakt
day-show-conflicts = Konflikte zeigen
day-no-conflicts-today = Heute keine Konflikte
day-count-today-gates-admitted-whom-the-rules = { $count } heute: Gates ließen jemanden ein, den die Regeln abgelehnt hätten
day-everybody-out = Alle draußen
day-people-inside = { $people } drinnen:
day-check-everybody-out-of-all-places-no = Alle aus allen Orten auschecken? Kein Knopf nimmt das zurück.
day-lists-and-reports = Listen und Berichte
day-attendees-places-activity-refusals-purchases-and-all = Teilnehmer, Orte, Aktivität, Ablehnungen, Käufe und alle Berichte, als CSV in einer Datei
day-download-everything = Alles herunterladen
day-backup = Sicherung
day-last-one-at = Letzte { $at }
day-none-was-made-yet = Noch keine gemacht
day-file-day = tag
day-file-attendees = teilnehmer
day-file-places = orte
day-file-purchases = verkaeufe
day-file-activity = aktivitaet
day-file-refusals = ablehnungen
day-file-reports = berichte
