gates-message-to-all-gates = Nachricht an alle Gates
gates-doors-open-at-8-30 = Einlass um 8:30 Uhr
gates-send = Senden
gates-add-a-gate = Gate hinzufügen
gates-sent-gates-show-it-until-you-clear = { $sent } Gates zeigen sie, bis sie gelöscht wird.
gates-clear = Löschen
gates-no-gates-yet = Noch keine Gates
gates-open-a-place-and-press-pair-a = Einen Ort öffnen und auf <em>Gate koppeln</em> drücken, oder <code>/gate</code> dieses Servers auf einem Telefon, Tablet oder Laptop öffnen und die Anfrage senden.
gates-then-open-discovery-compare-the-four-digits = Dann die <a href="/console/discovery">Gerätesuche</a> öffnen, die vier Ziffern vergleichen und „Hinzufügen“ drücken. <a href="/handbook/gates">Ein Gate einrichten</a>
gates-needs-attention-count = Braucht jemanden <span class="badge bad">{ $count }</span>
gates-offline-policy = offline: { $policy }
gates-choose-the-place-of-name = Ort wählen<span class="unseen"> für { $name }</span>
gates-what-to-do = Was zu tun ist
gates-about-name = zu { $name }
gates-working-count = In Betrieb <span class="badge">{ $count }</span>
gates-set-up-name = Einrichten<span class="unseen">: { $name }</span>
gates-readers = Lesegeräte
gates-all-settings = Alle Einstellungen
gates-report-stolen = Als gestohlen melden
gates-set-up-name-2 = { $name } einrichten
gates-while-offline-admit = Offline einlassen
gates-kiosk = Kiosk
gates-walk-ins = Spontangäste
gates-apply-now = Jetzt anwenden
gates-supervisor-pin-of-name = Supervisor-PIN von { $name }
gates-supervisor-pin = Supervisor-PIN
gates-6-to-8-digits = 6 bis 8 Ziffern
gates-set-pin = PIN setzen
gates-remove-pin = PIN entfernen
gates-close-the-settings-of-name = Schließen<span class="unseen">: Einstellungen von { $name }</span>
gates-seconds = { $count } s
gates-minutes = { $count } Min.
gates-hours = { $count } Std.
gates-ago = vor { $span }
gates-fast = { $span } vor
gates-slow = { $span } nach
gates-not-connected-yet = Noch nicht verbunden
gates-no-contact-since = Kein Kontakt seit { $at }
gates-uploads-failed =
    { $count ->
        [one] 1 Upload fehlgeschlagen
       *[other] { $count } Uploads fehlgeschlagen
    }
gates-scans-wait =
    { $count ->
        [one] 1 Scan wartet
       *[other] { $count } Scans warten
    }
gates-scans-wait-since =
    { $count ->
        [one] 1 Scan wartet seit { $at }
       *[other] { $count } Scans warten seit { $at }
    }
gates-no-list-yet = Noch keine Liste
gates-old-list = Liste { $span } alt
gates-no-place-chosen = Kein Ort gewählt
gates-its-place-is-gone = Sein Ort ist weg
gates-not-at-its-place = Nicht am vorgesehenen Ort
gates-low-battery = Akku { $percent } %
gates-clock-is-off = Uhr { $off }
gates-app-not-on-the-screen = App nicht auf dem Bildschirm
gates-other-settings = Einstellungen der Version { $version } noch nicht da
gates-app-not-up-to-date = App nicht aktuell
gates-other-place-is-set = Vorgesehen ist { $set }; am Gate hat jemand einen anderen Ort gewählt.
gates-scans-wait-on-it =
    { $count ->
        [one] 1 Scan wartet darauf.
       *[other] { $count } Scans warten darauf.
    }
gates-list-of = von { $at }
gates-admits-by-its-list = Es lässt nach seiner Liste{ $list } ein; nichts geht verloren.
gates-admits-registered-by-its-list = Es lässt Angemeldete nach seiner Liste{ $list } ein; nichts geht verloren.
gates-admits-nobody = Es lässt niemanden ein, bis der Server antwortet.
gates-look-at-network-and-screen = Netz und Bildschirm prüfen.
gates-look-at-power-and-cable = Strom und Kabel prüfen.
gates-cannot-be-reached = Nicht erreichbar
gates-cannot-be-reached-since = Nicht erreichbar seit { $at }
gates-count-in-contact = { $online } von { $all } { $name }
gates-in-contact = { $all } in Kontakt
gates-all-in-contact = { $others } und { $last } in Kontakt
gates-make-kiosk = Zum Kiosk machen
gates-end-kiosk = Kiosk beenden
