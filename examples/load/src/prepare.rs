//! Makes a database file to measure on, without a server: invented delegates, one event, its
//! sessions under Simple ACL and single entry, every delegate joined, a history of visits that are all
//! over, and gates that are set to sessions. The same options make the same records.

use crate::{
    Result,
    pairs::{scattering_stride, scrambled, unix_s},
    people,
    setup::{CLIENT_ID, CLIENT_SECRET, DEVICE_CODE},
};
use gatepost::{
    db::migrate,
    domain::{
        apps::Document,
        interactions::{
            presence::PresenceChange,
            types::{CHECK_IN, CHECK_OUT},
        },
    },
    identity::{Role, Roles},
    types::secret,
};
use rusqlite::{Connection, params};
use serde_json::json;
use std::{
    fs::File,
    path::{Path, PathBuf},
};

/// The event's id; the sessions follow.
pub const EVENT: i64 = 1;
const DAY_MS: i64 = 86_400_000;

/// What the file shall hold.
#[derive(clap::Args, Clone)]
pub struct Options {
    /// The file; there must be none yet
    #[arg(long)]
    pub db: PathBuf,
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(i64).range(1..=50_000_000))]
    pub delegates: i64,
    /// Places where people check in
    #[arg(long, visible_alias = "places", default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    pub sessions: i64,
    /// Check-ins and check-outs, half of each, beside the delegates' joins
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=1_000_000_000))]
    pub interactions: i64,
}

/// The session devices' ids.
pub fn session_ids(sessions: i64) -> Vec<i64> {
    (EVENT + 1..=EVENT + sessions).collect()
}

/// Makes the file.
pub fn prepare(options: &Options) -> Result<()> {
    let path = &options.db;
    if path.exists() {
        return Err(format!("{} is there already", path.display()).into());
    }
    let connection = Connection::open(path)?;
    migrate::create(&connection)?;
    // Nobody else has this file yet, and when it is not completed it is thrown away.
    connection.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         PRAGMA foreign_keys = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY;
         PRAGMA threads = 2;",
    )?;
    let indexes = take_indexes_away(&connection)?;
    let history = History::new(options);
    connection.execute_batch("BEGIN")?;
    insert_client(&connection, history.begin_ms)?;
    insert_devices(&connection, options, history.begin_ms)?;
    insert_gates(&connection, GATES, options.sessions, history.begin_ms)?;
    insert_delegates(&connection, options, history.begin_ms)?;
    insert_interactions(&connection, &history)?;
    connection.execute_batch("COMMIT")?;
    for index in indexes {
        connection.execute_batch(&index)?;
    }
    connection.execute_batch("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL;")?;
    connection.close().map_err(|(_, cause)| cause)?;
    // What is measured next must not wait for these pages.
    File::open(path)?.sync_all()?;
    Ok(())
}

/// The client of an app that pings, by the app's number.
pub fn app_client(number: u32) -> String {
    format!("load-app-{number}")
}

/// Gates in every file.
const GATES: u32 = 64;

/// The client of a gate, by the gate's number, and the code of its device.
pub fn gate_client(number: u32) -> String {
    format!("load-gate-{number}")
}

/// Gives a file that nobody serves so many gates, in place of those it has: clients with the role of gates
/// alone, each bound to a device that is set to one place, as the gate app is.
pub fn set_gates(path: &Path, gates: u32, places: i64) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch("BEGIN")?;
    insert_gates(&connection, gates, places, 0)?;
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, cause)| cause)?;
    File::open(path)?.sync_all()?;
    Ok(())
}

