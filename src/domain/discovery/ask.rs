//! An app asks to be let in, and asks again until it knows (spec: Device endpoints, rule 7; contract
//! §7).

use super::{
    DAY_MS, Discovery, Pairing, clear,
    credentials::{Salt, client_secret},
};
use crate::{
    db::Tx,
    identity::{
        handover::{self, SecretState},
        throttle::{Account, Endpoint, counted},
    },
    types::{
        ClientId, DeviceId, Timestamp,
        error::{Error, Kind, Result},
        secret::{self, Digest},
        text,
    },
};
use rusqlite::{Connection, Row, params};
use std::{net::IpAddr, time::Instant};

/// Requests that wait at the most.
const WAITING_MAX: usize = 200;
/// Requests that wait from one address at the most.
const WAITING_OF_ADDRESS_MAX: usize = 10;
/// The seconds after which one who found no room may try again.
const RETRY_S: u32 = 60;
/// The shortest secret, in characters: what a person could guess, or type by mistake, is none. An
/// app makes it at random (spec: Device request), so that it is longer anyway.
pub const SECRET_MIN_CHARS: usize = 8;
/// Characters kept of how an app names itself.
const AGENT_MAX_CHARS: usize = 200;

pub struct Ask {
    pub code: String,
    pub secret: String,
    pub preferred_type: Option<String>,
    pub agent: Option<String>,
    pub address: IpAddr,
}

/// A request as its app may see it.
pub struct Record {
    pub id: i64,
    pub code: String,
    pub agent: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub cleared_at: Option<Timestamp>,
    /// `added` or `dismissed`.
    pub cleared_status: Option<String>,
    /// Shown for ten minutes after the request was added.
    pub credentials: Option<Credentials>,
}

/// The credentials with which an app signs in.
pub struct Credentials {
    pub device: DeviceId,
    pub client_id: String,
    pub client_secret: String,
}

impl Ask {
    fn check(&self) -> Result<()> {
        text::check_code("code", &self.code)?;
        if self.secret.chars().count() < SECRET_MIN_CHARS {
            return Err(Error::invalid(format!(
                "must have {SECRET_MIN_CHARS} to {} characters, made at random",
                text::CODE_MAX_CHARS
            ))
            .at("secret"));
        }
        text::check_code("secret", &self.secret)?;
        match &self.preferred_type {
            Some(preferred) => text::check_code("preferredType", preferred),
            None => Ok(()),
        }
    }

    fn digest(&self) -> Digest {
        secret::digest(self.secret.as_bytes())
    }

    fn is_gate(&self) -> bool {
        self.preferred_type.as_deref() == Some("gate")
    }
}

impl Discovery {
    /// Records an app's request, or finds the one that it made before; whether it is new.
    ///
    /// # Errors
    /// [`Kind::DiscoveryClosed`] for a new one without a pairing code while the window is closed, [`Kind::RequestCodeTaken`]
    /// for the code of another one, [`Kind::TooManyAttempts`] for one too many that waits or for
    /// guesses at secrets, [`Kind::Invalid`].
    pub async fn ask(&self, mut ask: Ask) -> Result<(bool, Record)> {
        ask.check()?;
        // However its user typed it, the app is known by the code as it was made.
        let made = self.pairings.made(&ask.code).filter(|_| ask.is_gate());
        if let Some(made) = &made {
            ask.code.clone_from(&made.code);
        }
        let now = Instant::now();
        let (code, address) = (ask.code.clone(), ask.address);
        // These secrets are the app's own and may be short: guesses at one code are counted first.
        let account = Account::known(Endpoint::DeviceRequest, &code);
        let throttle = &self.app.throttle;
        throttle.check(account, address, now)?;
        let pairing = self.pairings.find(&code, now).filter(|_| ask.is_gate());
        let open = self.window.left(now).is_some() || pairing.is_some();
        let store = &self.app.store;
        let known = store.look_up(|connection| known(connection, &ask, Timestamp::now()))?;
        let outcome = match known {
            // Most of what comes is this: an app that waits. It costs no write.
            Known::Same(row) if !row.awaits_secret => Ok((false, row.record)),
            Known::Other if !open => {
                throttle.failed(account, address, now)?;
                Err(closed(made.is_some()))
            }
            Known::Free if !open => Err(closed(made.is_some())),
            _ => {
                let paired = pairing.clone();
                store
                    .write(move |tx| settle(tx, &ask, open, paired.as_ref()))
                    .await
            }
        };
        if let (Some(pairing), Ok((true, record))) = (pairing, &outcome)
            && let Some(credentials) = &record.credentials
        {
            self.pairings.used(&pairing.code, credentials.device);
        }
        match &outcome {
            Ok(_) => throttle.succeeded(account, address),
            Err(error) if error.kind == Kind::RequestCodeTaken => {
                throttle.failed(account, address, now)?;
            }
            Err(_) => {}
        }
        outcome
    }
}

