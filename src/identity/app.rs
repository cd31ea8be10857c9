//! What every handler is given.

use super::{
    Principal, asking::Asking, seen::Seen, throttle::Throttle, tokens::TokenCache,
    unwritten::Unwritten,
};
use crate::{
    core::{Context, Services},
    db::Store,
};
use std::{ops::Deref, sync::Arc};

/// The running application; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// What the application is made of.
pub struct Inner {
    services: Services,
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
}

impl App {
    /// An application on an open store.
    #[must_use]
    pub fn new(store: Store, public_url: Option<String>) -> Self {
        Self(Arc::new(Inner {
            services: Services::new(store, public_url),
            tokens: TokenCache::default(),
            throttle: Throttle::default(),
            asking: Asking::default(),
            unwritten: Unwritten::default(),
            seen: Seen::default(),
        }))
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

impl Deref for Inner {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}
