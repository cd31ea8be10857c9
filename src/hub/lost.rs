//! What venues lost: records of the generation before that the present one lacks. They stay until somebody sends them
//! back or drops them.

use super::{
    store::{Row, Sql, text},
    venues::Venue,
};
use crate::{
    ops::standby::changes,
    types::error::{Error, Result},
};
use serde_json::Value;

/// The kind of a lost record on its way back.
const SENT_BACK: &str = "sent-back";
/// Interactions that are sent at a time.
const LINES: i64 = 500;

/// Lost records by type, and how many of them are on their way back. Attendees and places that the venue has again, by
/// their codes, are none of them: a machine that replaces another one gets them from the head office.
pub fn counts(sql: &mut dyn Sql, venue: i64) -> Result<Vec<(String, i64, i64)>> {
    let found = sql.query(
        "SELECT l.type, count(*), sum(CASE WHEN l.kind = ?2 THEN 1 ELSE 0 END) FROM hub_records l
         WHERE l.venue = ?1 AND l.lost AND (l.type NOT IN ('delegate', 'device') OR (l.type, coalesce(l.code, l.name, '')) NOT IN (
             SELECT n.type, coalesce(n.code, n.name) FROM hub_records n JOIN hub_venues v ON v.id = n.venue AND v.current = n.generation
             WHERE n.venue = ?1 AND n.type IN ('delegate', 'device') AND NOT n.deleted AND coalesce(n.code, n.name) IS NOT NULL))
         GROUP BY l.type ORDER BY l.type",
        &[venue.into(), text(SENT_BACK)],
    )?;
    Ok(found
        .iter()
        .map(|row| (row.text(0), row.number(1), row.number(2)))
        .collect())
}

/// Marks the lost interactions of a venue to be sent back; how many.
pub fn send_back(sql: &mut dyn Sql, venue: i64) -> Result<u64> {
    sql.execute(
        "UPDATE hub_records SET kind = ?2 WHERE venue = ?1 AND lost AND type = 'interaction' AND kind <> ?2 AND data IS NOT NULL",
        &[venue.into(), text(SENT_BACK)],
    )
}

/// Drops what a venue lost.
pub fn drop_all(sql: &mut dyn Sql, venue: i64) -> Result<u64> {
    sql.execute(
        "DELETE FROM hub_records WHERE venue = ?1 AND lost",
        &[venue.into()],
    )
}

/// Forgets what a venue has again.
pub fn confirm(sql: &mut dyn Sql, venue: i64, (generation, id): (i64, i64)) -> Result<u64> {
    sql.execute(
        "DELETE FROM hub_records WHERE venue = ?1 AND lost AND kind = ?2 AND type = 'interaction'
             AND (generation < ?3 OR generation = ?3 AND id <= ?4)",
        &[venue.into(), text(SENT_BACK), generation.into(), id.into()],
    )
}

/// The next lost interactions on their way back, as lines of `import changes`, and the last of them.
pub fn lines(
    sql: &mut dyn Sql,
    venue: &Venue,
    after: (i64, i64),
) -> Result<Option<(String, (i64, i64))>> {
    let found = sql.query(
        "SELECT generation, id, data FROM hub_records WHERE venue = ?1 AND lost AND kind = ?2 AND type = 'interaction' AND data IS NOT NULL
             AND (generation > ?3 OR generation = ?3 AND id > ?4) ORDER BY generation, id LIMIT ?5",
        &[venue.id.into(), text(SENT_BACK), after.0.into(), after.1.into(), LINES.into()],
    )?;
    let Some(last) = found.last() else {
        return Ok(None);
    };
    let last = (last.number(0), last.number(1));
    Ok(Some((file(sql, venue, &found)?, last)))
}

/// All lost interactions of a venue, as a file for `import changes`.
pub fn download(sql: &mut dyn Sql, venue: &Venue) -> Result<String> {
    let found = sql.query(
        "SELECT generation, id, data FROM hub_records WHERE venue = ?1 AND lost AND type = 'interaction'
             AND data IS NOT NULL ORDER BY generation, id",
        &[venue.id.into()],
    )?;
    file(sql, venue, &found)
}

fn file(sql: &mut dyn Sql, venue: &Venue, found: &[Row]) -> Result<String> {
    let number = venue.file.as_deref().and_then(|file| file.parse().ok());
    let number = number.ok_or_else(|| Error::invalid("the venue has no file yet"))?;
    let mut scans = Vec::with_capacity(found.len());
    for row in found {
        let data: Value = serde_json::from_str(&row.text(2)).unwrap_or_default();
        let generation = row.number(0);
        let mut named = |name: &str, record_type: &str| {
            let id = data.get(name)?.get("id")?.as_i64()?;
            public_id(sql, venue, generation, record_type, id).transpose()
        };
        let mut delegates = [None, None, None];
        let mut devices = [None, None, None];
        for (at, ordinal) in ["first", "second", "third"].iter().enumerate() {
            delegates[at] = named(&format!("{ordinal}Delegate"), "delegate").transpose()?;
            devices[at] = named(&format!("{ordinal}Device"), "device").transpose()?;
        }
        scans.push(changes::Known {
            id: row.number(1),
            data,
            delegates,
            devices,
        });
    }
    changes::of_known(number, venue.epoch, scans)
}

/// The public id of a record as it was in a generation: lost with it, or still the same.
fn public_id(
    sql: &mut dyn Sql,
    venue: &Venue,
    generation: i64,
    record_type: &str,
    id: i64,
) -> Result<Option<String>> {
    let found = sql.query_one(
        "SELECT data FROM hub_records WHERE venue = ?1 AND type = ?2 AND id = ?3 AND generation >= ?4 AND NOT deleted
         ORDER BY generation LIMIT 1",
        &[venue.id.into(), text(record_type), id.into(), generation.into()],
    )?;
    let data: Option<Value> = found.and_then(|row| serde_json::from_str(&row.text(0)).ok());
    let public_id = data
        .as_ref()
        .and_then(|data| data.get("publicId")?.as_str());
    Ok(public_id.map(|public_id| format!("publicId:{public_id}")))
}
