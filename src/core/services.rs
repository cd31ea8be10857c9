//! What all features share of the running application.

use super::{
    changes, outgoing,
    settings::{self, Settings},
};
use crate::db::{Store, sandbox::ReportSemaphore};
use std::{ops::Deref, sync::Arc};

/// The store, the settings and what calls out; cheap to clone.
#[derive(Clone)]
pub struct Services(Arc<Inner>);

/// What the services are made of.
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
    settings: Arc<settings::Cache>,
}

impl Services {
    /// The services of an open store; `public_url` is that of `--public-url`, without a trailing slash.
    #[must_use]
    pub fn new(store: Store, public_url: Option<String>) -> Self {
        let (store, settings) = (Arc::new(store), Arc::new(settings::Cache::default()));
        let (of_store, of_settings) = (Arc::clone(&store), Arc::clone(&settings));
        let outgoing = outgoing::Client::new(move || of_settings.get(&of_store).reach);
        Self(Arc::new(Inner {
            outgoing,
            store,
            report_semaphore: ReportSemaphore::default(),
            public_url,
            changes: changes::Watcher::default(),
            settings,
        }))
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.get(&self.store)
    }

    /// The address that clients reach the server by, without a trailing slash: `--public-url`, or
    /// the setting where there is no flag. `None`: whatever a request's `Host` says.
    #[must_use]
    pub fn public_url(&self) -> Option<String> {
        let flag = self.public_url.clone();
        flag.or_else(|| self.settings().public_url.clone())
    }
}

impl Deref for Services {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
