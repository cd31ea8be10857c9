//! The venue's end: the head office that it joined, how the line is, and calls to a hub.

use super::{Paired, Pushed, RUN, RUNS_MAX};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        keyed::Key,
        outgoing::{Client, Method, Reach, Request, check_private_url},
    },
    db::{Tx, counters},
    types::{
        Timestamp,
        error::{Error, Result},
        secret,
        text::shortened_to,
    },
};
use data_encoding::BASE64;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use rusqlite::{Connection, OptionalExtension, params};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::sync::Notify;

/// The longest time of a call: a page on a slow line, or an answer that the hub holds.
const WHOLE_MAX: Duration = Duration::from_secs(60);
/// The most that is read of an answer, and the most that it may unpack to.
const ANSWER_MAX_BYTES: usize = 16 << 20;
/// The most that is told of a hub's own words.
const WHY_MAX_CHARS: usize = 400;
const UNPACKED_MAX_BYTES: u64 = 64 << 20;

/// The row of `head_office`. It has no `Debug`, as it holds a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct HeadOffice {
    /// The venue's id and name at the head office.
    pub venue: i64,
    pub name: String,
    /// Addresses of its hubs, in the order in which they are tried.
    pub hubs: Vec<String>,
    secret: String,
    ca: Option<String>,
    pub joined_at: Timestamp,
}

impl HeadOffice {
    /// Reads the row; `None` where the venue belongs to none.
    pub fn find(connection: &Connection) -> Result<Option<Self>> {
        let mut statement = connection
            .prepare_cached("SELECT venue, name, hubs, secret, ca, joined_at FROM head_office")?;
        let row = statement.query_row([], |row| {
            let hubs: String = row.get(2)?;
            Ok(Self {
                venue: row.get(0)?,
                name: row.get(1)?,
                hubs: serde_json::from_str(&hubs).unwrap_or_default(),
                secret: row.get(3)?,
                ca: row.get(4)?,
                joined_at: row.get(5)?,
            })
        });
        Ok(row.optional()?)
    }

    /// Returns whether what is sent to one of the hubs can be read on the way.
    pub fn is_plain(&self) -> bool {
        self.hubs.iter().any(|hub| hub.starts_with("http:"))
    }

    /// Where to try after `failures`.
    fn hub(&self, failures: usize) -> &str {
        let at = failures % self.hubs.len().max(1);
        self.hubs.get(at).map_or("", String::as_str)
    }
}

/// Checks the address of a hub, and takes the slash from its end.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`]: plain HTTP is for this machine and its network alone.
pub fn hub_address(field: &str, text: &str) -> Result<String> {
    check_private_url(field, text)?;
    Ok(text.trim_end_matches('/').to_owned())
}

/// The counter with the number of the head office whose records the venue has.
const OFFICE_COUNTER: &str = "head office";

/// Keeps what the hub answered to the code: from now on the venue belongs to it. What it had of another head office stays,
/// as its own; where it comes back to the same one, it stays known what of it was changed here.
pub fn join(
    tx: &Tx<'_>,
    ctx: &Context,
    joined: &Paired,
    hub: &str,
    ca: Option<&str>,
) -> Result<()> {
    // The address that worked, where the hub does not know by which ones it is reached.
    let named = joined.hubs.iter();
    let named = named.filter(|address| hub_address("hubs", address).is_ok());
    let mut hubs: Vec<&str> = named.map(String::as_str).collect();
    if hubs.is_empty() {
        hubs.push(hub);
    }
    forget(tx)?;
    let office = joined
        .office
        .as_ref()
        .and_then(|office| office.parse().ok());
    if office.is_none() || office != counters::get(tx, OFFICE_COUNTER)? {
        tx.execute_batch("DELETE FROM office_records")?;
    }
    if let Some(office) = office {
        counters::set(tx, OFFICE_COUNTER, office)?;
    }
    tx.execute(
        "INSERT INTO head_office (id, venue, name, hubs, secret, ca, joined_at) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
        params![joined.venue, joined.name, json!(hubs).to_string(), joined.secret, ca, tx.now()],
    )?;
    tx.execute_batch("INSERT INTO office_feed (id, round, is_snapshot) VALUES (1, 0, 0)")?;
    let after = json!({"venue": joined.venue, "name": joined.name, "hubs": hubs});
    note(tx, ctx, "create", Some(after))
}

