//! The content of a column: a property, a part of `data`, a participant, or nothing.

use super::{
    Mapping, What,
    by_header::{participant, property},
};
use crate::{
    core::records::{Field, Kind},
    domain::{badges::SIGNED_TICKET, events},
    types::{
        error::{Error, Result},
        text::shortened,
    },
};

/// The section for free-form columns.
const FREE_SECTION: &str = "Data";

/// The end of a header whose cells are JSON, as `export` writes it.
pub const JSON_MARK: &str = " (json)";

/// The fields of an interaction.
#[rustfmt::skip]
pub(super) const OF_INTERACTION: &[Field] = &[
    Field::id(),
    Field::record_type(),
    Field::text("interactionType", "")
        .aliases("type interaction action typ aktion tipo accion handling"),
    Field::reference("firstDelegate", ""),
    Field::reference("secondDelegate", ""),
    Field::reference("thirdDelegate", ""),
    Field::reference("firstDevice", ""),
    Field::reference("secondDevice", ""),
    Field::reference("thirdDevice", ""),
    Field::time("recordedAt", "")
        .aliases(
            "time timestamp datetime dateandtime scannedat zeit zeitpunkt zeitstempel date \
             datum horodatage fechayhora tidspunkt checkedinat checkedin checkindate checkintime \
             attendeddate scandate scantime uhrzeit heure hora ora tijd",
        ),
    Field::document(),
    Field::stamp("createdAt", ""),
    Field::stamp("updatedAt", ""),
];

/// The content of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A property.
    Property {
        /// Its name.
        name: &'static str,
        /// Its kind of value.
        kind: Kind,
    },
    /// `data.<section>.<key>`; of an interaction, whose data have no sections, `data.<key>`.
    Data {
        /// The section.
        section: Option<String>,
        /// The key in it.
        key: String,
        /// The cells are JSON.
        json: bool,
    },
    /// A participant of an interaction by one of its codes.
    Participant {
        /// `firstDelegate` and so on.
        name: &'static str,
        /// The code that the cells hold.
        code: &'static str,
    },
    /// The whole name of a guest, which is split.
    WholeName,
    /// A note that gates show.
    Note,
    /// A yes or no: gates show that somebody is to take notice.
    Attention,
    /// The days of these times, which other columns have as times of day.
    Days(&'static [&'static str]),
    /// The name of the room of a session; it is created where it is not there.
    Room,
    /// Nothing that is imported.
    Skipped,
    /// Nothing, as long as it is empty: it has no header.
    Nameless,
}

impl Target {
    pub(super) fn of(property: &'static Field) -> Self {
        Self::Property {
            name: property.name,
            kind: property.kind,
        }
    }

