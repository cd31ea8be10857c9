//! Tickets online (contract §15): a page for each attendee, at an address that nobody can guess. It is made of the
//! attendee's id and a signature by a key of the file, so that nothing is stored; the key is made when an administrator
//! says that the public address is reachable from outside, and without that there are no pages.

mod calendar;
mod picture;

pub use calendar::calendar;
pub use picture::{data_url, png};

use crate::{
    core::{
        keyed::{self, Key},
        rules::folded,
        settings::Settings,
        ticket_keys::Signer,
    },
    domain::{
        delegates::blocked::MERGED,
        interactions::judge::{DeviceCache, is_joined_itself},
    },
    types::{
        DelegateId, DeviceId, Timestamp,
        error::Result,
        signed_ticket::{Claims, Serial, category_of},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The path below which pages for attendees stand.
pub const PATH: &str = "/t/";
/// The page that tells whoever opens it that the public address was reached.
pub const TRIAL: &str = "try";
/// The longest token that is looked at.
const TOKEN_MAX_BYTES: usize = 128;
/// Events that are looked at for a ticket.
const EVENTS_MAX: i64 = 50;

/// The ticket of an attendee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// First and last name; empty where there is none.
    pub name: String,
    /// The code that gates scan; `None` if it was blocked and there is no other yet.
    pub code: Option<String>,
    /// The signed ticket that the QR code has in the place of the code, where tickets are signed.
    pub signed: Option<String>,
}

impl Ticket {
    /// The text of the QR code.
    pub fn qr(&self) -> Option<&str> {
        self.signed.as_deref().or(self.code.as_deref())
    }
}

/// An event that a ticket is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: DeviceId,
    pub name: String,
    pub starts_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
    /// The name of the place above it.
    pub place: Option<String>,
}

/// The key that signs the pages of attendees, and their address.
pub struct Pages<'a> {
    base: &'a str,
    key: Key,
}

impl<'a> Pages<'a> {
    /// Returns `None` where there are no pages for attendees.
    pub fn find(connection: &Connection, settings: &'a Settings) -> Result<Option<Self>> {
        let Some(base) = settings.outside_url() else {
            return Ok(None);
        };
        let key = Key::named(connection, keyed::TICKETS)?;
        Ok(key.map(|key| Self { base, key }))
    }

    /// Returns the address of the page of a token.
    pub fn url(&self, token: &str) -> String {
        format!("{}{PATH}{token}", self.base)
    }

    /// Returns a token that says something, for a purpose.
    pub fn token(&self, purpose: &str, says: &str) -> Result<String> {
        self.key.token(says, format!("{purpose}:{says}").as_bytes())
    }

    /// Returns what a token says, if it was made here for this purpose.
    pub fn said<'t>(&self, purpose: &str, token: &'t str) -> Result<Option<&'t str>> {
        let short = Some(token).filter(|token| token.len() <= TOKEN_MAX_BYTES);
        let Some((says, _)) = short.and_then(|token| token.rsplit_once('-')) else {
            return Ok(None);
        };
        let right = self.token(purpose, says)?;
        Ok(keyed::is_token(&right, token).then_some(says))
    }

    /// Returns the attendee whose ticket a token is, deleted or not.
    pub fn attendee(&self, token: &str) -> Result<Option<DelegateId>> {
        let says = self.said(TICKET, token)?;
        Ok(says.and_then(|id| id.parse().ok()).map(DelegateId))
    }
}

/// The purpose of tokens of tickets.
const TICKET: &str = "ticket";

/// Returns the address of an attendee's ticket; `None` where there are no pages for attendees.
pub fn url(
    connection: &Connection,
    settings: &Settings,
    attendee: DelegateId,
) -> Result<Option<String>> {
    let Some(pages) = Pages::find(connection, settings)? else {
        return Ok(None);
    };
    let token = pages.token(TICKET, &attendee.to_string())?;
    Ok(Some(pages.url(&token)))
}