fn insert_gates(connection: &Connection, gates: u32, places: i64, at: i64) -> Result<()> {
    let roles: Roles = [Role::Gate].into_iter().collect();
    let secret = secret::digest(CLIENT_SECRET.as_bytes());
    connection.execute_batch(
        "DELETE FROM clients WHERE client_id LIKE 'load-gate-%';
         DELETE FROM devices WHERE code LIKE 'load-gate-%'; DELETE FROM app_config",
    )?;
    let mut document = Document::built_in();
    for number in 0..gates {
        let client = gate_client(number);
        connection.execute(
            "INSERT INTO devices (code, public_id, name, device_type, sources, created_at, updated_at)
             VALUES (?1, ?1, ?1, 'regoapp', '[\"discovery\"]', ?2, ?2)",
            params![client, at],
        )?;
        connection.execute(
            "INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at)
             VALUES (?1, ?2, ?1, ?3, '[]', last_insert_rowid(), ?4)",
            params![client, secret.as_slice(), roles.to_json(), at],
        )?;
        // Spread over all places, the last one among them.
        let place = (i64::from(number) + 1) * places / i64::from(gates.min(GATES)) % places;
        let place = session_code(if place == 0 { places } else { place });
        let settings = json!({"place": format!("code:{place}")});
        let settings = settings.as_object().cloned().unwrap_or_default();
        document.by_device.insert(client, settings);
    }
    connection.execute(
        "INSERT INTO app_config (version, document, actor, published_at) VALUES (2, ?1, 'cli', ?2)",
        params![document.to_json().to_string(), at],
    )?;
    Ok(())
}

/// The code of a session, counted from 1.
fn session_code(number: i64) -> String {
    format!("{DEVICE_CODE}{number:03}")
}

/// Adds devices that run an app, each with a client of its own, to a file that nobody serves.
pub fn add_apps(path: &Path, count: u32) -> Result<()> {
    let connection = Connection::open(path)?;
    let secret = secret::digest(CLIENT_SECRET.as_bytes());
    connection.execute_batch("BEGIN")?;
    for number in 0..count {
        connection.execute(
            "INSERT INTO devices (code, public_id, name, device_type, sources, created_at, updated_at)
             VALUES (?1, ?1, ?1, 'regoapp', '[\"discovery\"]', 0, 0)",
            [app_client(number)],
        )?;
        connection.execute(
            "INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at)
             VALUES (?1, ?2, ?1, '[]', '[]', last_insert_rowid(), 0)",
            params![app_client(number), secret.as_slice()],
        )?;
    }
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, cause)| cause)?;
    File::open(path)?.sync_all()?;
    Ok(())
}

/// Removes a file that was prepared before, with what stands beside it.
pub fn remove(path: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(cause.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Built once at the end, an index costs a sort instead of a search for each row. Those of interactions
/// grow with them, as at an event: an index that is made of rows has not a byte to spare on any page, and
/// the first check-in on each has to split it.
fn take_indexes_away(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
         AND tbl_name = 'delegates'",
    )?;
    let indexes = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    for (name, _) in &indexes {
        connection.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    Ok(indexes.into_iter().map(|(_, sql)| sql).collect())
}

fn insert_client(connection: &Connection, at: i64) -> Result<()> {
    let roles: Roles = Role::ALL.iter().copied().collect();
    let secret = secret::digest(CLIENT_SECRET.as_bytes());
    connection.execute(
        "INSERT INTO clients (id, client_id, secret_hash, name, roles, scopes, created_at)
         VALUES (1, ?1, ?2, 'load generator', ?3, '[]', ?4)",
        params![CLIENT_ID, secret.as_slice(), roles.to_json(), at],
    )?;
    Ok(())
}

fn insert_devices(connection: &Connection, options: &Options, at: i64) -> Result<()> {
    let mut insert = connection.prepare(
        "INSERT INTO devices (id, parent_id, code, public_id, name, device_type, sources, data,
                              created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, '[\"admin\"]', ?7, ?8, ?8)",
    )?;
    let none = None::<i64>;
    let public_id = people::uuid(u64::MAX);
    insert.execute(params![
        EVENT,
        none,
        "load-event",
        public_id,
        "Load event",
        "event",
        none,
        at
    ])?;
    for (number, id) in (1_i64..).zip(session_ids(options.sessions)) {
        insert.execute(params![
            id,
            EVENT,
            session_code(number),
            people::uuid(u64::MAX - number.unsigned_abs()),
            format!("Session {number}"),
            "session",
            r#"{"Access":{"ruleSet":"simple","entry":"single"}}"#,
            at
        ])?;
    }
    Ok(())
}

fn insert_delegates(connection: &Connection, options: &Options, at: i64) -> Result<()> {
    let mut insert = connection.prepare(
        "INSERT INTO delegates (id, barcode, public_id, first_name, last_name, email, company,
                                job_title, sources, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '[\"import\"]', ?9, ?9)",
    )?;
    for (number, id) in (1_u64..).zip(1..=options.delegates) {
        let person = people::person(number);
        insert.execute(params![
            id,
            crate::pairs::barcode(number),
            people::uuid(number),
            person.first_name,
            person.last_name,
            person.email,
            person.company,
            person.job_title,
            at
        ])?;
    }
    Ok(())
}

