//! Blocked codes: those of badges that were lost. Nobody gets in with one, nobody may be given it,
//! and a scan of it is answered with the reason. Looked at only where a code was not found.

use super::{RESOURCE, find, overview::holder, scanned, signed};
use crate::{
    core::{
        Context,
        changes::{self, action},
        records::{
            Changes,
            write::{self, stored_text},
        },
        scanned::Meaning,
        settings, ticket_keys,
    },
    db::Tx,
    types::{
        DelegateCode, DelegateId, DelegateSelector, Timestamp, Zone,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, Row, types::Value as Sql};
use serde_json::{Map, Value, json};

/// Reasons that complete "this badge was …".
pub const REASONS: &[&str] = &[
    "reported lost",
    "reported stolen",
    "found damaged",
    "handed to somebody else",
];
/// The reason when two records became one.
pub const MERGED: &str = "merged with another of the same person";
/// The longest reason, in characters.
const REASON_MAX_CHARS: usize = 200;
/// The type of blocked codes in the change feed.
pub const CODE: &str = "blocked-code";
/// The end of a shorter code would reveal all of it.
const END_SHOWN_FROM_CHARS: usize = 6;

/// A blocked code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The kind of unique code that it was, by its name in the API.
    pub kind: String,
    /// The code.
    pub value: String,
    /// The delegate whose code it was.
    pub delegate: DelegateId,
    pub reason: String,
    pub actor: String,
    pub at: Timestamp,
}

const COLUMNS: &str = "kind, value, delegate_id, reason, actor, at";

impl Blocked {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: row.get(0)?,
            value: row.get(1)?,
            delegate: row.get(2)?,
            reason: row.get(3)?,
            actor: row.get(4)?,
            at: row.get(5)?,
        })
    }
}

impl Blocked {
    /// As the change feed shows it.
    pub fn to_json(&self, id: i64, zone: &Zone) -> Value {
        json!({
            "id": id, "_type": CODE, "kind": self.kind, "value": self.value,
            "delegate": {"id": self.delegate, "_type": RESOURCE.name},
            "reason": self.reason, "blockedAt": zone.iso(self.at),
        })
    }
}

/// The unique code of a name, such as `barcode`.
pub fn code_named(name: &str) -> Option<DelegateCode> {
    DelegateCode::ALL
        .iter()
        .copied()
        .find(|code| code.name() == name)
}

/// A blocked code.
pub fn get(connection: &Connection, kind: &str, value: &str) -> Result<Option<Blocked>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM blocked_codes WHERE kind = ?1 AND value = ?2"
        ))?
        .query_row([kind, value], Blocked::read)
        .optional()?)
}

/// The blocked code of an id.
pub fn with_id(connection: &Connection, id: i64) -> Result<Option<Blocked>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM blocked_codes WHERE id = ?1"
        ))?
        .query_row([id], Blocked::read)
        .optional()?)
}

/// Codes of a delegate that are blocked, the newest first.
pub fn of(connection: &Connection, delegate: i64) -> Result<Vec<Blocked>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM blocked_codes WHERE delegate_id = ?1 ORDER BY at DESC, kind"
    ))?;
    let blocked = statement.query_map([delegate], Blocked::read)?;
    Ok(blocked.collect::<rusqlite::Result<_>>()?)
}

/// The blocked code that a selector means.
pub fn meant(connection: &Connection, selector: &DelegateSelector) -> Result<Option<Blocked>> {
    match selector {
        DelegateSelector::Id(_) => Ok(None),
        DelegateSelector::Code(code, value) => get(connection, code.name(), value),
        DelegateSelector::Scanned(value) => match scanned::meaning(connection, value)? {
            Meaning::Match(found) if found.is_blocked => with_id(connection, found.id),
            _ => Ok(None),
        },
    }
}

/// The blocked code of exactly this value, whichever kind of code it was.
fn with_value(connection: &Connection, value: &str) -> Result<Option<Blocked>> {
    for code in DelegateCode::ALL {
        if let Some(blocked) = get(connection, code.name(), value)? {
            return Ok(Some(blocked));
        }
    }
    Ok(None)
}

