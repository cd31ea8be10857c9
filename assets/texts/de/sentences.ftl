# Sätze, die Rust auf Englisch sagt; Seiten finden sie danach.
s-nothing-was-saved-check-the-field-label = Nichts wurde gespeichert. Feld „{ $label }“ prüfen.
s-line-row-fault = Zeile { $row }: { $fault }
s-who-changed-this-while-you-did-nothing-of = { $who } hat das gleichzeitig geändert. Noch ist nichts gespeichert: erneut speichern überschreibt, was jetzt da ist.
s-must-be-from-min-to-max = muss von { $min } bis { $max } sein
s-unknown-cannot-be-chosen = „{ $unknown }“ lässt sich nicht wählen
s-a-saved = { $name } gespeichert.
s-new-a = Neu: { $a }
s-create-a = { $a } anlegen
s-value-is-blocked-the-new-code-is-valid = { $value } ist gesperrt. Der neue Code gilt ab jetzt.
s-value-is-blocked-give-this-person-another-code = { $value } ist gesperrt. Dieser Person einen anderen Code geben, bevor sie wiederkommt.
s-a-new-one-too-no-type-takes-the = Auch ein neuer. { $NO_TYPE } nimmt den Typ weg.
s-verb-a = { $verb }: { $a }
s-a-attendees = { $a } Teilnehmer
s-count-attendees-found = { $count } Teilnehmer gefunden.
s-merge-name = { $name } zusammenführen
s-merged-a-interactions-moved-b-codes-blocked = Zusammengeführt. Übernommene Interaktionen: { $a }; gesperrte Codes: { $b }.
s-name-is-checked-out-at-place = { $name } ist ausgecheckt: { $place }.
s-name-is-checked-in-at-place = { $name } ist eingecheckt: { $place }.
s-name-is-admitted-at-place-by-override = { $name } ist trotz Regel eingelassen: { $place }.
s-at-the-printer-a = Am Drucker { $a }
s-attendees-that-the-list-shows-a-by-last = Teilnehmer, die die Liste zeigt: { $a }. Nach Nachname; ein Drucker nimmt { $JOBS_MAX } auf einmal.
s-badges-that-go-to-a-b = Badges an { $a }: { $b }.
s-erase-name = { $name } endgültig löschen
s-type-the-number-id-to-confirm = Zum Bestätigen die Nummer { $id } eintippen.
s-type-the-number-id-nothing-is-deleted = Die Nummer { $id } eintippen; nichts ist gelöscht.
s-somebody-changed-this-meanwhile-now-now = Jemand hat das inzwischen geändert; jetzt: { $now }
s-a-missing = { $a } fehlen
s-view-name-saved = Ansicht { $name } gespeichert.
s-inside-since-a = Drinnen seit { $a }
s-left-at-a = Gegangen um { $a }
s-a-people-match-typed = { $a } Personen passen zu „{ $typed }“
s-nobody-matches-typed = Niemand passt zu „{ $typed }“
s-badge-at-a = Badge an { $a }
s-the-printer-does-not-work-now-and-the = Der Drucker geht gerade nicht, und das Badge wartet: { $why }.
s-checked-in-here-before-at-first = War hier schon eingecheckt, um { $first }.
s-checked-in-here-count-times-before-first-at = War hier schon { $count }-mal eingecheckt, zuerst um { $first }.
s-ticket-code-code = Ticketcode { $code }.
s-paid-paid = Bezahlt: { $paid }.
s-amount-on-the-invoice-are-refunded = { $amount } auf der Rechnung werden erstattet.
s-give-back-amount-to-the-card = { $amount } auf die Karte zurückgeben.
s-give-back-amount = { $amount } zurückgeben.
s-a-and-b-more = { $a } und { $b } weitere.
s-a-gates = { $a ->
    [one] 1 Gate
   *[other] { $a } Gates
    }
s-has-no-contact-since-a = hat keinen Kontakt seit { $a }
s-has-percent-battery = hat { $percent } % Akku
s-needs-a-look-a = ansehen: { $a }
s-has-a-battery = hat { $a } % Akku
s-count-badges = { $count ->
    [one] 1 Badge
   *[other] { $count } Badges
    }
s-become-anonymous-at-at = werden anonym am { $at }
s-count-places = { $count ->
    [one] 1 Ort
   *[other] { $count } Orte
    }
s-is-nearly-full-a-free = ist fast voll: { $a } frei
s-is-full-of = ist voll: { $of }
s-a-refused-in-the-last-5-minutes = { $a } in den letzten 5 Minuten abgelehnt
s-is-nearly-full-left-left-of = ist fast voll: noch { $left }, { $of }
s-a-scans = { $a ->
    [one] 1 Scan
   *[other] { $a } Scans
    }
s-a-at-b-why = { $a } bei { $b }: { $why }
s-a-conflicts = { $a ->
    [one] 1 Konflikt
   *[other] { $a } Konflikte
    }
s-is-late-the-last-one-is-of-a = ist überfällig: die letzte ist von { $a }
s-a-purchases = { $a ->
    [one] 1 Kauf
   *[other] { $a } Käufe
    }
s-the-evacuation-of-a-is-running-since-b = Die Evakuierung von { $a } läuft seit { $b }.
s-sent-a-by-by = Gesendet { $a } von { $by }.
s-as-for-all-apps-value = wie für alle Apps: { $value }
s-name-changed-the-gate-follows-at-its-next = { $name } geändert. Das Gate folgt beim nächsten Kontakt.
s-somebody-else-changed-a-meanwhile-look-at-its = jemand anderes hat { $a } inzwischen geändert; die Einstellungen jetzt ansehen
s-antenna-antenna-is-not-connected = Antenne { $antenna } ist nicht verbunden
s-everybody-is-out-a-checked-out = Alle draußen: { $a } ausgecheckt.
s-must-be-one-of-a = muss eines sein von { $a }
s-this-needs-the-role-a-yours-is-b = das braucht die Rolle { $a }; die eigene ist { $b }
s-must-be-a-number-from-a-to-b = muss eine Zahl von { $a } bis { $b } sein
s-the-file-may-have-at-most-a-kib = die Datei darf höchstens { $a } KiB haben
s-a-saved-its-running-tokens-follow-at-once = { $a } gespeichert. Laufende Token folgen sofort.
s-tokens-of-a-ended-it-can-get-new = Token von { $a } beendet. Mit dem Geheimnis gibt es neue.
s-a-revoked-it-is-locked-out-from-now = { $a } widerrufen. Ab jetzt ausgesperrt.{ $about_pin }
s-a-created = { $a } angelegt.
s-email-has-a-new-password-and-is-signed = { $email } hat ein neues Passwort und ist überall abgemeldet.
s-a-now-signs-in-with-the-password-alone = { $a } meldet sich nun mit dem Passwort allein an.
s-email-removed-and-signed-out-everywhere = { $email } entfernt und überall abgemeldet.
s-there-is-no-region-path = es gibt keinen Bereich { $path }
s-published-until-a = veröffentlicht bis { $a }
s-published-from-a = veröffentlicht ab { $a }
s-nothing-was-changed-somebody-else-saved-version-now = Nichts wurde geändert: Jemand anderes hat inzwischen Version { $now } gespeichert. Zuerst ansehen.
s-path-removed-with-all-its-versions = { $path } mit allen Versionen entfernt.
s-version-number-of-path = Version { $number } von { $path }
s-version-version-restored = Version { $version } wiederhergestellt.
s-webhook-name = Webhook { $name }
s-webhook-id = Webhook { $id }
s-printer-id = Drucker { $id }
s-stopped-at-a-the-receiver-is-gone = Gestoppt { $a }: Der Empfänger ist weg
s-stopped-at-a-why = Gestoppt { $a }{ $why }
s-every-delivery-failed-since-a-why = Jede Zustellung schlägt fehl seit { $a }{ $why }
s-some-deliveries-fail-why = Einige Zustellungen schlagen fehl{ $why }
s-somebody-else-changed-a-meanwhile-this-is-who = jemand anderes hat { $a } inzwischen geändert; so ist es jetzt
s-the-rules-of-a-cannot-be-read-correct = die Regeln von { $a } sind nicht lesbar; zuerst auf der Seite des Ortes berichtigen
s-a-is-deleted-restore-it-before-you-change = { $a } ist gelöscht; vor dem Ändern wiederherstellen
s-most-a-day = { $most } am Tag
s-doors-of-a = Türen von { $a }
s-count-doors-their-rules-are-those-of-the = { $count ->
    [one] 1 Tür
   *[other] { $count } Türen
    }. Es gelten jetzt die Regeln des Ortes.
