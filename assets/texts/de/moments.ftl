# Wie Deutsch Zahlen, Tage und Zeiten schreibt.
language-name = Deutsch
number-group = .
number-point = ,
date-in-digits = { $day }.{ $month }.{ $year }
minute-on-day = { $time } am { $date }
day-in-words = { $weekday }, { $day }. { $month }
ago-now = gerade eben
ago-minutes = vor { $count } Min.
ago-hours = vor { $count } Std.
ago-days =
    { $count ->
        [one] gestern
       *[other] vor { $count } Tagen
    }
weekday-monday = Montag
weekday-tuesday = Dienstag
weekday-wednesday = Mittwoch
weekday-thursday = Donnerstag
weekday-friday = Freitag
weekday-saturday = Samstag
weekday-sunday = Sonntag
month-january = Januar
month-february = Februar
month-march = März
month-april = April
month-may = Mai
month-june = Juni
month-july = Juli
month-august = August
month-september = September
month-october = Oktober
month-november = November
month-december = Dezember
moments-day-of-month = { $day }.{ $month }.
