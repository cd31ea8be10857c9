evacuation-at-by-by = { $at } von { $by }
evacuation-evacuation-of-name = Evakuierung: { $name }
evacuation-started-at-started-at = Begonnen um { $started_at }
evacuation-ended-at-at = beendet um { $at }
evacuation-a-tick-is-no-check-out = Ein Haken ist kein Check-out.
evacuation-download-csv = CSV herunterladen
evacuation-end = Beenden
evacuation-end-the-evacuation = Evakuierung beenden?
evacuation-people = Personen
evacuation-of-count-safe = von { $count } in Sicherheit
evacuation-order = Reihenfolge
evacuation-by-name = Nach Name
evacuation-by-place = Nach Ort
evacuation-nobody = Niemand
evacuation-was = war
evacuation-is = ist
evacuation-inside = drinnen
evacuation-phone = Telefon
evacuation-safe = In Sicherheit
evacuation-place-count-of-group-safe = <strong>{ $place }</strong> · { $count } von { $group } in Sicherheit
evacuation-safe-name-take-back = In Sicherheit<span class="unseen">: { $name }, zurücknehmen</span>
evacuation-tick-name-as-safe = Abhaken<span class="unseen">: { $name } in Sicherheit</span>
evacuation-admitted-not-in-the-list-of-attendees = Eingelassen, nicht in der Teilnehmerliste
evacuation-earlier-evacuations = Frühere Evakuierungen
