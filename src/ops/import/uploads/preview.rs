//! The preview of a list before it is imported, and what the user chooses for it: columns, key, options.

use crate::{
    core::records::Resource,
    domain::events,
    ops::import::{
        Columns, Findings, Mapping, Misfit, Source, Survey, Target, What,
        batches::Options,
        columns,
        job::Request,
        people::{EMAIL, NAME_AND_EMAIL},
        plan::parsed,
        source::{Content, ENCODINGS, Fingerprint, Reading},
    },
    types::{
        DeviceId,
        error::{Error, Result},
        text::{label, shortened},
    },
};
use std::path::Path;

/// Rows that are shown.
const SHOWN: usize = 8;
/// Characters of a cell that are shown.
const CELL_MAX: usize = 60;
const LEAVE_OUT: &str = "(leave this column out)";

#[derive(Default)]
pub struct Preview {
    what: What,
    /// The format, in words.
    pub about: String,
    pub rows: i64,
    /// The sheets of a workbook and the one that is read.
    pub sheets: Option<(Vec<String>, String)>,
    /// Encodings to choose from and the one that is read.
    pub encodings: Option<(Vec<String>, String)>,
    /// The columns of a table; none of a list of objects.
    pub columns: Vec<Column>,
    /// Set where Gatepost exported the list.
    pub ours: bool,
    /// The codes that rows may be matched by, with their labels.
    pub keys: Vec<(&'static str, String)>,
    /// The first rows, with their lines.
    pub shown: Vec<(u64, Vec<String>)>,
    pub list: Fingerprint,
    /// The line of the header.
    pub header_line: u64,
    survey: Survey,
}

pub struct Column {
    pub header: String,
    /// The probable content of the column.
    target: Target,
    /// The contents to choose from: values and labels.
    pub choices: Vec<(String, String)>,
    pub example: String,
}

/// The choices of the user for a list.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The content of each column; empty where it is left out.
    pub columns: Vec<String>,
    pub device: Option<i64>,
    /// Everything else; path and mappings are filled in by [`Choice::request`].
    pub options: Options,
}

impl Preview {
    /// Reads the whole list, and guesses what its columns are.
    pub fn read(
        path: &Path,
        name: &str,
        what: What,
        reading: Reading<'_>,
    ) -> Result<(Self, Choice)> {
        let source = Source::open_as(path, name, reading)?.with_header_found(what, &[])?;
        let options = Options {
            sheet: reading.sheet.map(ToOwned::to_owned),
            encoding: reading.encoding.map(ToOwned::to_owned),
            header_row: reading.header_row,
            // Its next version changes what the first one made.
            key: (what == What::Devices && source.is_programme()).then(|| "externalId".to_owned()),
            ..Options::default()
        };
        let mut survey = Survey::new(&source, &options);
        let headers = source.header().unwrap_or_default();
        let columns = Columns::matched(what, headers, &[]).map_err(|cause| cause.at(name))?;
        let sheets = source.sheets();
        let mut preview = Self {
            what,
            about: source.about(),
            sheets: sheets.map(|(all, chosen)| (all.to_vec(), chosen.to_owned())),
            encodings: source.encoding().map(|own| (encodings(&own), own)),
            ours: source.is_ours(),
            keys: keys(what, columns.events),
            list: source.fingerprint(),
            header_line: source.header_line(),
            ..Self::default()
        };
        for row in source.rows()? {
            let row = row?;
            preview.rows += 1;
            survey.look_at(&row);
            if preview.shown.len() < SHOWN {
                preview.shown.push((row.line, cells(row.content)));
            }
        }
        if preview.rows == 0 {
            // The first sheet of a workbook may be about the others.
            let others = preview
                .sheets
                .iter()
                .flat_map(|(all, _)| all.iter().skip(1));
            let mut others = others.filter(|_| reading.sheet.is_none()).map(|other| {
                let sheet = Some(other.as_str());
                Self::read(path, name, what, Reading { sheet, ..reading })
            });
            let found = others.find_map(Result::ok);
            return found.ok_or_else(|| Error::field(name, "has a header and no rows"));
        }
        let columns = columns.settled(&survey, &options)?;
        let columns = columns.iter().enumerate();
        preview.columns = columns
            .map(|(at, column)| preview.column(at, column))
            .collect();
        let targets = preview.columns.iter().map(|column| column.target.spelled());
        let choice = Choice {
            columns: targets.collect(),
            options,
            device: None,
        };
        preview.survey = survey;
        Ok((preview, choice))
    }

    fn column(&self, at: usize, column: &columns::Column) -> Column {
        let mut cells = self.shown.iter().filter_map(|(_, cells)| cells.get(at));
        let example = cells.find(|cell| !cell.is_empty());
        Column {
            header: column.header.clone(),
            target: column.target.clone(),
            choices: choices(self.what, &column.header, &column.target, self.ours),
            example: example.cloned().unwrap_or_default(),
        }
    }

    /// The mappings that a choice means: of every column that is not known without.
    fn mappings(&self, choice: &Choice) -> Vec<Mapping> {
        let columns = self.columns.iter().zip(&choice.columns);
        let chosen = columns.filter(|(column, chosen)| {
            let known_without = self.ours || !column.target.is_spellable(self.what);
            !(column.header.is_empty() || known_without && **chosen == column.target.spelled())
        });
        chosen
            .map(|(column, chosen)| Mapping(column.header.clone(), chosen.clone()))
            .collect()
    }

    fn matched(&self, choice: &Choice) -> Result<Columns> {
        let headers = self.columns.iter().map(|column| column.header.clone());
        Columns::matched(
            self.what,
            &headers.collect::<Vec<_>>(),
            &self.mappings(choice),
        )
    }

