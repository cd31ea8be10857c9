//! Something to be told.

use crate::types::{Timestamp, error::Error};
use sha2::{Digest, Sha256};

/// Where it is written that something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// In `audit`.
    Audit,
    /// In `interactions`.
    Interaction,
}

impl Source {
    /// Its name in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Interaction => "interaction",
        }
    }

    /// The source of a name.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for what is none.
    pub fn parse(name: &str) -> Result<Self, Error> {
        [Self::Audit, Self::Interaction]
            .into_iter()
            .find(|source| source.name() == name)
            .ok_or_else(|| Error::invalid("there is no such delivery"))
    }
}

/// Names a row that tells what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    /// Where it stands.
    pub source: Source,
    /// Its id there.
    pub id: i64,
}

/// Something to be told: which row, and which record it is about. What is in one lane is told in
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The row.
    pub of: Ref,
    /// The record: of an interaction its first delegate, else its first device.
    pub lane: String,
}

/// The id of a delivery: the same however often it is sent, and never that of another, not even in a
/// file that went back to a backup and counts its ids anew.
pub fn delivery_id(uid: &str, of: Ref, at: Timestamp) -> String {
    let text = format!("{uid}|{}|{}|{}", of.source.name(), of.id, at.0);
    let digest = Sha256::digest(text.as_bytes());
    format!("msg_{}", crate::types::secret::hex(&digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deliverys_id_is_its_own() {
        let of = |source, id| Ref { source, id };
        let one = delivery_id("a", of(Source::Audit, 1), Timestamp(5));
        // Receivers know deliveries by it, those from before an upgrade included.
        assert_eq!(one, "msg_750a7eef461682235a84c5af7a97f856");
        for other in [
            delivery_id("b", of(Source::Audit, 1), Timestamp(5)),
            delivery_id("a", of(Source::Interaction, 1), Timestamp(5)),
            delivery_id("a", of(Source::Audit, 2), Timestamp(5)),
            delivery_id("a", of(Source::Audit, 1), Timestamp(6)),
        ] {
            assert_ne!(one, other);
        }
    }
}
