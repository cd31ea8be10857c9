find-no-matches-for-q-try-fewer-letters = Keine Treffer für { $q }. Weniger Buchstaben versuchen.
find-attendees-places-pages-and-actions = Teilnehmer, Orte, Seiten und Aktionen
find-attendees-places-pages = Teilnehmer, Orte, Seiten
find-try-fewer-letters = Weniger Buchstaben versuchen.
