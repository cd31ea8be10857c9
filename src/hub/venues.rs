//! The venues of a hub: added with a code, paired by it, known by a bearer, revoked.

use super::store::{Row, Sql, Value, text};
use crate::{
    core::head_office::{Kept, PairRequest, Paired, venue::ERASED},
    types::{
        Timestamp,
        barcode::random_symbols,
        error::{Error, Kind, Result},
        secret,
    },
};

/// The head office itself, among the venues.
pub const OFFICE: i64 = 0;
/// How long a pairing code is good.
pub const CODE_MS: i64 = 24 * 3_600_000;
/// A venue that was not heard of for so long is away: it asks about every ten seconds.
pub const AWAY_MS: i64 = 60_000;
/// Clocks that are further apart are told.
const CLOCK_OFF_MS: i64 = 60_000;
/// A hub that was not heard of for so long is gone.
pub const HUB_GONE_MS: i64 = 30_000;

const COLUMNS: &str = "id, name, event, configured, secret_hash, file, epoch, version, cursor, begun, sequence, current, coming, \
    previous, clock_ms, behind, behind_ms, seen_at, revoked_at, expected, arrived, inside, conflicts, counted, \
    (SELECT max(expires_at) FROM hub_codes WHERE venue = hub_venues.id AND hash LIKE 'copy %')";

/// A venue, as the hub knows it.
#[derive(Debug, Clone, Default)]
pub struct Venue {
    pub id: i64,
    pub name: String,
    /// The event of the hub's file whose records it is sent; all of them without one.
    pub event: Option<i64>,
    pub is_configured: bool,
    pub secret_hash: Option<String>,
    pub file: Option<String>,
    pub epoch: i64,
    pub version: Option<String>,
    pub cursor: Option<String>,
    pub begun: Option<String>,
    pub sequence: i64,
    pub current: Option<i64>,
    pub coming: Option<i64>,
    pub previous: Option<i64>,
    pub clock_ms: i64,
    pub behind: i64,
    pub behind_ms: i64,
    pub seen_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub expected: i64,
    pub arrived: i64,
    pub inside: i64,
    pub conflicts: i64,
    pub counted: i64,
    /// Until when it is said that another server has a copy of its file.
    pub copied_until: Option<Timestamp>,
}

impl Venue {
    fn read(row: &Row) -> Self {
        Self {
            id: row.number(0),
            name: row.text(1),
            event: row.maybe_number(2),
            is_configured: row.is(3),
            secret_hash: row.maybe_text(4),
            file: row.maybe_text(5),
            epoch: row.number(6),
            version: row.maybe_text(7),
            cursor: row.maybe_text(8),
            begun: row.maybe_text(9),
            sequence: row.number(10),
            current: row.maybe_number(11),
            coming: row.maybe_number(12),
            previous: row.maybe_number(13),
            clock_ms: row.number(14),
            behind: row.number(15),
            behind_ms: row.number(16),
            seen_at: row.maybe_number(17).map(Timestamp),
            revoked_at: row.maybe_number(18).map(Timestamp),
            expected: row.number(19),
            arrived: row.number(20),
            inside: row.number(21),
            conflicts: row.number(22),
            counted: row.number(23),
            copied_until: row.maybe_number(24).map(Timestamp),
        }
    }

    fn find_where(sql: &mut dyn Sql, condition: &str, value: Value) -> Result<Option<Self>> {
        let query = format!("SELECT {COLUMNS} FROM hub_venues WHERE {condition} = ?1");
        Ok(sql.query_one(&query, &[value])?.as_ref().map(Self::read))
    }

    /// # Errors
    /// [`Kind::NoSuchPath`] where there is none.
    pub fn find(sql: &mut dyn Sql, id: i64) -> Result<Self> {
        Self::find_where(sql, "id", id.into())?.ok_or_else(missing)
    }

    /// Every venue, by name; not the head office.
    pub fn all(sql: &mut dyn Sql) -> Result<Vec<Self>> {
        let query = format!("SELECT {COLUMNS} FROM hub_venues WHERE id > 0 ORDER BY name, id");
        Ok(sql.query(&query, &[])?.iter().map(Self::read).collect())
    }

