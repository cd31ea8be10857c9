//! oxide-auth's issuer over the tokens in the file.

use super::{
    adapter::Trouble,
    registrar::{nowhere, scope_of},
};
use crate::{
    db::Tx,
    identity::{
        clients, scopes,
        tokens::{self, Holder, Issued, Presented, Refreshable},
    },
    types::{Timestamp, UserId, error::Result as Outcome},
};
use oxide_auth::primitives::{
    grant::{Extensions, Grant},
    issuer::{IssuedToken, Issuer, RefreshedToken, TokenType},
};
use std::time::{Duration, SystemTime};

/// The tokens in the file, and the ones that were issued last.
pub struct StoredTokens<'t> {
    tx: &'t Tx<'t>,
    trouble: &'t Trouble,
    issued: Option<Issued>,
}

impl<'t> StoredTokens<'t> {
    pub fn new(tx: &'t Tx<'t>, trouble: &'t Trouble) -> Self {
        Self {
            tx,
            trouble,
            issued: None,
        }
    }

    /// The tokens that a grant ended with.
    pub fn into_issued(self) -> Option<Issued> {
        self.issued
    }

    fn issue_to(&self, grant: &Grant) -> Outcome<Issued> {
        let client = clients::find(self.tx, &grant.client_id)?;
        let granted = scopes::ordered(|scope| grant.scope.iter().any(|name| name == scope.name()));
        let holder = match user_of(&grant.owner_id) {
            None => Holder::of_client(client.id, granted.collect()),
            Some(user) => Holder::of_user(client.id, user, granted.collect()),
        };
        tokens::issue(self.tx, &holder)
    }

    /// A refresh token that was used before cancels its family here and now. The transaction must
    /// be committed all the same, see [`super::grant::issue`].
    fn refreshable(&self, token: &str) -> Outcome<Option<Refreshable>> {
        match tokens::present(self.tx, token)? {
            Presented::Fresh(found) => Ok(Some(found)),
            Presented::Unknown => Ok(None),
            Presented::Reused(family) => {
                tracing::warn!("a refresh token was used twice; its family is cancelled");
                tokens::cancel_family(self.tx, &family)?;
                Ok(None)
            }
        }
    }

    fn rotate(&self, token: &str) -> Outcome<Option<Issued>> {
        match self.refreshable(token)? {
            Some(used) => tokens::rotate(self.tx, &used).map(Some),
            None => Ok(None),
        }
    }
}

/// How a grant names its owner.
pub fn owner_of(user: Option<UserId>) -> String {
    user.map_or_else(|| "client".into(), |user| user.to_string())
}

fn user_of(owner: &str) -> Option<UserId> {
    owner.parse().ok().map(UserId)
}

fn system_time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(at.0.unsigned_abs())
}

/// The grant for a holder, until then.
pub fn grant_of(client_id: String, holder: &Holder, until: Timestamp) -> Option<Grant> {
    Some(Grant {
        owner_id: owner_of(holder.user),
        client_id,
        scope: scope_of(&holder.scopes)?,
        redirect_uri: nowhere()?.into_url(),
        until: system_time(until).into(),
        extensions: Extensions::new(),
    })
}

impl Issuer for StoredTokens<'_> {
    fn issue(&mut self, grant: Grant) -> Result<IssuedToken, ()> {
        let issued = self.trouble.keep(self.issue_to(&grant))?;
        let token = IssuedToken {
            token: issued.access.clone(),
            refresh: issued.refresh.clone(),
            until: system_time(issued.expires_at).into(),
            token_type: TokenType::Bearer,
        };
        self.issued = Some(issued);
        Ok(token)
    }

    fn refresh(&mut self, token: &str, _: Grant) -> Result<RefreshedToken, ()> {
        let issued = self.trouble.keep(self.rotate(token))?.ok_or(())?;
        let refreshed = RefreshedToken {
            token: issued.access.clone(),
            refresh: issued.refresh.clone(),
            until: system_time(issued.expires_at).into(),
            token_type: TokenType::Bearer,
        };
        self.issued = Some(issued);
        Ok(refreshed)
    }

    /// Nothing asks here who holds an access token: `auth::tokens` answers that from memory.
    fn recover_token<'a>(&'a self, _: &'a str) -> Result<Option<Grant>, ()> {
        Ok(None)
    }

    fn recover_refresh<'a>(&'a self, token: &'a str) -> Result<Option<Grant>, ()> {
        let found = self.trouble.keep(self.refreshable(token))?;
        match found {
            None => Ok(None),
            Some(found) => {
                let Refreshable {
                    holder,
                    client_id,
                    expires_at,
                    ..
                } = found;
                grant_of(client_id, &holder, expires_at).map(Some).ok_or(())
            }
        }
    }
}
