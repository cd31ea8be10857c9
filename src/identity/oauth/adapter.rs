//! oxide-auth's request, registrar and issuer over a token request and the writer's transaction.
//!
//! Used are oxide-auth's code grants and primitives, and not the endpoint flows that it builds on
//! them. Those take a refresh request's credentials from the header alone, answer a client's
//! mistyped scope with silence, call `error_description` `description`, challenge for Basic whoever
//! sent its secret in the body, and say `"expires_in": 3599` and `"scope": ""` in their answers.

use super::request::{Grant, TokenRequest};
use crate::{
    db::Tx,
    identity::{
        Scope, clients, scopes,
        tokens::{self, Holder, Issued, Presented, Refreshable},
    },
    types::{Timestamp, error::Error, error::Result as Outcome},
};
use oxide_auth::{
    code_grant::{client_credentials, refresh},
    primitives::{
        grant::{self, Extensions},
        issuer::{IssuedToken, Issuer, RefreshedToken, TokenType},
        registrar::{
            BoundClient, ClientUrl, ExactUrl, PreGrant, RegisteredUrl, Registrar, RegistrarError,
        },
        scope,
    },
};
use std::{
    borrow::Cow,
    cell::RefCell,
    time::{Duration, SystemTime},
};

/// A whole grant is checked, written and answered in one transaction.
pub struct Core<'t> {
    tx: &'t Tx<'t>,
    pub issued: Option<Issued>,
    /// The store's error: oxide-auth only passes on that a primitive failed.
    failure: RefCell<Option<Error>>,
    no_extension: (),
}

impl<'t> Core<'t> {
    pub fn new(tx: &'t Tx<'t>) -> Self {
        Self {
            tx,
            issued: None,
            failure: RefCell::default(),
            no_extension: (),
        }
    }

    pub fn take_failure(&self) -> Option<Error> {
        self.failure.take()
    }

    fn keep_failure<T>(&self, outcome: Outcome<T>) -> Result<T, ()> {
        outcome.map_err(|error| {
            self.failure.borrow_mut().get_or_insert(error);
        })
    }

    fn registered<T>(&self, outcome: Outcome<T>) -> Result<T, RegistrarError> {
        self.keep_failure(outcome)
            .map_err(|()| RegistrarError::PrimitiveError)
    }

    fn issue_to_client(&self, grant: &grant::Grant) -> Outcome<Issued> {
        let client = clients::find(self.tx, &grant.client_id)?;
        let granted = scopes::ordered(|scope| grant.scope.iter().any(|name| name == scope.name()));
        tokens::issue(self.tx, &Holder::of_client(client.id, granted.collect()))
    }

    /// A refresh token that was used before cancels its family here and now. The transaction must
    /// be committed all the same, see [`super::grant::issue`].
    fn refreshable(&self, token: &str) -> Outcome<Option<Refreshable>> {
        match tokens::present(self.tx, token)? {
            Presented::Fresh(found) => Ok(Some(found)),
            Presented::Unknown => Ok(None),
            Presented::Reused(family) => {
                tracing::warn!("a refresh token was used twice; its family is cancelled");
                tokens::cancel_family(self.tx, family)?;
                Ok(None)
            }
        }
    }

    fn rotate(&self, token: &str) -> Outcome<Option<Issued>> {
        let used = self.refreshable(token)?;
        used.map(|used| tokens::rotate(self.tx, &used)).transpose()
    }
}

/// oxide-auth has every client registered with a redirect address, even for grants without redirects.
fn redirect_uri() -> Option<RegisteredUrl> {
    let uri = "urn:gatepost:nowhere".parse::<ExactUrl>().ok();
    uri.map(RegisteredUrl::Exact)
}

fn scope_of(scopes: &[Scope]) -> Option<scope::Scope> {
    let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
    names.join(" ").parse().ok()
}

fn system_time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(at.0.unsigned_abs())
}

