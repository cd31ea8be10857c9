//! Signed tickets as they are scanned: the signature is verified, and the serial leads to the barcode that somebody has or had.
//! Which barcodes those are is noted with every write, since there are keys.

use super::blocked;
use crate::{
    core::{
        rules::folded,
        settings,
        ticket_keys::{self, Signature},
    },
    db::{Store, Tx},
    types::{
        DelegateId, Timestamp,
        error::Result,
        signed_ticket::{Claims, Serial, SignedTicket, category_of},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// Attendees whose serials are noted at once.
const SLICE: usize = 1_000;

/// The meaning of a signed ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticket {
    /// It stands for this barcode, which somebody has, or which is blocked.
    Code(String),
    /// Nobody has its barcode any more.
    Cancelled,
    /// A genuine ticket whose barcode nobody has had yet.
    Unlisted(Claims),
    Forged,
    UnknownKey(u8),
    RetiredKey(u8),
}

/// Reads a scanned text as a signed ticket; `None` for any other text, and where there was never a key.
pub fn read(connection: &Connection, text: &str) -> Result<Option<Ticket>> {
    let Some(ticket) = SignedTicket::read(text) else {
        return Ok(None);
    };
    if !ticket_keys::is_any(connection)? {
        return Ok(None);
    }
    let claims = ticket.claims;
    let read = match ticket_keys::verify(connection, &ticket)? {
        Signature::Forged => Ticket::Forged,
        Signature::UnknownKey => Ticket::UnknownKey(claims.kid),
        Signature::RetiredKey => Ticket::RetiredKey(claims.kid),
        Signature::Genuine => match holder(connection, claims.serial)? {
            None => Ticket::Unlisted(claims),
            Some(holder) => code(connection, claims.serial, holder)?,
        },
    };
    Ok(Some(read))
}

/// The attendee who has or had the barcode of a serial; they may be gone.
fn holder(connection: &Connection, serial: Serial) -> Result<Option<DelegateId>> {
    let mut statement =
        connection.prepare_cached("SELECT delegate_id FROM ticket_serials WHERE serial = ?1")?;
    Ok(statement
        .query_row([serial.0], |row| row.get(0))
        .optional()?)
}

fn code(connection: &Connection, serial: Serial, holder: DelegateId) -> Result<Ticket> {
    let blocked = blocked::of(connection, holder.0)?;
    let blocked = blocked.into_iter().map(|blocked| blocked.value);
    let mut codes = barcode(connection, holder)?.into_iter().chain(blocked);
    let code = codes.find(|code| Serial::of(code) == serial);
    Ok(code.map_or(Ticket::Cancelled, Ticket::Code))
}

/// The barcode of a living attendee.
fn barcode(connection: &Connection, attendee: DelegateId) -> Result<Option<String>> {
    let barcode = connection
        .prepare_cached("SELECT barcode FROM delegates WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([attendee], |row| row.get(0));
    Ok(barcode.optional()?.flatten())
}

/// The reason and the sentence for a ticket by which nobody is found; none for one that stands for a barcode.
pub fn told(connection: &Connection, ticket: &Ticket) -> Result<Option<(&'static str, String)>> {
    let find = "find the person by name";
    Ok(Some(match ticket {
        Ticket::Code(_) => return Ok(None),
        Ticket::Cancelled => ("cancelled", "this ticket was cancelled".to_owned()),
        Ticket::Forged => (
            "forged",
            format!("not a genuine ticket: its signature is wrong; {find}"),
        ),
        Ticket::UnknownKey(kid) => (
            "forged",
            format!("this ticket is signed by key {kid}, which this server does not have; {find}"),
        ),
        Ticket::RetiredKey(kid) => (
            "retired-key",
            format!("this ticket is signed by key {kid}, which was retired; {find}"),
        ),
        Ticket::Unlisted(claims) => ("unlisted", unlisted(connection, claims)?),
    }))
}

/// The sentence for a genuine ticket of somebody who is not in the list.
fn unlisted(connection: &Connection, claims: &Claims) -> Result<String> {
    let settings = settings::load(connection)?;
    let mut about = Vec::new();
    let types = super::types(connection)?.into_iter();
    about.extend(types.filter(|name| category_of(&folded(name)) == claims.category));
    about.truncate(1);
    let keys = ticket_keys::all(connection)?.into_iter();
    for key in keys.filter(|key| key.kid == claims.kid) {
        let days = key.days(&settings).into_iter().enumerate();
        let named = days.filter(|(day, _)| claims.is_for(*day));
        about.extend(named.map(|(_, begins)| settings.zone.day_in_words(begins)));
    }
    let about = match &about[..] {
        [] => String::new(),
        about => format!(" ({})", about.join(", ")),
    };
    Ok(format!("a genuine ticket{about}, but not in the list"))
}

/// Notes the barcode of an attendee who was written.
pub fn note(tx: &Tx<'_>, attendee: DelegateId) -> Result<()> {
    if ticket_keys::is_any(tx)?
        && let Some(code) = barcode(tx, attendee)?
    {
        note_code(tx, attendee, &code)?;
    }
    Ok(())
}

/// Notes a code as that of an attendee, also where it is blocked.
pub fn note_code(tx: &Tx<'_>, attendee: DelegateId, code: &str) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO ticket_serials (serial, delegate_id) VALUES (?1, ?2)
         ON CONFLICT (serial) DO UPDATE SET delegate_id = excluded.delegate_id",
    )?
    .execute((Serial::of(code).0, attendee))?;
    Ok(())
}

/// Has a file get keys. Before the first ones the barcodes of all attendees are noted, in slices.
pub fn with_serials<T: Send + 'static>(
    store: &Store,
    add: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let began = Timestamp::now();
    let mut last = 0;
    while !store.look_up(ticket_keys::is_any)? {
        match store.write_bulk(move |tx| note_slice(tx, last)).wait()? {
            Some(id) => last = id,
            None => break,
        }
    }
    let work = store.write(move |tx| {
        let added = add(tx)?;
        // A clock that was set back meanwhile makes more of them.
        let mut written =
            tx.prepare("SELECT id FROM delegates WHERE id > ?1 OR updated_at >= ?2")?;
        let ids = written.query_map((last, began), |row| row.get(0))?;
        for id in ids.collect::<rusqlite::Result<Vec<_>>>()? {
            note(tx, id)?;
        }
        Ok(added)
    });
    work.wait()
}

