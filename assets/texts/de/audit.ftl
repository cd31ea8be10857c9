audit-audit = Protokoll
audit-older-changes = Ältere Änderungen
audit-newest-changes = Neueste Änderungen
audit-no-older-changes = Keine älteren Änderungen.
audit-no-changes-yet = Noch keine Änderungen. Jede Änderung steht hier, mit Benutzer und den Werten davor und danach.
audit-no-matches-try-fewer-filters = Keine Treffer. Weniger Filter probieren.
audit-many-at-once =
    { $links ->
        [who] <a href="{ $who_link }"><strong>{ $who }</strong></a>: { $count } Änderungen auf einmal
       *[none] <strong>{ $who }</strong>: { $count } Änderungen auf einmal
    }
audit-many-at-once-by =
    { $links ->
        [who] <a href="{ $who_link }"><strong>{ $who }</strong></a>: { $count } Änderungen auf einmal, <a href="{ $batch_link }">{ $batch }</a>
       *[none] <strong>{ $who }</strong>: { $count } Änderungen auf einmal, <a href="{ $batch_link }">{ $batch }</a>
    }
audit-did =
    { $links ->
        [both] <a href="{ $who_link }"><strong>{ $who }</strong></a> – { $verb }: { $noun } <a href="{ $record_link }">{ $record }</a>
        [who] <a href="{ $who_link }"><strong>{ $who }</strong></a> – { $verb }: { $noun } { $record }
        [record] <strong>{ $who }</strong> – { $verb }: { $noun } <a href="{ $record_link }">{ $record }</a>
       *[none] <strong>{ $who }</strong> – { $verb }: { $noun } { $record }
    }
audit-show-changes = Änderungen anzeigen<span class="unseen">: { $id } und ältere</span>
audit-the-newest-are-shown-the-export-has = Die neuesten { $count } stehen hier; der Export hat alle.
audit-searched-back-to = Bis { $at } zurück gesucht. Unten weiter zurück suchen oder eine kürzere Zeit wählen.
audit-and-more-the-audits-export-has-all = und { $count } weitere; der Export des Protokolls hat alle
audit-and-more-the-export-has-all = und { $count } weitere; der Export hat alle
audit-values = { $count ->
    [one] 1 Wert
   *[other] { $count } Werte
    }
audit-before = Davor
audit-after = Danach
audit-show-values = Werte anzeigen<span class="unseen">: Änderung { $id }</span>
audit-import-of-file = Import von { $file }
audit-email-removed = { $email } (entfernt)
audit-named-no = { $name } (Nr. { $id })
