//! The time for which attendees were there, of that which counts: the sessions at a place and below it, or, without any, the
//! place's own times. Sessions at the same time count once. Who was there when, the view `stays` of reports tells: by
//! check-ins and check-outs, and by readers.

use crate::{
    db::sandbox::{QueryLimits, Sandbox},
    identity::App,
    types::{
        DelegateId, DeviceId, Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::{
    Connection,
    types::{Value, ValueRef},
};
use std::{
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    time::Duration,
};

/// The longest time of reading who was where.
const READING_MAX: Duration = Duration::from_secs(30);

/// The place and part of its time that certificates are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// `None`: everything.
    pub place: Option<DeviceId>,
    /// The least part of what counts.
    pub percent: i64,
}

/// From one moment to another, in Unix seconds.
type Span = (i64, i64);

/// Attendees with the time for which they were there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attendance {
    /// The first and the last moment that counts.
    pub span: (Timestamp, Timestamp),
    /// Seconds that count.
    pub counted_s: i64,
    /// Whoever was there at all, by last name.
    pub people: Vec<Attended>,
}

/// The time for which an attendee was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attended {
    pub attendee: DelegateId,
    pub name: String,
    pub seconds: i64,
}

impl Attended {
    /// Rounded down: whoever has 80 reached it.
    pub fn percent_of(&self, counted_s: i64) -> i64 {
        100 * self.seconds / counted_s.max(1)
    }
}

impl Attendance {
    /// Attendees who were there for this part of what counts, or more.
    pub fn enough(&self, percent: i64) -> impl Iterator<Item = &Attended> {
        let people = self.people.iter();
        people.filter(move |attended| attended.percent_of(self.counted_s) >= percent)
    }
}

/// The time that counts.
struct Counted {
    /// Apart from each other, the earliest first.
    spans: Vec<Span>,
    /// Places where whoever is there attends.
    places: HashSet<i64>,
    /// Rooms of sessions: readers hear who is at one, while a gate lets people in for whatever is there.
    rooms: HashSet<i64>,
}

impl Counted {
    /// The first and the last moment.
    fn span(&self) -> (Timestamp, Timestamp) {
        let moment = |at: Option<i64>| Timestamp(at.unwrap_or_default() * 1_000);
        let (from, to) = (self.spans.first(), self.spans.last());
        (
            moment(from.map(|span| span.0)),
            moment(to.map(|span| span.1)),
        )
    }
}

/// The first and the last moment that counts at a place.
pub(super) fn span(
    connection: &Connection,
    place: Option<DeviceId>,
) -> Result<(Timestamp, Timestamp)> {
    Ok(counted(connection, place)?.span())
}

/// Works out who was there for how long.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where nothing has a beginning and an end;
/// [`crate::types::error::Kind::Unavailable`] where it takes too long.
pub async fn attendance(app: &App, wanted: Wanted) -> Result<Attendance> {
    let counted = app
        .store
        .read(move |connection| counted(connection, wanted.place))
        .await?;
    let permit = app.report_semaphore.run().await?;
    let path = app.store.path().to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let limits = QueryLimits::default();
        let sandbox = Sandbox::open(&path)?;
        sandbox.hold(READING_MAX, &limits)?;
        let read = stays(&sandbox, &counted);
        let stays = read.map_err(|cause| limits.stopped().map_or(cause, Error::from))?;
        Ok::<_, Error>((counted, stays))
    });
    let (counted, stays) = reading.await.map_err(Error::defect)??;
    let seconds: HashMap<i64, i64> = stays
        .into_iter()
        .map(|(attendee, stays)| (attendee, within(stays, &counted.spans)))
        .filter(|(_, seconds)| *seconds > 0)
        .collect();
    let people = app
        .store
        .read(move |connection| named(connection, &seconds))
        .await?;
    Ok(Attendance {
        span: counted.span(),
        counted_s: counted.spans.iter().map(|(from, to)| to - from).sum(),
        people,
    })
}

/// Finds what counts at a place.
fn counted(connection: &Connection, place: Option<DeviceId>) -> Result<Counted> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE below (id) AS (
             SELECT id FROM devices WHERE deleted_at IS NULL AND (?1 IS NULL OR id = ?1)
             UNION SELECT d.id FROM devices AS d JOIN below ON d.parent_id = below.id WHERE d.deleted_at IS NULL)
         SELECT d.id, d.device_type IS 'session', iif(?1 IS NULL, d.device_type IS 'event', d.id = ?1),
             d.start_at / 1000, d.end_at / 1000, iif(p.device_type IS 'event', NULL, p.id)
         FROM below JOIN devices AS d ON d.id = below.id LEFT JOIN devices AS p ON p.id = d.parent_id AND p.deleted_at IS NULL",
    )?;
    let (mut places, mut rooms) = (HashSet::new(), HashSet::new());
    let (mut sessions, mut own) = (Vec::new(), Vec::new());
    let mut rows = statement.query([place])?;
    while let Some(row) = rows.next()? {
        places.insert(row.get::<_, i64>(0)?);
        let (from, to): (Option<i64>, Option<i64>) = (row.get(3)?, row.get(4)?);
        let Some(span) = from.zip(to).filter(|(from, to)| from < to) else {
            continue;
        };
        if row.get(1)? {
            sessions.push(span);
            rooms.extend(row.get::<_, Option<i64>>(5)?);
        } else if row.get(2)? {
            own.push(span);
        }
    }
    if places.is_empty() {
        return Err(Error::field("place", "is not there any more"));
    }
    let spans = united(if sessions.is_empty() { own } else { sessions });
    if spans.is_empty() {
        return Err(Error::invalid(
            "no time counts: give the place a beginning and an end, or sessions below it that have both",
        ));
    }
    Ok(Counted {
        spans,
        places,
        rooms,
    })
}

