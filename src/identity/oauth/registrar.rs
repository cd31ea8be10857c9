//! oxide-auth's registrar over the clients in the file.

use super::adapter::Trouble;
use crate::identity::clients::{self, Client};
use oxide_auth::primitives::{
    registrar::{
        BoundClient, ClientUrl, ExactUrl, PreGrant, RegisteredUrl, Registrar, RegistrarError,
    },
    scope::Scope,
};
use rusqlite::Connection;
use std::borrow::Cow;

/// The clients in the file.
pub struct StoredClients<'t> {
    connection: &'t Connection,
    trouble: &'t Trouble,
}

impl<'t> StoredClients<'t> {
    pub fn new(connection: &'t Connection, trouble: &'t Trouble) -> Self {
        Self {
            connection,
            trouble,
        }
    }

    fn find(&self, client_id: &str) -> Result<Client, RegistrarError> {
        self.trouble
            .keep(clients::find(self.connection, client_id))
            .map_err(|()| RegistrarError::PrimitiveError)
    }
}

/// A place where nobody is sent: oxide-auth has every client registered with one, even for grants
/// that redirect nowhere.
pub fn nowhere() -> Option<RegisteredUrl> {
    "urn:gatepost:nowhere"
        .parse::<ExactUrl>()
        .ok()
        .map(RegisteredUrl::Exact)
}

impl Registrar for StoredClients<'_> {
    fn bound_redirect<'a>(&self, bound: ClientUrl<'a>) -> Result<BoundClient<'a>, RegistrarError> {
        Ok(BoundClient {
            client_id: bound.client_id,
            redirect_uri: Cow::Owned(nowhere().ok_or(RegistrarError::PrimitiveError)?),
        })
    }

    /// Grants all of the client's scopes, whichever it names; naming one it lacks is refused
    /// (contract §9).
    fn negotiate(
        &self,
        client: BoundClient<'_>,
        named: Option<Scope>,
    ) -> Result<PreGrant, RegistrarError> {
        let held = self.find(&client.client_id)?.scopes;
        let held = scope_of(&held).ok_or(RegistrarError::PrimitiveError)?;
        if named.is_some_and(|named| !held.priviledged_to(&named)) {
            return Err(RegistrarError::Unspecified);
        }
        Ok(PreGrant {
            client_id: client.client_id.into_owned(),
            redirect_uri: client.redirect_uri.into_owned(),
            scope: held,
        })
    }

    fn check(&self, client_id: &str, secret: Option<&[u8]>) -> Result<(), RegistrarError> {
        let secret = secret.ok_or(RegistrarError::Unspecified)?;
        self.trouble
            .keep(clients::authenticate(self.connection, client_id, secret))
            .map_err(|()| RegistrarError::PrimitiveError)?
            .map(|_| ())
            .ok_or(RegistrarError::Unspecified)
    }
}

/// Our scopes as one of oxide-auth's.
pub fn scope_of(scopes: &[crate::identity::Scope]) -> Option<Scope> {
    let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
    names.join(" ").parse().ok()
}
