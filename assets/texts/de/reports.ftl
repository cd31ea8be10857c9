reports-slow = Dieser Bericht geht { $rows } Zeilen durch: Jede Vorschau dauert { $seconds } Sekunden oder länger.
reports-the-preview-follows-what-you-choose = Die Vorschau folgt der Auswahl.
reports-advanced = Für Fortgeschrittene
reports-api-access = API-Zugriff
reports-edit-as-sql = Als SQL bearbeiten
reports-a-report-that-is-saved-as-sql = Ein als SQL gespeicherter Bericht lässt sich hier nicht mehr bearbeiten.
reports-reports = Berichte
reports-certificates = Bescheinigungen
reports-options = Optionen
reports-what-counts-the-sessions-at-the-place = Es zählen die Sessions am Ort und darunter, gleichzeitige einmal; ohne Sessions Beginn und Ende des Ortes. Check-ins, Check-outs und Lesegeräte sagen, wer da war.
reports-enough-of-there = { $enough } von { $there } Anwesenden waren { $percent } % von { $time } da
reports-open-the-pdf = PDF öffnen
reports-set-the-mail-server-up-first = Um allen ihre Bescheinigung per E-Mail zu senden, zuerst den Mailserver einrichten: <a href="/console/messages/gateways">Gateways</a>.
reports-make-the-e-mail-that-brings-it = Um allen ihre Bescheinigung per E-Mail zu senden, die <a href="/console/messages/templates/new?type=email&amp;sample=certificate">E-Mail dafür anlegen</a>.
reports-send-a-certificate-to-each = Allen eine Bescheinigung senden, höchstens { $count }?
reports-send-each-theirs-by-e-mail = Allen ihre per E-Mail senden:
reports-send = Senden
reports-nobody-yet = Noch niemand
reports-nobody-was-there-for-long-enough = Niemand war lange genug da.
reports-attendee = Teilnehmer
reports-attended = Anwesend
reports-percent = Prozent
reports-only-the-first-are-shown-the-pdf = Nur die ersten stehen hier; das PDF hat alle.
reports-each-has-a-code-that-its-page = Jede hat einen Code, den ihre Seite bestätigt.
reports-they-have-no-code = Sie haben keinen Code: Keine Adresse ist von außen erreichbar (Einstellungen, Allgemein).
reports-layouts-are-under-settings-badges = Layouts stehen unter <em>Einstellungen</em>, <em>Badges</em>.
reports-minutes =
    { $count ->
        [one] 1 Minute
       *[other] { $count } Minuten
    }
reports-hours =
    { $count ->
        [one] 1 Stunde
       *[other] { $count } Stunden
    }
reports-parts-of-hours = { $hours },{ $tenths } Stunden
reports-chart-of = Diagramm: { $heading }
reports-histogram-of = { $heading }: wie viele Zeilen welche Zahl haben
reports-only-the-first-rows-are-counted-the = Nur die ersten Zeilen sind gezählt; die Dateien haben alle.
reports-only-the-highest-are-drawn-the-files = Nur die höchsten sind gezeichnet; die Dateien haben alle.
reports-table-of = Tabelle: { $heading }
reports-only-a-part-is-drawn-the-files = Nur ein Teil ist gezeichnet; die Dateien haben alles.
reports-chart-about = { $value } nach { $along }, { $count } Werte: höchstens { $most } bei { $most_at }, mindestens { $least } bei { $least_at }
reports-number-range = { $from } bis { $to }
reports-column-by-span = { $column }, je { $span }
reports-column-span = { $column }, { $span }
reports-column-on-day = { $column }, { $day }
reports-columns-of-views = Zeiten sind Texte in UTC; <code>local_time(recorded_at)</code> ist in der Zeitzone dieses Events. Gelöschte Datensätze fehlen. <code>data ->> '$.Data.meal'</code> liest ein Feld eines Abschnitts.
reports-new-report = Neuer Bericht
reports-lists-and-counts-to-read-here-to = Listen und Zahlen zum Lesen, zum Herunterladen und zum Abruf über die API.
reports-no-reports = Keine Berichte
reports-a-report-is-a-list-or-a = Ein Bericht ist eine Liste oder Zählung, die alle lesen, zeichnen und herunterladen können.
reports-every-client = jeder Client
reports-clients =
    { $count ->
        [one] 1 Client
       *[other] { $count } Clients
    }
reports-removed-reports-that-came-with-gatepost = Entfernte Berichte, die mit Gatepost kamen
reports-delete-report = Bericht löschen
reports-delete-name = { $name } löschen?
reports-chart = Diagramm
reports-grid = Raster
reports-line = Linie
reports-bars = Balken
reports-none = Keins
reports-column = Spalte
reports-run-the-report = Bericht ausführen
reports-rows =
    { $count ->
        [one] 1 Zeile
       *[other] { $count } Zeilen
    }
reports-the-first-rows = Die ersten { $count } Zeilen
reports-the-files-have-all-rows = Die Dateien haben alle Zeilen.
reports-not-run-yet = Noch nicht ausgeführt
reports-fill-in-the-parameters-above-and-run = Oben die Parameter ausfüllen und den Bericht ausführen.
reports-write-sql = SQL schreiben
reports-choose-what-the-report-is-about-or = Wählen, worum es geht, oder mit einem Beispiel beginnen.
reports-no-rows = Keine Zeilen
reports-the-report-ran-and-found-no-rows = Der Bericht lief und fand keine Zeilen.
reports-rows-of-the-report = Zeilen des Berichts
reports-the-first-count-rows = Die ersten { $count } Zeilen.
reports-nothing-is-saved-yet = Noch ist nichts gespeichert.
reports-from = ab
reports-to = bis
reports-no-chart = keins
reports-a-text = Text