    /// The venue that a bearer belongs to.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`], [`Kind::ClientRevoked`].
    pub fn of_bearer(sql: &mut dyn Sql, bearer: &str) -> Result<Self> {
        let unknown = || {
            Error::new(
                Kind::Unauthenticated,
                "the head office does not know this venue's key; pair the venue with a new code",
            )
        };
        if !secret::well_formed(bearer) {
            return Err(unknown());
        }
        let found =
            Self::find_where(sql, "secret_hash", text(&hash(bearer)))?.ok_or_else(unknown)?;
        if found.revoked_at.is_some() {
            return Err(Error::new(
                Kind::ClientRevoked,
                "this venue was revoked at the head office; pair it with a new code to go on",
            ));
        }
        Ok(found)
    }

    pub fn is_paired(&self) -> bool {
        self.secret_hash.is_some() && self.revoked_at.is_none()
    }

    /// Tells whether two servers have the venue's file.
    pub fn is_copied(&self, now: Timestamp) -> bool {
        self.copied_until.is_some_and(|until| now < until)
    }

    /// Tells whether its clock is so far from the hub's that times are hard to compare.
    pub fn is_clock_off(&self) -> bool {
        self.clock_ms.saturating_abs() >= CLOCK_OFF_MS
    }

    /// Tells whether it was heard of lately.
    pub fn is_connected(&self, now: Timestamp) -> bool {
        self.is_paired() && self.seen_at.is_some_and(|at| now.0 - at.0 < AWAY_MS)
    }
}

fn missing() -> Error {
    Error::new(Kind::NoSuchPath, "there is no such venue")
}

fn hash(secret: &str) -> String {
    secret::hex(&secret::digest(secret.as_bytes()))
}

/// The hash of a code, however it was typed.
fn code_hash(code: &str) -> String {
    let typed: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    hash(&typed.to_ascii_uppercase())
}

/// Adds a venue.
pub fn add(sql: &mut dyn Sql, name: &str, event: Option<i64>, now: Timestamp) -> Result<i64> {
    let name = checked_name(name)?;
    // Under the head office's lock: no two hubs give one number.
    sql.lock(OFFICE)?;
    check_free(sql, name, OFFICE)?;
    let next = sql.query_one(
        "SELECT coalesce(max(id), 0) + 1 FROM hub_venues WHERE id > 0",
        &[],
    )?;
    let id = next.map_or(1, |row| row.number(0));
    sql.execute(
        "INSERT INTO hub_venues (id, name, event, created_at) VALUES (?1, ?2, ?3, ?4)",
        &[id.into(), text(name), event.into(), now.0.into()],
    )?;
    Ok(id)
}

fn checked_name(name: &str) -> Result<&str> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 100 {
        return Err(Error::field("name", "must have 1 to 100 characters"));
    }
    Ok(name)
}

/// Two venues of one name could not be told apart in reports.
fn check_free(sql: &mut dyn Sql, name: &str, own: i64) -> Result<()> {
    let other = sql.query_one(
        "SELECT id FROM hub_venues WHERE id > 0 AND id <> ?2 AND lower(name) = lower(?1)",
        &[text(name), own.into()],
    )?;
    match other {
        Some(_) => Err(Error::field(
            "name",
            "is the name of another venue; give a machine that takes its place a new code there",
        )),
        None => Ok(()),
    }
}

/// Renames a venue, and says what it is sent.
pub fn change(
    sql: &mut dyn Sql,
    id: i64,
    name: &str,
    event: Option<i64>,
    configured: bool,
) -> Result<()> {
    let name = checked_name(name)?;
    check_free(sql, name, id)?;
    sql.execute(
        "UPDATE hub_venues SET name = ?2, event = ?3, configured = ?4 WHERE id = ?1 AND id > 0",
        &[
            id.into(),
            text(name),
            event.into(),
            i64::from(configured).into(),
        ],
    )?;
    Ok(())
}

