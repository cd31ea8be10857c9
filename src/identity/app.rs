//! The state that every handler is given.

use super::{
    Principal, Role,
    held_requests::HeldRequests,
    last_seen::LastSeen,
    secret_message_bodies::SecretMessageBodies,
    throttle::{Guesses, OtpRateLimiter, Throttle},
    tokens::TokenCache,
};
use crate::{
    core::{Context, Services},
    db::Store,
};
use std::{ops::Deref, sync::Arc};

/// The roles that read records with unique codes.
const READ: [(Role, &str); 2] = [
    (Role::DelegateRead, "delegate"),
    (Role::DeviceRead, "device"),
];

#[derive(Clone)]
pub struct App(Arc<Inner>);

pub struct Inner {
    services: Services,
    pub tokens: TokenCache,
    pub throttle: Throttle,
    pub otp_rate_limiter: OtpRateLimiter,
    pub pin_guesses: Guesses,
    pub look_up_guesses: Guesses,
    pub secret_message_bodies: SecretMessageBodies,
    pub last_seen: LastSeen,
    pub held_requests: HeldRequests,
}

impl App {
    pub fn new(store: Store, public_url: Option<String>) -> Self {
        Self(Arc::new(Inner {
            services: Services::new(store, public_url),
            tokens: TokenCache::default(),
            throttle: Throttle::default(),
            otp_rate_limiter: OtpRateLimiter::default(),
            pin_guesses: Guesses::of_pins(),
            look_up_guesses: Guesses::of_attendees(),
            secret_message_bodies: SecretMessageBodies::default(),
            last_seen: LastSeen::default(),
            held_requests: HeldRequests::default(),
        }))
    }

    /// The context of a request by `principal`.
    pub fn context(&self, principal: &Principal, request_id: &str) -> Context {
        Context {
            actor: principal.actor(),
            request_id: Some(request_id.to_owned()),
            client: Some(principal.client),
            user: principal.user,
            source: "api",
            hidden: READ
                .iter()
                .filter(|(role, _)| !principal.has(*role))
                .map(|(_, name)| *name)
                .collect(),
            is_strict: true,
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
