printing-nothing-was-printed-yet = Noch nichts gedruckt
printing-badges-stand-here-from-the-moment-they = Badges stehen hier, sobald sie angefordert sind, mit dem, was aus ihnen wurde.
printing-for = Für
printing-attendee-delegate = Teilnehmer { $delegate }
printing-it-was-printed = Wurde gedruckt
printing-print-again = Erneut drucken
printing-move-there = Dorthin verschieben
