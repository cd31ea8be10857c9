//! Readers in a running server: takes their reads, has presence derived from them, and records the result.
//!
//! Reads wait in presence until those of two seconds are in order. That wait is the only queue: it is
//! bounded, drops the oldest, and counts what it dropped. What was derived waits, bounded as well, until
//! the store has it; gates always go first.

use super::{
    Epc, Read,
    config::{Configuration, ReaderConfig},
    presence::{Derived, Presence, TagRead},
    recording,
    state::{Connection as Connected, Followed, FollowedRead, ReaderState},
    unknown::{self, UnknownTags},
};
use crate::{
    core::{
        Context, changes,
        outgoing::{Reach, judge_reader},
        reader::Protocol,
    },
    db::Priority,
    identity::App,
    types::{DeviceId, Timestamp, error::Result, fold::fold},
};
use rusqlite::OptionalExtension;
use schemars::JsonSchema;
use serde_json::json;
use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// The interval at which presence goes on.
const TICK: Duration = Duration::from_millis(200);
/// The interval at which the setup is read.
const FOLLOW: Duration = Duration::from_secs(2);
/// The interval at which unknown tags are written and looked at.
const UNKNOWN: Duration = Duration::from_secs(5);
/// The wait after a failed write.
const RETRY: Duration = Duration::from_secs(1);
/// The time after which the owner of a tag is asked anew.
const TAG_MS: i64 = 5_000;
/// Tags that are remembered.
const TAGS_MAX: usize = 200_000;
/// Derived interactions that wait for the store.
const DERIVED_MAX: usize = 200_000;

/// The readers of a server.
pub struct Readers {
    app: App,
    live: Mutex<Live>,
    /// Something was derived.
    derived: Notify,
}

#[derive(Default)]
struct Live {
    /// The state of the file that the rest follows from; it changes when the file goes back to an earlier one.
    generation: Option<i64>,
    /// Up to this change the setup is known, and whose tags are.
    seen: Option<i64>,
    configuration: Configuration,
    presence: Presence,
    states: BTreeMap<i64, ReaderState>,
    /// The owner of a tag, and when that was asked.
    tags: HashMap<Epc, (Option<i64>, i64)>,
    unknown: UnknownTags,
    derived: VecDeque<Derived>,
    /// Derived interactions that could not be kept.
    lost: u64,
    /// By who follows: a session of the console.
    followed: HashMap<i64, Followed>,
}

/// A connection to a reader, which ends when this is dropped.
struct Client {
    _connected: oneshot::Sender<()>,
    /// Ready once it has ended.
    task: JoinHandle<()>,
}

/// The outcome of posted reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[schemars(rename = "AcceptedReads", example = json!({"accepted": 500, "dropped": 0, "unknown": 3}))]
pub struct Accepted {
    /// Reads that count; not those that the reader's `epcPrefix` rules out.
    #[schemars(with = "i64")]
    pub accepted: usize,
    /// Older reads that had to make room.
    #[schemars(with = "i64")]
    pub dropped: u64,
    /// Reads of tags that no attendee has as `uhfId`.
    #[schemars(with = "i64")]
    pub unknown: usize,
}

/// A reader as the console shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    pub id: i64,
    pub config: ReaderConfig,
    pub state: ReaderState,
}

