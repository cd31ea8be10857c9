//! Directions of an operator for columns: the content of one, and a value for all rows.

use super::{Target, What, headers::folded};
use crate::types::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// `HEADER=property`, as an operator gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mapping(pub String, pub String);

impl Mapping {
    /// Reads `Ticket code=barcode`, `Diet=data.Data.diet`, or `Notes=` for a column to skip.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with what is right.
    pub fn parse(text: &str) -> Result<Self> {
        let (header, target) = text
            .rsplit_once('=')
            .map(|(header, target)| (header.trim(), target.trim()))
            .filter(|(header, _)| !header.is_empty())
            .ok_or_else(|| {
                Error::invalid("must be HEADER=property, such as \"Ticket code=barcode\"")
            })?;
        Ok(Self(header.to_owned(), target.to_owned()))
    }

    /// Returns whether it is about the column of this header.
    #[must_use]
    pub fn means(&self, header: &str) -> bool {
        let folded_header = folded(header);
        self.0 == header || !folded_header.is_empty() && folded(&self.0) == folded_header
    }
}

/// `PROPERTY=VALUE`, as an operator gives it: what rows have that say nothing themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant(pub String, pub String);

impl Constant {
    /// Reads `interactionType=check-in`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with what is right.
    pub fn parse(text: &str) -> Result<Self> {
        let parts = text.split_once('=');
        let parts = parts.map(|(name, value)| (name.trim(), value.trim()));
        let (name, value) = parts
            .filter(|(name, value)| !name.is_empty() && !value.is_empty())
            .ok_or_else(|| {
                Error::invalid("must be PROPERTY=VALUE, such as interactionType=check-in")
            })?;
        Ok(Self(name.to_owned(), value.to_owned()))
    }

    /// The content that it gives.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub(super) fn target(&self, what: What) -> Result<Target> {
        match Target::parse(what, &self.0) {
            Ok(Target::Room | Target::Skipped | Target::Note | Target::Attention) => {
                Err(Error::invalid("cannot be set"))
            }
            target => target,
        }
        .map_err(|cause| Error::field("--set", cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_that_means_nothing_is_refused() {
        for bad in ["barcode", "=barcode"] {
            assert!(Mapping::parse(bad).is_err(), "{bad}");
        }
        for bad in ["id", "children", "data", "data.Data", "data..k", "x"] {
            assert!(Target::parse(What::Delegates, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_constant_is_a_property_or_data() {
        for (text, is_good) in [
            ("deviceType=room", true),
            ("data.Data.Floor=2", true),
            ("room=Attic", false),
            ("x=1", false),
        ] {
            let target = Constant::parse(text).unwrap().target(What::Devices);
            assert_eq!(target.is_ok(), is_good, "{text}");
        }
        for text in ["note=Welcome", "attention=yes"] {
            let target = Constant::parse(text).unwrap().target(What::Delegates);
            assert!(target.is_err(), "{text}");
        }
    }
}
