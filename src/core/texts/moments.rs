//! Dates, times and numbers as a language writes them.

use super::{t, tx};
use crate::types::{Timestamp, Zone, text};
use fluent_bundle::{FluentValue, types::FluentNumberOptions};

/// `12,345`.
pub fn number(number: i64) -> String {
    let text = text::number(number);
    text.replace(',', &t("number-group"))
}

/// `1,234.50`.
pub fn decimal(value: f64, decimals: usize) -> String {
    from_english_decimal(&text::decimal(value, decimals))
}

/// `1.5 KiB`.
pub fn bytes(bytes: u64) -> String {
    from_english_decimal(&text::bytes(bytes))
}

/// A decimal number of English, such as `1,234.50`, as the language writes it.
pub fn from_english_decimal(number: &str) -> String {
    let (whole, decimals) = match number.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (number, None),
    };
    let whole = whole.replace(',', &t("number-group"));
    match decimals {
        Some(decimals) => format!("{whole}{}{decimals}", t("number-point")),
        None => whole,
    }
}

/// `2026-11-21`, as the first part of a date and time.
pub fn date(plain: &str) -> String {
    let mut parts = plain.splitn(3, '-');
    let [Some(year), Some(month), Some(day)] = [(); 3].map(|()| parts.next()) else {
        return plain.to_owned();
    };
    let text = tx("date-in-digits").with("year", year);
    text.with("month", month).with("day", day).to_string()
}

/// `2026-11-21 09:02:00`.
pub fn date_time(zone: &Zone, at: Timestamp) -> String {
    let plain = zone.plain(at);
    match plain.split_once(' ') {
        Some((day, time)) => format!("{} {time}", date(day)),
        None => plain,
    }
}

/// `09:02`, with the day where it is not that of `now`.
pub fn minute(zone: &Zone, at: Timestamp, now: Timestamp) -> String {
    let spoken = zone.spoken(at, now);
    on_day(&spoken).unwrap_or(spoken)
}

/// `09:02`, with the day where it is not that of `now`: `11-21 09:02`.
pub fn short_minute(zone: &Zone, at: Timestamp, now: Timestamp) -> String {
    let (day, time) = short(zone, at);
    if day == short(zone, now).0 {
        time
    } else {
        format!("{day} {time}")
    }
}

/// The day without its year, and the time: `11-21` and `09:02`.
pub fn short(zone: &Zone, at: Timestamp) -> (String, String) {
    let plain = zone.plain(at);
    let (day, time) = plain.split_once(' ').unwrap_or_default();
    let day = match day.split('-').collect::<Vec<_>>()[..] {
        [_, month, day] => {
            let text = tx("moments-day-of-month").with("month", month);
            text.with("day", day).to_string()
        }
        _ => day.to_owned(),
    };
    (day, time.chars().take(5).collect())
}

/// A time on another day as [`Zone::spoken`] has it: `09:02 on 2026-11-21`.
fn on_day(spoken: &str) -> Option<String> {
    let (time, day) = spoken.split_once(" on ")?;
    let text = tx("minute-on-day").with("time", time);
    (has_form(time, "00:00") && has_form(day, DAY))
        .then(|| text.with("date", date(day)).to_string())
}

/// How a day is written in English, with any digits.
const DAY: &str = "0000-00-00";

/// Tells whether a text is written as another, with other digits; it may go on with seconds.
fn has_form(text: &str, form: &str) -> bool {
    let digits = text.replace(|letter: char| letter.is_ascii_digit(), "0");
    digits == form || digits.strip_suffix(":00") == Some(form)
}

/// `Thursday, 24 September`.
pub fn day_in_words(zone: &Zone, at: Timestamp) -> String {
    let plain = zone.day_in_words(at);
    let parts = plain.split_once(", ").and_then(|(weekday, rest)| {
        let (day, month) = rest.split_once(' ')?;
        Some((weekday.to_lowercase(), day, month.to_lowercase()))
    });
    let Some((weekday, day, month)) = parts else {
        return plain;
    };
    let text = tx("day-in-words").with("weekday", t(&format!("weekday-{weekday}")));
    let text = text.with("day", day);
    text.with("month", t(&format!("month-{month}"))).to_string()
}

/// `just now`, `4 min ago`, `3 h ago`, `2 days ago`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.0 - at.0) / 1000;
    let counted = |key: &str, count: i64| tx(key).with("count", count).to_string();
    match seconds {
        ..60 => t("ago-now"),
        60..3600 => counted("ago-minutes", seconds / 60),
        3600..86_400 => counted("ago-hours", seconds / 3600),
        _ => counted("ago-days", seconds / 86_400),
    }
}

/// The longest number that a 64-bit float holds exactly, in digits.
const DIGITS_MAX: usize = 15;

/// A whole number, and whether its digits stand in groups. Whatever would not be written the same again is none.
pub(super) fn read_number(written: &str) -> Option<(i64, bool)> {
    let plain: i64 = match written.parse() {
        Ok(plain) => plain,
        Err(_) if written.starts_with(|first: char| first.is_ascii_digit()) => {
            written.replace(&t("number-group"), "").parse().ok()?
        }
        Err(_) => return None,
    };
    let is_grouped = written
        .bytes()
        .any(|byte| !byte.is_ascii_digit() && byte != b'-');
    let same = if is_grouped {
        number(plain)
    } else {
        plain.to_string()
    };
    (written.len() <= DIGITS_MAX && same == written).then_some((plain, is_grouped))
}

/// A number or a time that English words have, such as `12,345` or `09:02 on 2026-11-21`, as the language writes it.
pub(super) fn from_english(written: &str) -> Option<String> {
    if let Some((day, time)) = written.split_once(' ')
        && has_form(day, DAY)
        && has_form(time, "00:00")
    {
        return Some(format!("{} {time}", date(day)));
    }
    if let Some(said) = on_day(written) {
        return Some(said);
    }
    let value: i64 = written.replace(',', "").parse().ok()?;
    (written.contains(',') && text::number(value) == written).then(|| number(value))
}

/// A number as an argument.
pub(super) fn value(number: i64, is_grouped: bool) -> FluentValue<'static> {
    let FluentValue::Number(mut value) = FluentValue::from(number) else {
        return FluentValue::None;
    };
    value.options = FluentNumberOptions {
        use_grouping: is_grouped,
        ..FluentNumberOptions::default()
    };
    FluentValue::Number(value)
}

/// Writes the numbers among the arguments of a text.
pub(super) fn write_number<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    let FluentValue::Number(value) = value else {
        return None;
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole numbers of at most DIGITS_MAX digits are all that becomes a number"
    )]
    let whole = value.value as i64;
    Some(if value.options.use_grouping {
        number(whole)
    } else {
        whole.to_string()
    })
}
