//! Where Gatepost meets oxide-auth: our request and our transaction, as its code grants know them.
//!
//! Used are oxide-auth's code grants and primitives, and not the endpoint flows that it builds on
//! them. Those take a refresh request's credentials from the header alone, answer a client's
//! mistyped scope with silence, call `error_description` `description`, challenge for Basic whoever
//! sent its secret in the body, and say `"expires_in": 3599` and `"scope": ""` in their answers.

use super::{
    issuer::StoredTokens,
    registrar::StoredClients,
    request::{Grant, TokenRequest},
};
use crate::{db::Tx, types::error::Error};
use oxide_auth::{
    code_grant::{client_credentials, refresh},
    primitives::{issuer::Issuer, registrar::Registrar},
};
use std::{borrow::Cow, cell::RefCell};

/// oxide-auth's primitives over the writer's transaction: a whole grant is checked, written and
/// answered in one piece.
pub struct Core<'t> {
    pub clients: StoredClients<'t>,
    pub tokens: StoredTokens<'t>,
    pub trouble: &'t Trouble,
    no_extension: (),
}

impl<'t> Core<'t> {
    pub fn new(tx: &'t Tx<'t>, trouble: &'t Trouble) -> Self {
        Self {
            clients: StoredClients::new(tx, trouble),
            tokens: StoredTokens::new(tx, trouble),
            trouble,
            no_extension: (),
        }
    }
}

/// What the store failed with: oxide-auth only passes on that a primitive did.
#[derive(Default)]
pub struct Trouble(RefCell<Option<Error>>);

impl Trouble {
    /// Keeps an error until the grant has ended.
    pub fn keep<T>(&self, outcome: Result<T, Error>) -> Result<T, ()> {
        outcome.map_err(|error| {
            self.0.borrow_mut().get_or_insert(error);
        })
    }

    /// The error behind a failed primitive.
    pub fn take(&self) -> Error {
        let kept = self.0.borrow_mut().take();
        kept.unwrap_or_else(|| Error::defect("oxide-auth: a primitive failed"))
    }
}

impl TokenRequest {
    /// Credentials sent in the body stand for oxide-auth where those of the header do: its refresh
    /// grant looks for none elsewhere.
    fn basic(&self) -> (Cow<'_, str>, Cow<'_, [u8]>) {
        (
            Cow::Borrowed(&self.client.client_id),
            Cow::Borrowed(self.client.client_secret.as_bytes()),
        )
    }

    fn named_scope(&self) -> Option<Cow<'_, str>> {
        self.scope.as_deref().map(Cow::Borrowed)
    }
}

impl client_credentials::Request for TokenRequest {
    fn valid(&self) -> bool {
        true
    }

    fn authorization(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        Some(self.basic())
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.named_scope()
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.grant.name()))
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}

impl refresh::Request for TokenRequest {
    fn valid(&self) -> bool {
        true
    }

    fn refresh_token(&self) -> Option<Cow<'_, str>> {
        match &self.grant {
            Grant::RefreshToken { token } => Some(Cow::Borrowed(token)),
            Grant::ClientCredentials | Grant::Password { .. } => None,
        }
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.named_scope()
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.grant.name()))
    }

    fn authorization(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        Some(self.basic())
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}

impl client_credentials::Endpoint for Core<'_> {
    fn registrar(&self) -> &dyn Registrar {
        &self.clients
    }

    fn issuer(&mut self) -> &mut dyn Issuer {
        &mut self.tokens
    }

    fn extension(&mut self) -> &mut dyn client_credentials::Extension {
        &mut self.no_extension
    }
}

impl refresh::Endpoint for Core<'_> {
    fn registrar(&self) -> &dyn Registrar {
        &self.clients
    }

    fn issuer(&mut self) -> &mut dyn Issuer {
        &mut self.tokens
    }
}
