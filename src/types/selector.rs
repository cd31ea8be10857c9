//! `{idType}:{id}` selectors: which record is meant (spec: Endpoints; contract §1). A selector is
//! split at its first colon, after percent-decoding; the rest is compared exactly as it stands.

use super::{DelegateId, DeviceId, Timestamp};
use crate::types::error::{Error, Kind, Result};
use rusqlite::{Connection, OptionalExtension, ToSql};
use std::fmt;

macro_rules! selector {
    ($(#[$doc:meta])* $selector:ident, $code:ident, $id:ident, $kind:literal,
     $($variant:ident $name:literal $column:literal),+) => {
        /// The unique codes a record is found by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $code {
            $(#[doc = concat!("`", $name, "`")] $variant),+
        }

        impl $code {
            /// Every unique code, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code's name in the API.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The statement that finds the living record by this code.
            pub fn find_sql(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!(
                        "SELECT id FROM ", $kind, "s WHERE ", $column, " = ?1 AND deleted_at IS NULL"
                    )),+
                }
            }
        }

        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $selector {
            /// By the record's id.
            Id($id),
            /// By one of its unique codes.
            Code($code, String),
            /// By whichever of its unique codes was scanned.
            Scanned(String),
        }

        impl $selector {
            /// The id types a selector may name.
            pub const ID_TYPES: &'static [&'static str] = &["id", $($name,)+ "scan"];

            /// Reads `{idType}:{id}`.
            ///
            /// # Errors
            /// [`Kind::UnknownIdType`] without a colon or with an id type that is not known,
            /// [`Kind::Invalid`] for an `id` that is not a whole number or an empty code.
            pub fn parse(text: &str) -> Result<Self> {
                let (id_type, value) = split(text, Self::ID_TYPES)?;
                if id_type == "id" {
                    return Ok(Self::Id($id(whole_number(value)?)));
                }
                if value.is_empty() {
                    return Err(Error::field(id_type, "an empty code identifies nothing"));
                }
                Ok(match id_type {
                    $($name => Self::Code($code::$variant, value.to_owned()),)+
                    "scan" => Self::Scanned(value.to_owned()),
                    _ => return Err(unknown_id_type(id_type, Self::ID_TYPES)),
                })
            }
        }

        impl $selector {
            /// The name of its code and the value; of an id none, and of a scan.
            pub fn named_code(&self) -> Option<(&'static str, &str)> {
                match self {
                    Self::Code(code, value) => Some((code.name(), value)),
                    Self::Id(_) | Self::Scanned(_) => None,
                }
            }

            /// The statement that finds the living records by any code, in any case: id, the code's name, and the code.
            pub const SCANNED_SQL: &'static str = concat!(
                "SELECT 0, '', '', 0 WHERE 0",
                $(" UNION ALL SELECT id, '", $name, "', ", $column, ", 0 FROM ", $kind, "s WHERE ", $column,
                  " = ?1 COLLATE NOCASE AND deleted_at IS NULL"),+
            );

            /// The code that it names; of an id none.
            pub fn code(&self) -> Option<&str> {
                match self {
                    Self::Id(_) => None,
                    Self::Code(_, value) | Self::Scanned(value) => Some(value),
                }
            }

            /// Finds the record that it meant until that was deleted, and when that was; a scanned code in any case.
            pub fn find_deleted(&self, connection: &Connection) -> Result<Option<($id, Timestamp)>> {
                let columns = match self {
                    Self::Id(_) => "id".to_owned(),
                    $(Self::Code($code::$variant, _) => $column.to_owned(),)+
                    Self::Scanned(_) => [$($column),+].join(", "),
                };
                let (value, case): (&dyn ToSql, &str) = match self {
                    Self::Id(id) => (id, ""),
                    Self::Code(_, value) => (value, ""),
                    Self::Scanned(value) => (value, "COLLATE NOCASE"),
                };
                let found = connection
                    .prepare_cached(&format!(
                        "SELECT id, deleted_at FROM {}s WHERE deleted_at IS NOT NULL AND ?1 {case} IN ({columns})
                         ORDER BY ?1 IN ({columns}) DESC, deleted_at DESC LIMIT 1",
                        $kind
                    ))?
                    .query_row([value], |row| Ok((row.get(0)?, row.get(1)?)));
                Ok(found.optional()?)
            }
        }

        impl fmt::Display for $selector {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Id(id) => write!(f, "id:{id}"),
                    Self::Code(code, value) => write!(f, "{}:{value}", code.name()),
                    Self::Scanned(value) => write!(f, "scan:{value}"),
                }
            }
        }
    };
}

