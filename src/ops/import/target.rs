//! The content of a column: a property, a part of `data`, a participant, or nothing.

use super::{
    What,
    headers::{
        CAPACITIES, DELEGATES, DEVICES, GUEST_AFTER, GUEST_BEFORE, NAMES, ROOMS, WHOLE_NAMES,
        Words, any_of, folded, has, named_by,
    },
    status,
};
use crate::{
    core::records::{Field, Kind},
    domain::{delegates, events},
    types::{
        error::{Error, Result},
        selector::{DelegateCode, DeviceCode},
        text::shortened,
    },
};
use serde::{Deserialize, Serialize};

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
    fn of(property: &'static Field) -> Self {
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

    fn kind(&self) -> Option<Kind> {
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

    /// As a [`Mapping`] gives it; the empty text for what is left out.
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

/// Returns whether a text is a header that is known.
pub(super) fn is_known(what: What, text: &str) -> bool {
    let mut found = super::columns::FINDERS
        .iter()
        .filter_map(|find| find(what, text));
    found.any(|target| target.name().is_some())
        || what == What::Delegates
            && (has(NAMES, &folded(text))
                || has(WHOLE_NAMES, &folded(text))
                || status::manner(text).is_some())
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

/// The property of a name, in any spelling; `data` must be spelled exactly.
pub(super) fn property(what: What, name: &str) -> Option<Target> {
    let folded_name = folded(name);
    let found = properties(what).find(|one| match one.kind {
        Kind::Document => one.name == name && what == What::Interactions,
        _ => folded(one.name) == folded_name,
    });
    found.map(Target::of)
}

/// The property that a header is known to mean.
pub(super) fn synonym(what: What, header: &str) -> Option<Target> {
    let header = folded(header);
    if what == What::Devices && has(CAPACITIES, &header) {
        return Target::parse(what, "data.Access.capacity").ok();
    }
    let found = properties(what).find(|one| one.has_alias(&header));
    found.map(Target::of)
}

fn named(what: What, header: &str) -> Option<Target> {
    property(what, header).or_else(|| synonym(what, header))
}

/// Returns whether a shop's list may have the property of the guest and of the buyer.
fn is_of_guest(name: &str) -> bool {
    delegates::RESOURCE.property(name).is_some_and(|field| {
        field.is_own && field.kind == Kind::Text && name != "rawFlags" || name == "barcode"
    })
}

/// The property that a header means which says whose it is: a shop's list has the buyer's e-mail, too.
pub(super) fn of_attendee(what: What, header: &str) -> Option<Target> {
    if what != What::Delegates {
        return None;
    }
    let header = folded(header);
    let before = GUEST_BEFORE.split_whitespace();
    let after = GUEST_AFTER.split_whitespace();
    before
        .filter_map(|guest| header.strip_prefix(guest))
        .chain(after.filter_map(|guest| header.strip_suffix(guest)))
        .filter_map(|rest| named(what, rest))
        .find(|target| target.name().is_some_and(|name| is_of_guest(&name)))
}

/// Returns what a header means beside the columns that are known by themselves: where nothing else is a last name, a
/// column of names is one, or has whole names where first names have no column. A column of rooms has the names of devices,
/// where no other has them.
pub(super) fn beside(what: What, header: &str, known: &[Option<Target>]) -> Option<Target> {
    let is_known = |name: &str| {
        let mut names = known.iter().flatten().filter_map(Target::name);
        names.any(|known| known == name)
    };
    if what == What::Devices && has(ROOMS, &folded(header)) {
        return match is_known("name") {
            false => property(what, "name"),
            true => (!is_known("room")).then_some(Target::Room),
        };
    }
    if what != What::Delegates || is_known("lastName") {
        return None;
    }
    let words = Words::of(header);
    let is_name = !words.is_of_others()
        && [folded(header), words.outside()]
            .iter()
            .any(|header| has(NAMES, header) || has(WHOLE_NAMES, header) && !is_known("firstName"));
    match is_name {
        true if is_known("firstName") => property(what, "lastName"),
        true => (!is_known("name")).then_some(Target::WholeName),
        false => None,
    }
}

/// The property that the words of a header mean: `Last name / Surname`, `E-mail (private)`,
/// `Your mobile number`. Every part must mean the same, and no word may be unknown.
pub(super) fn by_words(what: What, header: &str) -> Option<Target> {
    let words = Words::of(header);
    if words.is_of_others() {
        return None;
    }
    let known = |part: &Vec<String>| {
        let mut found = named_by(part)
            .filter_map(|name| named(what, &name).or_else(|| participant(what, &name)));
        // Whatever else a cell holds, it fits those that are text.
        let is_strict =
            |target: &Target| matches!(target.kind(), Some(Kind::Flag | Kind::Reference));
        let found = found.next();
        found.filter(|target| what == What::Interactions || !is_strict(target))
    };
    if has(NAMES, &words.outside()) && !words.bracketed.is_empty() {
        // `Name (Company)`, `Name (first name)`.
        return known(&words.bracketed);
    }
    let mut parts = words.parts.iter().map(known);
    let first = parts.next()??;
    parts
        .all(|part| part.as_ref() == Some(&first))
        .then_some(first)
}

/// The properties of a guest that a header may mean, for what is not sure enough to take it for one.
pub(super) fn resembled(what: What, header: &str) -> Vec<String> {
    if what != What::Delegates {
        return Vec::new();
    }
    let words = Words::of(header);
    let parts = words.parts.iter().chain([&words.bracketed]);
    let of_guest = |name: String| {
        let found = named(what, &name).and_then(|target| target.name());
        let is_name = has(NAMES, &name) || has(WHOLE_NAMES, &name);
        found
            .filter(|name| is_of_guest(name))
            .or_else(|| is_name.then(|| "lastName".to_owned()))
    };
    parts
        .flat_map(|part| any_of(part).filter_map(of_guest))
        .collect()
}

/// The participant that a header of interactions means: `delegate`, `delegate barcode`,
/// `device code`, or a delegate's code alone.
pub(super) fn participant(what: What, header: &str) -> Option<Target> {
    if what != What::Interactions {
        return None;
    }
    let header = folded(header);
    let ordinals = ["first", "second", "third"];
    let stripped = ordinals.map(|ordinal| header.strip_prefix(ordinal));
    let at = stripped.iter().position(Option::is_some);
    let rest = at.and_then(|at| stripped[at]).unwrap_or(&header);
    let delegate_codes = DelegateCode::ALL.iter().map(|code| code.name());
    let device_codes = DeviceCode::ALL.iter().map(|code| code.name());
    for (words, names, codes) in [
        (
            DELEGATES,
            ["firstDelegate", "secondDelegate", "thirdDelegate"],
            delegate_codes.collect::<Vec<_>>(),
        ),
        (
            DEVICES,
            ["firstDevice", "secondDevice", "thirdDevice"],
            device_codes.collect(),
        ),
    ] {
        let name = names[at.unwrap_or(0)];
        for rest in words.split(' ').filter_map(|word| rest.strip_prefix(word)) {
            if rest.is_empty() {
                return property(what, name);
            }
            if let Some(code) = codes.iter().find(|code| folded(code) == rest) {
                return Some(Target::Participant { name, code });
            }
        }
    }
    let scanned = delegates::FIELDS.iter().find(|field| {
        let is_code = ["barcode", "rfid", "uhfId"].contains(&field.name);
        is_code
            && (folded(field.name) == header || field.name == "barcode" && field.has_alias(&header))
    })?;
    Some(Target::Participant {
        name: "firstDelegate",
        code: scanned.name,
    })
}

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

    #[test]
    fn participants_are_named_in_several_ways() {
        for (header, name) in [
            ("delegate", "firstDelegate"),
            ("Delegate barcode", "firstDelegate"),
            ("Barcode", "firstDelegate"),
            ("Ticket code", "firstDelegate"),
            ("second delegate external id", "secondDelegate"),
            ("Device code", "firstDevice"),
            ("Gate", "firstDevice"),
        ] {
            let found = participant(What::Interactions, header).and_then(|one| one.name());
            assert_eq!(found.as_deref(), Some(name), "{header}");
        }
        assert_eq!(participant(What::Interactions, "device barcode"), None);
    }
}