/// The error for an app that may not ask; `has_spent_code` is set where it brings a pairing code.
fn closed(has_spent_code: bool) -> Error {
    if has_spent_code {
        let told =
            "this pairing code was used or is over; make another at the place, in the console";
        return Error::new(Kind::DiscoveryClosed, told).because("spent-code");
    }
    Error::new(
        Kind::DiscoveryClosed,
        "discovery is closed; open the Discovery page of the console and try again",
    )
}

/// The standing of an app that asks.
enum Known {
    Same(Box<Kept>),
    Other,
    Free,
}

/// A request in the file.
struct Kept {
    record: Record,
    secret_hash: Digest,
    device: Option<DeviceId>,
    client: Option<ClientId>,
    /// The client's public id; none once it is revoked.
    client_id: Option<String>,
    shown_until: Option<Timestamp>,
    salt: Option<Salt>,
    /// The app is to get its credentials, and its client does not have the secret yet.
    awaits_secret: bool,
}

impl Kept {
    fn is(&self, status: &str) -> bool {
        self.record.cleared_status.as_deref() == Some(status)
    }

    fn is_young(&self, now: Timestamp) -> bool {
        now.0 - self.record.created_at.0 < DAY_MS
    }

    /// Returns whether another app may take the code (contract §7).
    fn is_free(&self, now: Timestamp) -> bool {
        let revoked = self.is("added") && self.client_id.is_none();
        self.is("dismissed") || revoked || !self.is_young(now)
    }

    /// Returns whether the app that made it hears of it still. One that was added can be given its credentials again at
    /// any time; one that was dismissed is not to come back with its next poll.
    fn is_told(&self, now: Timestamp) -> bool {
        match self.client_id {
            Some(_) => true,
            None => !self.is("added") && self.is_young(now),
        }
    }

    /// Adds what the app signs in with, as long as it is shown.
    fn show_credentials(
        &mut self,
        connection: &Connection,
        app_secret: &str,
        now: Timestamp,
    ) -> Result<()> {
        let (Some(device), Some(client), Some(client_id), Some(salt), Some(until)) = (
            self.device,
            self.client,
            &self.client_id,
            &self.salt,
            self.shown_until,
        ) else {
            return Ok(());
        };
        // A clock that was put back must not show them for longer.
        if !(self.record.updated_at..until).contains(&now) {
            return Ok(());
        }
        let client_secret = client_secret(app_secret, salt)?;
        match handover::state(connection, client, &client_secret)? {
            // The client was given another secret since, on the page of clients.
            SecretState::Other => return Ok(()),
            SecretState::Awaited => self.awaits_secret = true,
            SecretState::InForce => {}
        }
        self.record.credentials = Some(Credentials {
            device,
            client_id: client_id.clone(),
            client_secret,
        });
        Ok(())
    }
}