/// Ends that the venue belongs to a head office. What came from there stays.
pub fn leave(tx: &Tx<'_>, ctx: &Context) -> Result<()> {
    forget(tx)?;
    note(tx, ctx, "delete", None)
}

/// What the counters of runs begin with; the mark follows.
const RUN_COUNTER: &str = "head office run ";

/// Writes the mark of the running server into the file, before a hub hears it; the marks, the newest first. A copy of the
/// file lacks those of runs after it was made.
pub fn begin_run(tx: &Tx<'_>, mark: &str) -> Result<Vec<String>> {
    let own = format!("{RUN_COUNTER}{mark}");
    let mut statement = tx.prepare_cached(
        "SELECT name FROM counters WHERE name GLOB 'head office run *' AND name <> ?1 ORDER BY value DESC",
    )?;
    let before = statement.query_map([&own], |row| row.get(0))?;
    let before = before.collect::<rusqlite::Result<Vec<String>>>()?;
    for old in before.iter().skip(RUNS_MAX - 1) {
        tx.execute("DELETE FROM counters WHERE name = ?1", [old])?;
    }
    counters::set(tx, &own, tx.now().0)?;
    let before = before.iter().take(RUNS_MAX - 1);
    let before = before.filter_map(|name| name.strip_prefix(RUN_COUNTER));
    Ok([mark]
        .into_iter()
        .chain(before)
        .map(ToOwned::to_owned)
        .collect())
}

fn forget(tx: &Tx<'_>) -> Result<()> {
    Ok(tx.execute_batch(
        "DELETE FROM head_office; DELETE FROM office_feed;
         DELETE FROM counters WHERE name GLOB 'head office run *'",
    )?)
}

/// Keeps the addresses that a hub told, where they are others and may be called.
pub fn keep_hubs(tx: &Tx<'_>, hubs: &[String]) -> Result<()> {
    for hub in hubs {
        hub_address("hubs", hub)?;
    }
    tx.execute(
        "UPDATE head_office SET hubs = ?1",
        [json!(hubs).to_string()],
    )?;
    Ok(())
}

/// The mark of a row whose attendee was erased here, and of one who was made anonymous: neither is taken over again.
pub const ERASED: &str = "erased";
pub const ANONYMOUS: &str = "anonymous";

/// Takes what the head office sent of an attendee out of the file, blocked codes included. That they were erased stays, so
/// that they do not come back; by a hash they are told from somebody who gets their number later.
pub fn erase(tx: &Tx<'_>, attendee: i64) -> Result<()> {
    let mut found = tx.prepare(
        "SELECT type, office_id, applied ->> '$.publicId' FROM office_records WHERE type <> 'device' AND local_id = ?1",
    )?;
    let rows = found.query_map([attendee], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<(String, i64, Option<String>)>>>()?;
    for (record_type, office, public_id) in rows {
        let mark = public_id.map(|id| erased_mark(tx, &id)).transpose()?;
        tx.execute(
            "UPDATE office_records SET applied = '{}', kept = ?3 WHERE type = ?1 AND office_id = ?2",
            params![record_type, office, json!({ERASED: mark}).to_string()],
        )?;
    }
    Ok(())
}

/// The mark by which an erased attendee is known from another one with the same number.
pub fn erased_mark(tx: &Tx<'_>, public_id: &str) -> Result<String> {
    let hash = Key::find_or_make(tx)?.hash(format!("erased {public_id}").as_bytes())?;
    Ok(secret::hex(&hash[..8]))
}

fn note(tx: &Tx<'_>, ctx: &Context, action: &'static str, after: Option<Value>) -> Result<()> {
    let change = Change {
        action,
        record_type: "head office",
        record_id: None,
        before: None,
        after,
    };
    audit::append(tx, ctx, &change)
}

/// The state of the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineState {
    /// The last answer to a push; `None` before the first.
    pub answered_at: Option<Timestamp>,
    /// Since when no hub answers; `None` while one does.
    pub cut_since: Option<Timestamp>,
    /// What was wrong with the last push or the last answer, until the next that went well.
    pub trouble: [Option<String>; 2],
    /// Changes that the hub lacks, and how long the oldest has waited.
    pub behind: i64,
    pub behind_ms: i64,
}

