//! The domain's error: what went wrong in Gatepost's own words. It knows no HTTP; `web::error`
//! alone turns it into a status, an internal code and an envelope (contract §3).

use std::fmt;

/// A shorthand for results of the domain.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that is reported to a caller. Shown, it is `field: message`. Code decides by kind and field,
/// never by the message.
#[derive(Debug, Clone)]
pub struct Error {
    /// The kind of failure; decides status and internal code.
    pub kind: Kind,
    /// The field at fault, such as `data.Access.capacity`, after those that it lies in where that is told, too:
    /// a list before its entry, a file before its column. Empty where the failure is about no field.
    pub field: Vec<String>,
    /// The sentence for the caller, with what would be right. Of a [`Kind::Defect`] it goes to the log only.
    pub message: String,
    /// The cause in a word, where there is a nearer one than the kind has ([`Kind::reason`]).
    pub reason: Option<&'static str>,
    /// What is wrong with further fields, where a form or a body was looked through to its end.
    pub others: Vec<Self>,
}

/// What is wrong with several fields, so that a form shows all of it at once.
#[derive(Debug, Default)]
pub struct Faults(Vec<Error>);

impl Faults {
    /// Takes what is wrong out of a result.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|fault| self.0.push(fault)).ok()
    }

    /// Succeeds where nothing is wrong.
    ///
    /// # Errors
    /// The first fault, with the others; one that is not the sender's goes alone.
    pub fn done(self) -> Result<()> {
        let mut faults = self.0;
        let is_ours = |fault: &Error| fault.kind.is_of_store() || fault.kind == Kind::Defect;
        if let Some(at) = faults.iter().position(is_ours) {
            return Err(faults.swap_remove(at));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let mut first = faults.remove(0);
        for mut fault in faults {
            let further = std::mem::take(&mut fault.others);
            first.others.push(fault);
            first.others.extend(further);
        }
        Err(first)
    }
}

/// The kinds of failure, named for what happened (contract §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A body or parameter is malformed, of a wrong type, unknown, or out of range.
    Invalid,
    /// The id type of a selector is unknown.
    UnknownIdType,
    /// A search expression is invalid.
    InvalidSearch,
    NoSuchPath,
    /// The path does not know this method.
    MethodNotAllowed,
    /// A unique code belongs to another record.
    CodeTaken,
    /// The body is larger than the limit.
    TooLarge,
    /// The body is not JSON.
    NotJson,
    /// The store could not take it; nothing was acknowledged.
    Unavailable,
    /// As [`Kind::Unavailable`], because the database file is damaged.
    Damaged,
    /// A sound file of another application, or of a newer version.
    ForeignFile,
    /// A file that is served under another path.
    ServedElsewhere,
    /// Something is not set up, such as a gateway for e-mail; trying again does not help.
    NotSetUp,
    /// A nonce or idempotency key was used before with another body.
    KeyReused,
    /// `If-Match` names another version of the record.
    VersionChanged,
    /// A cursor of the change feed is of another file, or too old.
    CursorGone,
    /// A bug of ours: details are logged, never sent.
    Defect,
    /// No token at all.
    TokenMissing,
    /// A token that is not valid, or cannot be used here.
    Unauthenticated,
    /// The token's client was revoked.
    ClientRevoked,
    /// A role, scope or user is lacking.
    Forbidden,
    /// Too many attempts; try again after so many seconds.
    TooManyAttempts {
        /// Seconds until the next attempt is looked at.
        retry_after_s: u32,
    },
    /// The Device Discovery page is not open: apps cannot request access.
    DiscoveryClosed,
    /// The code of a device request is that of another one.
    RequestCodeTaken,
    /// No such delegate.
    DelegateNotFound,
    /// No such device.
    DeviceNotFound,
    /// No such event.
    EventNotFound,
    /// No such interaction.
    InteractionNotFound,
    /// The interaction type is malformed or reserved.
    InteractionType,
    /// Participants are missing or out of order.
    Participants,
    /// `recordedAt`, `data` or a shared value is unusable.
    InteractionContent,
    /// No such report, or dashboard.
    ReportNotFound,
    /// The report is not exposed to the client.
    ReportNotExposed,
    /// A region's path is outside its prefix, or nothing is published there.
    RegionUnavailable,
    /// A region's template failed; told to the caller, for whoever wrote it must mend it.
    RegionFailed,
    /// The rules of the device refuse the interaction.
    Refused(Refusal),
}

