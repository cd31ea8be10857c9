//! What is recognised of a list at first sight: what it is, its columns, its first rows, and how
//! many rows there are.

use super::Choice;
use crate::{
    ops::import::{
        Columns, Mapping, Source, Target, What,
        source::{Content, ENCODINGS, Fingerprint, Reading},
    },
    types::{
        error::{Error, Result},
        text::shortened,
    },
};
use std::path::Path;

/// Rows that are shown of it.
const SHOWN: usize = 8;
/// The longest cell that is shown, in characters.
const CELL_MAX: usize = 60;

/// What was recognised.
#[derive(Default)]
pub struct Glance {
    /// What it is, as an operator would call it.
    pub about: String,
    /// Rows below the header.
    pub rows: i64,
    /// The sheets of a spreadsheet, and the one that is read.
    pub sheets: Option<(Vec<String>, String)>,
    /// The encodings that a CSV file may be read in, and the one that it is.
    pub encodings: Option<(Vec<String>, String)>,
    /// Its columns; none of a JSON file.
    pub columns: Vec<Column>,
    /// Gatepost exported it: columns are known, and events are told from devices.
    pub ours: bool,
    /// It holds events as Gatepost exports them.
    pub events: bool,
    /// The first rows: the line of each, and its cells or what stands in their place.
    pub shown: Vec<(i64, Vec<String>)>,
    /// What tells it from other lists.
    pub list: Fingerprint,
}

/// A column.
pub struct Column {
    /// Its header.
    pub header: String,
    /// What it seems to hold; as [`Target::spelled`].
    pub seems: String,
    /// Whether a mapping can say so.
    pub spellable: bool,
    /// What it may hold.
    pub choices: Vec<Offer>,
    /// What stands in it first.
    pub example: String,
}

/// Something that a column may hold.
pub struct Offer {
    /// As [`Target::spelled`]; empty for what is left out.
    pub value: String,
    /// In plain words.
    pub label: String,
}

impl Glance {
    /// Looks at a file, and how it would be imported if nobody said otherwise.
    pub fn at(path: &Path, name: &str, what: What, reading: Reading<'_>) -> Result<(Self, Choice)> {
        let source = Source::open_as(path, name, reading)?;
        let told = |cause: Error| Error::new(cause.kind, format!("{name}: {}", cause.message));
        let headers = source.header().unwrap_or_default();
        let columns = Columns::matched(what, headers, &[]).map_err(told)?;
        let mut glance = Self {
            about: source.about(),
            sheets: source
                .sheets()
                .map(|(there, chosen)| (there.to_vec(), chosen.to_owned())),
            encodings: source.encoding().map(|own| (encodings(&own), own)),
            ours: source.is_ours(),
            events: columns.events,
            list: source.fingerprint(),
            ..Self::default()
        };
        for row in source.rows()? {
            let row = row?;
            glance.rows += 1;
            if glance.shown.len() < SHOWN {
                let line = i64::try_from(row.line).unwrap_or(i64::MAX);
                glance.shown.push((line, cells(row.content)));
            }
        }
        if glance.rows == 0 {
            return Err(Error::invalid(format!("{name}: has a header and no rows")));
        }
        let example = |at: usize| {
            let mut cells = glance.shown.iter().filter_map(|(_, cells)| cells.get(at));
            let found = cells.find(|cell| !cell.is_empty());
            found.cloned().unwrap_or_default()
        };
        glance.columns = columns
            .iter()
            .enumerate()
            .map(|(at, column)| Column {
                header: column.header.clone(),
                seems: column.target.spelled(),
                spellable: column.target.is_spellable(what),
                choices: offers(what, &column.header, &column.target, glance.ours),
                example: example(at),
            })
            .collect();
        let choice = Choice {
            sheet: reading.sheet.map(ToOwned::to_owned),
            encoding: reading.encoding.map(ToOwned::to_owned),
            columns: glance
                .columns
                .iter()
                .map(|column| column.seems.clone())
                .collect(),
            ..Choice::default()
        };
        Ok((glance, choice))
    }