/// The error for a selector by which nobody was found: of a blocked code it says what happened.
pub fn missing(connection: &Connection, selector: &DelegateSelector) -> Result<Error> {
    let Some(blocked) = meant(connection, selector)? else {
        return Ok(RESOURCE.missing(selector));
    };
    let told = told(connection, &blocked)?;
    Ok(Error::new(Kind::DelegateNotFound, told).because("blocked"))
}

/// Returns the sentence for a steward to whom somebody brings a blocked code.
pub fn told(connection: &Connection, blocked: &Blocked) -> Result<String> {
    let zone = settings::load(connection)?.zone;
    let when = zone.spoken(blocked.at, Timestamp::now());
    let reason = blocked.reason.as_str();
    let known = reason == MERGED || REASONS.contains(&reason);
    let mut told = if known {
        format!("this badge was {reason} at {when}")
    } else {
        format!("this badge was blocked at {when}: {reason}")
    };
    if let Some(new) = replacement(connection, blocked)? {
        told.push_str(if known {
            " and replaced"
        } else {
            "; it was replaced"
        });
        if new.chars().count() >= END_SHOWN_FROM_CHARS {
            let end: Vec<char> = new.chars().rev().take(2).collect();
            told.push_str("; the new one ends in …");
            told.extend(end.iter().rev());
        }
    }
    Ok(told)
}

/// The code that the holder of a blocked one has now.
fn replacement(connection: &Connection, blocked: &Blocked) -> Result<Option<String>> {
    let Some(property) = RESOURCE.property(&blocked.kind) else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT {} FROM delegates WHERE id = ?1 AND deleted_at IS NULL",
        property.column
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row([blocked.delegate], |row| row.get(0))
        .optional()?
        .flatten())
}

/// Checks that no code which a delegate is to get is blocked.
///
/// # Errors
/// [`Kind::CodeTaken`], naming the code.
pub fn check(connection: &Connection, changes: &Changes) -> Result<()> {
    for (column, name) in RESOURCE.codes() {
        if let Some(Sql::Text(value)) = changes.get(column)
            && let Some(blocked) = get(connection, name, value)?
        {
            return Err(refused(&blocked));
        }
    }
    Ok(())
}

/// The error when somebody is to get a blocked code.
pub fn refused(blocked: &Blocked) -> Error {
    Error::new(
        Kind::CodeTaken,
        format!(
            "\"{}\" is blocked ({}); take another, or unblock it in the console",
            text::shortened(&blocked.value),
            blocked.reason
        ),
    )
    .at(&blocked.kind)
}

/// Blocks a code that a delegate has and puts another in its place; without one the delegate is
/// left without, but for a `publicId`, of which the server makes a new one. What was blocked.
///
/// # Errors
/// [`Kind::DelegateNotFound`]; [`Kind::Invalid`] when it has no such code or the reason is
/// unusable; [`Kind::CodeTaken`] when the other code is another's, or blocked.
pub fn block(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    code: DelegateCode,
    reason: &str,
    new: Option<&str>,
) -> Result<String> {
    find(tx, &DelegateSelector::Id(delegate))?;
    let name = code.name();
    let column = RESOURCE.property(name).map_or("NULL", |field| field.column);
    let value = write::stored_text(tx, &RESOURCE, column, delegate.0)?
        .ok_or_else(|| Error::field(name, "this delegate has none"))?;
    if new == Some(value.as_str()) {
        return Err(Error::field(
            name,
            "the new code is the one that is to be blocked",
        ));
    }
    put(tx, ctx, delegate, name, &value, reason)?;
    let new = new.map_or(Value::Null, Value::from);
    let body = Map::from_iter([(name.to_owned(), new)]);
    write::patch(tx, ctx, &RESOURCE, delegate.0, body)?;
    Ok(value)
}

/// The codes on a badge: barcode, RFID chip and UHF chip.
const ON_BADGES: [DelegateCode; 3] = [
    DelegateCode::Barcode,
    DelegateCode::Rfid,
    DelegateCode::UhfId,
];

