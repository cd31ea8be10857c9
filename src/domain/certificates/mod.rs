//! Certificates of attendance: for whoever was there for so many percent of what counts (contract §15). Nothing is stored:
//! the code on a certificate says what it certifies, signed by the key of tickets.

mod attendance;

pub use attendance::{Attendance, Attended, Wanted, attendance};

use crate::{
    core::settings::Settings,
    domain::{
        badges::{CERTIFICATE_SAMPLE, Fields, PDF_MAX, Press, Records, pdf},
        tickets::{self, Pages},
    },
    types::{
        DelegateId, DeviceId, Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// The purpose of codes of certificates.
const PURPOSE: &str = "certificate";

/// The content of an attendee's certificate, as its code has it: `c7-12-330-91`, of attendee 7 at place 12, for 330
/// minutes, which are 91 % of what counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    attendee: DelegateId,
    /// `None`: the whole instance.
    place: Option<DeviceId>,
    minutes: i64,
    percent: i64,
}

impl Code {
    /// The code as text.
    pub fn says(self) -> String {
        let place = self.place.map_or(0, |place| place.0);
        format!(
            "c{}-{place}-{}-{}",
            self.attendee, self.minutes, self.percent
        )
    }

    fn read(says: &str) -> Option<Self> {
        let mut numbers = says.strip_prefix('c')?.split('-').map(str::parse::<i64>);
        let mut next = || numbers.next()?.ok();
        let code = Self {
            attendee: DelegateId(next()?),
            place: Some(next()?).filter(|place| *place != 0).map(DeviceId),
            minutes: next()?,
            percent: next()?,
        };
        Some(code)
    }
}

/// A certificate that was issued here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmed {
    /// First and last name.
    pub name: String,
    pub event: String,
    /// For how long the attendee was there, in words.
    pub attended: String,
    pub percent: i64,
}

/// Returns what a code certifies; `None` if it was not issued here, or its attendee was deleted.
pub fn confirm(
    connection: &Connection,
    settings: &Settings,
    token: &str,
) -> Result<Option<Confirmed>> {
    let Some(pages) = Pages::find(connection, settings)? else {
        return Ok(None);
    };
    let Some(code) = pages.said(PURPOSE, token)?.and_then(Code::read) else {
        return Ok(None);
    };
    let Some(ticket) = tickets::find(connection, settings, code.attendee)? else {
        return Ok(None);
    };
    Ok(Some(Confirmed {
        name: ticket.name,
        event: title(connection, settings, code.place)?,
        attended: in_words(code.minutes),
        percent: code.percent,
    }))
}

/// Returns what a certificate is about: a place, deleted or not, or the instance.
fn title(connection: &Connection, settings: &Settings, place: Option<DeviceId>) -> Result<String> {
    let name: Option<Option<String>> = connection
        .prepare_cached("SELECT nullif(name, '') FROM devices WHERE id = ?1")?
        .query_row([place], |row| row.get(0))
        .optional()?;
    Ok(name.flatten().unwrap_or_else(|| settings.name().to_owned()))
}

/// Certificates, read and not yet drawn, which takes longer.
pub struct Prepared {
    press: Press,
    /// Each attendee's record, with what the certificate says beside it.
    pub certificates: Vec<(Value, Fields)>,
}

/// The texts that all certificates of one place have.
pub struct Issue<'a> {
    place: Option<DeviceId>,
    event: String,
    dates: String,
    pages: Option<Pages<'a>>,
}

/// The fields of a certificate, as e-mails see them.
pub const FIELDS: [&str; 5] = ["event", "dates", "attended", "percent", "url"];

/// Returns a certificate as e-mails see it, for whoever tries a template.
pub fn sample() -> Value {
    let mut sample = CERTIFICATE_SAMPLE.map(|(_, value)| value).into_iter();
    let fields = FIELDS.map(|name| (name.to_owned(), sample.next().unwrap_or_default().into()));
    Value::Object(fields.into_iter().collect())
}

impl<'a> Issue<'a> {
    /// Reads what there is to say of a place, whose time that counts is `span`.
    pub fn new(
        connection: &Connection,
        settings: &'a Settings,
        place: Option<DeviceId>,
        span: (Timestamp, Timestamp),
    ) -> Result<Self> {
        Ok(Self {
            place,
            event: title(connection, settings, place)?,
            dates: dates(span, &settings.zone),
            pages: Pages::find(connection, settings)?,
        })
    }

    /// The number of the place in codes.
    pub fn place(&self) -> i64 {
        self.place.map_or(0, |place| place.0)
    }

    /// The code of an attendee's certificate.
    pub fn code(&self, attended: &Attended, counted_s: i64) -> Code {
        Code {
            attendee: attended.attendee,
            place: self.place,
            minutes: attended.seconds / 60,
            percent: attended.percent_of(counted_s),
        }
    }

