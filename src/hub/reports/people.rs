//! Attendees across venues.

use super::figures::{IN, OUT};
use crate::{
    hub::store::{Sql, text},
    types::{Timestamp, error::Result, fold::fold},
};

/// Attendees that a page shows.
pub const FOUND_MAX: usize = 100;

/// An attendee at a venue.
pub struct Person {
    pub venue: i64,
    pub venue_name: String,
    pub name: String,
    pub code: String,
    pub email: String,
    pub arrived: Option<Timestamp>,
    pub left: Option<Timestamp>,
}

/// Finds attendees by ticket, e-mail or a part of the name; one more than the page shows.
pub fn find(sql: &mut dyn Sql, asked: &str) -> Result<Vec<Person>> {
    let asked = asked.trim();
    let folded = fold(asked);
    let by_name = sql.holds("d.name", "?2");
    let moment = |which: &str, types: &str| {
        format!(
            "(SELECT {which}(i.at) FROM hub_records i WHERE i.venue = d.venue AND i.who = d.id AND i.generation = d.generation
                AND i.type = 'interaction' AND NOT i.deleted AND i.subtype IN {types})"
        )
    };
    let found = sql.query(
        &format!(
            "SELECT d.venue, v.name, d.name, d.code, d.email, {}, {} FROM hub_records d
             JOIN hub_venues v ON v.id = d.venue AND v.current = d.generation
             WHERE d.type = 'delegate' AND NOT d.deleted AND d.venue > 0
                 AND (d.code = ?1 OR d.email = ?1 OR ?2 <> '' AND {by_name})
             ORDER BY d.name, d.code, v.name LIMIT {}",
            moment("min", IN),
            moment("max", OUT),
            FOUND_MAX + 1
        ),
        &[text(asked), text(&folded)],
    )?;
    let person = |row: &crate::hub::store::Row| Person {
        venue: row.number(0),
        venue_name: row.text(1),
        name: row.text(2),
        code: row.text(3),
        email: row.text(4),
        arrived: row.maybe_number(5).map(Timestamp),
        left: row.maybe_number(6).map(Timestamp),
    };
    Ok(found.iter().map(person).collect())
}
