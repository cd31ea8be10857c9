//! The caller of a request, from a valid token.

use super::roles::{Requirement, Role, Roles, Scope, lacking};
use crate::types::{
    ClientId, DelegateId, DeviceId, Timestamp, UserId,
    error::{Error, Kind, Result},
};
use std::sync::Arc;

/// The holder of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub client: ClientId,
    /// The client's public `client_id`.
    pub client_name: String,
    pub device: Option<DeviceId>,
    /// The user, for a token of the `password` grant.
    pub user: Option<UserId>,
    pub delegate: Option<DelegateId>,
    /// The client's roles, or the user's for a user's token.
    pub roles: Roles,
    /// The scopes granted to the client; through a user's token, those that its client holds now, with
    /// `REPORT_LIST` in place of `TRUSTED`.
    pub scopes: Vec<Scope>,
    /// The delegate properties that the client sees; `None`: all.
    pub visible_properties: Option<Arc<[String]>>,
    pub expires_at: Timestamp,
}

impl Principal {
    /// Checks what an operation requires. `TRUSTED` grants everything, but never through a user.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] for a client's token where a user's is needed,
    /// [`Kind::Forbidden`], naming the roles, otherwise.
    pub fn require<R: Requirement>(&self) -> Result<()> {
        if R::USER && self.user.is_none() {
            return Err(Error::new(
                Kind::Unauthenticated,
                "this needs a user's token (password grant), not a client's",
            ));
        }
        if R::DEVICE {
            self.own_device()?;
            // A reader posts what it reads, and nothing else (contract §9).
            if self.roles.iter().eq([Role::ReaderWrite]) && !self.trusted() {
                let message = format!("{} is for tag reads alone", Role::ReaderWrite.name());
                return Err(Error::new(Kind::Forbidden, message));
            }
        }
        self.require_scope::<R>()?;
        let passes = R::ANY_OF.is_empty()
            || (R::OR_DEVICE && self.device.is_some())
            || R::ANY_OF.iter().any(|role| self.has(*role));
        if passes {
            Ok(())
        } else {
            Err(lacking(R::ANY_OF))
        }
    }

    fn require_scope<R: Requirement>(&self) -> Result<()> {
        let held = |scope: &Scope| self.scopes.contains(scope);
        let missing_user = R::SIGNED_IN && self.user.is_none();
        if !missing_user && (R::SCOPES.is_empty() || R::SCOPES.iter().any(held)) {
            return Ok(());
        }
        // What would help: through a user's token `TRUSTED` stands for `REPORT_LIST` alone.
        let trusted_helps = self.user.is_none() || R::SCOPES.contains(&Scope::ReportList);
        let names = R::SCOPES.iter();
        let names = names.filter(|scope| trusted_helps || **scope != Scope::Trusted);
        let names: Vec<_> = names.map(|scope| scope.name()).collect();
        let signed_in = if missing_user {
            ", and a user who signed in through it (password grant)"
        } else {
            ""
        };
        Err(Error::new(
            Kind::Forbidden,
            format!(
                "this needs the scope {} of the client{signed_in}",
                names.join(" or ")
            ),
        ))
    }

    /// The device that the token's client is bound to.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] without one.
    pub fn own_device(&self) -> Result<DeviceId> {
        self.device.ok_or_else(|| {
            Error::new(
                Kind::Forbidden,
                "this needs the token of a client that is bound to a device",
            )
        })
    }

    /// Returns whether the caller has the role, by itself or because it is trusted with everything.
    pub fn has(&self, role: Role) -> bool {
        self.roles.has(role) || self.trusted()
    }

    fn trusted(&self) -> bool {
        self.user.is_none() && self.scopes.contains(&Scope::Trusted)
    }

    /// Returns the name of the caller in the audit: `user:7` or `client:gate-b`.
    pub fn actor(&self) -> String {
        match self.user {
            Some(user) => format!("user:{user}"),
            None => format!("client:{}", self.client_name),
        }
    }
}
