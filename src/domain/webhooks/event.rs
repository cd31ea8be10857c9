//! Names what a delivery tells of.

use crate::types::{Timestamp, error::Error};
use sha2::{Digest, Sha256};

/// The table that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// In `audit`.
    Audit,
    /// In `interactions`.
    Interaction,
}

impl Source {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Interaction => "interaction",
        }
    }

    pub fn parse(name: &str) -> Result<Self, Error> {
        [Self::Audit, Self::Interaction]
            .into_iter()
            .find(|source| source.name() == name)
            .ok_or_else(|| Error::invalid("there is no such delivery"))
    }
}

/// A row that a delivery tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    pub source: Source,
    pub id: i64,
}

/// A delivery to make. Deliveries with one ordering key, which names a record, go out in
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub of: Ref,
    /// The record: an interaction's first delegate, else its first device.
    pub ordering_key: String,
}

/// The id of a delivery: the same at each attempt, and never that of another delivery, not even in a
/// file that was restored from a backup and gives its row ids again.
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