    /// The mappings that a choice means.
    #[must_use]
    pub fn mappings(&self, choice: &Choice) -> Vec<Mapping> {
        let pairs = self.columns.iter().zip(&choice.columns);
        pairs
            .filter(|(column, chosen)| {
                // A list of ours says itself what its columns are.
                let known_without = self.ours || !column.spellable;
                let said = known_without && **chosen == column.seems;
                !(column.header.is_empty() || said)
            })
            .map(|(column, chosen)| Mapping {
                header: column.header.clone(),
                target: chosen.clone(),
            })
            .collect()
    }
}

/// The encodings that are offered, with the one that a file is read in.
fn encodings(own: &str) -> Vec<String> {
    let mut offered: Vec<String> = ENCODINGS.iter().map(ToString::to_string).collect();
    if !offered.iter().any(|one| one == own) {
        offered.push(own.to_owned());
    }
    offered
}

fn cells(content: Content) -> Vec<String> {
    match content {
        Content::Cells(cells) => cells.into_iter().map(|cell| cut(&cell)).collect(),
        Content::Object(object) => vec![cut(&serde_json::Value::Object(object).to_string())],
        Content::Unreadable(reason) | Content::BadCell(_, reason) => vec![format!("({reason})")],
    }
}

fn cut(cell: &str) -> String {
    if cell.chars().nth(CELL_MAX).is_none() {
        return cell.to_owned();
    }
    let start: String = cell.chars().take(CELL_MAX).collect();
    format!("{start}…")
}

fn offers(what: What, header: &str, seems: &Target, ours: bool) -> Vec<Offer> {
    let mut offers = vec![Offer {
        value: String::new(),
        label: "(leave this column out)".into(),
    }];
    let mut offer = |target: &Target| {
        let value = target.spelled();
        if !offers.iter().any(|offer| offer.value == value) {
            offers.push(Offer {
                label: label(target),
                value,
            });
        }
    };
    if !ours {
        Target::choices(what, header).iter().for_each(&mut offer);
    }
    offer(seems);
    offers
}

/// What a column holds, in plain words.
fn label(target: &Target) -> String {
    match target {
        Target::Property { name, .. } => words(name),
        Target::Participant { name, code } => format!("{}, by {}", words(name), words(code)),
        Target::Data {
            section: Some(section),
            key,
            ..
        } if section != "Data" => format!("Other data: {section}, {}", shortened(key)),
        Target::Data { key, .. } => format!("Other data: {}", shortened(key)),
        Target::Skipped | Target::Nameless => "(leave this column out)".into(),
    }
}

/// `firstName` as `First name`.
#[must_use]
pub fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for (at, letter) in name.chars().enumerate() {
        if at == 0 {
            words.extend(letter.to_uppercase());
        } else if letter.is_uppercase() {
            words.push(' ');
            words.extend(letter.to_lowercase());
        } else {
            words.push(letter);
        }
    }
    match words.as_str() {
        "Rfid" => "RFID".into(),
        "Uhf id" => "UHF id".into(),
        "Delegate type" => "Attendee type (ticket)".into(),
        "Barcode" => "Barcode (ticket code)".into(),
        "Interaction type" => "Type (check-in, lead …)".into(),
        "Recorded at" => "Time".into(),
        "First delegate" => "Attendee (id or selector)".into(),
        "First device" => "Device (id or selector)".into(),
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_words() {
        for (name, shown) in [
            ("firstName", "First name"),
            ("externalId", "External id"),
            ("rfid", "RFID"),
            ("email", "Email"),
        ] {
            assert_eq!(words(name), shown);
        }
    }

    #[test]
    fn a_cell_is_cut_between_letters() {
        assert_eq!(cut("ü"), "ü");
        assert_eq!(cut(&"ü".repeat(61)).chars().count(), 61);
    }
}