selector!(
    /// Which delegate is meant.
    DelegateSelector, DelegateCode, DelegateId, "delegate",
    Barcode "barcode" "barcode",
    Rfid "rfid" "rfid",
    ExternalId "externalId" "external_id",
    PublicId "publicId" "public_id",
    Code "code" "code",
    UhfId "uhfId" "uhf_id",
    Slug "slug" "slug"
);

selector!(
    /// Which device is meant.
    DeviceSelector, DeviceCode, DeviceId, "device",
    Code "code" "code",
    PublicId "publicId" "public_id",
    ExternalId "externalId" "external_id",
    Rfid "rfid" "rfid",
    Slug "slug" "slug"
);

/// Words that are paths and never selectors (contract §1).
pub const LITERALS: [&str; 6] = ["myself", "list", "new", "test", "ping", "send-comm"];

/// Which event is meant: `820`, `id:820` or `externalId:X` (contract §1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSelector(pub DeviceSelector);

impl EventSelector {
    const ID_TYPES: &'static [&'static str] = &["id", "externalId"];

    /// Reads `820`, `id:820` or `externalId:X`.
    pub fn parse(text: &str) -> Result<Self> {
        if LITERALS.contains(&text) {
            return Err(Error::new(Kind::NoSuchPath, "there is no such path"));
        }
        if !text.contains(':') {
            return Ok(Self(DeviceSelector::Id(DeviceId(whole_number(text)?))));
        }
        let (id_type, _) = split(text, Self::ID_TYPES)?;
        if !Self::ID_TYPES.contains(&id_type) {
            return Err(unknown_id_type(id_type, Self::ID_TYPES));
        }
        DeviceSelector::parse(text).map(Self)
    }
}

fn split<'a>(text: &'a str, known: &[&str]) -> Result<(&'a str, &'a str)> {
    text.split_once(':').ok_or_else(|| {
        Error::new(
            Kind::UnknownIdType,
            format!(
                "\"{}\" is not {{idType}}:{{id}}; the id types are {}",
                super::text::shortened(text),
                known.join(" ")
            ),
        )
    })
}

fn unknown_id_type(id_type: &str, known: &[&str]) -> Error {
    Error::new(
        Kind::UnknownIdType,
        format!(
            "id type \"{}\" is unknown; the id types are {}",
            super::text::shortened(id_type),
            known.join(" ")
        ),
    )
}

/// Reads an id: digits alone.
///
/// # Errors
/// [`Kind::Invalid`].
pub fn whole_number(text: &str) -> Result<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fault = if plain {
        "is out of range"
    } else {
        "is not a whole number"
    };
    text.parse().ok().filter(|_| plain).ok_or_else(|| {
        let id = super::text::shortened(text);
        Error::field("id", format!("\"{id}\" {fault}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_splits_at_its_first_colon() {
        assert_eq!(
            DelegateSelector::parse("barcode:A:B/C").unwrap(),
            DelegateSelector::Code(DelegateCode::Barcode, "A:B/C".into())
        );
        assert_eq!(
            DeviceSelector::parse("id:7").unwrap(),
            DeviceSelector::Id(DeviceId(7))
        );
    }

    #[test]
    fn what_is_no_selector_is_told_apart() {
        let kind = |text| DelegateSelector::parse(text).unwrap_err().kind;
        assert_eq!(kind("ABC"), Kind::UnknownIdType);
        assert_eq!(kind("12"), Kind::UnknownIdType);
        assert_eq!(kind("Barcode:1"), Kind::UnknownIdType);
        assert_eq!(kind("id:x"), Kind::Invalid);
        assert_eq!(kind("id:+1"), Kind::Invalid);
        assert_eq!(kind("id:99999999999999999999"), Kind::Invalid);
        assert_eq!(kind("barcode:"), Kind::Invalid);
    }

    #[test]
    fn an_event_is_meant_in_three_ways() {
        assert_eq!(
            EventSelector::parse("820").unwrap(),
            EventSelector::parse("id:820").unwrap()
        );
        assert!(EventSelector::parse("externalId:X").is_ok());
        let list = EventSelector::parse("list").unwrap_err();
        assert_eq!(list.kind, Kind::NoSuchPath);
        assert_eq!(
            EventSelector::parse("code:X").unwrap_err().kind,
            Kind::UnknownIdType
        );
    }
}