    /// The values of [`FIELDS`].
    fn values(&self, code: Code) -> Result<[String; 5]> {
        let url = match &self.pages {
            Some(pages) => pages.url(&pages.token(PURPOSE, &code.says())?),
            None => String::new(),
        };
        Ok([
            self.event.clone(),
            self.dates.clone(),
            in_words(code.minutes),
            format!("{} %", code.percent),
            url,
        ])
    }

    /// The certificate of a code, as e-mails see it.
    pub fn as_template(&self, code: Code) -> Result<Value> {
        let fields = FIELDS.into_iter().zip(self.values(code)?);
        Ok(Value::Object(
            fields
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
        ))
    }

    /// The certificate of a code, as layouts see it.
    fn as_layout(&self, code: Code) -> Result<Fields> {
        let fields = CERTIFICATE_SAMPLE.into_iter().zip(self.values(code)?);
        Ok(fields
            .map(|((name, _), value)| (name.to_owned(), value))
            .collect())
    }
}

/// Reads the certificates of all who were there for long enough.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where there are none, or too many for one PDF.
pub fn prepare(
    connection: &Connection,
    settings: &Settings,
    wanted: Wanted,
    attendance: &Attendance,
) -> Result<Prepared> {
    let people: Vec<&Attended> = attendance.enough(wanted.percent).collect();
    if people.is_empty() {
        return Err(Error::invalid("nobody was there for long enough"));
    }
    if people.len() > PDF_MAX {
        return Err(Error::invalid(format!(
            "one PDF has at most {PDF_MAX} certificates: choose a place"
        )));
    }
    let issue = Issue::new(connection, settings, wanted.place, attendance.span)?;
    let codes = people
        .into_iter()
        .map(|attended| issue.code(attended, attendance.counted_s));
    read(connection, settings, &issue, codes)
}

/// Reads the certificate of a code, as [`Code::says`] has it.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for another text; [`crate::types::error::Kind::DelegateNotFound`].
pub fn prepare_one(connection: &Connection, settings: &Settings, says: &str) -> Result<Prepared> {
    let code =
        Code::read(says).ok_or_else(|| Error::invalid("this is no code of a certificate"))?;
    let span = attendance::span(connection, code.place)?;
    let issue = Issue::new(connection, settings, code.place, span)?;
    read(connection, settings, &issue, [code])
}

fn read(
    connection: &Connection,
    settings: &Settings,
    issue: &Issue<'_>,
    codes: impl IntoIterator<Item = Code>,
) -> Result<Prepared> {
    let records = Records::of(connection, settings, None)?;
    let certificates = codes
        .into_iter()
        .map(|code| Ok((records.get(code.attendee)?, issue.as_layout(code)?)));
    Ok(Prepared {
        certificates: certificates.collect::<Result<_>>()?,
        press: Press::of_certificates(connection, settings)?,
    })
}

impl Prepared {
    /// Draws them as one PDF, a page each.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where no layout is for somebody's type.
    pub fn pdf(self) -> Result<Vec<u8>> {
        let Self {
            press,
            certificates,
        } = self;
        let drawn = certificates.into_iter();
        let drawn = drawn.map(|(record, fields)| press.draw_with(&record, fields));
        pdf(drawn, None)
    }
}

/// Returns the days of what counts: `24 September 2026`, or the first and the last.
fn dates((from, to): (Timestamp, Timestamp), zone: &Zone) -> String {
    let (first, last) = (zone.date_in_words(from), zone.date_in_words(to));
    if first == last {
        first
    } else {
        format!("{first} to {last}")
    }
}

/// Returns a time as people say it: `45 minutes`, `1 hour`, `5.5 hours`, rounded down.
pub fn in_words(minutes: i64) -> String {
    let tenths = minutes / 6;
    match (minutes, tenths / 10, tenths % 10) {
        (1, _, _) => "1 minute".to_owned(),
        (..60, _, _) => format!("{minutes} minutes"),
        (_, 1, 0) => "1 hour".to_owned(),
        (_, hours, 0) => format!("{hours} hours"),
        (_, hours, part) => format!("{hours}.{part} hours"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_says_what_it_certifies() {
        let code = Code {
            attendee: DelegateId(7),
            place: Some(DeviceId(12)),
            minutes: 330,
            percent: 91,
        };
        assert_eq!(code.says(), "c7-12-330-91");
        assert_eq!(Code::read("c7-12-330-91"), Some(code));
        let whole = Code {
            place: None,
            ..code
        };
        assert_eq!(Code::read(&whole.says()), Some(whole));
        for wrong in ["7-12-330-91", "c7-12-330", "c7-12-x-91", "c", ""] {
            assert_eq!(Code::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_told_in_words() {
        for (minutes, told) in [
            (0, "0 minutes"),
            (1, "1 minute"),
            (59, "59 minutes"),
            (60, "1 hour"),
            (65, "1 hour"),
            (66, "1.1 hours"),
            (330, "5.5 hours"),
            (479, "7.9 hours"),
            (480, "8 hours"),
        ] {
            assert_eq!(in_words(minutes), told);
        }
    }
}
