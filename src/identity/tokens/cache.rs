//! Valid tokens in memory, so that a request with one reads nothing from the file.

use super::{Digest, is_of_revoked_client, principal_of};
use crate::{
    db::Store,
    identity::Principal,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        secret,
    },
};
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

/// Tokens kept at the most: the users and gates of a large event, with room to spare.
const VALID_MAX: usize = 20_000;

/// The principals of valid tokens, by the token's digest. They are kept for one
/// [`Store::epoch`]: whatever cancels a token begins a new one.
#[derive(Default)]
pub struct TokenCache(RwLock<Valid>);

#[derive(Default)]
struct Valid {
    epoch: u64,
    principals: HashMap<Digest, Arc<Principal>>,
}

impl TokenCache {
    /// Returns the holder of the token.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] for a token that is unknown, expired or cancelled,
    /// [`Kind::ClientRevoked`] for one whose client is revoked; what the store fails with.
    pub fn principal(&self, store: &Store, token: &str) -> Result<Arc<Principal>> {
        if !secret::well_formed(token) {
            return Err(unauthenticated());
        }
        let digest = secret::digest(token.as_bytes());
        let now = Timestamp::now();
        // Taken before the look-up: a token cancelled after it is not kept for the epoch that
        // begins with its cancellation.
        let epoch = store.epoch();
        let principal = if let Some(principal) = self.kept(epoch, &digest) {
            principal
        } else {
            let found = store.look_up(|connection| {
                let found = principal_of(connection, &digest)?;
                if found.is_none() && is_of_revoked_client(connection, &digest)? {
                    return Err(revoked());
                }
                Ok(found)
            })?;
            let principal = Arc::new(found.ok_or_else(unauthenticated)?);
            self.keep(epoch, digest, &principal, now);
            principal
        };
        if principal.expires_at <= now {
            return Err(unauthenticated());
        }
        Ok(principal)
    }

    fn kept(&self, epoch: u64, digest: &Digest) -> Option<Arc<Principal>> {
        let valid = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if valid.epoch != epoch {
            return None;
        }
        valid.principals.get(digest).map(Arc::clone)
    }

    fn keep(&self, epoch: u64, digest: Digest, principal: &Arc<Principal>, now: Timestamp) {
        if principal.expires_at <= now {
            return;
        }
        let mut valid = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if valid.epoch > epoch {
            return;
        }
        if valid.epoch < epoch {
            valid.epoch = epoch;
            valid.principals.clear();
        }
        if valid.principals.len() >= VALID_MAX {
            valid.principals.retain(|_, kept| kept.expires_at > now);
        }
        if valid.principals.len() >= VALID_MAX {
            valid.principals.clear();
        }
        valid.principals.insert(digest, Arc::clone(principal));
    }
}

fn unauthenticated() -> Error {
    Error::new(
        Kind::Unauthenticated,
        "the access token is unknown, expired or cancelled; get another at POST /oauth/v2/token",
    )
}

fn revoked() -> Error {
    Error::new(
        Kind::ClientRevoked,
        "this client was revoked; delete the personal data that it stored, keep scans that were not \
         uploaded, and ask an administrator for another client",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::Context,
        db::Durability,
        identity::{
            Roles,
            clients::{self, NewClient},
            tokens,
        },
        types::ClientId,
    };

    fn principal(expires_at: i64) -> Arc<Principal> {
        Arc::new(Principal {
            client: ClientId(1),
            client_name: "gate".into(),
            device: None,
            user: None,
            delegate: None,
            roles: Roles::default(),
            scopes: Vec::new(),
            visible_properties: None,
            expires_at: Timestamp(expires_at),
        })
    }

    #[test]
    fn what_is_kept_is_kept_for_one_epoch() {
        let cache = TokenCache::default();
        let digest = secret::digest(b"token");
        cache.keep(5, digest, &principal(10), Timestamp(1));
        assert!(cache.kept(5, &digest).is_some());
        assert!(cache.kept(6, &digest).is_none());
        cache.keep(6, secret::digest(b"other"), &principal(10), Timestamp(1));
        assert!(cache.kept(6, &digest).is_none());
        // Looked up before the epoch began, and late to be kept.
        cache.keep(5, digest, &principal(10), Timestamp(1));
        assert!(cache.kept(5, &digest).is_none() && cache.kept(6, &digest).is_none());
    }

    #[test]
    fn memory_is_bounded_and_expired_tokens_go_first() {
        let cache = TokenCache::default();
        let numbered = |number: usize| secret::digest(&number.to_le_bytes());
        for number in 0..VALID_MAX - 1 {
            cache.keep(1, numbered(number), &principal(10), Timestamp(1));
        }
        let lasting = numbered(VALID_MAX);
        cache.keep(1, lasting, &principal(99), Timestamp(1));
        cache.keep(1, numbered(VALID_MAX + 1), &principal(99), Timestamp(50));
        assert!(cache.kept(1, &lasting).is_some());
        assert_eq!(cache.0.read().unwrap().principals.len(), 2);
        cache.keep(1, numbered(0), &principal(10), Timestamp(50));
        assert!(cache.kept(1, &numbered(0)).is_none());
    }

    #[test]
    fn a_token_is_known_until_its_client_is_revoked() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("t.db"), Durability::Normal).unwrap();
        let ctx = || Context::of_command("admin", Arc::default());
        let cache = TokenCache::default();
        let (client_id, token) = store
            .write(move |tx| {
                let made = clients::create(tx, &ctx(), &NewClient::named("Gate B"), &[])?;
                let holder = tokens::Holder::of_client(made.id, Vec::new());
                Ok((made.client_id, tokens::issue(tx, &holder)?.access))
            })
            .wait()
            .unwrap();
        for _ in 0..2 {
            let principal = cache.principal(&store, &token).unwrap();
            assert_eq!(principal.client_name, client_id);
        }
        for unknown in ["", "abc", &token[1..], &secret::fresh().unwrap()] {
            let refused = cache.principal(&store, unknown).unwrap_err();
            assert_eq!(refused.kind, Kind::Unauthenticated);
        }
        store
            .write(move |tx| clients::revoke(tx, &ctx(), &client_id))
            .wait()
            .unwrap();
        let refused = cache.principal(&store, &token).unwrap_err();
        assert_eq!(refused.kind, Kind::ClientRevoked);
    }
}