/// Ways of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

/// The line to the head office.
#[derive(Default)]
pub struct Line {
    state: Mutex<LineState>,
    run: Run,
    /// Wakes both ways: the venue joined or left, or values are kept.
    pub woken: Notify,
    failures: AtomicUsize,
    client: Mutex<Option<(Option<String>, Arc<Client>)>>,
}

/// The run of a server, which a hub tells from that of another server with a copy of the same file.
struct Run {
    mark: String,
    /// The header; empty until the mark is in the file.
    header: Mutex<String>,
}

impl Default for Run {
    fn default() -> Self {
        let mut mark = [0; 8];
        // Without it no secret is made either, and no server starts.
        let _ = getrandom::fill(&mut mark);
        Self {
            mark: secret::hex(&mark),
            header: Mutex::default(),
        }
    }
}

/// Why a hub did not do what it was asked.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// No hub answered, or not in time; the next is tried.
    Away(String),
    /// It answered with a status of failure.
    Refused(u16, String),
    /// It has another cursor than the push began at.
    Elsewhere(Pushed),
}

impl Trouble {
    /// The trouble in words.
    pub fn why(&self) -> String {
        match self {
            Self::Away(why) => format!("the head office does not answer: {why}"),
            Self::Refused(401, _) => "the head office does not know this venue, or revoked it; join again with a new code".to_owned(),
            Self::Refused(409, why) => format!("the head office takes nothing of this server: {why}"),
            Self::Refused(404, _) => "no head office answers at this address".to_owned(),
            Self::Refused(status, why) => format!("the head office answered {status}: {why}"),
            Self::Elsewhere(_) => "the head office is elsewhere in the feed".to_owned(),
        }
    }
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn state(&self) -> LineState {
        self.lock().clone()
    }

    /// The mark of this run.
    pub fn run(&self) -> &str {
        &self.run.mark
    }

    /// Sends the marks of the file's runs with every call from now on.
    pub fn begin(&self, marks: &[String]) {
        *self
            .run
            .header
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = marks.join(" ");
    }

    fn marks(&self) -> String {
        let header = self.run.header.lock();
        header.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the file has the mark of this run.
    pub fn has_begun(&self) -> bool {
        !self.marks().is_empty()
    }

    /// Begins anew: the venue joined or left.
    pub fn renew(&self) {
        *self.lock() = LineState::default();
        self.failures.store(0, Relaxed);
        self.woken.notify_waiters();
    }

    /// Notes an answer; `behind` is what the hub lacks after it.
    pub fn answered(&self, way: Way, behind: Option<(i64, i64)>) {
        let mut state = self.lock();
        state.trouble[way as usize] = None;
        if let Some((behind, behind_ms)) = behind {
            (state.behind, state.behind_ms) = (behind, behind_ms);
            (state.answered_at, state.cut_since) = (Some(Timestamp::now()), None);
        }
    }

    /// Notes that something failed; told once in the log.
    pub fn failed(&self, way: Way, why: String) {
        let mut state = self.lock();
        if state.trouble[way as usize].as_ref() != Some(&why) {
            tracing::warn!("head office: {why}");
        }
        if way == Way::Up {
            state.cut_since.get_or_insert_with(Timestamp::now);
        }
        state.trouble[way as usize] = Some(why);
    }

    /// Sends something to a hub and reads its answer.
    pub async fn post<T: DeserializeOwned>(
        &self,
        office: &HeadOffice,
        path: &str,
        packed: Vec<u8>,
    ) -> Result<T, Trouble> {
        self.call(office, |hub| packed_post(hub, path, packed))
            .await
    }

    /// Reads from a hub.
    pub async fn get<T: DeserializeOwned>(
        &self,
        office: &HeadOffice,
        path: &str,
    ) -> Result<T, Trouble> {
        let get = |hub: &str| Request {
            method: Method::GET,
            url: format!("{hub}{path}"),
            headers: Vec::new(),
            body: Vec::new(),
        };
        self.call(office, get).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        office: &HeadOffice,
        request: impl FnOnce(&str) -> Request,
    ) -> Result<T, Trouble> {
        let failures = self.failures.load(Relaxed);
        let request = request(office.hub(failures))
            .header("Authorization", format!("Bearer {}", office.secret))
            .header(RUN, self.marks());
        let client = self.client(office.ca.as_deref());
        let called = call(&client, request).await;
        if matches!(
            called,
            Err(Trouble::Away(_) | Trouble::Refused(404 | 500.., _))
        ) {
            let next = failures.wrapping_add(1);
            let _ = self
                .failures
                .compare_exchange(failures, next, Relaxed, Relaxed);
        }
        called
    }

    /// The client, made once for each authority: what the machine trusts takes a while to read.
    fn client(&self, ca: Option<&str>) -> Arc<Client> {
        let mut kept = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((of, client)) if of.as_deref() == ca => Arc::clone(client),
            _ => {
                let client = Arc::new(new_client(ca));
                *kept = Some((ca.map(ToOwned::to_owned), Arc::clone(&client)));
                client
            }
        }
    }
}

