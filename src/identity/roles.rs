//! Roles and scopes (contract §9), and what an endpoint may require of them.

use crate::types::error::{Error, Kind, Result};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $($variant:ident $text:literal),+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant),+
        }

        impl $name {
            /// All of them, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in the API.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads a name.
            ///
            /// # Errors
            /// [`Kind::Invalid`], with the names that exist.
            pub fn parse(text: &str) -> Result<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == text).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|known| known.name()).collect();
                    Error::invalid(format!("\"{text}\" is not one of {}", known.join(", ")))
                })
            }
        }
    };
}

names!(
    /// A right of a client or a user.
    Role,
    DelegateRead "ROLE_OAUTH2_DELEGATE_READ",
    DelegateWrite "ROLE_OAUTH2_DELEGATE_WRITE",
    DeviceRead "ROLE_OAUTH2_DEVICE_READ",
    DeviceWrite "ROLE_OAUTH2_DEVICE_WRITE",
    InteractionRead "ROLE_OAUTH2_INTERACTION_READ",
    InteractionWrite "ROLE_OAUTH2_INTERACTION_WRITE",
    EventRead "ROLE_OAUTH2_EVENT_READ",
    EventWrite "ROLE_OAUTH2_EVENT_WRITE",
    TxWrite "ROLE_OAUTH2_TX_WRITE",
    CommSend "ROLE_OAUTH2_COMM_SEND",
    OwnRead "ROLE_OAUTH2_OWN_READ",
    Gate "ROLE_OAUTH2_GATE",
    ReaderWrite "ROLE_OAUTH2_READER_WRITE",
    WebhookWrite "ROLE_OAUTH2_WEBHOOK_WRITE"
);

names!(
    /// A right that a client may be granted beside its roles.
    Scope,
    ReportRead "REPORT_READ",
    ReportList "REPORT_LIST",
    Trusted "TRUSTED"
);

names!(
    /// The rank of a user in the console; each may do what those before it may.
    ConsoleRole,
    Viewer "viewer",
    Operator "operator",
    Administrator "administrator"
);

impl Role {
    /// In words, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::DelegateRead => "look up and list people",
            Self::DelegateWrite => "add, change and delete people",
            Self::DeviceRead => "look up and list devices, rooms and sessions",
            Self::DeviceWrite => "add, change and delete devices, rooms and sessions",
            Self::InteractionRead => "see who was where, and what was recorded",
            Self::InteractionWrite => {
                "check people in and out, and record anything else that happens"
            }
            Self::EventRead => "look up and list events",
            Self::EventWrite => "add, change and delete events",
            Self::TxWrite => "send orders of the ticket shop",
            Self::CommSend => "send e-mails, texts and push messages to people",
            Self::OwnRead => "see their own record, and people and devices that belong to it",
            Self::Gate => "let people in and out at its places, and see what a gate shows of them",
            Self::ReaderWrite => "send what readers of UHF tags read",
            Self::WebhookWrite => "set up webhooks, and see and resend their deliveries",
        }
    }
}

impl Scope {
    /// In words, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::ReportRead => "read the reports that it is shown",
            Self::ReportList => "list the reports that there are",
            Self::Trusted => "do everything that any role may, with every record",
        }
    }
}

impl ConsoleRole {
    /// In words, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Viewer => "sees everything but secrets, changes nothing",
            Self::Operator => "works at the event; no settings, no permanent deletion",
            Self::Administrator => "may do everything",
        }
    }
}

impl FromSql for ConsoleRole {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(|_| FromSqlError::InvalidType)
    }
}

/// A set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u16);

impl Roles {
    /// Returns the roles that a gate app of somebody's own needs: that of a gate, and to send what it scans anywhere, and
    /// to show whom and where.
    pub fn gate() -> Self {
        [
            Role::Gate,
            Role::InteractionWrite,
            Role::DelegateRead,
            Role::DeviceRead,
        ]
        .into_iter()
        .collect()
    }

    pub fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u16) != 0
    }

    /// The set with one more role.
    #[must_use]
    pub fn with(self, role: Role) -> Self {
        Self(self.0 | (1 << role as u16))
    }

    /// The roles, in the contract's order.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL
            .iter()
            .copied()
            .filter(move |role| self.has(*role))
    }

    /// The roles' names as a JSON array, the form they are stored in.
    pub fn to_json(self) -> String {
        let names: Vec<_> = self.iter().map(Role::name).collect();
        serde_json::json!(names).to_string()
    }

    /// Reads a stored JSON array; a name of a later version is passed over.
    pub fn from_json(text: &str) -> Self {
        let names: Vec<String> = serde_json::from_str(text).unwrap_or_default();
        names
            .iter()
            .filter_map(|name| Role::parse(name).ok())
            .collect()
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        roles.into_iter().fold(Self::default(), Self::with)
    }
}