impl Readers {
    /// Readers that are not connected yet.
    pub fn new(app: App) -> Arc<Self> {
        Arc::new(Self {
            app,
            live: Mutex::default(),
            derived: Notify::new(),
        })
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes reads of a reader.
    ///
    /// # Errors
    /// Fails when the store cannot be asked whose the tags are: then none of them counts.
    pub fn accept(&self, reader: DeviceId, reads: &[Read]) -> Result<Accepted> {
        let now = Timestamp::now();
        let asked = self.live().unasked(reads, now);
        let found = if asked.is_empty() {
            Vec::new()
        } else {
            self.app.store.look_up(|connection| {
                let mut find = connection.prepare_cached(
                    "SELECT id FROM delegates
                     WHERE uhf_id = ?1 COLLATE NOCASE AND uhf_id IS NOT NULL AND deleted_at IS NULL",
                )?;
                let found = asked.iter().map(|epc| {
                    let id = find.query_row([epc.to_string()], |row| row.get(0));
                    id.optional()
                });
                Ok(found.collect::<rusqlite::Result<Vec<Option<i64>>>>()?)
            })?
        };
        let mut live = self.live();
        if live.tags.len() + found.len() > TAGS_MAX {
            live.tags.clear();
        }
        let answers = asked.into_iter().zip(found);
        live.tags
            .extend(answers.map(|(epc, whose)| (epc, (whose, now.0))));
        Ok(live.accept(reader.0, reads, now))
    }

    /// Does all that readers need, until it is dropped.
    pub async fn run(self: &Arc<Self>) {
        if let Err(cause) = self.begin().await {
            tracing::error!("readers: who is where could not be read: {cause}");
        }
        tokio::join!(
            self.tick(),
            self.follow(),
            self.record(),
            self.care_for_unknown()
        );
    }

    /// Reads the setup. At the start, and once the file went back to an earlier state, goes on with who is where
    /// by the file.
    async fn begin(&self) -> Result<()> {
        let now = Timestamp::now();
        self.catch_up()?;
        self.configure()?;
        let generation = self.app.store.look_up(changes::generation)?;
        if self.live().generation == Some(generation) {
            return Ok(());
        }
        let stays = self
            .app
            .store
            .read(move |connection| recording::stays(connection, now))
            .await?;
        let mut live = self.live();
        if live.generation.replace(generation).is_some() {
            live.forget();
        }
        live.presence.restore(stays, now.0);
        Ok(())
    }

    /// Derives.
    async fn tick(&self) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut second = 0;
        loop {
            ticks.tick().await;
            let now = Timestamp::now();
            let mut live = self.live();
            let live = &mut *live;
            if now.0 / 1000 != second {
                second = now.0 / 1000;
                live.states.values_mut().for_each(|state| state.second(now));
                live.followed.retain(|_, followed| followed.goes_on(now));
                let down = live.out_of_order();
                live.presence.set_down(&down, now.0);
            }
            let mut derived = Vec::new();
            live.presence.advance(now.0, &mut derived);
            if !derived.is_empty() {
                live.derived.extend(derived);
                let excess = live.derived.len().saturating_sub(DERIVED_MAX);
                live.derived.drain(..excess);
                live.lost += excess as u64;
                self.derived.notify_one();
            }
        }
    }

    /// Records what was derived.
    async fn record(&self) {
        loop {
            let (generation, slice): (_, Arc<[Derived]>) = {
                let mut live = self.live();
                let length = live.derived.len().min(recording::SLICE);
                (live.generation, live.derived.drain(..length).collect())
            };
            if slice.is_empty() {
                self.derived.notified().await;
                continue;
            }
            loop {
                let (context, slice) = (self.context(), Arc::clone(&slice));
                let stored = self
                    .app
                    .store
                    .write_repeatable(Priority::Background, move |tx| {
                        let now = changes::generation(tx)?;
                        if generation.is_some_and(|generation| generation != now) {
                            // Noticed before the file went back to an earlier state.
                            return Ok(Vec::new());
                        }
                        recording::store(tx, &context, &slice)
                    });
                match stored.await {
                    Ok(merged) => {
                        self.live().leave_as(merged);
                        break;
                    }
                    Err(cause) => {
                        tracing::warn!("what readers noticed could not be recorded: {cause}");
                        tokio::time::sleep(RETRY).await;
                    }
                }
            }
        }
    }