/// The reason why a rule refused an interaction (contract §3, the 74x rows).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// 740: a ticket already used, entered without a check-out, or `maxCheckIns` reached.
    TooMany,
    /// 741: not joined (Simple ACL).
    NotJoined,
    /// 742: outside the time window.
    OutsideWindow,
    /// 743: the device is not available, or its rules are unreadable.
    NotAvailable,
    /// 744: the device is full.
    Full,
    /// 745: a check-out without a check-in.
    NotCheckedIn,
    /// 746: the place is not for attendees of this type.
    WrongType,
}

impl Kind {
    /// Tells whether the store could not take it, for whatever reason.
    pub fn is_of_store(self) -> bool {
        matches!(self, Self::Unavailable | Self::Damaged)
    }

    /// The `internalCode` of the failure (contract §3); its HTTP status is `web::error`'s.
    pub fn code(self) -> i64 {
        match self {
            Self::Invalid | Self::ForeignFile | Self::ServedElsewhere => 1100,
            Self::UnknownIdType => 1101,
            Self::InvalidSearch => 1102,
            Self::NoSuchPath => 1103,
            Self::MethodNotAllowed => 1104,
            Self::CodeTaken => 1105,
            Self::TooLarge => 1106,
            Self::NotJson => 1107,
            Self::Unavailable | Self::Damaged => 1108,
            Self::KeyReused => 1109,
            Self::VersionChanged => 1111,
            Self::CursorGone => 1112,
            Self::NotSetUp => 1110,
            Self::Defect => 1199,
            Self::TokenMissing | Self::Unauthenticated => 1201,
            Self::ClientRevoked => 1204,
            Self::Forbidden => 1202,
            Self::TooManyAttempts { .. } => 1203,
            Self::DiscoveryClosed => 1001,
            Self::RequestCodeTaken => 1002,
            Self::DelegateNotFound => 1301,
            Self::DeviceNotFound => 1401,
            Self::InteractionType => 1501,
            Self::Participants => 1502,
            Self::InteractionContent => 1503,
            Self::InteractionNotFound => 1504,
            Self::EventNotFound => 1601,
            Self::ReportNotFound => 1701,
            Self::ReportNotExposed => 1702,
            Self::RegionUnavailable => 1801,
            Self::RegionFailed => 1199,
            Self::Refused(refusal) => refusal.code(),
        }
    }

    /// The reason for which somebody is refused, in a word. Some refusals have a nearer one ([`Error::reason`]).
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::DelegateNotFound => Some("unknown"),
            Self::Refused(refusal) => Some(refusal.reason()),
            _ => None,
        }
    }
}

impl Refusal {
    fn reason(self) -> &'static str {
        match self {
            Self::TooMany => "used",
            Self::NotJoined => "not-joined",
            Self::OutsideWindow => "not-now",
            Self::NotAvailable => "not-available",
            Self::Full => "full",
            Self::NotCheckedIn => "not-inside",
            Self::WrongType => "wrong-type",
        }
    }

    fn code(self) -> i64 {
        match self {
            Self::TooMany => 740,
            Self::NotJoined => 741,
            Self::OutsideWindow => 742,
            Self::NotAvailable => 743,
            Self::Full => 744,
            Self::NotCheckedIn => 745,
            Self::WrongType => 746,
        }
    }
}

impl Error {
    /// An error of the given kind with a sentence for the caller.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            field: Vec::new(),
            message: message.into(),
            reason: None,
            others: Vec::new(),
        }
    }

    /// Gives the cause in a word, which programs tell apart.
    #[must_use]
    pub fn because(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }

    /// [`Kind::Invalid`]: the value of a field is not as it must be.
    pub fn field(field: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::invalid(message.to_string()).at(field)
    }

    /// Names the field at fault, or what the field that is named lies in.
    #[must_use]
    pub fn at(mut self, field: impl fmt::Display) -> Self {
        self.field.insert(0, field.to_string());
        self
    }

    /// Puts a path before that of the field: `webhooks[1]` makes `webhooks[1].url` of `url`.
    #[must_use]
    pub fn below(mut self, path: impl fmt::Display) -> Self {
        match self.field.first_mut() {
            Some(field) => *field = format!("{path}.{field}"),
            None => self.field.push(path.to_string()),
        }
        self
    }

    /// [`Kind::Invalid`]: something in the request is malformed.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// [`Kind::Invalid`], in the words of what failed, such as a file that cannot be read.
    pub fn invalid_cause(cause: impl fmt::Display) -> Self {
        Self::invalid(cause.to_string())
    }

    /// [`Kind::Defect`]: a bug of ours, told to the log only.
    pub fn defect(cause: impl fmt::Display) -> Self {
        Self::new(Kind::Defect, cause.to_string())
    }

    /// [`Kind::Unavailable`]: the store could not take it.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self::new(Kind::Unavailable, cause.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for field in &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The text of a caught panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panic: {}", text.unwrap_or_default())
}
