//! What every handler is given.

use super::{
    Principal, last_seen::LastSeen, otp_rate_limiter::OtpRateLimiter,
    secret_message_bodies::SecretMessageBodies, throttle::Throttle, tokens::TokenCache,
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
    pub otp_rate_limiter: OtpRateLimiter,
    /// Texts with such a code that wait to be sent.
    pub secret_message_bodies: SecretMessageBodies,
    /// When each device was last heard of.
    pub last_seen: LastSeen,
}

impl App {
    /// An application on an open store.
    #[must_use]
    pub fn new(store: Store, public_url: Option<String>) -> Self {
        Self(Arc::new(Inner {
            services: Services::new(store, public_url),
            tokens: TokenCache::default(),
            throttle: Throttle::default(),
            otp_rate_limiter: OtpRateLimiter::default(),
            secret_message_bodies: SecretMessageBodies::default(),
            last_seen: LastSeen::default(),
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