    /// Writes unknown tags, and looks whether somebody got one.
    async fn care_for_unknown(&self) {
        let mut ticks = interval(UNKNOWN);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(cause) = self.write_unknown().await {
                tracing::warn!("unknown tags: {cause}");
            }
        }
    }

    async fn write_unknown(&self) -> Result<()> {
        loop {
            let tags = self.live().unknown.take();
            if tags.is_empty() {
                break;
            }
            self.app
                .store
                .write_bulk(move |tx| unknown::keep(tx, &tags))
                .await?;
        }
        while self.app.store.read(unknown::is_any_matched).await? {
            let context = self.context();
            self.app
                .store
                .write_bulk(move |tx| unknown::match_tags(tx, &context))
                .await?;
        }
        Ok(())
    }

    fn context(&self) -> Context {
        Context {
            actor: "readers".into(),
            ..Context::of_command("readers", self.app.settings())
        }
    }

    /// Follows the setup: connects to readers, and cuts those that are no longer set up.
    async fn follow(self: &Arc<Self>) {
        let mut clients = HashMap::new();
        let mut ticks = interval(FOLLOW);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(cause) = self.begin().await {
                tracing::warn!("readers: their setup could not be read: {cause}");
                continue;
            }
            let wanted = self.clients();
            let ended = clients
                .extract_if(|id, (config, _): &mut (_, Client)| wanted.get(id) != Some(config));
            let ended: Vec<JoinHandle<()>> = ended.map(|(_, (_, client))| client.task).collect();
            for task in ended {
                // A reader takes one client at a time.
                let _ = task.await;
            }
            for (id, config) in wanted {
                clients.entry(id).or_insert_with(|| {
                    let client = self.connect(id, &config);
                    (config, client)
                });
            }
        }
    }

    /// Reads what was changed since that reads depend on: the setup, and whose tags are.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    pub fn catch_up(&self) -> Result<()> {
        let seen = self.live().seen;
        let store = &self.app.store;
        let Some(seen) = seen else {
            let newest = store.look_up(changes::newest)?.change;
            self.configure()?;
            self.live().seen = Some(newest);
            return Ok(());
        };
        let (changed, newest) =
            store.look_up(|connection| changes::types_since(connection, seen))?;
        let is_changed = |names: &[&str]| changed.iter().any(|name| names.contains(&&**name));
        if is_changed(&["device", "event", "settings", "rehearsal"]) {
            self.configure()?;
        }
        let mut live = self.live();
        if is_changed(&["delegate", "rehearsal"]) {
            live.tags.clear();
        }
        live.seen = live.seen.max(Some(newest));
        Ok(())
    }

    fn configure(&self) -> Result<()> {
        let settings = self.app.settings();
        let read = self
            .app
            .store
            .look_up(|connection| Configuration::read(connection, &settings))?;
        let mut live = self.live();
        if live.configuration != read {
            let known = |id: &i64| read.readers.contains_key(id);
            live.states.retain(|id, _| known(id));
            for id in read.readers.keys() {
                live.states.entry(*id).or_default();
            }
            live.presence.set_layout(read.layout());
            live.configuration = read;
        }
        Ok(())
    }

    /// The readers that the server connects to.
    fn clients(&self) -> HashMap<i64, (llrp::ReaderConfig, Reach)> {
        let live = self.live();
        let readers = live.configuration.readers.iter();
        readers
            .filter_map(|(id, reader)| Some((*id, (reader.client()?, reader.reach))))
            .collect()
    }

    /// Connects to a reader until the result is dropped.
    fn connect(self: &Arc<Self>, id: i64, (config, reach): &(llrp::ReaderConfig, Reach)) -> Client {
        let (config, reach) = (config.clone(), *reach);
        let judge = move |address| judge_reader(address, reach);
        let (connected, dropped) = oneshot::channel();
        let readers = Arc::downgrade(self);
        let events = move |event| {
            if let Some(readers) = readers.upgrade() {
                readers.happened(id, event);
            }
        };
        let dropped = async {
            let _ = dropped.await;
        };
        Client {
            task: tokio::spawn(llrp::run(config, judge, events, dropped)),
            _connected: connected,
        }
    }

    fn happened(&self, id: i64, event: llrp::Event) {
        if let llrp::Event::Reads(reads) = &event {
            let accepted = self
                .catch_up()
                .and_then(|()| self.accept(DeviceId(id), reads));
            if let Err(cause) = accepted {
                tracing::warn!("reads of reader {id}: {cause}");
                self.live().states.entry(id).or_default().dropped += reads.len() as u64;
            }
            return;
        }
        let now = Timestamp::now();
        let mut live = self.live();
        // A reader that was just deleted.
        let Some(state) = live.states.get_mut(&id) else {
            return;
        };
        match event {
            // One that is down stays so until it is connected again.
            llrp::Event::State(llrp::State::Connecting) => {
                state.warnings.clear();
                if !state.is_down() {
                    state.connection(Connected::Connecting, now);
                }
            }
            llrp::Event::State(llrp::State::Connected(capabilities)) => {
                tracing::info!("reader {id} connected");
                state.connection(Connected::Connected(capabilities), now);
            }
            llrp::Event::State(llrp::State::Down { reason, retry_in }) => {
                if !state.is_down() {
                    tracing::warn!("reader {id} is down: {reason}");
                }
                state.connection(Connected::Down { reason, retry_in }, now);
            }
            llrp::Event::ClockOffset(offset) => state.clock_offset_ms = Some(offset),
            llrp::Event::Antenna { antenna, connected } => {
                state.antennas.entry(antenna).or_default().is_connected = Some(connected);
            }
            llrp::Event::Warning(warning) => state.warnings.push(warning),
            llrp::Event::Reads(_) => {}
        }
    }

    /// Every reader, by name.
    pub fn shown(&self) -> Vec<Shown> {
        let live = self.live();
        let readers = live.configuration.readers.iter();
        let mut shown: Vec<Shown> = readers
            .map(|(id, config)| Shown {
                id: *id,
                config: config.clone(),
                state: live.states.get(id).cloned().unwrap_or_default(),
            })
            .collect();
        shown.sort_by_cached_key(|reader| (fold(&reader.config.name), reader.id));
        shown
    }

    /// Readers that cannot be reached, with the reason.
    pub fn down(&self) -> Vec<(String, String)> {
        let down = |reader: Shown| match reader.state.connection {
            Connected::Down { reason, .. } => Some((reader.config.name, reason)),
            _ => None,
        };
        self.shown().into_iter().filter_map(down).collect()
    }

    /// Tells whether this is a reader that is set up.
    pub fn knows(&self, reader: DeviceId) -> bool {
        self.live().configuration.readers.contains_key(&reader.0)
    }

    /// The setup in use.
    pub fn configuration(&self) -> Configuration {
        self.live().configuration.clone()
    }

    /// People who are somewhere, by what readers noticed; and derived interactions that wait, and that were lost.
    pub fn counts(&self) -> (usize, usize, u64) {
        let live = self.live();
        (live.presence.len(), live.derived.len(), live.lost)
    }

    /// Follows a tag for a session of the console, to see which antennas hear it; none ends it.
    pub fn follow_tag(&self, session: i64, epc: Option<Epc>) {
        let now = Timestamp::now();
        let followed = &mut self.live().followed;
        followed.remove(&session);
        followed.extend(epc.map(|epc| (session, Followed::new(epc, now))));
    }

    /// The tag that a session follows, with its reads.
    pub fn followed(&self, session: i64) -> Option<(Epc, Timestamp, Vec<FollowedRead>)> {
        let live = self.live();
        let followed = live.followed.get(&session)?;
        let reads = followed.reads.iter().copied().collect();
        Some((followed.epc, followed.since, reads))
    }
}