s-name-created = { $name } angelegt.
s-a-cannot-have-doors-add-a-place-below = { $a } kann keine Türen haben; darunter einen Ort hinzufügen
s-pair-a-gate-with-a = Ein Gate mit { $a } koppeln
s-there-is-no-device-typed-type-a-part = es gibt kein Gerät „{ $typed }“; einen Teil des Namens tippen und eins wählen
s-there-are-several-devices-typed-choose-one-from = es gibt mehrere Geräte „{ $typed }“; eins aus der Liste wählen oder den Code tippen
s-name-moved = { $name } verschoben.
s-name-moved-it-overlaps-with-a-in-this = { $name } verschoben. Überschneidet sich mit { $a } in diesem Raum.
s-left-left = noch { $left }
s-somebody-else-changed-the-capacity-of-a-meanwhile = jemand anderes hat die Grenze von { $a } inzwischen geändert; jetzt ansehen
s-a-at-most-capacity-people-inside = { $a }: höchstens { $capacity } Personen drinnen.
s-a-no-limit-of-its-own = { $a }: keine eigene Grenze.
s-a-is-open-for-entry = { $a } ist für den Einlass offen.
s-a-is-closed-every-check-in-is-refused = { $a } ist geschlossen: Jeder Check-in wird abgelehnt.
s-up-to-3-letters-such-as-b-a = Bis zu 3 Buchstaben, etwa B. Ein Badge mit { $zones } druckt die aller Orte, die der Inhaber betreten darf.
s-meaning-leave-empty-to-use-the-settings-default = { $meaning } Leer lassen für die Einstellung: { $default }.
s-inside-a = Drinnen: { $a }
s-name-deleted-app-it-can-be-restored-from = { $name } gelöscht.{ $app } Von hier wiederherstellbar.
s-name-restored = { $name } wiederhergestellt.
s-name-deleted-permanently = { $name } endgültig gelöscht.
s-credentials-of-a-revoked-the-app-is-shut = Zugangsdaten von { $a } widerrufen. Die App ist ab jetzt ausgesperrt.{ $about_pin }
s-a-offline = { $a } offline
s-import-id = Import { $id }
s-import-id-a = Import { $id }: { $a }
s-import-id-is-taken-back-already = Import { $id } ist schon zurückgenommen
s-the-file-is-larger-than-most-mib-split = die Datei ist größer als { $most } MiB; teilen
s-match-by-label-and-update = Nach „{ $label }“ erkennen und ändern
s-question-choose-an-answer-under-options = { $question }; unter Optionen eine Antwort wählen
s-a-admits-registered-attendees-only-and-nobody-is = { $a } lässt nur angemeldete Teilnehmer ein, und niemand ist angemeldet: unter Optionen wählen, wofür alle auf dieser Liste angemeldet sind, oder „nichts“
s-this-search-cannot-be-run-cause = diese Suche lässt sich nicht ausführen: { $cause }
s-interaction-id = Interaktion { $id }
s-there-is-no-interaction-id-it-may-have = es gibt keine Interaktion { $id }; vielleicht wurde sie gelöscht
s-interaction-id-is-deleted = Interaktion { $id } ist gelöscht.
s-meaning-code = { $meaning } ({ $code })
s-a-created-it-applies-from-now-on = { $a } angelegt. Gilt ab jetzt.
s-one-a-line-such-as-authorization-bearer-secret = eine je Zeile, etwa Authorization: Bearer {"{"}{"{"} secret {"}"}{"}"}
s-a-test-from-name = Ein Test von { $name }
s-this-is-a-test-from-name-it-works = Das ist ein Test von { $name }. Er funktioniert.
s-a-port-b-as-c = { $a }, Port { $b }, als { $c }
s-stopped-count-messages-that-waited-are-not-sent = Gestoppt. { $count ->
    [one] 1 wartende Nachricht wird
   *[other] { $count } wartende Nachrichten werden
    } nicht gesendet.
s-the-automation-name = die Automatik „{ $name }“
s-message-id-to-a-list = Nachricht { $id } an eine Liste
s-apps-name-this-e-mail-by-its-number = Apps nennen diese E-Mail mit ihrer Nummer, { $id }. Suchen benutzen das Kürzel.
s-a-b-without-a-code = { $a }, { $b } ohne Code
s-last-one-at-a-none-is-scheduled = Letzte um { $a }; keine ist geplant
s-a-badge-was-printed-at-a = Ein Badge wurde um { $a } gedruckt.
s-print-the-badge-of-a = Badge drucken: { $a }
s-the-badge-waits-since-a-does-not-work = Das Badge wartet, weil { $a } gerade nicht geht: { $why }.
s-the-badge-goes-to-a = Das Badge geht an { $a }.
s-device-id-is-not-a-reader = Gerät { $id } ist kein Lesegerät
s-the-network-cannot-be-asked-cause = Das Netz lässt sich nicht befragen: { $cause }.
s-forgotten-unknown-tags-forgotten = { $forgotten ->
    [one] 1 unbekanntes Tag
   *[other] { $forgotten } unbekannte Tags
    } vergessen.
s-assigned-attendees-got-a-tag-number = { $assigned ->
    [one] 1 Teilnehmer hat
   *[other] { $assigned } Teilnehmer haben
    } eine Tag-Nummer bekommen.
s-backup-made-and-checked-path = Sicherung gemacht und geprüft: { $path }.
s-name-deleted = { $name } gelöscht.
s-there-is-no-layout-a-any-more = das Layout { $a } gibt es nicht mehr
s-a-saved-badges-are-drawn-by-it = { $a } gespeichert. Badges werden danach gezeichnet.
s-name-added-badges-are-drawn-with-it-where = { $name } hinzugefügt. Badges benutzen sie, wo den enthaltenen Schriften ein Buchstabe fehlt.
s-name-removed = { $name } entfernt.
s-joined-as-a-what-happens-here-is-pushed = Beigetreten als { $a }. Was hier geschieht, wird ab jetzt gesendet.
s-there-is-no-printer-a-any-more = den Drucker { $a } gibt es nicht mehr
s-a-added-print-a-test-badge-now = { $a } hinzugefügt. Jetzt ein Testbadge drucken.
s-not-printed-cause = Nicht gedruckt: { $cause }.
s-a-cannot-be-read-any-more-take-a = { $a } ist nicht mehr lesbar; einen neuen Schnappschuss machen.
s-for-tickets-whose-qr-code-holds-an-address = Für Tickets, deren QR-Code eine Adresse oder JSON enthält: der Text vor dem Code, (*) für den Code, und der Text danach, etwa "ticket":"(*)". Jeder andere * steht für Beliebiges. Ohne Text danach endet der Code an einem Leerzeichen oder einem von " ' < > ? & # , ; | ) ] {"}"}. Leer lassen, wo Tickets nur den Code enthalten.
s-the-folder-can-be-written-to-free-a = In den Ordner lässt sich schreiben. Frei: { $a }. Eine Sicherung braucht jetzt { $b }.
s-a-saved-it-is-checked-from-now-on = { $a } gespeichert. Wird ab jetzt geprüft.
s-schema-of-name-removed-the-section-takes-anything = Schema von { $name } entfernt. Der Abschnitt nimmt alles; gespeicherte Daten bleiben.
s-there-is-no-statement-a-any-more = die Anweisung { $a } gibt es nicht mehr
s-a-saved-searches-can-use-it = { $a } gespeichert. Suchen können sie benutzen.
s-name-removed-searches-that-use-it-are-refused = { $name } entfernt. Suchen, die sie benutzen, werden ab jetzt abgelehnt.
s-key-kid-retired-gates-know-within-seconds = Schlüssel { $kid } außer Dienst. Gates wissen es binnen Sekunden.
s-key-kid-made-tickets-are-signed-by-it = Schlüssel { $kid } erzeugt. Tickets werden ab jetzt damit signiert.
s-a-places-have-times-which-were-read-in = Orte mit Zeiten, die als { $b } gelesen wurden: { $a }. Die Zeitzone ist jetzt { $c }.
s-the-times-of-count-places-are-as-on = Die Zeiten von { $count ->
    [one] 1 Ort
   *[other] { $count } Orten
    } sind wie auf der Uhr.