fn grant_of(found: Refreshable) -> Option<grant::Grant> {
    Some(grant::Grant {
        owner_id: String::new(),
        client_id: found.client_id,
        scope: scope_of(&found.holder.scopes)?,
        redirect_uri: redirect_uri()?.into_url(),
        until: system_time(found.expires_at).into(),
        extensions: Extensions::new(),
    })
}

impl Registrar for Core<'_> {
    fn bound_redirect<'a>(&self, bound: ClientUrl<'a>) -> Result<BoundClient<'a>, RegistrarError> {
        Ok(BoundClient {
            client_id: bound.client_id,
            redirect_uri: Cow::Owned(redirect_uri().ok_or(RegistrarError::PrimitiveError)?),
        })
    }

    /// Grants all of the client's scopes, whichever it names; naming one it lacks is refused
    /// (contract §9).
    fn negotiate(
        &self,
        client: BoundClient<'_>,
        named: Option<scope::Scope>,
    ) -> Result<PreGrant, RegistrarError> {
        let held = self.registered(clients::find(self.tx, &client.client_id))?;
        let held = scope_of(&held.scopes).ok_or(RegistrarError::PrimitiveError)?;
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
        self.registered(clients::authenticate(self.tx, client_id, secret))?
            .map(drop)
            .ok_or(RegistrarError::Unspecified)
    }
}

impl Issuer for Core<'_> {
    fn issue(&mut self, grant: grant::Grant) -> Result<IssuedToken, ()> {
        let issued = self.keep_failure(self.issue_to_client(&grant))?;
        let token = IssuedToken {
            token: issued.access.clone(),
            refresh: issued.refresh.clone(),
            until: system_time(issued.expires_at).into(),
            token_type: TokenType::Bearer,
        };
        self.issued = Some(issued);
        Ok(token)
    }

    fn refresh(&mut self, token: &str, _: grant::Grant) -> Result<RefreshedToken, ()> {
        let issued = self.keep_failure(self.rotate(token))?.ok_or(())?;
        let token = RefreshedToken {
            token: issued.access.clone(),
            refresh: issued.refresh.clone(),
            until: system_time(issued.expires_at).into(),
            token_type: TokenType::Bearer,
        };
        self.issued = Some(issued);
        Ok(token)
    }

    /// Never asked here: the token cache answers who holds an access token.
    fn recover_token<'a>(&'a self, _: &'a str) -> Result<Option<grant::Grant>, ()> {
        Ok(None)
    }

    fn recover_refresh<'a>(&'a self, token: &'a str) -> Result<Option<grant::Grant>, ()> {
        let found = self.keep_failure(self.refreshable(token))?;
        found.map(|found| grant_of(found).ok_or(())).transpose()
    }
}

impl TokenRequest {
    /// Credentials sent in the body stand for oxide-auth where those of the header do: its refresh
    /// grant looks for none elsewhere.
    #[expect(clippy::unnecessary_wraps, reason = "as oxide-auth asks for them")]
    fn basic(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        let client = &self.client;
        Some((
            Cow::Borrowed(&client.client_id),
            Cow::Borrowed(client.client_secret.as_bytes()),
        ))
    }
}

impl client_credentials::Request for TokenRequest {
    fn valid(&self) -> bool {
        true
    }

    fn authorization(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        self.basic()
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.scope.as_deref().map(Cow::Borrowed)
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("client_credentials"))
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
        self.scope.as_deref().map(Cow::Borrowed)
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("refresh_token"))
    }

    fn authorization(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        self.basic()
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}

impl client_credentials::Endpoint for Core<'_> {
    fn registrar(&self) -> &dyn Registrar {
        self
    }

    fn issuer(&mut self) -> &mut dyn Issuer {
        self
    }

    fn extension(&mut self) -> &mut dyn client_credentials::Extension {
        &mut self.no_extension
    }
}

impl refresh::Endpoint for Core<'_> {
    fn registrar(&self) -> &dyn Registrar {
        self
    }

    fn issuer(&mut self) -> &mut dyn Issuer {
        self
    }
}
