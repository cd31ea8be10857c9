//! Times as people and spreadsheets write them.

use super::choice::choice;
use jiff::civil::{Date, DateTime, Time};
use serde_json::Value;

choice! {
    /// The order of day, month and year in numbers.
    Order {
        Dmy = "dmy", "day, month, year";
        Mdy = "mdy", "month, day, year";
        Ymd = "ymd", "year, month, day";
    }
}

/// Months by the beginnings of their names, as they are folded, in the languages of the headers.
const MONTHS: [&str; 12] = [
    "jan ene gen janv",
    "feb fev fevr",
    "mar mrz mars mrt maa maerz",
    "apr abr avr",
    "may mai mei mag maj",
    "jun juin giu",
    "jul juil lug",
    "aug ago aou",
    "sep set",
    "oct okt ott out",
    "nov",
    "dec dez dic",
];

/// The numbers of a date, and their order where its writing says it.
type Numbers = ([i16; 3], Option<Order>);

/// The orders in which the numbers of a date can be read, where its writing does not say; none for anything else.
#[must_use]
pub fn orders(cell: &str) -> Option<Vec<Order>> {
    if !cell.starts_with(|first: char| first.is_ascii_digit()) || !cell.contains(['/', '-']) {
        return None;
    }
    // A year first leaves nothing open.
    if cell.bytes().take(4).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (date, _) = halves(cell)?;
    let (numbers, None) = numbers_of(&date)? else {
        return None;
    };
    let has_long_year = numbers[2] > 99;
    let fits = |order: &Order| {
        in_order(numbers, *order).is_some() && !(has_long_year && *order == Order::Ymd)
    };
    Some(Order::ALL.iter().copied().filter(fits).collect())
}

/// Returns whether a cell is a time of day without a date.
#[must_use]
pub fn is_time_of_day(cell: &str) -> bool {
    cell.len() <= 11 && cell.contains([':', 'h', 'm', 'M']) && time(cell).is_some()
}

