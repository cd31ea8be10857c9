//! Programmes of conferences as rows, one a session: `schedule.json`, as pretalx and frab give it, and iCalendar. They are
//! held whole, which takes some ten times their size, so that they may be 8 MiB at most.

use crate::{
    Content, Row, Rows,
    error::{Error, Result},
};
use icalendar::{
    Calendar, CalendarComponent, CalendarDateTime, Component, DatePerhapsTime, Event, EventLike,
    Property,
};
use jiff::{Timestamp, ToSpan, civil, tz::TimeZone};
use serde_json::Value;
use std::{fs, path::Path, sync::Arc};

/// The largest programme, in bytes.
const FILE_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// The columns of a session.
const HEADER: [&str; 9] = [
    "External ID",
    "Name",
    "Room",
    "Start at",
    "End at",
    "Device type",
    "Category",
    "Description",
    "Speakers",
];
/// The type of each row.
const SESSION: &str = "session";

/// The sessions of a programme, its header first.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    rows: Arc<[[String; HEADER.len()]]>,
    pub is_calendar: bool,
}

/// Times of a session as the import reads them: with their offset, or in the zone of the venue.
type Times = (String, String);

impl Schedule {
    /// Reads an iCalendar file.
    pub fn of_calendar(path: &Path) -> Result<Self> {
        let calendar: Calendar = text(path)?.parse().map_err(|cause: String| {
            let cause = cause.lines().next().unwrap_or_default();
            Error::unreadable(format!("is no calendar that can be read: {cause}"))
        })?;
        let events = calendar
            .components
            .iter()
            .filter_map(CalendarComponent::as_event)
            .filter(|event| event.property_value("STATUS") != Some("CANCELLED"));
        Self::new(events.map(of_event), true)
    }

    /// Reads a `schedule.json`; `None` where the file is another JSON, as every larger one is.
    pub fn of_json(path: &Path) -> Result<Option<Self>> {
        let whole = text(path).ok();
        let whole = whole.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let Some(whole) = whole else {
            return Ok(None);
        };
        let Some(days) = whole["schedule"]["conference"]["days"].as_array() else {
            return Ok(None);
        };
        let rooms = days.iter().filter_map(|day| day["rooms"].as_object());
        let sessions = rooms.flatten().flat_map(|(room, sessions)| {
            let sessions = sessions.as_array().map(Vec::as_slice).unwrap_or_default();
            sessions
                .iter()
                .map(move |session| of_session(room, session))
        });
        Self::new(sessions, false).map(Some)
    }

    fn new(
        sessions: impl Iterator<Item = [String; HEADER.len()]>,
        is_calendar: bool,
    ) -> Result<Self> {
        let header = HEADER.map(str::to_owned);
        let rows: Arc<[_]> = std::iter::once(header).chain(sessions).collect();
        if rows.len() == 1 {
            return Err(Error::unreadable("is empty: it has no sessions"));
        }
        Ok(Self { rows, is_calendar })
    }

    /// The header and the sessions.
    pub fn rows(&self) -> Rows {
        let all = Arc::clone(&self.rows);
        Box::new(
            (0..all.len())
                .zip(1..)
                .map(move |(at, line)| Ok(Row::new(line, Content::Cells(all[at].to_vec())))),
        )
    }
}

fn text(path: &Path) -> Result<String> {
    if fs::metadata(path).map_err(Error::cause)?.len() > FILE_MAX_BYTES {
        return Err(Error::unreadable(
            "is larger than 8 MiB; split the calendar",
        ));
    }
    let bytes = fs::read(path).map_err(Error::cause)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::unreadable("is not UTF-8"))?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn of_session(room: &str, session: &Value) -> [String; HEADER.len()] {
    let value = |name: &str| match &session[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let speakers = session["persons"].as_array().into_iter().flatten();
    let speakers = speakers.filter_map(|person| {
        let named = person["public_name"].as_str().or(person["name"].as_str());
        named.or(person["full_public_name"].as_str())
    });
    let speakers: Vec<&str> = speakers.collect();
    let (start, end) = times(&value("date"), &value("duration"));
    let or = |first: String, second: &str| {
        if first.is_empty() {
            value(second)
        } else {
            first
        }
    };
    let about = or(value("abstract"), "description");
    [
        or(value("guid"), "id"),
        value("title"),
        room.to_owned(),
        start,
        end,
        SESSION.to_owned(),
        value("track"),
        about,
        speakers.join(", "),
    ]
}

/// The times of a session that begins at `date` and takes `duration`, as `hh:mm` or `d:hh:mm`. What is neither stays as it is.
fn times(date: &str, duration: &str) -> Times {
    let parts: Option<Vec<i64>> = duration.split(':').map(|part| part.parse().ok()).collect();
    let minutes = parts.map(|parts| match parts[..] {
        [days, hours, minutes] => (days * 24 + hours) * 60 + minutes,
        [hours, minutes] => hours * 60 + minutes,
        _ => 0,
    });
    let end = |start: Timestamp| start.checked_add(minutes?.minutes()).ok();
    let end = date.parse::<Timestamp>().ok().and_then(end);
    (
        date.to_owned(),
        end.map_or_else(String::new, |end| end.to_string()),
    )
}

fn of_event(event: &Event) -> [String; HEADER.len()] {
    let text = |text: Option<&str>| text.unwrap_or_default().trim().to_owned();
    let time = |time: Option<DatePerhapsTime>| time.map_or_else(String::new, moment);
    let categories = event.multi_properties().get("CATEGORIES");
    let categories = categories.into_iter().flatten().map(Property::value);
    [
        text(event.get_uid()),
        text(event.get_summary()),
        text(event.get_location()),
        time(event.get_start()),
        time(event.get_end()),
        SESSION.to_owned(),
        categories.collect::<Vec<_>>().join(", "),
        text(event.get_description()),
        String::new(),
    ]
}

/// A time of a calendar. One without a zone, or in one that nobody knows, is in the venue's.
fn moment(time: DatePerhapsTime) -> String {
    const LOCAL: &str = "%Y-%m-%d %H:%M:%S";
    match time {
        DatePerhapsTime::Date(day) => day.format("%Y-%m-%d").to_string(),
        DatePerhapsTime::DateTime(CalendarDateTime::Utc(at)) => {
            at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
        }
        DatePerhapsTime::DateTime(CalendarDateTime::Floating(at)) => at.format(LOCAL).to_string(),
        DatePerhapsTime::DateTime(CalendarDateTime::WithTimezone { date_time, tzid }) => {
            let local = date_time.format(LOCAL).to_string();
            let there = || {
                let zone = TimeZone::get(&tzid).ok()?;
                let at: civil::DateTime = local.parse().ok()?;
                at.to_zoned(zone).ok()
            };
            let there = there();
            there.map_or(local, |there| there.timestamp().to_string())
        }
    }
}