    /// Reads `barcode`, `data.Data.Diet`, `data`, or nothing for a column to skip.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with what there is.
    pub(super) fn parse(what: What, text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::Skipped);
        }
        let known = special(what, text)
            .or_else(|| data(what, text))
            .or_else(|| property(what, text))
            .or_else(|| participant(what, text));
        known.ok_or_else(|| {
            let names: Vec<_> = properties(what).map(|one| one.name).collect();
            let data = match what {
                What::Interactions => "data.<key>",
                _ => "data.<section>.<key>",
            };
            Error::invalid(format!(
                "\"{}\" is no property that can be imported; there are {} and {data}",
                shortened(text),
                names.join(" ")
            ))
        })
    }

    /// Returns the content of a column of a file that Gatepost exported: names are meant exactly.
    pub(super) fn of_ours(what: What, header: &str) -> Option<Self> {
        let of_events = match what {
            What::Devices => events::LISTED.fields,
            _ => &[],
        };
        let mut fields = what.fields().iter().chain(of_events);
        match fields.find(|field| field.name == header) {
            Some(field) if field.kind.is_writable() => Some(Self::of(field)),
            Some(_) => Some(Self::Skipped),
            None if header == SIGNED_TICKET => Some(Self::Skipped),
            None => data(what, header),
        }
    }

    /// Returns the content of a column whose header nobody knows.
    pub(super) fn unmatched(what: What, header: &str) -> Self {
        if header.is_empty() {
            return Self::Nameless;
        }
        data(what, header).unwrap_or_else(|| Self::Data {
            section: (what != What::Interactions).then(|| FREE_SECTION.to_owned()),
            key: header.to_owned(),
            json: false,
        })
    }

    /// The mapping of a column that is to go into `data` under its header.
    pub(super) fn unmatched_mapping(what: What, header: &str) -> Mapping {
        Mapping(header.to_owned(), Self::unmatched(what, header).spelled())
    }

    /// Returns whether its cells are codes that are scanned or looked up by.
    #[must_use]
    pub fn is_code(&self) -> bool {
        matches!(self, Self::Participant { .. }) || self.kind() == Some(Kind::Code)
    }

    /// Returns whether its cells say where something was, which may be one place for all.
    #[must_use]
    pub fn is_place(&self) -> bool {
        matches!(self, Self::Participant { name, .. } if name.ends_with("Device"))
    }

    /// Returns whether anything is stored of its cells.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        !matches!(self, Self::Skipped | Self::Nameless)
    }

    /// Returns whether its cells have dates in them.
    #[must_use]
    pub fn has_dates(&self) -> bool {
        self.is_time() || matches!(self, Self::Days(_))
    }

    /// Returns whether its cells are times.
    #[must_use]
    pub fn is_time(&self) -> bool {
        matches!(self.kind(), Some(Kind::Time | Kind::PlainTime))
    }

    /// The kind of value of a property.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Property { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// The property as messages call it; none for what is not imported.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Property { name, .. } | Self::Participant { name, .. } => {
                Some((*name).to_owned())
            }
            Self::Data {
                section: Some(section),
                key,
                ..
            } => Some(format!("data.{section}.{key}")),
            Self::Data { key, .. } => Some(format!("data.{key}")),
            Self::WholeName => Some("name".to_owned()),
            Self::Note => Some("note".to_owned()),
            Self::Attention => Some("attention".to_owned()),
            Self::Days(of) => Some(format!("day of {}", of.join(" "))),
            Self::Room => Some("room".to_owned()),
            Self::Skipped | Self::Nameless => None,
        }
    }

    /// The text by which a [`Mapping`] gives it; empty for what is left out.
    #[must_use]
    pub fn spelled(&self) -> String {
        match self {
            Self::Participant { name, code } => format!("{name} {code}"),
            Self::Data { json: true, .. } => {
                format!("{}{JSON_MARK}", self.name().unwrap_or_default())
            }
            _ => self.name().unwrap_or_default(),
        }
    }

    /// Returns whether a [`Mapping`] can give it: not where a header looks like one whose cells are JSON.
    #[must_use]
    pub fn is_spellable(&self, what: What) -> bool {
        Self::parse(what, &self.spelled()).is_ok_and(|read| read == *self)
    }

    /// Lists what a column of this header may hold, the likely first: properties and participants, and
    /// `data` under the header.
    #[must_use]
    pub fn choices(what: What, header: &str) -> Vec<Self> {
        let is_of_interaction = what == What::Interactions;
        let mut choices: Vec<Self> = properties(what)
            .filter(|one| one.kind != Kind::Document || is_of_interaction)
            .map(Self::of)
            .collect();
        if is_of_interaction {
            let delegate = ["barcode", "rfid", "externalId", "publicId", "code", "uhfId"];
            let device = ["code", "externalId", "publicId", "rfid"];
            for (name, codes) in [
                ("firstDelegate", &delegate[..]),
                ("secondDelegate", &delegate),
                ("firstDevice", &device),
                ("secondDevice", &device),
            ] {
                choices.extend(codes.iter().map(|code| Self::Participant { name, code }));
            }
        } else {
            // Few lists have those.
            choices.sort_by_key(|choice| choice.kind() == Some(Kind::Reference));
            choices.extend(SPECIAL.iter().filter_map(|(name, _)| special(what, name)));
        }
        choices.push(Self::unmatched(what, header));
        choices
    }
}

/// Contents that are no property, by the names that mappings give them.
const SPECIAL: [(&str, Target); 4] = [
    ("name", Target::WholeName),
    ("note", Target::Note),
    ("attention", Target::Attention),
    ("room", Target::Room),
];

fn special(what: What, text: &str) -> Option<Target> {
    let (_, target) = SPECIAL.iter().find(|(name, _)| *name == text)?;
    let fits = match target {
        Target::Room => what == What::Devices,
        _ => what == What::Delegates,
    };
    fits.then(|| target.clone())
}

/// `data.<section>.<key>` or `<section>.<key>`; a section before a key has no white space.
fn data(what: What, text: &str) -> Option<Target> {
    let (text, json) = match text.strip_suffix(JSON_MARK) {
        Some(text) => (text, true),
        None => (text, false),
    };
    if what == What::Interactions {
        let key = text.strip_prefix("data.").filter(|key| !key.is_empty())?;
        return Some(Target::Data {
            section: None,
            key: key.to_owned(),
            json,
        });
    }
    let (section, key) = match text.strip_prefix("data.") {
        Some(rest) if rest.contains('.') => rest.split_once('.')?,
        _ => text
            .split_once('.')
            .filter(|(section, _)| !section.contains(char::is_whitespace) && *section != "data")?,
    };
    let plain = !section.is_empty() && !key.is_empty() && !key.starts_with(char::is_whitespace);
    plain.then(|| Target::Data {
        section: Some(section.to_owned()),
        key: key.to_owned(),
        json,
    })
}

/// The properties that can be imported.
pub(super) fn properties(what: What) -> impl Iterator<Item = &'static Field> {
    what.fields().iter().filter(|one| one.kind.is_writable())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_read_back() {
        for what in What::ALL {
            for header in ["Diet", "Badge.colour", "note (json)", "Dr. med"] {
                for choice in Target::choices(what, header) {
                    let known_without = choice == Target::unmatched(what, header);
                    let readable = choice.is_spellable(what) || known_without;
                    assert!(readable, "{what:?} {header} {choice:?}");
                }
            }
        }
    }
}