s-nothing-was-changed-cause = Nichts wurde geändert: { $cause }.
s-test-delivered-a = Test zugestellt. { $a }
s-test-failed-a = Test fehlgeschlagen. { $a }
s-paused-since-a-events-wait-until-you-resume = Angehalten seit { $a }. Ereignisse warten bis zum Fortsetzen.
s-every-delivery-failed-since-a-again = Jede Zustellung schlägt fehl seit { $a }.{ $again }
s-delivered-status = zugestellt ({ $status })
s-answered-status = antwortete { $status }
s-name-is-not-available = { $name } ist nicht in Benutzung
s-not-registered-for-name = nicht angemeldet für { $name }
s-a-is-full-b-of-c-inside = { $a } ist voll: { $b } von { $c } drinnen
s-already-used-at-place-today-at-at = heute schon benutzt bei { $place } um { $at }
s-already-used-at-place-at-at = schon benutzt bei { $place } um { $at }
s-name-lets-nobody-check-in = { $name } lässt niemanden einchecken
s-already-checked-in-often-times-at-name-the = schon { $often }-mal eingecheckt bei { $name }, mehr ist nicht erlaubt; zuletzt um { $last }
s-already-checked-in-often-times-at-name-the-door = schon { $often }-mal eingecheckt bei { $name }, mehr ist nicht erlaubt; zuletzt bei { $door } um { $last }
s-already-checked-in-once-at-name-the-most = schon einmal eingecheckt bei { $name }, mehr ist nicht erlaubt; zuletzt um { $last }
s-already-checked-in-once-at-name-the-most-door = schon einmal eingecheckt bei { $name }, mehr ist nicht erlaubt; zuletzt bei { $door } um { $last }
s-already-checked-in-often-times-at-name-the-2 = schon { $often }-mal eingecheckt bei { $name }, mehr ist an einem Tag nicht erlaubt; zuletzt um { $last }
s-already-checked-in-often-times-at-name-the-2-door = schon { $often }-mal eingecheckt bei { $name }, mehr ist an einem Tag nicht erlaubt; zuletzt bei { $door } um { $last }
s-already-checked-in-once-at-name-the-most-2 = schon einmal eingecheckt bei { $name }, mehr ist an einem Tag nicht erlaubt; zuletzt um { $last }
s-already-checked-in-once-at-name-the-most-2-door = schon einmal eingecheckt bei { $name }, mehr ist an einem Tag nicht erlaubt; zuletzt bei { $door } um { $last }
s-name-opens-at-opens = { $name } öffnet um { $opens }
s-name-has-been-closed-since-since = { $name } ist geschlossen seit { $since }
s-not-checked-in-at-name-so-there-is = nicht eingecheckt bei { $name }, also gibt es nichts auszuchecken
s-place-is-not-open-to-attendees-of-type = { $place } ist nicht offen für Teilnehmer des Typs { $own }
s-place-is-not-open-to-attendees-without-a = { $place } ist nicht offen für Teilnehmer ohne Typ
s-place-opens-for-own-at-opens = { $place } öffnet für { $own } um { $opens }
s-place-has-been-closed-for-own-since-since = { $place } ist für { $own } geschlossen seit { $since }
s-the-rules-of-name-cannot-be-read-an = die Regeln von { $name } sind nicht lesbar; ein Administrator muss data.Access berichtigen
s-unknown-code-code-more-than-one-person-has = unbekannter Code { $code }: mehrere Personen haben einen ähnlichen; nach dem Namen suchen
s-unknown-code-code = unbekannter Code { $code }
s-unknown-code-a = Unbekannter Code { $a }
s-not-a-genuine-ticket-its-signature-is-wrong = kein echtes Ticket: Die Signatur ist falsch; { $find }
s-this-ticket-is-signed-by-key-kid-which = dieses Ticket ist mit Schlüssel { $kid } signiert, den dieser Server nicht hat; { $find }
s-this-ticket-is-signed-by-key-kid-which-2 = dieses Ticket ist mit Schlüssel { $kid } signiert, der außer Dienst ist; { $find }
s-this-badge-was-reason-at-when = dieses Badge wurde { $reason }, { $when }
s-this-badge-was-blocked-at-when-reason = dieses Badge wurde gesperrt, { $when }: { $reason }
s-code-is-already-used-take-another-code = „{ $code }“ gibt es schon; einen anderen Code nehmen
s-must-not-be-before-start = darf nicht vor { $start } liegen
s-from-a = ab { $a }
s-until-a = bis { $a }
s-start-to-later = { $start } bis { $later }
s-most-a-day-2 = { $most } × am Tag
s-open-before-min-before = Öffnet { $before } Min. vorher
s-until-after-min-after = Bis { $after } Min. danach
s-out-at-time = Hinaus um { $time }
s-everybody-leaves-at-time = Alle gehen um { $time }.
s-everybody-leaves-at-time-except-a = Alle gehen um { $time }, außer { $a }.
s-attendees-of-this-type-only-a = Nur Teilnehmer dieses Typs: { $a }.
s-attendees-of-these-types-only-a = Nur Teilnehmer dieser Typen: { $a }.
s-each-person-is-let-in-most-times-at = Jede Person kommt höchstens { $most }-mal hinein.
s-each-person-is-let-in-most-times-a = Jede Person kommt höchstens { $most }-mal am Tag hinein.
s-at-most-a-people-are-inside-at-a = Höchstens { $a } Personen sind gleichzeitig drinnen.
s-opens-early-at-a = Öffnet { $early }: um { $a }.
s-closes-late-at-a = Schließt { $late }: um { $a }.
s-a-hours = { $a ->
    [one] 1 Stunde
   *[other] { $a } Stunden
    }
s-count-minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
    }
