//! The parts of the running application that all features share, and what a use case knows about the request or command
//! that runs it.

use super::{
    audit, changes, head_office, outgoing,
    settings::{self, Settings},
    standby,
};
use crate::{
    db::{Store, Tx, sandbox::ReportSemaphore},
    types::{ClientId, UserId, error::Result},
};
use serde_json::Value;
use std::{
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};

/// For how long Litestream lets go of the log, at most, and the time between two looks whether that is empty.
const WIPE_MAX: Duration = Duration::from_secs(5);
const WIPE_LOOK: Duration = Duration::from_millis(5);

/// The store, the settings and what calls out; cheap to clone.
#[derive(Clone)]
pub struct Services(Arc<Inner>);

/// The parts of the services.
pub struct Inner {
    /// The one SQLite file.
    pub store: Arc<Store>,
    /// Calls to others.
    pub outgoing: outgoing::Client,
    /// Reports that run, and that are being fetched.
    pub report_semaphore: ReportSemaphore,
    /// `--public-url`, without a trailing slash; what is in force is [`Services::public_url`].
    pub public_url: Option<String>,
    /// Wakes who waits for changes.
    pub changes: changes::Watcher,
    /// The epoch of the file and how far its replica is, where `standby init` was run.
    pub replication: standby::Cell,
    /// The line to the head office, where the venue joined one.
    pub head_office: head_office::venue::Line,
    settings: Arc<settings::Cache>,
}

impl Services {
    /// The services of an open store; `public_url` is that of `--public-url`, without a trailing slash.
    pub fn new(store: Store, public_url: Option<String>) -> Self {
        let (store, settings) = (
            Arc::new(store),
            Arc::new(settings::Cache::new(public_url.clone())),
        );
        let (of_store, of_settings) = (Arc::clone(&store), Arc::clone(&settings));
        let outgoing = outgoing::Client::new(move || of_settings.get(&of_store).reach);
        Self(Arc::new(Inner {
            outgoing,
            store,
            report_semaphore: ReportSemaphore::default(),
            public_url,
            changes: changes::Watcher::default(),
            replication: standby::Cell::new(),
            head_office: head_office::venue::Line::default(),
            settings,
        }))
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.get(&self.store)
    }

    /// Empties the write-ahead log soon, which contains deleted rows; Litestream, which reads it all the time, lets go of it
    /// for as long.
    pub fn wipe_log(&self) {
        self.store.wipe_log();
        let replication = self.replication.get();
        let Some(litestream) = replication.and_then(|it| it.litestream.clone()) else {
            return;
        };
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let wiped = litestream.without_it(|| {
                while !store.is_log_wiped() && begun.elapsed() < WIPE_MAX {
                    std::thread::sleep(WIPE_LOOK);
                }
            });
            if let Err(why) = wiped {
                tracing::warn!("the log still has what was deleted, until the server ends: {why}");
            }
        });
    }

    /// How far the second machine is; `None` where there is none.
    pub fn durable(&self) -> Option<standby::Durable> {
        let replication = self.replication.get()?;
        Some(replication.durable(self.store.stats().mark(), None))
    }

    /// The address that clients reach the server by, without a trailing slash: `--public-url`, or
    /// the setting where there is no flag. `None`: whatever a request's `Host` says.
    pub fn public_url(&self) -> Option<String> {
        self.settings().public_url.clone()
    }
}

impl Deref for Services {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// The facts that a use case knows about the request that runs it.
#[derive(Debug, Clone)]
pub struct Context {
    /// The actor, as the audit names it: `client:…`, `user:…`, `cli`, `import:…`.
    pub actor: String,
    pub request_id: Option<String>,
    /// The client through which it came, for nonces and the origin of interactions.
    pub client: Option<ClientId>,
    /// The user through whose token it came.
    pub user: Option<UserId>,
    /// The source that records gain in `sources` as they are written (contract §4).
    pub source: &'static str,
    /// Kinds of records that whoever asks may not read: no error tells of them.
    pub hidden: Vec<&'static str>,
    /// Set where somebody types or sends single values, which are to look like what they are. Lists and purchases are
    /// taken as they come.
    pub is_strict: bool,
    /// The settings in force.
    pub settings: Arc<Settings>,
}

impl Context {
    /// Notes a change of what there is one of, such as the settings; nothing where it is the same.
    pub fn audit_update(
        &self,
        tx: &Tx<'_>,
        record_type: &'static str,
        before: Value,
        after: Value,
    ) -> Result<()> {
        if before == after {
            return Ok(());
        }
        let change = audit::Change {
            action: "update",
            record_type,
            record_id: None,
            before: Some(before),
            after: Some(after),
        };
        audit::append(tx, self, &change)
    }

    /// The context of a command on the command line.
    pub fn of_command(source: &'static str, settings: Arc<Settings>) -> Self {
        Self {
            actor: "cli".into(),
            request_id: None,
            client: None,
            user: None,
            source,
            hidden: Vec::new(),
            is_strict: false,
            settings,
        }
    }
}