impl Live {
    /// Readers that the server should be connected to, and is not.
    fn out_of_order(&self) -> HashSet<i64> {
        let readers = self.configuration.readers.iter();
        let is_connected = |id: &i64| {
            let state = self.states.get(id);
            state.is_some_and(|state| matches!(state.connection, Connected::Connected(_)))
        };
        readers
            .filter(|(id, reader)| reader.setup.protocol == Protocol::Llrp && !is_connected(id))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Has people leave under the record that theirs was merged into, unless that one is there itself.
    fn leave_as(&mut self, merged: Vec<Derived>) {
        for left in merged {
            if self.presence.place(left.tag) != Some(left.place) {
                self.derived.push_back(left);
            }
        }
    }

    /// Forgets who was where, and all that waits.
    fn forget(&mut self) {
        self.presence = Presence::new(self.configuration.layout());
        self.tags.clear();
        self.unknown = UnknownTags::default();
        self.derived.clear();
    }

    /// Tags of reads of which it is not known whose they are.
    fn unasked(&self, reads: &[Read], now: Timestamp) -> Vec<Epc> {
        let unasked = reads.iter().map(|read| &read.epc).filter(|epc| {
            let asked = self.tags.get(*epc).map(|(_, asked)| *asked);
            asked.is_none_or(|asked| (now.0 - asked).abs() > TAG_MS)
        });
        let mut unasked: Vec<Epc> = unasked.copied().collect();
        unasked.sort_unstable();
        unasked.dedup();
        unasked
    }

    fn accept(&mut self, reader: i64, reads: &[Read], now: Timestamp) -> Accepted {
        let mut accepted = Accepted::default();
        let config = self.configuration.readers.get(&reader);
        let state = self.states.entry(reader).or_default();
        let posts = config.is_none_or(|config| config.setup.protocol != Protocol::Llrp);
        if posts && !reads.is_empty() {
            state.connection(Connected::Posting, now);
        }
        let dropped = self.presence.dropped();
        let mut shift_ms = 0;
        if posts && let Some(newest) = reads.iter().map(|read| read.at_ms).max() {
            shift_ms = state.learn_clock(newest, now);
        }
        for read in reads {
            let read = &Read {
                // What is read is past.
                at_ms: (read.at_ms - shift_ms).min(now.0),
                ..*read
            };
            if config.is_some_and(|config| !config.takes(&read.epc)) {
                state.ignored += 1;
                continue;
            }
            accepted.accepted += 1;
            state.note(read, now);
            for followed in self.followed.values_mut() {
                followed.note(reader, read);
            }
            if let Some((Some(tag), _)) = self.tags.get(&read.epc) {
                self.presence.push(TagRead {
                    tag: *tag,
                    reader,
                    antenna: read.antenna,
                    rssi_dbm: read.rssi_dbm,
                    at_ms: read.at_ms,
                });
            } else {
                accepted.unknown += 1;
                state.unknown += 1;
                let watched = self.configuration.watched(reader, read.antenna);
                if read.rssi_dbm >= self.configuration.settings.rssi_floor_dbm {
                    self.unknown
                        .count(reader, watched.map(|watched| watched.place), read);
                }
            }
        }
        accepted.dropped = self.presence.dropped() - dropped;
        state.dropped += accepted.dropped;
        accepted
    }
}

impl ReaderConfig {
    /// The settings that the server needs to connect to the reader.
    fn client(&self) -> Option<llrp::ReaderConfig> {
        let antennas = self.setup.antennas.iter();
        Some(llrp::ReaderConfig {
            address: self.llrp_address()?.to_owned(),
            antennas: antennas
                .map(|one| llrp::AntennaConfig {
                    antenna: one.antenna,
                    power_dbm: one.power_dbm,
                })
                .collect(),
        })
    }
}
