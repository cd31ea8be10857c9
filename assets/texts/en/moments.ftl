# The language's own name, and how it writes numbers, dates and times.
language-name = English
number-group = ,
number-point = .
date-in-digits = { $year }-{ $month }-{ $day }
minute-on-day = { $time } on { $date }
day-in-words = { $weekday }, { $day } { $month }
ago-now = just now
ago-minutes = { $count } min ago
ago-hours = { $count } h ago
ago-days =
    { $count ->
        [one] yesterday
       *[other] { $count } days ago
    }
weekday-monday = Monday
weekday-tuesday = Tuesday
weekday-wednesday = Wednesday
weekday-thursday = Thursday
weekday-friday = Friday
weekday-saturday = Saturday
weekday-sunday = Sunday
month-january = January
month-february = February
month-march = March
month-april = April
month-may = May
month-june = June
month-july = July
month-august = August
month-september = September
month-october = October
month-november = November
month-december = December
moments-day-of-month = { $month }-{ $day }