/// Calls go where an administrator said, this machine included: a head office may be tried on it.
fn new_client(ca: Option<&str>) -> Client {
    let ca = ca.and_then(|pem| CertificateDer::from_pem_slice(pem.as_bytes()).ok());
    Client::new(|| Reach::Local)
        .with_limits(WHOLE_MAX, ANSWER_MAX_BYTES)
        .trusting(ca)
}

/// A certificate in PEM, of a file that has it in PEM or as bytes (DER), as /gate/trust gives it.
pub fn authority(file: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(file) {
        return text.to_owned();
    }
    let encoded = BASE64.encode(file);
    format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n")
}

/// Hands in a pairing code.
pub async fn pair(hub: &str, ca: Option<&str>, asked: &super::PairRequest) -> Result<Paired> {
    if let Some(pem) = ca {
        CertificateDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Error::field("ca", "must be a certificate (PEM)"))?;
    }
    let request = packed_post(hub, super::PAIR, pack(asked)?);
    let paired = call(&new_client(ca), request).await;
    paired.map_err(|trouble| match trouble {
        Trouble::Refused(status, why) if status != 404 => Error::invalid(why),
        Trouble::Away(why) => Error::invalid(format!("nobody answers at {hub}: {why}")),
        trouble => Error::invalid(trouble.why()),
    })
}

fn packed_post(hub: &str, path: &str, packed: Vec<u8>) -> Request {
    Request::post(format!("{hub}{path}"), "application/json", packed)
        .header("Content-Encoding", "gzip")
}

async fn call<T: DeserializeOwned>(client: &Client, request: Request) -> Result<T, Trouble> {
    let sent = client.send(request.header("Accept-Encoding", "gzip")).await;
    let answer = sent.map_err(|failure| Trouble::Away(failure.why().to_owned()))?;
    let mut body = answer.body.clone();
    if answer.header("content-encoding") == Some("gzip") {
        body.clear();
        let mut unpacked = GzDecoder::new(&*answer.body).take(UNPACKED_MAX_BYTES);
        let read = unpacked.read_to_end(&mut body);
        read.map_err(|_| Trouble::Away("the answer broke off".to_owned()))?;
    }
    if answer.is_success() {
        return serde_json::from_slice(&body).map_err(|_| {
            Trouble::Away("the answer broke off, or is none of a head office".to_owned())
        });
    }
    if answer.status == 409
        && let Ok(told) = serde_json::from_slice(&body)
    {
        return Err(Trouble::Elsewhere(told));
    }
    let told: Value = serde_json::from_slice(&body).unwrap_or_default();
    let why = told["meta"]["error"]["message"].as_str();
    let why = shortened_to(why.unwrap_or("nothing more is told"), WHY_MAX_CHARS);
    Err(Trouble::Refused(answer.status, why))
}

/// JSON, packed: quickly rather than small.
pub fn pack(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut packed, value).map_err(Error::defect)?;
    packed.flush().map_err(Error::defect)?;
    packed.finish().map_err(Error::defect)
}