/// The rights that an operation requires of its caller: one of several roles. An operation names them in its type, see
/// `super::Granted`.
pub trait Requirement: Send + Sync + 'static {
    /// Any of these admits; none are needed where it is empty.
    const ANY_OF: &'static [Role];

    /// True if only a user's token will do, as for `myself`.
    const USER: bool = false;

    /// Any of these scopes admits, beside the roles; none are needed where it is empty.
    const SCOPES: &'static [Scope] = &[];

    /// True if there must be a user, as for the list of reports.
    const SIGNED_IN: bool = false;

    /// True if the token's client must be bound to a device, on which the operation acts.
    const DEVICE: bool = false;

    /// True if being bound to a device admits as well, to what is of that device.
    const OR_DEVICE: bool = false;

    /// True if a client may send its id and secret by HTTP Basic in place of a token.
    const BASIC: bool = false;
}

/// A valid token and nothing more.
pub struct AnyToken;

impl Requirement for AnyToken {
    const ANY_OF: &'static [Role] = &[];
}

/// A user's token; a client's gets 401 (spec: Authentication, rule 4).
pub struct UserToken;

impl Requirement for UserToken {
    const ANY_OF: &'static [Role] = &[];
    const USER: bool = true;
}

/// A token whose client is bound to a device (contract §7).
pub struct DeviceToken;

impl Requirement for DeviceToken {
    const ANY_OF: &'static [Role] = &[];
    const DEVICE: bool = true;
}

/// The client may read reports (spec: Report endpoints).
pub struct ReadReports;

impl Requirement for ReadReports {
    const ANY_OF: &'static [Role] = &[];
    const SCOPES: &'static [Scope] = &[Scope::ReportRead, Scope::Trusted];
}

/// The client may list reports, and a user signed in through it: through a user's token `TRUSTED`
/// stands for `REPORT_LIST`.
pub struct ListReports;

impl Requirement for ListReports {
    const ANY_OF: &'static [Role] = &[];
    const SCOPES: &'static [Scope] = &[Scope::ReportList, Scope::Trusted];
    const SIGNED_IN: bool = true;
}

/// May read every device, those that the caller owns, or the one that it runs on.
pub struct ReadDeviceOrOwn;

impl Requirement for ReadDeviceOrOwn {
    const ANY_OF: &'static [Role] = ReadDevice::ANY_OF;
    const OR_DEVICE: bool = true;
}

/// May send tag reads. Readers that post cannot renew tokens, and send their secret.
pub struct SendReads;

impl Requirement for SendReads {
    const ANY_OF: &'static [Role] = &[Role::ReaderWrite, Role::InteractionWrite];
    const BASIC: bool = true;
}

macro_rules! requirements {
    ($($(#[$doc:meta])* $name:ident: $($role:ident)|+;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Requirement for $name {
            const ANY_OF: &'static [Role] = &[$(Role::$role),+];
        }
    )*};
}

requirements! {
    /// May read every delegate.
    ReadDelegates: DelegateRead;
    /// May read every delegate, or those that are the caller's own.
    ReadDelegate: DelegateRead | OwnRead;
    /// May write delegates.
    WriteDelegates: DelegateWrite;
    /// May read every device.
    ReadDevices: DeviceRead;
    /// May read every device, or those that the caller owns.
    ReadDevice: DeviceRead | OwnRead;
    /// May write devices.
    WriteDevices: DeviceWrite;
    /// May read events.
    ReadEvents: EventRead;
    /// May write events.
    WriteEvents: EventWrite;
    /// May read interactions.
    ReadInteractions: InteractionRead;
    /// May write interactions; a gate those of its own places.
    WriteInteractions: InteractionWrite | Gate;
    /// A gate app.
    UseGate: Gate;
    /// May follow changes of at least one type.
    ReadChanges: DelegateRead | DeviceRead | InteractionRead | TxWrite;
    /// May record purchases.
    WriteTransactions: TxWrite;
    /// May send messages to delegates.
    SendMessages: CommSend;
    /// May set up webhooks.
    WriteWebhooks: WebhookWrite;
}

/// The error of a caller who lacks every one of `roles`.
pub fn lacking(roles: &[Role]) -> Error {
    let names: Vec<_> = roles.iter().map(|role| role.name()).collect();
    Error::new(
        Kind::Forbidden,
        format!("this needs {}", names.join(" or ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_come_back_as_they_were_stored() {
        let roles: Roles = [Role::DelegateRead, Role::OwnRead].into_iter().collect();
        assert_eq!(Roles::from_json(&roles.to_json()), roles);
        assert!(roles.has(Role::OwnRead) && !roles.has(Role::DeviceRead));
        assert_eq!(Roles::from_json("[\"ROLE_OF_LATER\"]"), Roles::default());
        assert!(
            Role::parse("ROLE")
                .unwrap_err()
                .to_string()
                .contains("ROLE_OAUTH2_TX_WRITE")
        );
    }
}