/// Makes a pairing code, in place of the one before.
pub fn make_code(sql: &mut dyn Sql, venue: i64, now: Timestamp) -> Result<String> {
    let symbols = random_symbols::<12>()?;
    let code = [&symbols[..4], &symbols[4..8], &symbols[8..]].join("-");
    sql.execute(
        "DELETE FROM hub_codes WHERE (venue = ?1 OR expires_at <= ?2) AND hash NOT LIKE 'run %'",
        &[venue.into(), now.0.into()],
    )?;
    sql.execute(
        "INSERT INTO hub_codes (hash, venue, expires_at) VALUES (?1, ?2, ?3)",
        &[
            text(&code_hash(&code)),
            venue.into(),
            (now.0 + CODE_MS).into(),
        ],
    )?;
    Ok(code)
}

/// Pairs a machine with the venue of a code, which is used up; none where the code is wrong. A venue that was paired
/// before is paired anew: the earlier key ends.
///
/// # Errors
/// [`Kind::CodeTaken`] for a file of another venue, or an epoch that is over.
pub fn pair(sql: &mut dyn Sql, asked: &PairRequest, now: Timestamp) -> Result<Option<Paired>> {
    let used = sql.query_one(
        "DELETE FROM hub_codes WHERE hash = ?1 AND expires_at > ?2 RETURNING venue",
        &[text(&code_hash(&asked.code)), now.0.into()],
    )?;
    let Some(venue) = used.map(|row| row.number(0)) else {
        return Ok(None);
    };
    sql.lock(venue)?;
    let venue = Venue::find(sql, venue)?;
    if let Some(other) =
        Venue::find_where(sql, "file", text(&asked.file))?.filter(|other| other.id != venue.id)
    {
        if other.id == OFFICE {
            return Err(taken(
                "this is the head office's own file: a venue has a file of its own",
            ));
        }
        if other.is_paired() {
            return Err(taken(format!(
                "this file is paired as \"{}\" already; revoke that venue at the head office first",
                other.name
            )));
        }
        sql.execute(
            "UPDATE hub_venues SET file = NULL WHERE id = ?1",
            &[other.id.into()],
        )?;
    }
    let is_same = venue.file.as_ref() == Some(&asked.file);
    if is_same && asked.epoch < venue.epoch {
        return Err(superseded());
    }
    let secret = secret::fresh()?;
    sql.execute("DELETE FROM hub_codes WHERE venue = ?1", &[venue.id.into()])?;
    sql.execute(
        "UPDATE hub_venues SET secret_hash = ?2, file = ?3, epoch = ?4, version = ?5, revoked_at = NULL WHERE id = ?1",
        &[
            venue.id.into(),
            text(&hash(&secret)),
            text(&asked.file),
            asked.epoch.into(),
            text(&asked.version),
        ],
    )?;
    if !is_same {
        // Another file: it begins with a snapshot, and what it lacks of the one before is listed.
        sql.execute(
            "UPDATE hub_venues SET cursor = NULL, begun = NULL WHERE id = ?1",
            &[venue.id.into()],
        )?;
    }
    let office = sql.query_one("SELECT file FROM hub_venues WHERE id = 0", &[])?;
    Ok(Some(Paired {
        office: office.and_then(|office| office.maybe_text(0)),
        venue: venue.id,
        name: venue.name,
        secret,
        hubs: hubs(sql, now)?,
    }))
}

pub(super) fn taken(why: impl Into<String>) -> Error {
    Error::new(Kind::CodeTaken, why)
}

/// The error for a machine that another one replaced.
pub fn superseded() -> Error {
    taken("another machine took this venue over; this one is not to go on")
}

/// Ends a venue's key at once. What it pushed stays.
pub fn revoke(sql: &mut dyn Sql, id: i64, now: Timestamp) -> Result<()> {
    sql.execute("DELETE FROM hub_codes WHERE venue = ?1", &[id.into()])?;
    sql.execute(
        "UPDATE hub_venues SET revoked_at = ?2 WHERE id = ?1 AND id > 0",
        &[id.into(), now.0.into()],
    )?;
    Ok(())
}