s-zone-zone-on-badges = Zone { $zone } auf Badges.
s-zone-zone = Zone { $zone }
s-no-id = Nr. { $id }
s-it-cannot-be-reached-a = er ist nicht erreichbar: { $a }
s-it-does-not-answer-at-address = er antwortet nicht unter { $address }
s-there-can-be-printers-max-printers-remove-one = es kann { $PRINTERS_MAX } Drucker geben; einen entfernen, den niemand braucht
s-must-have-at-most-n-characters = darf höchstens { $n } Zeichen haben
s-must-have-1-to-n-characters = muss 1 bis { $n } Zeichen haben
s-must-be-from-least-to-most = muss von { $least } bis { $most } sein
s-must-be-from-1-to-most = muss von 1 bis { $most } sein
s-only-the-first-a-are-shown-type-more = Nur die ersten { $a } stehen hier. Mehr vom Namen tippen.
s-pair-a = { $a } koppeln
s-1-person-was-checked-out-of-name = 1 Person wurde ausgecheckt: { $name }.
s-count-people-were-checked-out-of-name = { $count } Personen wurden ausgecheckt: { $name }.
s-must-have-at-least-min-chars-characters = muss mindestens { $MIN_CHARS } Zeichen haben
s-has-been-out-of-reach-for-minutes = ist seit { $minutes } min nicht erreichbar
s-name-revoked = { $name } (widerrufen)
s-name-may-do-everything = { $name } (darf alles)
s-name-lacks-the-scope = { $name } (hat den Bereich nicht)
s-it-takes-longer-than-seconds-s-narrow-it = dauert länger als { $seconds } s; eingrenzen
s-the-report-fails-cause = der Bericht schlägt fehl: { $cause }
s-there-is-a-report-id-in-the-dashboard-dashboard = im Dashboard { $dashboard } gibt es schon einen Bericht { $id }
s-there-is-no-report-id-in-the-dashboard-dashboard = im Dashboard { $dashboard } gibt es keinen Bericht { $id }
s-is-missing-send-name-for-no-value = fehlt; { $name }= heißt kein Wert
s-must-be-a-number-such-as-12-or-0 = muss eine Zahl sein, etwa 12 oder 0.5, nicht „{ $sent }“
s-label-needs-a-value-to-compare-with = { $label } braucht einen Wert zum Vergleichen
s-label-is-yes-or-no = { $label } ist ja oder nein
s-label-is-a-number-such-as-12-or-0 = { $label } ist eine Zahl, etwa 12 oder 0.5
s-label-is-a-time-such-as-2026-11-21 = { $label } ist eine Zeit, etwa 2026-11-21 oder 2026-11-21 09:30
s-label-is-a-text-choose-is-or-contains = { $label } ist ein Text: „ist“ oder „enthält“ wählen
s-label-is-yes-or-no-choose-is = { $label } ist ja oder nein: „ist“ wählen
s-label-is-a-number-choose-is-from-or-to = { $label } ist eine Zahl: „ist“, „ab“ oder „bis“ wählen
s-label-is-a-time-choose-is-from-or-to = { $label } ist eine Zeit: „ist“, „ab“ oder „bis“ wählen
s-label-stands-twice = { $label } steht zweimal da
s-name-is-neither-among-the-parameters-nor-fixed = :{ $name } steht weder bei den Parametern noch ist es fest
s-name-the-query-does-not-use-name = { $name }: die Abfrage benutzt :{ $name } nicht
s-two-columns-are-called-name-name-them-apart-with = zwei Spalten heißen { $name }; mit AS verschieden nennen
s-version-version-published-apps-get-it-with-their-next = Version { $version } veröffentlicht. Apps bekommen sie mit dem nächsten Ping.
s-version-number-is-the-draft-now-apps-get-it = Version { $number } ist jetzt der Entwurf. Apps bekommen ihn beim Veröffentlichen.
s-typed-has-no-name = „{ $typed }“ hat keinen Namen
s-there-is-no-version-version = es gibt keine Version { $version }
s-version-number = Version { $number }
s-purchase-id = Kauf { $id }
s-there-is-no-purchase-id = es gibt keinen Kauf { $id }
s-must-have-1-to-most-characters-what-you-found = muss 1 bis { $most } Zeichen haben: was sich fand oder was geschah
s-there-is-no-settled-inconsistency-id = es gibt keine erledigte Unstimmigkeit { $id }
s-must-be-at-most-most = darf höchstens { $most } sein
s-total-is-not-quantity-unit-with-or-without-the = { $total } ist nicht { $quantity } × { $unit }, mit oder ohne Rabatt
s-count-tickets-do-not-go-into-units-units = { $count } Tickets gehen nicht in { $units } Stück auf
s-they-add-up-to-paid-less-change-kept-and = sie ergeben { $paid }, ohne Rückgeld { $kept }, und nicht { $total }
s-they-add-up-to-bought-and-not-to-total = sie ergeben { $bought } und nicht { $total }
s-must-be-the-purchase-code-and-digits-digits = muss der Code des Kaufs und { $digits } Ziffern sein
s-there-is-no-item-with-counter-gaps = es gibt keinen Posten mit Zähler { $gaps }
s-and-count-inconsistencies-more = und { $count } weitere Unstimmigkeiten
s-there-are-count-and-only-the-first-most-are = es sind { $count }, und nur die ersten { $most } sind geladen
s-must-be-less-than-end-it-is-in-cents = muss kleiner als { $end } sein; in Cent
s-there-is-no-device-device = es gibt kein Gerät { $device }
s-number-of-the-record-fault = Nummer des Datensatzes: { $fault }
s-count-what = { $count } { $what }
s-register-for-place = Anmelden für { $place }
s-check-in-at-place = Einchecken bei { $place }
s-check-out-at-place = Auschecken bei { $place }
s-set-the-type-name = Typ setzen: { $name }
s-add-the-flag-flag = Kennzeichen { $flag } hinzufügen
s-block-tickets-reason = Tickets sperren: { $reason }
s-message-subject = Nachricht „{ $subject }“
s-new-attendees-have-no-name = Von { $all } neuen Teilnehmern { $count ->
    [one] hat 1
   *[other] haben { $count }
    } keinen Namen
s-new-attendees-have-no-code = Von { $all } neuen Teilnehmern { $count ->
    [one] hat 1 keinen Ticketcode und lässt
   *[other] haben { $count } keinen Ticketcode und lassen
    } sich nicht scannen; Codes lassen sich erzeugen
s-addresses-are-not-valid = { $count ->
    [one] 1 E-Mail-Adresse ist ungültig; sie wird importiert, wie sie ist, und bekommt
   *[other] { $count } E-Mail-Adressen sind ungültig; sie werden importiert, wie sie sind, und bekommen
    } keine E-Mail