/// Who went where and when, as a formula, so that interactions come out in the order of time without a
/// table in between. Visits go round after round: each delegate once, in a scattered order, to the session after the one of the round before.
struct History {
    delegates: i64,
    sessions: i64,
    visits: i64,
    stride: i64,
    begin_ms: i64,
    /// From one visit to the next, in nanoseconds.
    gap_ns: i64,
}

impl History {
    fn new(options: &Options) -> Self {
        let now_ms = i64::try_from(unix_s()).unwrap_or(0) * 1000;
        let visits = options.interactions / 2;
        let stride = scattering_stride(options.delegates.unsigned_abs());
        Self {
            delegates: options.delegates,
            sessions: options.sessions,
            visits,
            stride: i64::try_from(stride).unwrap_or(1),
            begin_ms: now_ms - 3 * DAY_MS,
            gap_ns: DAY_MS * 2_000_000 / visits.max(1),
        }
    }

    /// The delegate at a place in a round.
    fn delegate_at(&self, place: i64) -> i64 {
        place * self.stride % self.delegates + 1
    }

    /// Where a delegate goes in the first round, counted from 0.
    fn first_session_of(&self, delegate: i64) -> i64 {
        let scattered = scrambled(delegate.unsigned_abs()) % self.sessions.unsigned_abs();
        i64::try_from(scattered).unwrap_or(0)
    }

    /// The check-in of a visit: its time and its interaction's id. The check-out follows at once.
    fn check_in(&self, visit: i64) -> (i64, i64) {
        let at = self.begin_ms + DAY_MS / 2 + visit * self.gap_ns / 1_000_000;
        (at - at % 1000, self.delegates + 2 * visit + 1)
    }
}

/// From check-in to check-out.
const STAY_MS: i64 = 1000;

fn insert_interactions(connection: &Connection, history: &History) -> Result<()> {
    let mut insert = connection.prepare(
        "INSERT INTO interactions (id, interaction_type, first_delegate_id, first_device_id,
                                   recorded_at, created_at, client_id, effect)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, 1, ?6)",
    )?;
    for delegate in 1..=history.delegates {
        insert.execute(params![
            delegate,
            "join",
            delegate,
            EVENT,
            history.begin_ms,
            PresenceChange::Join
        ])?;
    }
    for visit in 0..history.visits {
        let (round, place) = (visit / history.delegates, visit % history.delegates);
        let delegate = history.delegate_at(place);
        let session = (history.first_session_of(delegate) + round) % history.sessions;
        let device = EVENT + 1 + session;
        let (at, id) = history.check_in(visit);
        for (id, kind, at) in [(id, CHECK_IN, at), (id + 1, CHECK_OUT, at + STAY_MS)] {
            let effect = kind.presence_effect;
            insert.execute(params![id, kind.name, delegate, device, at, effect])?;
        }
    }
    Ok(())
}
