//! A property as a PATCH sends it: absent, cleared, or set (contract §2).

use serde::{Deserialize, Deserializer};

/// Absent means unchanged, null means cleared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The property was not sent.
    #[default]
    Absent,
    /// The property was sent as `null`.
    Null,
    /// The property was sent with a value.
    Value(T),
}

impl<T> Patch<T> {
    /// `None` when unchanged, `Some(None)` when cleared, `Some(Some(value))` when set.
    pub fn change(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::deserialize(deserializer)? {
            Some(value) => Self::Value(value),
            None => Self::Null,
        })
    }
}