s-duplicate-same-as-line = doppelt, wie Zeile { $line }
s-encoding-columns-separated = { $encoding }, Spalten getrennt durch { $delimiter }
s-the-days-in-are-joined = die Tage in „{ $header }“ werden mit den Zeiten von { $times } verbunden
s-other-data-key = Andere Daten: { $key }
s-day-of-times = Tag von { $times }
s-removed-restored-left = { $removed } entfernt, { $restored } zurückgesetzt auf das Vorige, { $left } gelassen, wie sie sind.
s-this-attendee-has-no-code = diesem Teilnehmer fehlt: { $code }
s-somebody-gave-this-person-the-code-code-meanwhile-so-nothing = jemand hat dieser Person inzwischen den Code { $code } gegeben, darum ist nichts gesperrt; prüfen, ob das der verlorene ist
s-there-is-no-delegate-id-it-may-have-been-erased = es gibt keinen Teilnehmer { $id }; vielleicht wurde er endgültig gelöscht
s-somebody-changed-this-note-meanwhile-it-says-now-now-nothing = jemand hat diese Notiz inzwischen geändert; jetzt steht da: „{ $now }“. Die eigene Änderung ist nicht gespeichert
s-is-not-the-file-that-import-id-was-made-from = ist nicht die Datei, aus der Import { $id } entstand; sie wurde geändert oder ist eine andere
s-type-go-back-into-the-field-to-go-back = „go back“ in das Feld tippen, um zurückzugehen
s-name-has-no-schema-any-more = { $name } hat kein Schema mehr
s-misfits-of-having-stored-records-would-not-fit-the-first = { $misfits } von { $having } gespeicherten Datensätzen würden nicht passen, der erste wegen { $first }
s-nobody-answers-at-hub-why = unter { $hub } antwortet niemand: { $why }
s-host-is-this-machine-itself-loopback-settings-say-whether-calls = { $host } ist dieser Rechner selbst (Loopback); ob Aufrufe dorthin dürfen, sagen die Einstellungen (outgoing.allowLocal)
s-host-is-this-machine-itself-unspecified-settings-say-whether-calls = { $host } ist dieser Rechner selbst (unbestimmte Adresse); ob Aufrufe dorthin dürfen, sagen die Einstellungen (outgoing.allowLocal)
s-host-is-this-machine-itself-an-address-of-its-own = { $host } ist dieser Rechner selbst (eine eigene Adresse); ob Aufrufe dorthin dürfen, sagen die Einstellungen (outgoing.allowLocal)
s-host-is-a-link-local-address-settings-say-whether-calls = { $host } ist eine Link-Local-Adresse; ob Aufrufe dorthin dürfen, sagen die Einstellungen (outgoing.allowLocal)
s-host-is-an-address-at-which-a-cloud-keeps-secrets = unter { $host } bewahrt eine Cloud Geheimnisse auf; dorthin gehen nie Aufrufe, was auch eingestellt ist
s-host-is-no-address-of-one-machine-calls-never-go = { $host } ist keine Adresse eines einzelnen Rechners; dorthin gehen nie Aufrufe, was auch eingestellt ist
s-address-is-no-address-of-a-machine-give-its-name = „{ $address }“ ist keine Adresse eines Rechners; Namen oder IP-Adresse angeben, etwa 192.0.2.9:5084
s-there-is-no-delegate-asked = es gibt keinen Teilnehmer { $asked }
s-there-is-no-event-asked = es gibt kein Event { $asked }
s-may-have-at-most-most-bytes-when-merged = darf zusammengeführt höchstens { $most } Bytes haben
s-value-was-given-to-delegate-holder-since-give-that-one = „{ $value }“ hat inzwischen Teilnehmer { $holder }; dem zuerst einen anderen Code geben
s-value-was-given-to-device-holder-since-give-that-one = „{ $value }“ hat inzwischen Gerät { $holder }; dem zuerst einen anderen Code geben
s-there-is-no-delegate-with-id-target = es gibt keinen Teilnehmer mit der Id { $target }
s-there-is-no-device-with-id-target = es gibt kein Gerät mit der Id { $target }
s-there-is-no-event-with-id-target = es gibt kein Event mit der Id { $target }
s-above-is-this-device-itself-or-a-descendant-of-it = { $above } ist dieses Gerät selbst oder liegt darunter
s-a-device-may-have-at-most-ancestors-max-generations-above = über einem Gerät dürfen höchstens { $ANCESTORS_MAX } Ebenen liegen
s-must-be-1-to-zone-max-chars-letters-or-digits = muss 1 bis { $ZONE_MAX_CHARS } Buchstaben oder Ziffern haben
s-took-longer-than-seconds-s-narrow-it-down = dauerte länger als { $seconds } s; eingrenzen
s-a-sections-name-has-1-to-name-max-chars-characters = der Name eines Abschnitts hat 1 bis { $NAME_MAX_CHARS } Zeichen, ohne Leerzeichen außen
s-at-most-sections-max-may-have-a-schema = höchstens { $SECTIONS_MAX } dürfen ein Schema haben
s-this-is-no-json-schema-that-can-be-used-fault = das ist kein brauchbares JSON-Schema: { $fault }
s-its-schema-cannot-be-used-so-nothing-is-stored-here = das Schema ist nicht brauchbar, darum wird hier nichts gespeichert, bis ein Administrator es ändert: { $cause }
s-the-picture-may-have-at-most-most-kib = das Bild darf höchstens { $most } KiB haben
s-width-height-pixels-are-too-many-make-the-picture-smaller = { $width } × { $height } Pixel sind zu viele: das Bild verkleinern
s-url-is-no-address-such-as-https-gate-example-org = „{ $url }“ ist keine Adresse wie https://gate.example.org oder http://192.168.1.20:8080
s-origin-is-no-origin-such-as-https-gate-example-org = „{ $origin }“ ist kein Ursprung wie https://gate.example.org, ohne Pfad und ohne Schrägstrich am Ende
s-must-have-at-most-types-max-entries = darf höchstens { $TYPES_MAX } Einträge haben
s-this-file-has-another-key-kid-or-has-retired-it = diese Datei hat einen anderen Schlüssel { $kid } oder hat ihn außer Dienst gestellt; nichts wurde gespeichert
s-there-can-be-fonts-max-fonts-remove-one-that-nobody = es kann { $FONTS_MAX } Schriften geben; eine entfernen, die niemand braucht
s-there-can-be-layouts-max-layouts-of-badges-remove-one = es kann { $LAYOUTS_MAX } Badge-Layouts geben; eines entfernen, das niemand braucht
s-no-layout-of-badges-is-for-attendees-without-a-type = kein Badge-Layout ist für Teilnehmer ohne Typ
s-no-layout-of-badges-is-for-whom = kein Badge-Layout ist für { $whom }
s-no-layout-of-certificates-is-for-attendees-without-a-type = kein Layout von Bescheinigungen ist für Teilnehmer ohne Typ
s-no-layout-of-certificates-is-for-whom = kein Layout von Bescheinigungen ist für { $whom }
s-one-pdf-has-at-most-pdf-max-badges-choose-a = ein PDF hat höchstens { $PDF_MAX } Badges: einen Typ wählen oder die Teilnehmerliste filtern
s-one-pdf-has-at-most-pdf-max-certificates-choose-a = ein PDF hat höchstens { $PDF_MAX } Bescheinigungen: einen Ort wählen
s-the-region-path-fails-fault = der Bereich { $path } schlägt fehl: { $fault }
s-there-is-a-region-path-already = es gibt schon einen Bereich { $path }
s-there-is-no-version-version-of-path = es gibt keine Version { $version } von { $path }
s-must-start-with-api-delegate-info-or-api-device-info = muss mit /api/delegate-info oder /api/device-info beginnen und darf weitergehen, etwa /api/delegate-info/schedule, mit Buchstaben, Ziffern, - _ und ., höchstens { $PATH_MAX_BYTES } Zeichen; nicht „{ $path }“
s-code-is-blocked-reason-take-another-or-unblock-it-in = „{ $code }“ ist gesperrt ({ $reason }); einen anderen nehmen oder ihn in der Konsole entsperren
s-choose-from-2-to-group-max-attendees = 2 bis { $GROUP_MAX } Teilnehmer wählen
s-this-device-cannot-be-deleted-for-good-reasons = dieses Gerät lässt sich nicht endgültig löschen: { $reasons }
s-the-code-code-is-that-of-name-which-runs-no = der Code „{ $code }“ ist der von { $name }, wo keine App läuft; die Anfrage abweisen und in der App einen anderen Code wählen
s-there-is-no-evacuation-id = es gibt keine Evakuierung { $id }
s-the-ticket-of-name-was-deleted-at-at = das Ticket von { $name } wurde gelöscht, { $at }
s-the-place-name-was-deleted-at-at = der Ort { $name } wurde gelöscht, { $at }
s-there-is-no-interaction-id = es gibt keine Interaktion { $id }
s-address-is-no-e-mail-address = „{ $address }“ ist keine E-Mail-Adresse
s-number-is-no-phone-number-such-as-49-40-123456 = „{ $number }“ ist keine Telefonnummer wie +49 40 123456
s-the-phone-number-number-has-no-country-code-such-as = die Telefonnummer „{ $number }“ hat keine Landesvorwahl wie +49
s-must-have-1-to-name-max-chars-characters-without-white = muss 1 bis { $NAME_MAX_CHARS } Zeichen haben, ohne Leerzeichen außen
s-must-be-from-1-to-within-max-minutes-a-week = muss von 1 bis { $WITHIN_MAX_MINUTES } sein (eine Woche)
s-there-are-automations-max-automations-remove-some-first = es gibt { $AUTOMATIONS_MAX } Automatiken; zuerst einige entfernen
s-there-is-an-automation-name-already = es gibt schon eine Automatik „{ $name }“
s-there-is-no-template-template-for-e-mails = es gibt keine Vorlage „{ $template }“ für E-Mails
s-there-is-no-template-template-for-texts = es gibt keine Vorlage „{ $template }“ für SMS
s-there-is-no-template-template-for-push-messages = es gibt keine Vorlage „{ $template }“ für Push-Nachrichten
s-there-is-no-device-with-the-code-code = es gibt kein Gerät mit dem Code „{ $code }“
s-there-is-no-automation-id-any-more = die Automatik { $id } gibt es nicht mehr
s-is-longer-than-subject-max-chars-characters-for-them = ist für diese Person länger als { $SUBJECT_MAX_CHARS } Zeichen
s-is-longer-than-push-max-bytes-bytes-for-them = ist für diese Person länger als { $PUSH_MAX_BYTES } Bytes
s-at-most-headers-max-can-be-set = höchstens { $HEADERS_MAX } lassen sich setzen
s-name-cannot-be-sent = „{ $name }“ lässt sich nicht senden
s-fault-places-stand-within-quotes-to = { $fault }; Platzhalter stehen in Anführungszeichen: "{"{"}{"{"} to {"}"}{"}"}"
s-the-e-mail-cause = die E-Mail: { $cause }
s-e-mails-to-delegates-are-switched-off-in-the-settings = E-Mails an Teilnehmer sind in den Einstellungen ausgeschaltet
s-texts-to-delegates-are-switched-off-in-the-settings = SMS an Teilnehmer sind in den Einstellungen ausgeschaltet
s-push-messages-to-delegates-are-switched-off-in-the-settings = Push-Nachrichten an Teilnehmer sind in den Einstellungen ausgeschaltet
s-there-is-no-gateway-for-e-mails-yet = es gibt noch kein Gateway für E-Mails
s-there-is-no-gateway-for-texts-yet = es gibt noch kein Gateway für SMS
s-there-is-no-gateway-for-push-messages-yet = es gibt noch kein Gateway für Push-Nachrichten
s-there-is-no-message-id-any-more = die Nachricht { $id } gibt es nicht mehr
s-this-message-is-state-by-now-only-one-that-failed = der Stand dieser Nachricht ist inzwischen „{ $state }“; noch einmal gesendet wird nur eine, die fehlschlug, abgebrochen wurde oder deren Ausgang unbekannt ist
s-this-message-is-state-by-now-only-one-that-waits = der Stand dieser Nachricht ist inzwischen „{ $state }“; zurückrufen lässt sich nur eine, die wartet
s-slug-must-have-1-to-slug-max-chars-of-a = „{ $slug }“ muss 1 bis { $SLUG_MAX_CHARS } Zeichen haben: a-z, 0-9, Bindestrich, Punkt und Unterstrich
s-there-is-a-template-slug-for-e-mails-already = es gibt schon eine Vorlage { $slug } für E-Mails
s-there-is-a-template-slug-for-texts-already = es gibt schon eine Vorlage { $slug } für SMS
s-there-is-a-template-slug-for-push-messages-already = es gibt schon eine Vorlage { $slug } für Push-Nachrichten
s-there-are-templates-max-templates-remove-some-first = es gibt { $TEMPLATES_MAX } Vorlagen; zuerst einige entfernen
s-the-automation-user-sends-it-give-that-another-template-first = die Automatik „{ $user }“ sendet sie; der zuerst eine andere Vorlage geben
s-there-is-no-template-id-any-more = die Vorlage { $id } gibt es nicht mehr
s-this-job-is-state-now-look-at-it-again = der Stand dieses Druckauftrags ist jetzt „{ $state }“; noch einmal ansehen
s-there-is-no-printer-name = es gibt keinen Drucker { $name }
s-the-prefix-must-have-2-to-prefix-max-hexadecimal-digits = das Präfix muss 2 bis { $PREFIX_MAX } hexadezimale Ziffern haben
s-every-tag-number-of-attendee-id-is-taken = alle Tag-Nummern von Teilnehmer { $id } sind vergeben
s-at-most-value-max-chars-characters = höchstens { $VALUE_MAX_CHARS } Zeichen
s-at-most-parameters-max-fixed-ones-included = höchstens { $PARAMETERS_MAX }, feste eingeschlossen
s-name-a-name-has-1-to-64-letters-digits-and = „{ $name }“: ein Name hat 1 bis 64 Buchstaben, Ziffern und _ und beginnt nicht mit einer Ziffer
s-name-is-there-twice = { $name } steht zweimal da
s-name-must-be-a-text-a-number-true-false-or = { $name }: muss ein Text, eine Zahl, true, false oder null sein
s-the-product-of-this-type-is-gone-setting-walkin-cause = das Produkt dieses Typs gibt es nicht mehr (Einstellung walkIn): { $cause }
s-barcode-is-another-attendees-or-was = { $barcode } gehört einem anderen Teilnehmer oder gehörte ihm
s-must-be-prefix-followed-by-24-to-64-bytes-in = muss { $PREFIX } sein, gefolgt von 24 bis 64 Bytes in Base64
s-there-can-be-webhooks-max-webhooks-remove-one-that-nobody = es kann { $WEBHOOKS_MAX } Webhooks geben; einen entfernen, den niemand braucht
s-another-webhook-is-called-name = ein anderer Webhook heißt schon { $name }
s-kind-is-no-type-of-interaction-such-as-check-in = „{ $kind }“ ist kein Interaktionstyp wie check-in, auch nicht * für alle
s-name-is-none-there-are-known-delegate-for-all-of = „{ $name }“ ist keine; es gibt { $known }, delegate.* für alle eines Teilnehmers oder * für alle
s-client-client-is-revoked-make-a-new-one = der Client „{ $client }“ ist widerrufen; einen neuen anlegen
s-must-have-at-most-max-bytes-bytes = darf höchstens { $MAX_BYTES } Bytes haben
s-is-too-easy-to-guess-reason-use-several-uncommon-words = ist zu leicht zu erraten. { $reason } Mehrere seltene Wörter nehmen oder eines vom Passwortmanager erzeugen lassen
s-too-many-attempts-failed-try-again-in-retry-after-s = zu viele Versuche schlugen fehl; in { $retry_after_s } Sekunden noch einmal versuchen
s-too-many-sign-ins-at-once-try-again-in-retry = zu viele Anmeldungen auf einmal; in { $retry_after_s } Sekunden noch einmal versuchen
s-too-many-codes-were-asked-for-try-again-in-retry = zu viele Codes wurden verlangt; in { $retry_after_s } Sekunden noch einmal versuchen
s-email-is-not-an-e-mail-address = „{ $email }“ ist keine E-Mail-Adresse
s-email-is-the-last-administrator-who-can-sign-in-make = „{ $email }“ ist der letzte Administrator, der sich anmelden kann; zuerst einen anderen Benutzer zum Administrator machen
s-there-are-most-views-remove-one-first = es gibt { $MOST } Ansichten; zuerst eine entfernen
s-cause-if-it-is-on-a-stick-is-the-stick = { $cause }; liegt es auf einem Stick: steckt er?
s-the-copy-is-not-sound-and-was-not-kept-cause = die Kopie ist nicht in Ordnung und wurde nicht behalten: { $cause }; siehe `gatepost check`
s-its-schema-version-is-found-not-version = ihre Schemaversion ist { $found }, nicht { $version }
s-a-row-of-table-names-a-record-that-does-not = eine Zeile von { $table } nennt einen Datensatz, den es nicht gibt
s-there-is-no-import-id = es gibt keinen Import { $id }
s-has-more-than-codes-max-unique-codes-split-it = hat mehr als { $CODES_MAX } eindeutige Codes; aufteilen
s-the-header-of-column-at-contains-a-nul-character = die Überschrift von Spalte { $at } enthält ein NUL-Zeichen
s-the-header-header-stands-twice-rename-one-of-the-columns = die Überschrift „{ $header }“ steht zweimal da; eine der Spalten umbenennen
s-import-batch-was-interrupted-cause = Import { $batch } wurde unterbrochen: { $cause }
s-import-id-is-of-what-only-delegates-can-be-joined = Import { $id } enthält { $what }; nur Teilnehmer lassen sich anmelden
s-import-id-is-state-only-the-delegates-of-a-complete = der Stand von Import { $id } ist „{ $state }“; anmelden lassen sich nur die Teilnehmer eines vollständigen Imports
s-joining-was-not-possible-cause = das Anmelden war nicht möglich: { $cause }
s-is-that-of-several-attendees-match-by-name-and-email = ist die mehrerer Teilnehmer; nach { $NAME_AND_EMAIL } oder nach einem Code zuordnen
s-is-that-of-device-id-which-is-no-event = ist der von Gerät { $id }, das kein Event ist
s-key-no-column-is-column-name-one-with-map = keine Spalte ist { $column }; eine dafür angeben
s-there-is-no-delegate-asked-nor-in-this-list = es gibt keinen Teilnehmer { $asked }, auch nicht in dieser Liste
s-there-is-no-device-asked-nor-in-this-list = es gibt kein Gerät { $asked }, auch nicht in dieser Liste
s-there-is-no-event-asked-nor-in-this-list = es gibt kein Event { $asked }, auch nicht in dieser Liste
s-has-more-than-references-max-references-between-rows-split-it = hat mehr als { $REFERENCES_MAX } Verweise zwischen Zeilen; aufteilen
s-waiting-max-lists-are-waiting-already-import-or-discard-one = es warten schon { $WAITING_MAX } Listen; eine davon importieren oder verwerfen
s-only-one-list-is-worked-on-at-a-time-and = es wird immer nur eine Liste bearbeitet, und { $by } prüft gerade { $name }; danach noch einmal versuchen
s-only-one-list-is-worked-on-at-a-time-and-2 = es wird immer nur eine Liste bearbeitet, und { $by } importiert gerade { $name }; danach noch einmal versuchen
s-only-one-list-is-worked-on-at-a-time-and-3 = es wird immer nur eine Liste bearbeitet, und { $by } nimmt gerade { $name } zurück; danach noch einmal versuchen
s-only-one-list-is-worked-on-at-a-time-and-4 = es wird immer nur eine Liste bearbeitet, und { $by } meldet gerade die Teilnehmer von { $name } an; danach noch einmal versuchen
s-only-one-list-is-worked-on-at-a-time-and-5 = es wird immer nur eine Liste bearbeitet, und bei { $by } läuft gerade: { $name }; danach noch einmal versuchen
s-is-not-encoding-line-line-has-a-byte-that-is = ist nicht { $encoding }: Zeile { $line } hat ein Byte, das darin kein Buchstabe ist; eine andere Kodierung wählen
s-is-not-encoding-line-line-has-a-byte-that-is-2 = ist nicht { $encoding }: Zeile { $line } hat ein Byte, das darin kein Buchstabe ist; eine andere Kodierung wählen oder als UTF-8 speichern (in einer Tabellenkalkulation: „CSV UTF-8“)
s-is-utf-8-but-for-a-byte-in-line-line = ist UTF-8 bis auf ein Byte in Zeile { $line }; neu als UTF-8 speichern (in einer Tabellenkalkulation: „CSV UTF-8“)
s-is-no-text-a-byte-in-line-line-is-neither = ist kein Text: Ein Byte in Zeile { $line } ist weder UTF-8 noch ein Buchstabe einer anderen Kodierung; als UTF-8 speichern (in einer Tabellenkalkulation: „CSV UTF-8“)
s-its-sheet-sheet-is-empty-there-are-others-for-sheet = das Blatt „{ $sheet }“ ist leer; es gibt andere: { $others }
s-holds-the-error-text = enthält den Fehler { $text }
s-is-damaged-or-no-list-in-a-spreadsheet-cause-open = ist beschädigt oder keine Liste in einer Tabelle ({ $cause }); in einer Tabellenkalkulation öffnen und neu als .xlsx speichern, oder ein anderes Blatt wählen
s-sheet-sheet-has-another-header-than-the-one-it-seems = das Blatt „{ $sheet }“ hat andere Überschriften als das, welches es fortzusetzen scheint; das Blatt wählen, das importiert wird
s-makes-the-row-longer-than-most-mib = macht die Zeile länger als { $most } MiB
s-typed-is-not-idtype-id-the-id-types-are-known = „{ $typed }“ hat nicht die Form {"{"}idType{"}"}:{"{"}id{"}"}; für idType gibt es { $known }
s-id-type-typed-is-unknown-the-id-types-are-known = den Id-Typ „{ $typed }“ gibt es nicht; es gibt { $known }
s-name-is-not-an-iana-time-zone-such-as-europe = „{ $name }“ ist keine Zeitzone der IANA wie Europe/Berlin
s-nothing-was-saved-apart = Nichts wurde gespeichert. { $apart }
s-must-be-a-whole-number-from-to-not = muss eine ganze Zahl von { $least } bis { $most } sein, nicht { $sent }
s-must-be-a-whole-number-from-0-to = muss eine ganze Zahl von 0 bis { $most } sein
s-must-be-a-whole-number-from-1-to = muss eine ganze Zahl von 1 bis { $most } sein
s-check-in-a-attendees = Einchecken: { $a } Teilnehmer
s-check-out-a-attendees = Auschecken: { $a } Teilnehmer
s-register-a-attendees = Anmelden: { $a } Teilnehmer
s-set-type-a-attendees = Typ setzen: { $a } Teilnehmer
s-add-flag-a-attendees = Kennzeichen setzen: { $a } Teilnehmer
s-block-tickets-a-attendees = Tickets sperren: { $a } Teilnehmer
s-unblock-tickets-a-attendees = Tickets entsperren: { $a } Teilnehmer
s-delete-a-attendees = Löschen: { $a } Teilnehmer
s-letter-of-this-events-own = { $letter }, eigenes dieses Events
s-1-row-has-the-e-mail-address-each = 1 Zeile hat die E-Mail-Adresse einer Zeile darüber: „{ $email }“ in den Zeilen { $first } und { $line }. Jede wird ein eigener Teilnehmer; wird nach E-Mail erkannt, wird daraus einer
s-rows-have-the-e-mail-address-each = { $count } Zeilen haben die E-Mail-Adresse einer Zeile darüber, zuerst „{ $email }“ in den Zeilen { $first } und { $line }. Jede wird ein eigener Teilnehmer; wird nach E-Mail erkannt, wird daraus einer
s-1-row-has-the-e-mail-address-same = 1 Zeile hat die E-Mail-Adresse einer Zeile darüber: „{ $email }“ in den Zeilen { $first } und { $line }. Sie ändern denselben Datensatz; die letzte Zeile gilt
s-rows-have-the-e-mail-address-same = { $count } Zeilen haben die E-Mail-Adresse einer Zeile darüber, zuerst „{ $email }“ in den Zeilen { $first } und { $line }. Sie ändern denselben Datensatz; die letzte Zeile gilt
s-already-used-by-the-device = gehört schon dem Ort oder Gerät mit der Id { $id }
s-already-used-by-the-delegate = gehört schon dem Teilnehmer mit der Id { $id }
s-already-used-by-the-event = gehört schon dem Event mit der Id { $id }
s-sheet-sheets = Blatt „{ $sheets }“
s-1-number-is-shown-with-zeros = 1 Zahl in „{ $header }“ ist mit Nullen vorn angezeigt und ohne sie gespeichert, nämlich { $shown } und { $stored }
s-numbers-are-shown-with-zeros = { $count } Zahlen in „{ $header }“ sind mit Nullen vorn angezeigt und ohne sie gespeichert, etwa { $shown } und { $stored }
s-1-number-is-shown-with-zeros-choose = 1 Zahl in „{ $header }“ ist mit Nullen vorn angezeigt und ohne sie gespeichert, nämlich { $shown } und { $stored }; unter Optionen eine Antwort wählen
s-numbers-are-shown-with-zeros-choose = { $count } Zahlen in „{ $header }“ sind mit Nullen vorn angezeigt und ohne sie gespeichert, etwa { $shown } und { $stored }; unter Optionen eine Antwort wählen
s-1-code-was-damaged-by-a-spreadsheet = 1 Code in „{ $header }“ hat eine Tabellenkalkulation beschädigt: Sie hat die Zahl gerundet oder gekürzt; die Zeile ist fehlerhaft
s-codes-were-damaged-by-a-spreadsheet = { $count } Codes in „{ $header }“ hat eine Tabellenkalkulation beschädigt: Sie hat die Zahl gerundet oder gekürzt; die Zeilen sind fehlerhaft
s-1-cell-holds-a-shortened-number = 1 Zelle in „{ $header }“ enthält eine Zahl, die eine Tabellenkalkulation gekürzt hat, wie 1,5E+12; sie wird importiert, wie sie ist
s-cells-hold-shortened-numbers = { $count } Zellen in „{ $header }“ enthalten Zahlen, die eine Tabellenkalkulation gekürzt hat, wie 1,5E+12; sie werden importiert, wie sie sind
s-is-a-number-of-more-than-15-digits = { $cell } ist eine Zahl mit mehr als 15 Ziffern, von denen eine Tabellenkalkulation die ersten 15 behält: Der Code wurde gerundet; die Spalte dort als Text formatieren und die Codes neu eingeben
s-is-a-number-with-a-fraction-and-no-code = { $cell } ist eine Zahl mit Nachkommastellen und kein Code; die Spalte dort als Text formatieren und die Codes neu eingeben
s-is-a-number-in-a-rounded-column = { $cell } ist eine Zahl in einer Spalte, deren längere Codes die Tabellenkalkulation gerundet hat: Vielleicht fehlen vorn Nullen; die Spalte dort als Text formatieren und die Codes neu eingeben
s-header-holds-whole-names = „{ $header }“ enthält ganze Namen, die geteilt werden: „{ $example }“ hat den Vornamen „{ $first }“ und den Nachnamen „{ $last }“
s-1-cell-without-a-header-is-left-out = 1 Zelle in einer Spalte ohne Überschrift wird ausgelassen, in Zeile { $line }: „{ $cell }“
s-cells-without-a-header-are-left-out = { $count } Zellen in Spalten ohne Überschrift werden ausgelassen, die erste in Zeile { $line }: „{ $cell }“
s-this-is-a-list-of-shop = das ist eine Liste von { $shop }; ihre Spalten sind bekannt
s-the-header-is-in-row-1-row-left-out = die Überschriften stehen in Zeile { $row }; die Zeile darüber wird ausgelassen: „{ $first }“
s-the-header-is-in-row-rows-left-out = die Überschriften stehen in Zeile { $row }; { $count } Zeilen darüber werden ausgelassen: „{ $first }“
s-every-row-is-a-kind = jede Zeile gilt als { $kind }, weil die Liste nicht sagt, was ihre Zeilen sind
s-name-is-value-where-a-row-does-not-say-it = { $name } ist „{ $value }“, wo eine Zeile nichts anderes sagt
s-1-row-is-checked-in-elsewhere = 1 Zeile, die „{ $header }“ anderswo eingecheckt nennt, wird hier nicht eingecheckt; damit das zählt, die Liste danach als Interaktionen importieren, mit interactionType=check-in
s-rows-are-checked-in-elsewhere = { $count } Zeilen, die „{ $header }“ anderswo eingecheckt nennt, werden hier nicht eingecheckt; damit das zählt, die Liste danach als Interaktionen importieren, mit interactionType=check-in
s-1-row-has-a-ticket-that-header-calls = 1 Zeile hat ein Ticket, das „{ $header }“ als { $kinds } führt: { $fate }
s-rows-have-tickets-that-header-calls = { $count } Zeilen haben Tickets, die „{ $header }“ als { $kinds } führt: { $fate }
s-header-calls-kinds = „{ $header }“ führt { $kinds }
s-the-dates-in-are-order = die Daten in „{ $header }“ sind { $order }, weil keine andere Reihenfolge zu allen passt
s-the-dates-in-can-be-read-in-several-ways = die Daten in „{ $header }“ lassen sich auf mehrere Arten lesen, etwa { $cells }
s-the-dates-in-can-be-read-in-several-ways-choose = die Daten in „{ $header }“ lassen sich auf mehrere Arten lesen, etwa { $cells }; unter Optionen eine Antwort wählen
s-1-time-is-doubtful = 1 Zeit ist in { $zone } zweifelhaft, weil die Uhren umgestellt werden: { $what }; { $fate }
s-times-are-doubtful = { $count } Zeiten sind in { $zone } zweifelhaft, weil die Uhren umgestellt werden: { $what }; { $fate }
s-must-be-a-time-such-as-or = muss eine Zeit sein, etwa 22:00 oder 2026-11-21 22:00, nicht „{ $text }“
s-must-be-a-time-such-as = muss eine Uhrzeit sein, etwa 22:00, nicht „{ $text }“
s-name-must-be-an-object-not-a-list = { $name } muss ein Objekt sein, keine Liste
s-key-stands-twice = „{ $key }“ steht zweimal da
s-unknown-place-known-are = {"{"}{"{"} { $name } {"}"}{"}"} gibt es nicht; es gibt { $known }
s-name-is-not-known-here-there-is = `{ $name }` gibt es hier nicht; es gibt { $names }
s-path-has-no-property-did-you-mean = { $path } hat keine Eigenschaft „{ $shown }“; ist „{ $meant }“ gemeint?
s-path-has-no-property-there-are = { $path } hat keine Eigenschaft „{ $shown }“; es gibt { $known }
s-line-path-has-no-property-did-you-mean = Zeile { $line }: { $path } hat keine Eigenschaft „{ $shown }“; ist „{ $meant }“ gemeint?
s-line-path-has-no-property-there-are = Zeile { $line }: { $path } hat keine Eigenschaft „{ $shown }“; es gibt { $known }
s-there-is-no-filter = den Filter `{ $name }` gibt es nicht
s-there-is-no-test = den Test `{ $name }` gibt es nicht
s-there-is-no-function = die Funktion `{ $name }` gibt es nicht
s-host-cannot-be-found-cause = { $host } ist nicht zu finden: { $cause }
s-check-ins-go-on-and-what-happens = Check-ins gehen weiter; was geschieht, wird gesendet, sobald die Leitung zurück ist.
s-there-is-a-user-email-already = es gibt schon einen Benutzer „{ $email }“
s-the-setting-name-is-there-twice = die Einstellung { $name }: steht zweimal da
s-the-setting-cause = die Einstellung { $cause }
s-near-x-syntax-error = Syntaxfehler bei „{ $x }“ (Zeile { $line }, Spalte { $column })
s-no-such-column = die Spalte { $x } gibt es nicht (Zeile { $line }, Spalte { $column })
s-no-such-table = die Tabelle { $x } gibt es nicht (Zeile { $line }, Spalte { $column })
s-no-such-function = die Funktion { $x } gibt es nicht (Zeile { $line }, Spalte { $column })
s-msg-line-column = { $msg } (Zeile { $line }, Spalte { $column })
s-the-head-office-does-not-answer-why = die Zentrale antwortet nicht: { $why }
s-the-head-office-takes-nothing-why = die Zentrale nimmt von diesem Server nichts an: { $why }
s-the-head-office-answered-status-why = die Zentrale antwortete { $status }: { $why }
s-far-ahead-of-the-head-office = { $far } vor der Zentrale
s-far-behind-the-head-office = { $far } hinter der Zentrale
s-count-interactions-are-on-their-way-back = { $count ->
    [one] 1 Interaktion ist
   *[other] { $count } Interaktionen sind
    } auf dem Rückweg. Der Standort nimmt sie, sobald er verbunden ist.