    /// The findings about the list, as its columns are chosen.
    #[must_use]
    pub fn findings(&self, choice: &Choice) -> Findings {
        let options = Options {
            map: self.mappings(choice),
            ..choice.options.clone()
        };
        let columns = self.matched(choice);
        let settled = columns.and_then(|columns| columns.settled(&self.survey, &options));
        settled.map_or_else(
            |_| Findings::default(),
            |columns| Findings::of(&columns, &self.survey, &options),
        )
    }

    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where the columns cannot be imported as they are chosen.
    pub fn check(&self, choice: &Choice) -> Result<()> {
        let columns = self.matched(choice)?;
        let refused = match (columns.misfit(), &choice.options.key) {
            (Some(Misfit::Both(first, second, name)), _) => format!(
                "\"{first}\" and \"{second}\" are both \"{}\"; leave one of them out",
                property_label(self.what, &name)
            ),
            (Some(Misfit::NoneKnown), _) => format!(
                "no column is known yet: choose what at least one of them says about the {}",
                self.what.name()
            ),
            (None, Some(key)) if columns.is_table() && !columns.has_any(&[key_column(key)]) => {
                format!(
                    "rows are to be matched by \"{0}\", and no column is that; choose which one is, or choose that every row is new",
                    property_label(self.what, key_column(key))
                )
            }
            _ => return Ok(()),
        };
        Err(Error::invalid(refused))
    }
}

impl Choice {
    /// The import that was chosen.
    #[must_use]
    pub fn request(&self, what: What, name: &str, preview: &Preview) -> Request {
        let is_of_delegates = what == What::Delegates;
        Request {
            what,
            options: Options {
                path: name.to_owned(),
                map: preview.mappings(self),
                join: self.options.join.filter(|_| is_of_delegates),
                make_codes: self.options.make_codes && is_of_delegates,
                ..self.options.clone()
            },
            device: self.device.map(DeviceId),
            // The page asked already.
            again: true,
        }
    }
}

/// The property whose column a key needs.
fn key_column(key: &str) -> &str {
    if key == NAME_AND_EMAIL { EMAIL } else { key }
}

fn keys(what: What, events: bool) -> Vec<(&'static str, String)> {
    let resource = if events {
        Some(&events::LISTED)
    } else {
        what.resource()
    };
    let codes = resource.into_iter().flat_map(Resource::codes);
    let codes = codes.map(|(_, name)| (name, property_label(what, name)));
    let people = [(EMAIL, "E-mail"), (NAME_AND_EMAIL, "name and e-mail")];
    let people = people.into_iter().filter(|_| what == What::Delegates);
    codes
        .chain(people.map(|(name, label)| (name, label.to_owned())))
        .collect()
}

/// The label of a property, from its declaration where it has one.
fn property_label(what: What, name: &str) -> String {
    let declared = what.resource().and_then(|resource| resource.property(name));
    match declared.map_or("", |field| field.label) {
        "" => label(name),
        declared => declared.to_owned(),
    }
}

fn encodings(own: &str) -> Vec<String> {
    let other = Some(own).filter(|own| !ENCODINGS.contains(own));
    let all = ENCODINGS.iter().copied().chain(other);
    all.map(ToOwned::to_owned).collect()
}

fn cells(content: Content) -> Vec<String> {
    match content {
        Content::Cells(cells) => cells.into_iter().map(|cell| cut(&cell)).collect(),
        Content::Object(text) => vec![match parsed(&text) {
            Ok(object) => cut(&serde_json::Value::Object(object).to_string()),
            Err(cause) => format!("({cause})"),
        }],
        Content::Unreadable(reason) | Content::BadCell(_, reason, _) => vec![format!("({reason})")],
    }
}

fn cut(cell: &str) -> String {
    match cell.char_indices().nth(CELL_MAX) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.to_owned(),
    }
}

fn choices(what: What, header: &str, target: &Target, ours: bool) -> Vec<(String, String)> {
    let mut choices = vec![(String::new(), LEAVE_OUT.to_owned())];
    let others = if ours {
        Vec::new()
    } else {
        Target::choices(what, header)
    };
    for target in others.iter().chain([target]) {
        let value = target.spelled();
        if !choices.iter().any(|(known, _)| *known == value) {
            choices.push((value, label_of(what, target)));
        }
    }
    choices
}

fn label_of(what: What, target: &Target) -> String {
    match target {
        Target::Property { name, .. } => match *name {
            "delegateType" => "Attendee type (ticket)".into(),
            "barcode" => "Barcode (ticket code)".into(),
            "interactionType" => "Type (check-in, lead …)".into(),
            "recordedAt" => "Time".into(),
            "firstDelegate" => "Attendee (id or selector)".into(),
            "firstDevice" => "Device (id or selector)".into(),
            name => property_label(what, name),
        },
        Target::Participant { name, code } => format!("{}, by {}", label(name), label(code)),
        Target::Data {
            section: Some(section),
            key,
            ..
        } if section != "Data" => format!("Other data: {section}, {}", shortened(key)),
        Target::Data { key, .. } => format!("Other data: {}", shortened(key)),
        Target::WholeName => "Whole name (first and last)".into(),
        Target::Note => "Note for gates".into(),
        Target::Attention => "Attention: yes warns gates".into(),
        Target::Days(of) => format!(
            "Day of {}",
            of.iter()
                .map(|name| property_label(what, name))
                .collect::<Vec<_>>()
                .join(" and ")
        ),
        Target::Room => "Room (created where it is not there)".into(),
        Target::Skipped | Target::Nameless => LEAVE_OUT.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_cut_between_letters() {
        assert_eq!(cut("ü"), "ü");
        assert_eq!(cut(&"ü".repeat(61)).chars().count(), 61);
    }
}