/// Blocks every code on the badge of a delegate and gives them another barcode, or leaves them without.
///
/// # Errors
/// [`Kind::Invalid`] when the reason is unusable; [`Kind::CodeTaken`] when the other code is somebody's,
/// or blocked.
pub fn replace_badge(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    reason: &str,
    new: Option<&str>,
) -> Result<()> {
    if let Some(new) = new {
        check_free(tx, "code", new)?;
    }
    let mut body = Map::new();
    for (column, name) in RESOURCE.codes() {
        if ON_BADGES.iter().any(|code| code.name() == name)
            && let Some(value) = stored_text(tx, &RESOURCE, column, delegate.0)?
        {
            put(tx, ctx, delegate, name, &value, reason)?;
            body.insert(name.to_owned(), Value::Null);
        }
    }
    if let Some(new) = new {
        body.insert(DelegateCode::Barcode.name().to_owned(), new.into());
    }
    write::patch(tx, ctx, &RESOURCE, delegate.0, body)
}

/// Returns whether a code on a badge is blocked already, of those that a body gives.
pub fn has_blocked(connection: &Connection, body: &Map<String, Value>) -> Result<bool> {
    for code in ON_BADGES {
        if let Some(value) = body.get(code.name()).and_then(Value::as_str)
            && get(connection, code.name(), value)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks that a code is nobody's and is not blocked, as whichever kind of code: a gate reads it as any.
///
/// # Errors
/// [`Kind::CodeTaken`], and [`Kind::Invalid`] for what is no code; `name` is what messages call it.
pub fn check_free(connection: &Connection, name: &str, code: &str) -> Result<()> {
    text::check_code(name, code)?;
    if let Some(blocked) = with_value(connection, code)? {
        return Err(refused(&blocked));
    }
    if holder(connection, code)?.is_some() {
        let code = text::shortened(code);
        let message = format!("\"{code}\" is already used; take another code");
        return Err(Error::new(Kind::CodeTaken, message).at(name));
    }
    Ok(())
}

/// Notes a code as blocked; it is nobody's any more, or will not be when this transaction ends.
pub fn put(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    name: &str,
    value: &str,
    reason: &str,
) -> Result<()> {
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > REASON_MAX_CHARS {
        return Err(Error::field(
            "reason",
            format!("must have 1 to {REASON_MAX_CHARS} characters"),
        ));
    }
    text::check_text("reason", reason)?;
    tx.prepare_cached(
        "INSERT INTO blocked_codes (kind, value, delegate_id, reason, actor, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(rusqlite::params![
        name,
        value,
        delegate,
        reason,
        ctx.actor,
        tx.now()
    ])?;
    changes::note(tx, action::CREATE, CODE, tx.last_insert_rowid())?;
    if ticket_keys::is_any(tx)? {
        signed::note_code(tx, delegate, value)?;
    }
    let after = json!({"code": {name: value}, "reason": reason});
    RESOURCE.audit(tx, ctx, "block", delegate.0, None, Some(after))
}

/// Unblocks a code; `give_back` makes it its holder's again, in place of what that has now. Whose
/// it was.
///
/// # Errors
/// [`Kind::Invalid`] when it is not blocked; as [`write::patch`] when it is given back.
pub fn unblock(
    tx: &Tx<'_>,
    ctx: &Context,
    name: &str,
    value: &str,
    give_back: bool,
) -> Result<DelegateId> {
    let blocked =
        get(tx, name, value)?.ok_or_else(|| Error::field(name, "this code is not blocked"))?;
    let id = tx
        .prepare_cached("DELETE FROM blocked_codes WHERE kind = ?1 AND value = ?2 RETURNING id")?
        .query_row([name, value], |row| row.get(0))?;
    changes::note(tx, action::DELETE, CODE, id)?;
    let after = json!({"code": {name: value}});
    RESOURCE.audit(tx, ctx, "unblock", blocked.delegate.0, None, Some(after))?;
    if give_back {
        let body = Map::from_iter([(name.to_owned(), Value::from(value))]);
        write::patch(tx, ctx, &RESOURCE, blocked.delegate.0, body)?;
    }
    Ok(blocked.delegate)
}

/// Restores a deleted delegate as it was.
///
/// # Errors
/// As [`write::undelete`], and when one of its codes was blocked since.
pub fn restore(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    write::undelete(tx, ctx, &RESOURCE, id)?;
    for (column, name) in RESOURCE.codes() {
        if let Some(value) = stored_text(tx, &RESOURCE, column, id)?
            && let Some(blocked) = get(tx, name, &value)?
        {
            return Err(refused(&blocked));
        }
    }
    Ok(())
}