s-count-lost-records-dropped = { $count ->
    [one] 1 verlorener Datensatz
   *[other] { $count } verlorene Datensätze
    } verworfen.
s-behind-changes-seconds = { $behind } Änderungen, { $seconds } s
s-behind-changes-minutes = { $behind } Änderungen, { $minutes } Min.
s-tags-are-not-hexadecimal = { $count ->
    [one] 1 Tag (uhfId) besteht
   *[other] { $count } Tags (uhfId) bestehen
    } nicht aus Paaren hexadezimaler Ziffern; UHF-Lesegeräte finden so keines
s-the-column-is-the-name-already = die Spalte „{ $header }“ kommt in weitere Daten; „{ $by }“ ist schon: { $property }
s-the-column-if-it-is-the-name = die Spalte „{ $header }“ kommt in weitere Daten; ist sie „{ $property }“, das wählen
s-cell-is-no-date-in-the-order = „{ $cell }“ ist kein Datum in der Reihenfolge dieser Spalte: { $label }
s-delegate-id-of-the-head-office = Teilnehmer { $id } der Zentrale
s-device-id-of-the-head-office = Ort oder Gerät { $id } der Zentrale
s-name-parameters-are-written-as = { $name }: Parameter werden als :name geschrieben
s-a-statement-reads-the-documented-views = { $text }; eine Anweisung liest nur die beschriebenen Sichten und schreibt nie
s-differs-from-another-spelling = ist nur eine andere Schreibweise von { $other }
s-a-settings-name-has = der Name einer Einstellung hat 1 bis { $max } Zeichen
s-name-does-not-fit-told = { $name } passt nicht: { $told }
s-name-is-missing-quoted = „{ $name }“ fehlt
s-unknown-field-did-you-mean = das Feld „{ $name }“ gibt es nicht; ist „{ $meant }“ gemeint?
s-unknown-field-there-are = das Feld „{ $name }“ gibt es nicht; es gibt { $known }
s-must-be-one-of-known-not = muss eines sein von { $known }, nicht „{ $name }“
s-must-be-wanted-not-sent = muss { $wanted } sein, nicht { $sent }
s-this-must-be-an-object-not-a-list = das muss ein Objekt sein, keine Liste
s-this-does-not-fit-told = das passt nicht: { $told }
s-folder-this-folder-is-not-there = { $folder }: Diesen Ordner gibt es nicht; liegt er auf einem Stick: steckt er?
