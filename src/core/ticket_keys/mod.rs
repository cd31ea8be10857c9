//! Keys of signed tickets. Tickets are signed by the newest key that was not retired; the older ones go on to verify what they
//! signed. Without a key there are no signed tickets. Private keys leave the file in backups and, with a passphrase, by
//! [`sealed`].

pub mod sealed;

use crate::{
    core::{Context, audit, settings::Settings},
    db::Tx,
    types::{
        LocalMinute, Timestamp,
        error::{Error, Kind, Result},
        secret,
        signed_ticket::{Claims, DAYS, SignedTicket},
    },
};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

/// The length of a private key.
const SEED_BYTES: usize = 32;
/// The type of keys in the audit.
const RECORD: &str = "ticket-key";

/// A key without its private part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketKey {
    pub kid: u8,
    pub public_key: Vec<u8>,
    /// The first of the days that its tickets can name, such as `2026-11-27`.
    pub first_day: String,
    pub created_at: Timestamp,
    pub retired_at: Option<Timestamp>,
}

impl TicketKey {
    /// Returns the public key in hexadecimal digits.
    pub fn public_hex(&self) -> String {
        secret::hex(&self.public_key)
    }

    /// Returns when the days that its tickets can name begin, and when the last of them ends.
    pub fn days(&self, settings: &Settings) -> Vec<Timestamp> {
        let first = first_instant(settings, &self.first_day);
        let begins = std::iter::successors(first, |begins| Some(settings.day(*begins).ends));
        begins.take(DAYS + 1).collect()
    }
}

/// Returns every key, the newest first.
pub fn all(connection: &Connection) -> Result<Vec<TicketKey>> {
    let mut statement = connection.prepare_cached(
        "SELECT kid, public_key, first_day, created_at, retired_at FROM ticket_keys ORDER BY kid DESC",
    )?;
    let keys = statement.query_map([], |row| {
        Ok(TicketKey {
            kid: row.get(0)?,
            public_key: row.get(1)?,
            first_day: row.get(2)?,
            created_at: row.get(3)?,
            retired_at: row.get(4)?,
        })
    })?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}

/// Returns whether there was ever a key.
pub fn is_any(connection: &Connection) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM ticket_keys")?;
    Ok(statement.exists([])?)
}

/// The judgement of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    Genuine,
    /// The key did not sign this.
    Forged,
    UnknownKey,
    RetiredKey,
}