/// Reads who was at the places from when to when.
fn stays(sandbox: &Sandbox, counted: &Counted) -> Result<HashMap<i64, Vec<Span>>> {
    let mut stays: HashMap<i64, Vec<Span>> = HashMap::new();
    sandbox.rows(
        "SELECT delegate_id, device_id, noticed_by = 'reader', unixepoch(begins_at),
             coalesce(unixepoch(ends_at), unixepoch()) FROM stays",
        |_| Value::Null,
        |_| Ok(()),
        |row| {
            if let [
                ValueRef::Integer(attendee),
                ValueRef::Integer(place),
                ValueRef::Integer(by_reader),
                ValueRef::Integer(from),
                ValueRef::Integer(to),
            ] = row
                && (counted.places.contains(place)
                    || *by_reader == 1 && counted.rooms.contains(place))
            {
                stays.entry(*attendee).or_default().push((*from, *to));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(stays)
}

/// Returns the seconds of stays that are within what counts, each second once.
fn within(stays: Vec<Span>, counted: &[Span]) -> i64 {
    let stays = united(stays);
    let mut seconds = 0;
    for (from, to) in stays {
        // The first that ends after the stay begins.
        let first = counted.partition_point(|span| span.1 <= from);
        let common = counted[first..].iter().take_while(|span| span.0 < to);
        seconds += common
            .map(|span| to.min(span.1) - from.max(span.0))
            .sum::<i64>();
    }
    seconds
}

/// Returns spans that cover the same time, apart from each other, the earliest first.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|(from, to)| from < to);
    spans.sort_unstable();
    let mut united: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match united.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => united.push((from, to)),
        }
    }
    united
}

/// Returns attendees with their names, by last name.
fn named(connection: &Connection, seconds: &HashMap<i64, i64>) -> Result<Vec<Attended>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, trim(coalesce(first_name, '') || ' ' || coalesce(last_name, '')) FROM delegates
         WHERE deleted_at IS NULL AND id IN (SELECT value FROM json_each(?1)) ORDER BY text_folded(last_name), text_folded(first_name), id",
    )?;
    let ids: Vec<i64> = seconds.keys().copied().collect();
    let people = statement.query_map([serde_json::json!(ids).to_string()], |row| {
        let id: i64 = row.get(0)?;
        Ok(Attended {
            attendee: DelegateId(id),
            name: row.get(1)?,
            seconds: seconds.get(&id).copied().unwrap_or_default(),
        })
    })?;
    Ok(people.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_within_what_counts_is_added_up_once() {
        // Two sessions of 100 s that overlap, and one later.
        let counted = united(vec![(100, 200), (150, 250), (400, 500), (600, 600)]);
        assert_eq!(counted, [(100, 250), (400, 500)]);
        for (stays, seconds) in [
            (vec![], 0),
            (vec![(0, 100)], 0),
            (vec![(0, 1_000)], 250),
            (vec![(100, 200)], 100),
            (vec![(250, 400)], 0),
            (vec![(240, 410)], 20),
            // At both sessions, or read twice: the time is there once.
            (vec![(100, 200), (150, 250)], 150),
            (vec![(100, 200), (120, 130), (190, 210)], 110),
            (vec![(450, 440)], 0),
            (vec![(450, 900), (0, 110)], 60),
        ] {
            assert_eq!(within(stays.clone(), &counted), seconds, "{stays:?}");
        }
    }

    #[test]
    fn who_stayed_for_so_many_percent_is_told() {
        for (seconds, counted_s, percent) in [
            (0, 3_600, 0),
            (2_879, 3_600, 79),
            (2_880, 3_600, 80),
            (3_599, 3_600, 99),
            (3_600, 3_600, 100),
            (5, 0, 500),
        ] {
            let attended = Attended {
                attendee: DelegateId(1),
                name: String::new(),
                seconds,
            };
            assert_eq!(
                attended.percent_of(counted_s),
                percent,
                "{seconds} of {counted_s}"
            );
            let span = (Timestamp(0), Timestamp(0));
            let all = Attendance {
                span,
                counted_s,
                people: vec![attended],
            };
            assert_eq!(all.enough(80).count(), usize::from(percent >= 80));
        }
    }
}
