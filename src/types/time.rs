//! Points in time and the instance's time zone (contract §2). In the file a time is Unix
//! milliseconds UTC; outside it is ISO 8601 with the instance's offset, in whole seconds.

use crate::types::error::{Error, Result};
use jiff::{
    civil,
    tz::{AmbiguousOffset, TimeZone},
};
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::fmt;

/// A point in time: Unix milliseconds, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// The last second that is accepted, almost the end of the year 9999: the last that every zone can
/// write with a year of four digits.
const LAST_S: i64 = 253_402_207_200;

impl Timestamp {
    /// The clock's time.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }

    /// The time so many whole seconds after the Unix epoch, if it is within the years 1 to 9999 (there to
    /// the 30th of December, 22:00).
    pub fn from_unix_s(seconds: i64) -> Option<Self> {
        (-62_135_596_800..=LAST_S)
            .contains(&seconds)
            .then(|| Self(seconds * 1000))
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0))
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

/// A time as clients send it.
#[derive(JsonSchema)]
#[schemars(inline, untagged)]
pub enum SentTime {
    /// ISO 8601 or `yyyy-mm-dd hh:mm:ss`
    Text(String),
    /// Unix seconds
    UnixS(
        // The years 1 to 9999.
        #[schemars(range(min = -62_135_596_800_i64, max = 253_402_300_799_i64))] i64,
    ),
}

/// A time of every day, in whole minutes: `22:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay {
    hour: u8,
    minute: u8,
}

impl TimeOfDay {
    /// The time of so many hours and minutes, from 00:00 to 23:59.
    pub const fn new(hour: u8, minute: u8) -> Option<Self> {
        if hour < 24 && minute < 60 {
            Some(Self { hour, minute })
        } else {
            None
        }
    }

    /// Reads `hh:mm`.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let (hour, minute) = text.split_once(':').filter(|_| digits == 4)?;
        if (hour.len(), minute.len()) != (2, 2) {
            return None;
        }
        Self::new(hour.parse().ok()?, minute.parse().ok()?)
    }

    fn on(self, day: civil::Date) -> civil::DateTime {
        let (hour, minute) = (self.hour.cast_signed(), self.minute.cast_signed());
        day.at(hour, minute, 0, 0)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "must be a time such as 22:00; not \"{}\"",
                super::text::shortened(&text)
            ))
        })
    }
}

/// A minute of one day, in the instance's zone: `2026-11-21 22:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalMinute(civil::DateTime);

impl LocalMinute {
    /// Reads `yyyy-mm-dd hh:mm`.
    pub fn read(text: &str) -> Option<Self> {
        let (day, time) = text.split_once(' ').filter(|(day, _)| day.len() == 10)?;
        let day = day.parse::<civil::Date>().ok()?;
        Some(Self(TimeOfDay::read(time)?.on(day)))
    }
}

impl fmt::Display for LocalMinute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%d %H:%M"))
    }
}

/// A day of an event: from its beginning until the next one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    pub begins: Timestamp,
    /// The beginning of the next day.
    pub ends: Timestamp,
}

impl Day {
    /// All of time, where a zone tells no day.
    const ALWAYS: Self = Self {
        begins: Timestamp(i64::MIN),
        ends: Timestamp(i64::MAX),
    };

    pub fn contains(self, at: Timestamp) -> bool {
        self.begins <= at && at < self.ends
    }
}

