//! What every handler is given.

use crate::{
    auth::{
        Context, Principal, asking::Asking, seen::Seen, throttle::Throttle, tokens::TokenCache,
        unwritten::Unwritten,
    },
    outgoing,
    sandbox::Turns,
    settings::{self, Settings},
    store::Store,
};
use std::{ops::Deref, sync::Arc};

/// The running application; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// What the application is made of.
pub struct Inner {
    /// The one SQLite file.
    pub store: Arc<Store>,
    /// `--public-url`, without a trailing slash; what is in force is [`App::public_url`].
    pub public_url: Option<String>,
    /// Valid tokens in memory.
    pub tokens: TokenCache,
    /// Guesses at secrets.
    pub throttle: Throttle,
    /// Codes to sign in by that were asked for.
    pub asking: Asking,
    /// Texts with such a code that wait to be sent.
    pub unwritten: Unwritten,
    /// When each device was last heard of.
    pub seen: Seen,
    /// Calls to others.
    pub outgoing: outgoing::Client,
    /// Reports that run, and that are being fetched.
    pub turns: Turns,
    settings: Arc<settings::Cache>,
}

impl App {
    /// An application on an open store.
    #[must_use]
    pub fn new(store: Store, public_url: Option<String>) -> Self {
        let (store, settings) = (Arc::new(store), Arc::new(settings::Cache::default()));
        let (of_store, of_settings) = (Arc::clone(&store), Arc::clone(&settings));
        Self(Arc::new(Inner {
            outgoing: outgoing::Client::new(move || of_settings.get(&of_store).reach),
            store,
            public_url,
            tokens: TokenCache::default(),
            throttle: Throttle::default(),
            asking: Asking::default(),
            unwritten: Unwritten::default(),
            seen: Seen::default(),
            turns: Turns::default(),
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

    /// The context of a request by `principal`.
    #[must_use]
    pub fn context(&self, principal: &Principal, request_id: &str) -> Context {
        Context {
            actor: principal.actor(),
            request_id: Some(request_id.to_owned()),
            client: Some(principal.client),
            user: principal.user,
            source: "api",
            settings: self.settings(),
        }
    }
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