/// A time as the API takes it: digits alone are Unix seconds, a date alone is its midnight; what is in a form of the API,
/// or in none that is known, is left for the API's own check.
///
/// # Errors
/// The reason why a date cannot be read in its order, or not without one.
pub fn read(cell: &str, order: Option<Order>) -> Result<Value, String> {
    if let Ok(seconds) = cell.parse::<i64>()
        && cell.len() > 8
    {
        return Ok(seconds.into());
    }
    let read = local_time(cell, order)?;
    Ok(read.map_or_else(
        || cell.into(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string().into(),
    ))
}

fn local_time(cell: &str, order: Option<Order>) -> Result<Option<DateTime>, String> {
    let Some((date, rest)) = halves(cell) else {
        return Ok(None);
    };
    let Some((numbers, known)) = numbers_of(&date) else {
        return Ok(None);
    };
    let order = match (known.or(order), &orders(cell).unwrap_or_default()[..]) {
        (Some(order), _) | (None, &[order]) => order,
        (None, []) => return Ok(None),
        _ => {
            return Err(format!(
                "\"{cell}\" can be read as day and month, and as month and day; say which it is (--dates)"
            ));
        }
    };
    let date = in_order(numbers, order).ok_or_else(|| {
        let label = order.label();
        format!("\"{cell}\" is no date in the order of this column: {label}")
    })?;
    let time = match rest.as_str() {
        "" => Some(Time::midnight()),
        rest => time(rest),
    };
    Ok(time.map(|time| DateTime::from_parts(date, time)))
}

/// The date of a cell and what comes after it; none where it is in a form of the API, or begins with no date.
fn halves(cell: &str) -> Option<(String, String)> {
    let cell = cell.trim();
    let is_iso = cell.len() > 10 && cell.as_bytes()[10] == b'T' && cell.as_bytes()[4] == b'-';
    if is_iso {
        return None;
    }
    let starts_with_digit = cell.starts_with(|first: char| first.is_ascii_digit());
    let words: Vec<&str> = cell
        .split([' ', '\u{202f}'])
        .filter(|word| !word.is_empty())
        .collect();
    let compact = words.first()?;
    if starts_with_digit && (month_of(compact).is_some() || is_numeric_date(compact)) {
        let (date, time) = compact.split_once('T').unwrap_or((compact, ""));
        let rest = std::iter::once(time).chain(words[1..].iter().copied());
        return Some((date.to_owned(), joined(rest)));
    }
    // `13 June 2027, 9:00`, `June 13, 2027 9:00 AM`, `Sun, 13 Jun 2027`.
    let at = words.iter().position(|word| month_of(word).is_some())?;
    let begins = words[..at].iter().rposition(is_number).unwrap_or(at);
    let is_year = |word: &&str| trimmed(word).len() == 4 && is_number(word);
    let ends = words[at..].iter().position(is_year).map(|year| at + year)?;
    let date = words[begins..=ends].join(" ");
    Some((date, joined(words[ends + 1..].iter().copied())))
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words =
        words.filter(|word| !matches!(*word, "" | "at" | "um" | "à" | "alle" | "om" | "Uhr"));
    words.collect::<Vec<_>>().join(" ")
}

fn trimmed(word: &str) -> &str {
    let ordinals = ["st", "nd", "rd", "th"];
    let word = word.trim_end_matches([',', '.']);
    let without = ordinals.iter().find_map(|end| word.strip_suffix(end));
    without.filter(|word| is_digits(word)).unwrap_or(word)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() < 5 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(word: &&str) -> bool {
    is_digits(trimmed(word))
}

fn is_numeric_date(word: &str) -> bool {
    let word = word.split_once('T').map_or(word, |(date, _)| date);
    let parts: Vec<&str> = word.trim_end_matches(',').split(['/', '-', '.']).collect();
    parts.len() == 3 && parts.iter().all(|part| is_digits(part))
}

/// The month that a part of a date names: the name may stand alone or between hyphens.
fn month_of(word: &str) -> Option<i16> {
    let name = word
        .split(['-', '/', '.', ','])
        .find(|part| part.starts_with(char::is_alphabetic))?;
    let name = crate::types::fold::letters(name);
    if name.len() < 3 {
        return None;
    }
    let means = |names: &&str| names.split(' ').any(|known| name.starts_with(known));
    let at = MONTHS.iter().position(means)?;
    i16::try_from(at + 1).ok()
}

fn numbers_of(date: &str) -> Option<Numbers> {
    let month = date.split(' ').find_map(month_of);
    let dots = date.contains('.') && !date.contains(['/', '-']);
    let pieces: Vec<&str> = date
        .split(['/', '-', '.', ' ', ','])
        .map(trimmed)
        .filter(|piece| !piece.is_empty())
        .collect();
    let digits = pieces.iter().filter(|piece| is_digits(piece));
    let numbers: Vec<i16> = digits.filter_map(|piece| piece.parse().ok()).collect();
    let begins_with_year = pieces
        .first()
        .is_some_and(|piece| piece.len() == 4 && is_digits(piece));
    match (month, &numbers[..]) {
        (Some(month), &[day, year]) => Some(([day, month, year], Some(Order::Dmy))),
        (None, &[a, b, c]) if begins_with_year => Some(([a, b, c], Some(Order::Ymd))),
        (None, &[a, b, c]) => Some(([a, b, c], dots.then_some(Order::Dmy))),
        _ => None,
    }
}

/// Years of two digits are those of this century.
fn in_order(numbers: [i16; 3], order: Order) -> Option<Date> {
    let [day, month, year] = match (numbers, order) {
        ([a, b, c], Order::Dmy) => [a, b, c],
        ([a, b, c], Order::Mdy) => [b, a, c],
        ([a, b, c], Order::Ymd) => [c, b, a],
    };
    let year = if year < 100 { year + 2000 } else { year };
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// `9:00`, `09:00:30`, `9h30`, `9:00 AM`.
fn time(text: &str) -> Option<Time> {
    let text = text.trim_start_matches(',').trim().to_ascii_lowercase();
    let text = text.replace("a.m.", "am").replace("p.m.", "pm");
    let text = text.strip_suffix("uhr").unwrap_or(&text).trim();
    let (digits, is_after_noon) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(digits), _) => (digits.trim(), Some(false)),
        (_, Some(digits)) => (digits.trim(), Some(true)),
        _ => (text, None),
    };
    let digits = digits.trim_end_matches('h').replace('h', ":");
    let mut parts = digits.split(':');
    let mut next = || {
        let part = parts.next()?;
        let part = part.split('.').next()?;
        is_digits(part).then(|| part.parse::<i8>().ok()).flatten()
    };
    let hour = next()?;
    let minute = next();
    let second = next();
    if minute.is_none() && is_after_noon.is_none() && !text.ends_with('h') || parts.next().is_some()
    {
        return None;
    }
    let hour = match is_after_noon {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(is_after) => hour % 12 + if is_after { 12 } else { 0 },
        None => hour,
    };
    Time::new(hour, minute.unwrap_or(0), second.unwrap_or(0), 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for cell in [
            "13/06/2027 09:00",
            "13-Jun-27 9:00",
            "2027/06/13 09:00",
            "13.06.27 09:00",
            "13.6.2027T09:00",
            "13 June 2027 9:00 AM",
            "June 13, 2027 9:00 AM",
            "Jun 13th, 2027 at 9am",
            "Sun, 13 Jun 2027 09:00:00",
            "13. Juni 2027 9:00 Uhr",
            "13 juin 2027 à 9h00",
            "13 giugno 2027 09:00",
            "13-06-27 09:00",
            "2027-06-13 09:00",
        ] {
            let read = read(cell, Some(Order::Dmy));
            assert_eq!(read, Ok("2027-06-13 09:00:00".into()), "{cell}");
        }
        for (cell, order, read_as) in [
            ("06/13/2027 09:00 PM", None, "2027-06-13 21:00:00"),
            ("06/05/2027", Some(Order::Mdy), "2027-06-05 00:00:00"),
            ("27/06/13 12:30 am", Some(Order::Ymd), "2027-06-13 00:30:00"),
            ("2027-06-13", None, "2027-06-13 00:00:00"),
            ("2027-06-13T09:00:00Z", None, "2027-06-13T09:00:00Z"),
            ("2027-06-13T09:00", None, "2027-06-13T09:00"),
            ("soon", None, "soon"),
            ("2027-02-0x", None, "2027-02-0x"),
        ] {
            assert_eq!(read(cell, order), Ok(read_as.into()), "{cell}");
        }
        for (cell, order) in [
            ("05/06/2027", None),
            ("06/13/2027", Some(Order::Dmy)),
            ("31/02/2027", Some(Order::Dmy)),
        ] {
            assert!(read(cell, order).is_err(), "{cell}");
        }
        assert_eq!(read("1795248120", None), Ok(1_795_248_120.into()));
    }

    #[test]
    fn orders_that_a_date_fits_are_known() {
        use Order::{Dmy, Mdy, Ymd};
        for (cell, fitting) in [
            ("13/06/2027 09:00", Some(vec![Dmy])),
            ("06/13/2027", Some(vec![Mdy])),
            ("05/06/2027", Some(vec![Dmy, Mdy])),
            ("05/06/27", Some(vec![Dmy, Mdy, Ymd])),
            ("2027-06-05", None),
            ("05.06.2027", None),
            ("5-Jun-27", None),
            ("AB-1/2", None),
        ] {
            assert_eq!(orders(cell), fitting, "{cell}");
        }
    }

    #[test]
    fn a_time_of_day_is_told_from_a_date() {
        for (cell, is_one) in [
            ("09:32:14", true),
            ("9:00 pm", true),
            ("9h30", true),
            ("2027-06-12", false),
            ("12.06.2027 09:00", false),
            ("noon", false),
            ("March", false),
        ] {
            assert_eq!(is_time_of_day(cell), is_one, "{cell}");
        }
    }
}