/// Verifies a ticket.
pub fn verify(connection: &Connection, ticket: &SignedTicket) -> Result<Signature> {
    let key: Option<(Vec<u8>, bool)> = connection
        .prepare_cached(
            "SELECT public_key, retired_at IS NOT NULL FROM ticket_keys WHERE kid = ?1",
        )?
        .query_row([ticket.claims.kid], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(match key {
        None => Signature::UnknownKey,
        Some((_, true)) => Signature::RetiredKey,
        Some((key, false)) => {
            let key = UnparsedPublicKey::new(&ED25519, key);
            match key.verify(&ticket.claims.bytes(), &ticket.signature) {
                Ok(()) => Signature::Genuine,
                Err(_) => Signature::Forged,
            }
        }
    })
}

/// Makes a key, which signs from now on.
///
/// # Errors
/// [`Kind::Invalid`] for a first day that is none, and after 255 keys.
pub fn make(tx: &Tx<'_>, ctx: &Context, first_day: &str) -> Result<u8> {
    let newest: Option<u8> =
        tx.query_row("SELECT max(kid) FROM ticket_keys", [], |row| row.get(0))?;
    let kid = newest.unwrap_or(0).checked_add(1);
    let kid = kid.ok_or_else(|| Error::invalid("this file has had 255 keys, which is the most"))?;
    let mut seed = [0; SEED_BYTES];
    getrandom::fill(&mut seed).map_err(Error::defect)?;
    insert(tx, ctx, kid, &seed, first_day)?;
    Ok(kid)
}

fn insert(
    tx: &Tx<'_>,
    ctx: &Context,
    kid: u8,
    seed: &[u8; SEED_BYTES],
    first_day: &str,
) -> Result<()> {
    if first_instant(&ctx.settings, first_day).is_none() {
        return Err(Error::field("firstDay", "must be a day such as 2026-11-27"));
    }
    tx.execute(
        "INSERT INTO ticket_keys (kid, seed, public_key, first_day, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![kid, seed, pair(seed)?.public_key().as_ref(), first_day, tx.now()],
    )?;
    note(tx, ctx, "create", kid)
}

/// Retires a key: nothing that it signed is valid any more, and its private part is gone.
///
/// # Errors
/// [`Kind::NoSuchPath`] where no such key is in use.
pub fn retire(tx: &Tx<'_>, ctx: &Context, kid: u8) -> Result<()> {
    let retired = tx.execute(
        "UPDATE ticket_keys SET retired_at = ?2, seed = NULL WHERE kid = ?1 AND retired_at IS NULL",
        params![kid, tx.now()],
    )?;
    if retired == 0 {
        let message = format!("no key {kid} is in use");
        return Err(Error::new(Kind::NoSuchPath, message));
    }
    note(tx, ctx, "revoke", kid)
}

fn note(tx: &Tx<'_>, ctx: &Context, action: &'static str, kid: u8) -> Result<()> {
    let change = audit::Change {
        action,
        record_type: RECORD,
        record_id: Some(kid.into()),
        before: None,
        after: Some(json!({"kid": kid})),
    };
    audit::append(tx, ctx, &change)
}

fn pair(seed: &[u8]) -> Result<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|cause| Error::defect(cause.to_string()))
}

/// The instant at which a day such as `2026-11-27` begins.
fn first_instant(settings: &Settings, day: &str) -> Option<Timestamp> {
    let noon = LocalMinute::read(&format!("{day} 12:00"))?;
    Some(settings.day(settings.zone.instant(noon)?).begins)
}

/// The newest key that was not retired.
pub struct Signer {
    kid: u8,
    pair: Ed25519KeyPair,
    first_day: Timestamp,
}

impl Signer {
    /// Returns `None` where tickets are not signed.
    pub fn find(connection: &Connection, settings: &Settings) -> Result<Option<Self>> {
        let key: Option<(u8, Vec<u8>, String)> = connection
            .prepare_cached(
                "SELECT kid, seed, first_day FROM ticket_keys
                 WHERE retired_at IS NULL AND seed IS NOT NULL ORDER BY kid DESC LIMIT 1",
            )?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((kid, seed, first_day)) = key else {
            return Ok(None);
        };
        let first_day = first_instant(settings, &first_day);
        Ok(Some(Self {
            kid,
            pair: pair(&seed)?,
            first_day: first_day.ok_or_else(|| Error::defect("a key has no first day"))?,
        }))
    }

    /// Returns the bits of the days of some stays; 0, every day, without any and where a ticket cannot name one of them.
    pub fn days(&self, settings: &Settings, stays: &[(Timestamp, Timestamp)]) -> u16 {
        let day = |at: Timestamp| {
            let days = settings.zone.days(self.first_day, settings.day(at).begins);
            usize::try_from(days).ok().filter(|day| *day < DAYS)
        };
        let mut bits = 0;
        for (from, to) in stays {
            let (Some(first), Some(last)) = (day(*from), day(*to)) else {
                return 0;
            };
            bits |= (first..=last).fold(0, |bits, day| bits | 1 << day);
        }
        bits
    }

    /// Signs a ticket, whatever key its claims name.
    pub fn sign(&self, claims: Claims) -> Result<String> {
        let claims = Claims {
            kid: self.kid,
            ..claims
        };
        let signature = self.pair.sign(&claims.bytes());
        let ticket = SignedTicket {
            claims,
            signature: signature.as_ref().try_into().map_err(Error::defect)?,
        };
        Ok(ticket.to_string())
    }
}