/// Notes the barcodes of some attendees after an id; the last id of them.
fn note_slice(tx: &Tx<'_>, after: i64) -> Result<Option<i64>> {
    let mut statement = tx.prepare_cached(
        "SELECT id, barcode FROM delegates WHERE id > ?1 AND deleted_at IS NULL ORDER BY id LIMIT ?2",
    )?;
    let rows = statement.query_map((after, SLICE), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows = rows.collect::<rusqlite::Result<Vec<(i64, Option<String>)>>>()?;
    for (id, barcode) in &rows {
        if let Some(code) = barcode {
            note_code(tx, DelegateId(*id), code)?;
        }
    }
    Ok(rows.last().map(|(id, _)| *id))
}

/// Returns the serials of tickets that were cancelled: nobody has their barcode any more.
pub fn cancelled(connection: &Connection) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.serial, d.barcode FROM ticket_serials AS s
         LEFT JOIN delegates AS d ON d.id = s.delegate_id AND d.deleted_at IS NULL ORDER BY s.serial",
    )?;
    let mut rows = statement.query([])?;
    let mut cancelled = Vec::new();
    while let Some(row) = rows.next()? {
        let (serial, barcode): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
        if barcode.is_none_or(|code| Serial::of(&code).0 != serial) {
            cancelled.push(serial);
        }
    }
    Ok(cancelled)
}
