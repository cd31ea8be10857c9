readers-tag-to-follow = Tag, dem gefolgt wird
readers-epc-or-the-code-of-an-attendee = EPC oder der Code eines Teilnehmers
readers-follow = Folgen
readers-put-on-a-badge-with-this-tag = Ein Badge mit diesem Tag anlegen und gehen, wie Teilnehmer gehen: durch jede Tür, in jede Ecke und an den Türen anderer Räume vorbei.
readers-followed-since-since-for-15-minutes-at = Gefolgt seit { $since }, höchstens 15 Minuten.
readers-no-antenna-has-heard-this-tag-yet = Noch hat keine Antenne diesen Tag gehört.
readers-antenna = Antenne
readers-level-now = Pegel jetzt
readers-best-level = Bester Pegel
readers-reads = Lesungen
readers-reader-antenna-antenna = { $reader }, Antenne { $antenna }
readers-strongest = am stärksten
readers-fmt-dbm = { $fmt } dBm
readers-not-heard = nicht gehört
readers-this-walk-suggests-ignore-reads-below-rssi = Dieser Gang schlägt vor: Lesungen unter <strong>{ $rssi_floor_dbm } dBm</strong> ignorieren (jetzt { $floor }) und Personen bei <strong>{ $move_db } dB</strong> Vorsprung umsetzen (jetzt { $move_db2 }).
readers-set-both-under-settings = Beides unter <a id="settings" href="/console/settings">Einstellungen</a> setzen
readers-an-administrator-sets-both-under-settings = Ein Administrator setzt beides unter <em>Einstellungen</em>
readers-or-a-place-overrides-them-in-data = oder ein Ort überschreibt sie in <code>data.Presence</code>.
readers-walk-on-after-some-twenty-seconds-of = Weitergehen: Nach etwa zwanzig Sekunden Lesungen schlägt diese Seite Schwellen vor.
readers-no-readers-answered = Keine Lesegeräte antworteten
readers-readers-announce-themselves-as-llrp-tcp-if = Lesegeräte melden sich als <code>_llrp._tcp</code>, wenn das eingeschaltet ist. Sonst die Adresse eingeben, die im Display des Lesegeräts oder im Router steht. <a href="/console/readers/new">Lesegerät eingeben</a>
readers-reader = Lesegerät
readers-added = hinzugefügt
readers-add-a-reader = Lesegerät hinzufügen
readers-find-readers-on-the-network = Lesegeräte im Netz suchen
readers-calibrate = Kalibrieren
readers-tags-to-encode = Tags zum Beschreiben
readers-no-readers-yet = Noch keine Lesegeräte
readers-uhf-readers-notice-tags-in-badges-from = UHF-Lesegeräte bemerken Tags in Badges aus Metern Entfernung und halten ohne Warteschlangen fest, wer wo war.
readers-find-readers-on-the-network-or-enter = <a href="/console/readers/find">Lesegeräte im Netz suchen</a> oder <a href="/console/readers/new">eines eingeben</a>. <a href="/handbook/readers">Ein Lesegerät wählen und anbringen</a>
readers-down-of-count-readers-down = { $down } von { $count } Lesegeräten ausgefallen
readers-reader-2 = Lesegerät
readers-readers = Lesegeräte
readers-people = Personen
readers-noticed-now = jetzt bemerkt
readers-waiting-entries-and-exits-waiting-to-be = { $waiting } Ein- und Ausgänge noch nicht festgehalten
readers-lost-entries-and-exits-lost = { $lost } Ein- und Ausgänge verloren
readers-clock-line = Uhr { $line }
readers-reads-s = Lesungen/s
readers-tag = Tag
readers-tags = Tags
readers-unknown-reads-of-unknown-tags = { $unknown } Lesungen unbekannter Tags
readers-ignored-ignored-by-prefix = { $ignored } nach Präfix ignoriert
readers-dropped-dropped = { $dropped } verworfen
readers-none-dropped = keine verworfen
readers-posts-to-path-of-this-server-with = Sendet an <code>{ $path }</code> dieses Servers, mit Id und Geheimnis eines Clients (HTTP Basic).
readers-problems-of-name = Probleme von { $name }
readers-hears = Hört
readers-reads-s-2 = Lesungen/s
readers-level = Pegel
readers-last-read = Letzte Lesung
readers-not-connected = nicht verbunden
readers-change-value-name = Ändern{ $value }<span class="unseen">{ $name }</span>
readers-device-name = Gerät<span class="unseen"> { $name }</span>
readers-switched-off = Ausgeschaltet:
readers-unknown-tags = Unbekannte Tags
readers-tags-that-no-attendee-has-by-the = Tags, die kein Teilnehmer hat, nach den ersten Ziffern ihrer EPC. Gibt ein Import oder eine Änderung einem Teilnehmer eine davon als <code>uhfId</code>, wird ihre letzte Lesung als <em>seen</em> festgehalten.
readers-begins-with = Beginnt mit
readers-for-example = Zum Beispiel
readers-forget-tags-that-begin-with-prefix = Vergessen<span class="unseen">: Tags, die mit { $prefix } beginnen</span>
readers-with-a-tag-number-uhfid-count-without = Mit Tag-Nummer (<code>uhfId</code>): <strong>{ $count }</strong>. Ohne: <strong>{ $without_tag }</strong>.
readers-give-a-tag-number-to-everybody-who = Allen ohne Tag-Nummer eine geben ({ $count })? Nichts nimmt das auf einmal zurück.
readers-tag-numbers-begin-with = Tag-Nummern beginnen mit
readers-2-to-10-hexadecimal-digits-the-attendees = 2 bis 10 hexadezimale Ziffern. Die Nummer des Teilnehmers folgt, zusammen 24 Ziffern. An den Lesegeräten dasselbe Präfix setzen, damit andere Tags ignoriert werden.
readers-give-everybody-a-number = Allen eine Nummer geben
readers-download-the-list-for-a-badge-printer = Liste für einen Badgedrucker herunterladen
