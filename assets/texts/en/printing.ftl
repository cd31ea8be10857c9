printing-nothing-was-printed-yet = Nothing was printed yet
printing-badges-stand-here-from-the-moment-they = Badges stand here from the moment they are asked for, with what became of them.
printing-for = For
printing-attendee-delegate = attendee { $delegate }
printing-it-was-printed = It was printed
printing-print-again = Print again
printing-move-there = Move there