/// Returns the ticket of an attendee; `None` if the record was deleted.
pub fn find(
    connection: &Connection,
    settings: &Settings,
    attendee: DelegateId,
) -> Result<Option<Ticket>> {
    let mut statement = connection.prepare_cached(
        "SELECT trim(coalesce(first_name, '') || ' ' || coalesce(last_name, '')), barcode, public_id,
             EXISTS (SELECT 1 FROM blocked_codes WHERE delegate_id = ?1 AND kind = 'barcode' AND reason <> ?2)
         FROM delegates WHERE id = ?1 AND deleted_at IS NULL",
    )?;
    let ticket = statement.query_row((attendee, MERGED), |row| {
        let (barcode, is_blocked): (Option<String>, bool) = (row.get(1)?, row.get(3)?);
        // Whoever found a lost badge may have the link, too: the public ID does not stand in for a blocked barcode.
        let code = match barcode {
            None if is_blocked => None,
            None => row.get(2)?,
            barcode => barcode,
        };
        Ok(Ticket {
            name: row.get(0)?,
            code,
            signed: None,
        })
    });
    let mut ticket = ticket.optional()?;
    if let Some(ticket) = &mut ticket
        && let Some(signer) = Signer::find(connection, settings)?
    {
        ticket.signed = sign(connection, settings, &signer, attendee)?;
    }
    Ok(ticket)
}

/// Signs the ticket of an attendee, for their type and the days of their events; `None` for one without a barcode.
pub fn sign(
    connection: &Connection,
    settings: &Settings,
    signer: &Signer,
    attendee: DelegateId,
) -> Result<Option<String>> {
    let found: Option<(Option<String>, Option<String>)> = connection
        .prepare_cached(
            "SELECT barcode, delegate_type FROM delegates WHERE id = ?1 AND deleted_at IS NULL",
        )?
        .query_row([attendee], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((Some(code), kind)) = found else {
        return Ok(None);
    };
    let events = events(connection, attendee)?;
    let stays = events.iter().filter_map(|event| {
        let from = event.starts_at?;
        // What ends as a day begins does not last into that.
        let to = event
            .ends_at
            .map_or(from, |to| Timestamp(to.0 - 1).max(from));
        Some((from, to))
    });
    let claims = Claims {
        kid: 0,
        serial: Serial::of(&code),
        category: category_of(&folded(kind.as_deref().unwrap_or_default().trim())),
        days: signer.days(settings, &stays.collect::<Vec<_>>()),
    };
    signer.sign(claims).map(Some)
}

/// Returns the day from which the tickets of a new key are for: that of the next event, otherwise today.
pub fn first_day(connection: &Connection, settings: &Settings, now: Timestamp) -> Result<String> {
    let next: Option<Timestamp> = connection.query_row(
        "SELECT min(start_at) FROM devices WHERE device_type = 'event' AND deleted_at IS NULL
         AND coalesce(end_at, start_at) >= ?1",
        [settings.day(now).begins],
        |row| row.get(0),
    )?;
    let day = settings.day(next.unwrap_or(now)).begins;
    Ok(settings.zone.day(day).0)
}

/// Returns the events that an attendee has registered for; where there is only one, everybody comes to it.
pub fn events(connection: &Connection, attendee: DelegateId) -> Result<Vec<Event>> {
    let mut statement = connection.prepare_cached(
        "SELECT e.id, coalesce(e.name, ''), e.start_at, e.end_at, p.name
         FROM devices AS e LEFT JOIN devices AS p ON p.id = e.parent_id AND p.deleted_at IS NULL
         WHERE e.device_type = 'event' AND e.deleted_at IS NULL ORDER BY e.start_at, e.id LIMIT ?1",
    )?;
    let events = statement.query_map([EVENTS_MAX], |row| {
        Ok(Event {
            id: row.get(0)?,
            name: row.get(1)?,
            starts_at: row.get(2)?,
            ends_at: row.get(3)?,
            place: row.get(4)?,
        })
    })?;
    let events = events.collect::<rusqlite::Result<Vec<_>>>()?;
    if events.len() <= 1 {
        return Ok(events);
    }
    let cache = DeviceCache::default();
    let mut joined = Vec::new();
    for event in events {
        if is_joined_itself(connection, &cache, attendee, event.id)? {
            joined.push(event);
        }
    }
    Ok(joined)
}
