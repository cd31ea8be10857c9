sales-purchases = Käufe
sales-nothing-is-sold-yet = Noch nichts verkauft
sales-point-of-sale-apps-send-their-purchases = Kassen-Apps senden ihre Käufe an <code>POST /tx/new</code>. Jeder Kauf bleibt, und seine Unstimmigkeiten werden aufgelistet.
sales-create-a-client-for-a-till = Client für eine Kasse anlegen
sales-no-purchases = Keine Käufe
sales-sold-by = Verkauft von
sales-paid-by = Bezahlt mit
sales-tickets = Tickets
sales-total-in = Summe{ $currency }
sales-to-look-into-count = { $count } zu prüfen
sales-settled = erledigt
sales-first-and-more = { $first } und { $count } weitere
sales-inconsistencies = Unstimmigkeiten
sales-no-inconsistencies = Keine Unstimmigkeiten
sales-a-purchase-is-always-accepted-whatever-the = Ein Kauf wird immer angenommen, was die Kasse auch sendet. Passen Summen, Produkte, Tickets oder Zähler nicht zusammen, steht er hier.
sales-amount-at-time = { $amount }, { $time }
sales-amount-at-time-sold-by = { $amount }, { $time }, verkauft von { $staff }
sales-note-findings-and-actions = Notiz: was sich fand und was geschah
sales-the-till-was-50-cents-short = In der Kasse fehlten 50 Cent.
sales-settle-purchase = Erledigen<span class="unseen">: Unstimmigkeiten von Kauf { $id }</span>
sales-more-follow-when-these-are-settled = Weitere folgen, wenn diese erledigt sind.
sales-sales = Verkäufe
sales-purchase-code = Kauf <span class="code">{ $code }</span>
sales-refunded = erstattet
sales-to-look-into = zu prüfen
sales-sent-times = { $count }-mal gesendet, jedes Mal anders
sales-somebody-was-deleted-permanently = jemand wurde { $ago } endgültig gelöscht
sales-none = Keine.
sales-what-is-settled = Was erledigt ist
sales-what-you-found-out-or-did-about = Was sich fand oder was geschah
sales-settle-ticked = Erledigen<span class="unseen">: was bei Kauf { $id } angekreuzt ist</span>
sales-settled-by-at = erledigt von { $by }, { $at }
sales-open-again = Wieder öffnen
sales-number-id = Nummer { $id }
sales-about = Angaben
sales-bought = Gekauft
sales-the-till-said-no-time = Die Kasse nannte keine Zeit
sales-came-in = Eingegangen
sales-lets-in-to = Gilt für
sales-note = Notiz
sales-all-of-it-is-in-what-the = Alles steht in dem, was die Kasse sandte
sales-no-line-could-be-read = Aus dem, was die Kasse sandte, ließ sich keine Zeile lesen.
sales-quantity = Menge
sales-each = Einzeln
sales-discount = Rabatt
sales-total = Summe
sales-unknown-product = unbekanntes Produkt
sales-amount-in-total = <strong>{ $amount }</strong> insgesamt
sales-paid = Bezahlt
sales-no-payment-could-be-read = Aus dem, was die Kasse sandte, ließ sich keine Zahlung lesen.
sales-method = Zahlungsart
sales-reference = Beleg
sales-amount = Betrag
sales-change = Rückgeld
sales-kept = Behalten
sales-tickets-made = Erzeugte Tickets
sales-attendee = Teilnehmer
sales-barcode = Barcode
sales-for = Für
sales-only-the-first-500-of-each = Von allem stehen hier nur die ersten 500. <a href="/console/sales/export?format=json&amp;q={ $code }" download>Der Kauf als JSON</a> hat alles.
sales-what-the-till-sent-word-for-word = Was die Kasse sandte, Wort für Wort
sales-body-by = { $time }, von { $sender }
sales-first-in-force = Zuerst gesendet, gilt: { $body }
sales-revision = Fassung { $number }: { $body }
sales-its-tickets-are-still-being-made = Die Tickets werden noch erzeugt.
sales-it-is-too-long-to-be-shown = Zu lang, um hier zu stehen; bitte herunterladen.
sales-download-body = Herunterladen<span class="unseen">: Inhalt { $id }</span>
sales-bytes = { $count } Bytes
sales-settled-2 = Erledigt
sales-nothing-is-settled-yet = Noch nichts erledigt
sales-what-somebody-has-looked-into-stands-here = Was jemand geprüft hat, steht hier mit dem, was sich fand.
sales-purchase = Kauf
sales-totals = Summen
sales-purchases-to-look-into = Käufe zu prüfen
sales-what-tills-send-is-added-up-here = Was Kassen senden, wird hier summiert: nach Zahlungsart, Produkt und Personal, Tag für Tag.
sales-altogether = Insgesamt
sales-sum = Summe
sales-as-csv = Als CSV<span class="unseen">, { $title }</span>
sales-no-matches-try-fewer-filters = Keine Treffer. Weniger Filter probieren.
sales-table = Tabelle { $title }
sales-all-days-in = Alle Tage{ $currency }
sales-all-days = Alle Tage
sales-lines =
    { $count ->
        [one] 1 Zeile
       *[other] { $count } Zeilen
    }
sales-amount-of-purchases =
    <strong>{ $amount }</strong> in { $count ->
        [one] 1 Kauf
       *[other] { $count } Käufen
    }
sales-count-of-tickets =
    { $count ->
        [one] <strong>1</strong> Ticket
       *[other] <strong>{ $count }</strong> Tickets
    }
sales-payments =
    { $count ->
        [one] 1 Zahlung
       *[other] { $count } Zahlungen
    }
sales-units =
    { $count ->
        [one] { $count } Stück
       *[other] { $count } Stück
    }
sales-count-of-purchases =
    { $count ->
        [one] 1 Kauf
       *[other] { $count } Käufe
    }
sales-inconsistencies-settled =
    { $count ->
        [one] 1 Unstimmigkeit erledigt.
       *[other] { $count } Unstimmigkeiten erledigt.
    }
sales-product = Produkt