/// The addresses of the hubs that are alive.
pub fn hubs(sql: &mut dyn Sql, now: Timestamp) -> Result<Vec<String>> {
    let found = sql.query(
        "SELECT url FROM hub_hubs WHERE seen_at > ?1 ORDER BY url",
        &[(now.0 - HUB_GONE_MS).into()],
    )?;
    Ok(found.iter().map(|row| row.text(0)).collect())
}

/// Says that a hub is alive, by the address that venues reach it by.
pub fn beat(sql: &mut dyn Sql, url: &str, now: Timestamp) -> Result<()> {
    sql.execute(
        "INSERT INTO hub_hubs (url, seen_at) VALUES (?1, ?2) ON CONFLICT (url) DO UPDATE SET seen_at = excluded.seen_at",
        &[text(url), now.0.into()],
    )?;
    sql.execute(
        "DELETE FROM hub_hubs WHERE seen_at < ?1",
        &[(now.0 - 24 * 3_600_000).into()],
    )?;
    Ok(())
}

/// Stores the values that a venue keeps, in place of those before.
pub fn keep(sql: &mut dyn Sql, venue: i64, kept: &[Kept]) -> Result<()> {
    sql.execute("DELETE FROM hub_kept WHERE venue = ?1", &[venue.into()])?;
    for one in kept {
        sql.execute(
            "INSERT INTO hub_kept (venue, type, id, property, office, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (venue, type, id, property) DO UPDATE SET office = excluded.office, value = excluded.value",
            &[
                venue.into(),
                text(&one.record_type),
                one.id.into(),
                text(&one.property),
                text(&one.office.to_string()),
                text(&one.venue.to_string()),
            ],
        )?;
    }
    Ok(())
}

/// A value that a venue kept against the head office's.
pub struct KeptValue {
    pub record_type: String,
    pub id: i64,
    /// What the head office calls the record.
    pub name: String,
    pub property: String,
    pub office: String,
    pub value: String,
}

/// The first values that a venue kept.
pub fn kept(sql: &mut dyn Sql, venue: i64, most: i64) -> Result<Vec<KeptValue>> {
    let found = sql.query(
        "SELECT k.type, k.id, r.name, k.property, k.office, k.value FROM hub_kept k
         LEFT JOIN hub_venues o ON o.id = 0
         LEFT JOIN hub_records r ON r.venue = 0 AND r.generation = o.current AND r.type = k.type AND r.id = k.id
         WHERE k.venue = ?1 ORDER BY k.type, k.id, k.property LIMIT ?2",
        &[venue.into(), most.into()],
    )?;
    let shown = |json: String| match serde_json::from_str(&json) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(serde_json::Value::Null) => "–".to_owned(),
        _ => json,
    };
    // What happened to the record itself.
    let state = |property: &str, json: String| match (property, &*json) {
        (ERASED, "true") => "erased at the venue".to_owned(),
        ("deleted", "true") => "deleted".to_owned(),
        ("deleted", "false") => "not deleted".to_owned(),
        _ => shown(json),
    };
    let one = |row: &Row| KeptValue {
        record_type: row.text(0),
        id: row.number(1),
        name: row.maybe_text(2).unwrap_or_else(|| match row.number(1) {
            0 => "Configuration".to_owned(),
            id => format!("{} {id}", row.text(0)),
        }),
        office: state(&row.text(3), row.text(4)),
        value: state(&row.text(3), row.text(5)),
        property: row.text(3),
    };
    Ok(found.iter().map(one).collect())
}

/// The events of the head office, by name.
pub fn events(sql: &mut dyn Sql) -> Result<Vec<(i64, String)>> {
    let found = sql.query(
        "SELECT r.id, r.name FROM hub_records r JOIN hub_venues v ON v.id = r.venue AND v.current = r.generation
         WHERE r.venue = 0 AND r.type = 'device' AND r.subtype = 'event' AND NOT r.deleted ORDER BY r.name, r.id",
        &[],
    )?;
    Ok(found
        .iter()
        .map(|row| (row.number(0), row.text(1)))
        .collect())
}