/// The instance's time zone: how times are written, and how those without an offset are read.
#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// The zone of an IANA name such as `Europe/Berlin`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] when there is no such zone.
    pub fn named(name: &str) -> Result<Self> {
        let known = if is_of_everywhere(name) {
            TimeZone::get(name).ok()
        } else {
            None
        };
        known.map(Self).ok_or_else(|| {
            Error::invalid(format!(
                "\"{}\" is not an IANA time zone such as Europe/Berlin",
                super::text::shortened(name)
            ))
            .at("timeZone")
        })
    }

    /// The names that [`Zone::named`] knows, in order.
    pub fn names() -> Vec<String> {
        let names = jiff::tz::db().available().map(|name| name.to_string());
        names.filter(|name| is_of_everywhere(name)).collect()
    }

    /// Its IANA name.
    #[must_use]
    pub fn iana_name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// `2026-11-21T09:02:00+01:00`.
    pub fn iso(&self, at: Timestamp) -> String {
        jiff::Timestamp::from_second(at.0.div_euclid(1000)).map_or_else(
            |_| String::new(),
            |at| at.display_with_offset(self.0.to_offset(at)).to_string(),
        )
    }

    /// `2026-11-21 09:02:00`, the form of events and `lastSeen`.
    pub fn plain(&self, at: Timestamp) -> String {
        let Ok(instant) = jiff::Timestamp::from_millisecond(at.0) else {
            return String::new();
        };
        // Reports write millions of these.
        let local = self.0.to_datetime(instant);
        let mut text = String::with_capacity(19);
        let mut push = |number: i16, digits: u32, end: &str| {
            let number = u32::from(number.unsigned_abs());
            for digit in (0..digits).rev() {
                let digit = number / 10_u32.pow(digit) % 10;
                text.extend(char::from_digit(digit, 10));
            }
            text.push_str(end);
        };
        push(local.year(), 4, "-");
        push(local.month().into(), 2, "-");
        push(local.day().into(), 2, " ");
        push(local.hour().into(), 2, ":");
        push(local.minute().into(), 2, ":");
        push(local.second().into(), 2, "");
        text
    }

    /// The day of an instant, as in [`Zone::plain`], and when it is over.
    pub fn day(&self, at: Timestamp) -> (String, Timestamp) {
        let Some(local) = self.local(at) else {
            return (String::new(), at);
        };
        let next = local.tomorrow().and_then(|next| next.start_of_day());
        let end = next.map_or(at, |next| Timestamp(next.timestamp().as_millisecond()));
        (date(&local), end)
    }

    /// The time of day of an instant, without its seconds.
    pub fn time_of_day(&self, at: Timestamp) -> Option<TimeOfDay> {
        let local = self.local(at)?;
        TimeOfDay::new(local.hour().unsigned_abs(), local.minute().unsigned_abs())
    }

    /// The instant of a local minute: one that the clocks leave out counts as much later, and the first
    /// of two.
    pub fn instant(&self, local: LocalMinute) -> Option<Timestamp> {
        let instant = self.0.to_timestamp(local.0).ok()?;
        Some(Timestamp(instant.as_millisecond()))
    }

    /// The day of an instant, where days begin at `starts` (see [`Zone::instant`]).
    pub fn day_from(&self, starts: TimeOfDay, at: Timestamp) -> Day {
        let begins =
            |day: Result<civil::Date, jiff::Error>| self.instant(LocalMinute(starts.on(day.ok()?)));
        let Some(local) = self.local(at) else {
            return Day::ALWAYS;
        };
        let date = local.date();
        let mut day = Day::ALWAYS;
        // A clock that goes back at midnight may be in the day before once more.
        let dates = [
            date.yesterday(),
            Ok(date),
            date.tomorrow(),
            date.tomorrow().and_then(civil::Date::tomorrow),
        ];
        for instant in dates.into_iter().filter_map(begins) {
            if instant <= at {
                day.begins = instant;
            } else {
                day.ends = day.ends.min(instant);
            }
        }
        day
    }

    /// Returns the beginning of an instant's day.
    pub fn midnight(&self, at: Timestamp) -> Timestamp {
        let start = self.local(at).and_then(|local| local.start_of_day().ok());
        start.map_or(at, |start| Timestamp(start.timestamp().as_millisecond()))
    }

    /// Counts the days of the calendar from one instant to another.
    pub fn days(&self, from: Timestamp, to: Timestamp) -> i64 {
        let (Some(from), Some(to)) = (self.local(from), self.local(to)) else {
            return 0;
        };
        let span = from.date().until(to.date());
        span.map_or(0, |span| span.get_days().into())
    }

    /// The first instant after `at` at which the time of day is `time`, see [`Zone::instant`].
    pub fn next(&self, time: TimeOfDay, at: Timestamp) -> Option<Timestamp> {
        let next = self.day_from(time, at).ends;
        (next < Day::ALWAYS.ends).then_some(next)
    }

    /// `09:02`, with the day where it is not that of `now`: what a steward tells a guest.
    pub fn spoken(&self, at: Timestamp, now: Timestamp) -> String {
        let (Some(at), Some(now)) = (self.local(at), self.local(now)) else {
            return String::new();
        };
        let time = format!("{:02}:{:02}", at.hour(), at.minute());
        if at.date() == now.date() {
            time
        } else {
            format!("{time} on {}", date(&at))
        }
    }

    /// `09:02`.
    pub fn clock(&self, at: Timestamp) -> String {
        self.local(at)
            .map_or_else(String::new, |at| at.strftime("%H:%M").to_string())
    }

    /// `24 September 2026`.
    pub fn date_in_words(&self, at: Timestamp) -> String {
        self.local(at)
            .map_or_else(String::new, |at| at.strftime("%-d %B %Y").to_string())
    }

    /// `Thursday, 24 September`.
    pub fn day_in_words(&self, at: Timestamp) -> String {
        self.local(at)
            .map_or_else(String::new, |at| at.strftime("%A, %-d %B").to_string())
    }

    /// Reads Unix seconds, ISO 8601, or `yyyy-mm-dd hh:mm:ss` (the last two without an offset are
    /// in this zone).
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the property.
    pub fn read(&self, name: &str, value: &Value) -> Result<Timestamp> {
        let read = match value {
            Value::Number(number) => number.as_i64().and_then(Timestamp::from_unix_s),
            Value::String(text) => self.read_text(text),
            _ => None,
        };
        read.ok_or_else(|| {
            if let Some(seconds) = value.as_i64().map(|ms| ms / 1000)
                && Timestamp::from_unix_s(seconds).is_some() && seconds > 0
            {
                let told = format!("must be Unix seconds, and this looks like milliseconds: {seconds}");
                return Error::field(name, told);
            }
            if value.is_f64() {
                return Error::field(name, "must be whole Unix seconds, without a fraction");
            }
            Error::field(
                name,
                "must be Unix seconds, ISO 8601 or yyyy-mm-dd hh:mm:ss, from the year 1 to the 30th of December 9999",
            )
        })
    }

    /// Returns whether the clocks leave out a local time (`Some(false)`) or show it twice (`Some(true)`).
    pub fn is_shown_twice(&self, local: &str) -> Option<bool> {
        let local: civil::DateTime = local.parse().ok()?;
        match self.0.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { .. } => None,
            AmbiguousOffset::Gap { .. } => Some(false),
            AmbiguousOffset::Fold { .. } => Some(true),
        }
    }

    /// Reads a time of a text, as [`Zone::read`] does.
    pub fn read_text(&self, text: &str) -> Option<Timestamp> {
        // As the views of reports write it, without an offset: reports read millions of these.
        let is_plain = text.len() == 19 && text.as_bytes()[16] == b':';
        let instant = if !is_plain && let Ok(instant) = text.parse::<jiff::Timestamp>() {
            instant
        } else if let Ok(local) = text.parse::<civil::DateTime>() {
            self.0.to_timestamp(local).ok()?
        } else {
            return None;
        };
        let seconds = instant.as_second();
        Timestamp::from_unix_s(seconds).map(|_| Timestamp(instant.as_millisecond()))
    }

    fn local(&self, at: Timestamp) -> Option<jiff::Zoned> {
        jiff::Timestamp::from_millisecond(at.0)
            .ok()
            .map(|instant| instant.to_zoned(self.0.clone()))
    }
}

