//! What a column may hold: a property of a delegate, a free-form value, or nothing.

use crate::{
    delegates,
    error::{Error, Result},
    records::{Kind, Property},
    types::{selector::DelegateCode, text::shortened},
};

/// What headers call properties, beside the properties' own names; compared as [`folded`].
const SYNONYMS: &[(&str, &str)] = &[
    ("forename", "firstName"),
    ("givenname", "firstName"),
    ("surname", "lastName"),
    ("familyname", "lastName"),
    ("emailaddress", "email"),
    ("mobile", "phone"),
    ("mobilephone", "phone"),
    ("mobilenumber", "phone"),
    ("phonenumber", "phone"),
    ("telephone", "phone"),
    ("position", "jobTitle"),
    ("organisation", "company"),
    ("organization", "company"),
    ("companyname", "company"),
    ("ticketcode", "barcode"),
    ("ticketbarcode", "barcode"),
    ("qrcode", "barcode"),
    ("tickettype", "delegateType"),
    ("attendeetype", "delegateType"),
    ("flags", "rawFlags"),
];

/// Where free-form columns go.
const FREE_SECTION: &str = "Data";

/// What a column holds.
#[derive(Clone)]
pub enum Target {
    /// A property of the delegate.
    Property(&'static Property),
    /// `data.<section>.<key>`.
    Data {
        /// The section.
        section: String,
        /// The key in it.
        key: String,
    },
    /// Nothing that is imported.
    Skipped,
    /// Nothing, as long as it is empty: it has no header.
    Nameless,
}

impl Target {
    /// Reads `barcode`, `data.Data.Diet`, or nothing for a column to skip.
    ///
    /// # Errors
    /// [`crate::error::Kind::Invalid`], with what there is.
    fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::Skipped);
        }
        if let Some(data) = Self::data(text) {
            return Ok(data);
        }
        match property(text) {
            Some(property) => Ok(Self::Property(property)),
            None => Err(Error::invalid(format!(
                "\"{}\" is no property that can be imported; there are {} and data.Data.<key>",
                shortened(text),
                importable()
                    .map(|one| one.name)
                    .collect::<Vec<_>>()
                    .join(" ")
            ))),
        }
    }

    /// What a column holds whose header nobody knows.
    pub(super) fn unmatched(header: &str) -> Self {
        if header.is_empty() {
            return Self::Nameless;
        }
        Self::data(header).unwrap_or_else(|| Self::Data {
            section: FREE_SECTION.to_owned(),
            key: header.to_owned(),
        })
    }

    fn data(text: &str) -> Option<Self> {
        let (section, key) = text.strip_prefix("data.")?.split_once('.')?;
        (!section.is_empty() && !key.is_empty()).then(|| Self::Data {
            section: section.to_owned(),
            key: key.to_owned(),
        })
    }

    /// The property as messages call it; none for what is not imported.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Property(property) => Some(property.name.to_owned()),
            Self::Data { section, key } => Some(format!("data.{section}.{key}")),
            Self::Skipped | Self::Nameless => None,
        }
    }

    /// Whether it is that property.
    #[must_use]
    pub fn is(&self, property: &Property) -> bool {
        matches!(self, Self::Property(own) if own.name == property.name)
    }

    /// The unique code that it is, if it is one.
    #[must_use]
    pub fn code(&self) -> Option<DelegateCode> {
        match self {
            Self::Property(property) => DelegateCode::ALL
                .iter()
                .copied()
                .find(|code| code.name() == property.name),
            _ => None,
        }
    }
}

/// The properties that are plain text or codes.
fn importable() -> impl Iterator<Item = &'static Property> {
    delegates::PROPERTIES
        .iter()
        .filter(|property| matches!(property.kind, Kind::Code | Kind::Text))
}

/// The property of a name, however that is written.
pub(super) fn property(name: &str) -> Option<&'static Property> {
    importable().find(|property| folded(property.name) == folded(name))
}

/// The property that a header is known to mean.
pub(super) fn synonym(header: &str) -> Option<&'static Property> {
    let header = folded(header);
    let (_, name) = SYNONYMS.iter().find(|(known, _)| *known == header)?;
    property(name)
}

/// Letters and digits alone, in lower case.
fn folded(text: &str) -> String {
    text.chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// `HEADER=property`, as an operator gives it.
#[derive(Clone)]
pub struct Mapping {
    /// The column.
    pub header: String,
    /// What it holds.
    pub target: Target,
}

impl Mapping {
    /// Reads `Ticket code=barcode`, `Diet=data.Data.diet`, or `Notes=` for a column to skip.
    ///
    /// # Errors
    /// [`crate::error::Kind::Invalid`], with what is right.
    pub fn parse(text: &str) -> Result<Self> {
        let (header, target) = text
            .rsplit_once('=')
            .map(|(header, target)| (header.trim(), target.trim()))
            .filter(|(header, _)| !header.is_empty())
            .ok_or_else(|| {
                Error::invalid("must be HEADER=property, such as \"Ticket code=barcode\"")
            })?;
        Ok(Self {
            header: header.to_owned(),
            target: Target::parse(target)?,
        })
    }

    /// Whether it is about the column of this header.
    #[must_use]
    pub fn means(&self, header: &str) -> bool {
        let folded_header = folded(header);
        self.header == header || !folded_header.is_empty() && folded(&self.header) == folded_header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_that_means_nothing_is_refused() {
        for bad in [
            "barcode",
            "=barcode",
            "x=parent",
            "x=id",
            "x=data.Data",
            "x=data..k",
        ] {
            assert!(Mapping::parse(bad).is_err(), "{bad}");
        }
    }
}