fn known(connection: &Connection, ask: &Ask, now: Timestamp) -> Result<Known> {
    let digest = ask.digest();
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.code, r.agent, r.created_at, r.updated_at, r.cleared_at, r.cleared_status,
             r.secret_hash, r.device_id, r.client_id, c.client_id, r.shown_until, r.salt
         FROM device_requests r LEFT JOIN clients c ON c.id = r.client_id AND c.revoked_at IS NULL
         WHERE r.code = ?1 ORDER BY r.id DESC",
    )?;
    let kept = statement
        .query_map([&ask.code], kept)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let held = kept.iter().any(|kept| !kept.is_free(now));
    let own = kept
        .into_iter()
        .find(|kept| secret::same(&kept.secret_hash, &digest))
        .filter(|kept| kept.is_told(now));
    Ok(match own {
        Some(mut own) => {
            own.show_credentials(connection, &ask.secret, now)?;
            Known::Same(Box::new(own))
        }
        None if held => Known::Other,
        None => Known::Free,
    })
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    Ok(Kept {
        record: Record {
            id: row.get(0)?,
            code: row.get(1)?,
            agent: row.get(2)?,
            created_at: row.get(3)?,
            updated_at: row.get(4)?,
            cleared_at: row.get(5)?,
            cleared_status: row.get(6)?,
            credentials: None,
        },
        secret_hash: row.get(7)?,
        device: row.get(8)?,
        client: row.get(9)?,
        client_id: row.get(10)?,
        shown_until: row.get(11)?,
        salt: row.get(12)?,
        awaits_secret: false,
    })
}

/// Returns what has to be written: a new request, or the secret that the app is about to be shown. One with a pairing
/// code is added at once.
fn settle(tx: &Tx<'_>, ask: &Ask, open: bool, pairing: Option<&Pairing>) -> Result<(bool, Record)> {
    match known(tx, ask, tx.now())? {
        Known::Same(row) => {
            if let (true, Some(client), Some(shown)) =
                (row.awaits_secret, row.client, &row.record.credentials)
            {
                handover::give(tx, client, &shown.client_secret)?;
            }
            Ok((false, row.record))
        }
        _ if !open => Err(closed(false)),
        Known::Other => Err(Error::new(
            Kind::RequestCodeTaken,
            format!(
                "\"{}\" is that of another request, or this is not its secret; choose another code",
                text::shortened(&ask.code)
            ),
        )
        .at("code")),
        Known::Free => {
            let record = insert(tx, ask)?;
            let Some(pairing) = pairing else {
                return Ok((true, record));
            };
            clear::pair(tx, pairing, record.id, &ask.code)?;
            let (_, record) = settle(tx, ask, open, None)?;
            Ok((true, record))
        }
    }
}

fn insert(tx: &Tx<'_>, ask: &Ask) -> Result<Record> {
    let young = Timestamp(tx.now().0 - DAY_MS);
    // What nobody added is of no use after a day.
    tx.prepare_cached(
        "DELETE FROM device_requests WHERE created_at <= ?1 AND cleared_status IS NOT 'added'",
    )?
    .execute([young])?;
    check_room(tx, ask)?;
    let shortened = |agent: &String| agent.chars().take(AGENT_MAX_CHARS).collect::<String>();
    let agent = ask.agent.as_ref().map(shortened);
    tx.prepare_cached(
        "INSERT INTO device_requests (code, secret_hash, preferred_type, agent, address, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
    )?
    .execute(params![
        ask.code,
        ask.digest(),
        ask.preferred_type,
        agent,
        ask.address.to_canonical().to_string(),
        tx.now(),
    ])?;
    Ok(Record {
        id: tx.last_insert_rowid(),
        code: ask.code.clone(),
        agent,
        created_at: tx.now(),
        updated_at: tx.now(),
        cleared_at: None,
        cleared_status: None,
        credentials: None,
    })
}

/// So many requests wait at the most, in all and from one address: a prankster in the room must not
/// bury the others.
fn check_room(tx: &Tx<'_>, ask: &Ask) -> Result<()> {
    let addresses = tx
        .prepare_cached("SELECT address FROM device_requests WHERE cleared_status IS NULL")?
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let own = counted(ask.address);
    let of_address = addresses
        .iter()
        .filter(|address| address.parse().is_ok_and(|address| counted(address) == own))
        .count();
    let full = if addresses.len() >= WAITING_MAX {
        format!("{WAITING_MAX} requests")
    } else if of_address >= WAITING_OF_ADDRESS_MAX {
        format!("{WAITING_OF_ADDRESS_MAX} requests from this address")
    } else {
        return Ok(());
    };
    let retry_after_s = RETRY_S;
    Err(Error::new(
        Kind::TooManyAttempts { retry_after_s },
        format!("{full} wait already; add or dismiss some in the console first"),
    ))
}