/// Tells whether a name of the machine's database means the same everywhere: some files of it are of this
/// machine, or of no place at all.
fn is_of_everywhere(name: &str) -> bool {
    const OTHERS: [&str; 5] = ["factory", "localtime", "posixrules", "posix/", "right/"];
    let name = name.to_ascii_lowercase();
    OTHERS
        .iter()
        .all(|other| name != *other && !(other.ends_with('/') && name.starts_with(other)))
}

fn date(local: &jiff::Zoned) -> String {
    format!(
        "{:04}-{:02}-{:02}",
        local.year(),
        local.month(),
        local.day()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn three_ways_to_write_one_instant() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let at = zone.read("t", &json!(1_795_248_120)).unwrap();
        assert_eq!(zone.iso(at), "2026-11-21T09:02:00+01:00");
        assert_eq!(zone.plain(at), "2026-11-21 09:02:00");
        for same in [
            "2026-11-21T09:02:00+01:00",
            "2026-11-21T08:02:00Z",
            "2026-11-21 09:02:00",
            "2026-11-21T09:02:00",
        ] {
            assert_eq!(zone.read("t", &json!(same)).unwrap(), at, "{same}");
        }
    }

    #[test]
    fn a_day_ends_where_the_next_begins() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        // The clocks go back on the 25th of October.
        for (within, day, end) in [
            ("2026-10-25 00:00:00", "2026-10-25", "2026-10-26 00:00:00"),
            ("2026-10-25 23:59:59", "2026-10-25", "2026-10-26 00:00:00"),
            ("2026-12-31 12:00:00", "2026-12-31", "2027-01-01 00:00:00"),
        ] {
            let read = |text: &str| zone.read("t", &json!(text)).unwrap();
            assert_eq!(zone.day(read(within)), (day.to_owned(), read(end)));
        }
    }

    #[test]
    fn days_begin_at_a_time_of_day_whatever_the_clocks_do() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let at = |text: &str| zone.read("t", &json!(text)).unwrap();
        for (starts, within, begins, ends) in [
            (
                "04:00",
                "2026-11-21 03:59:59",
                "2026-11-20 04:00:00",
                "2026-11-21 04:00:00",
            ),
            (
                "04:00",
                "2026-11-21 04:00:00",
                "2026-11-21 04:00:00",
                "2026-11-22 04:00:00",
            ),
            // The clocks go forward at 02:00, so that 02:30 counts at 03:30, and back at 03:00: 02:30 is
            // there twice, and the day begins at the first.
            (
                "04:00",
                "2026-03-29 05:00:00",
                "2026-03-29 04:00:00",
                "2026-03-30 04:00:00",
            ),
            (
                "02:30",
                "2026-03-29 03:29:00",
                "2026-03-28 02:30:00",
                "2026-03-29 03:30:00",
            ),
            (
                "02:30",
                "2026-10-25T02:40:00+01:00",
                "2026-10-25T02:30:00+02:00",
                "2026-10-26 02:30:00",
            ),
            (
                "02:30",
                "2026-10-25T02:29:00+01:00",
                "2026-10-25T02:30:00+02:00",
                "2026-10-26 02:30:00",
            ),
            (
                "04:00",
                "2026-10-25 03:59:00",
                "2026-10-24 04:00:00",
                "2026-10-25 04:00:00",
            ),
        ] {
            let starts = TimeOfDay::read(starts).unwrap();
            let day = zone.day_from(starts, at(within));
            assert_eq!(
                (zone.iso(day.begins), zone.iso(day.ends)),
                (zone.iso(at(begins)), zone.iso(at(ends))),
                "{within}"
            );
            assert!(day.contains(at(within)) && !day.contains(day.ends));
        }
    }

    #[test]
    fn times_of_day_are_read_strictly() {
        for text in ["22:00", "00:00", "23:59"] {
            assert_eq!(TimeOfDay::read(text).unwrap().to_string(), text);
        }
        for text in [
            "24:00",
            "9:00",
            "09:60",
            "09:0",
            "0900",
            "+9:00",
            "09:00:00",
            "",
            "١٢:٠٠",
        ] {
            assert_eq!(TimeOfDay::read(text), None, "{text}");
        }
        let minute = LocalMinute::read("2026-11-21 22:00").unwrap();
        assert_eq!(minute.to_string(), "2026-11-21 22:00");
        for text in [
            "2026-11-31 22:00",
            "2026-11-21T22:00",
            "2026-11-21",
            "26-11-21 22:00",
        ] {
            assert_eq!(LocalMinute::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_of_day_comes_once_a_day() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let read = |text: &str| zone.read("t", &json!(text)).unwrap();
        let half_past_two = TimeOfDay::new(2, 30).unwrap();
        for (after, next) in [
            ("2026-11-21T02:29:59+01:00", "2026-11-21T02:30:00+01:00"),
            ("2026-11-21T02:30:00+01:00", "2026-11-22T02:30:00+01:00"),
            ("2026-11-21T23:59:59+01:00", "2026-11-22T02:30:00+01:00"),
            // The clocks go forward from 02:00: half past two is missing and counts at half past three.
            ("2026-03-28T02:30:00+01:00", "2026-03-29T03:30:00+02:00"),
            ("2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"),
            // The clocks go back from 03:00: it comes twice and counts at its first.
            ("2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00"),
            ("2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"),
        ] {
            let found = zone.next(half_past_two, read(after)).unwrap();
            assert_eq!(zone.iso(found), next, "after {after}");
            assert_eq!(zone.day_from(half_past_two, found).begins, found);
        }
    }

    #[test]
    fn zones_are_of_places() {
        let names = Zone::names();
        assert!(names.iter().any(|name| name == "Europe/Berlin"));
        assert!(names.iter().all(|name| Zone::named(name).is_ok()));
        for other in [
            "localtime",
            "Factory",
            "posixrules",
            "right/UTC",
            "Mars/Base",
            "",
        ] {
            assert!(!names.iter().any(|name| name == other), "{other}");
            assert!(Zone::named(other).is_err(), "{other}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let zone = Zone::default();
        for bad in [
            json!("yesterday"),
            json!(true),
            json!(1.5),
            json!(i64::MAX),
            json!(u64::MAX),
            json!(""),
            json!("2026-02-30 00:00:00"),
            json!([]),
        ] {
            assert!(zone.read("t", &bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn another_day_is_spoken_with_its_date() {
        let zone = Zone::default();
        let at = Timestamp(1_795_251_720_000);
        assert_eq!(zone.spoken(at, at), "09:02");
        assert_eq!(
            zone.spoken(at, Timestamp(at.0 + 86_400_000)),
            "09:02 on 2026-11-21"
        );
    }
}
