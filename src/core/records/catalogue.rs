//! The parts of a resource.

use super::{Changes, Selection};
use crate::{
    core::{
        Context,
        search::{FieldKind, SearchField},
    },
    db::Tx,
    types::{
        Zone,
        error::{self, Result},
    },
};
use rusqlite::Connection;
use std::{collections::HashMap, sync::OnceLock};

/// One kind of record.
pub struct Resource {
    /// Its `_type`, and how messages call it.
    pub name: &'static str,
    pub table: &'static str,
    /// The condition of its rows that are not deleted.
    pub alive: &'static str,
    /// Its index of ids of just these rows, where it is large enough to need one.
    pub alive_index: Option<&'static str>,
    /// Its fields, in the order they are shown.
    pub fields: &'static [Field],
    /// The error when there is none.
    pub not_found: error::Kind,
    /// Completes and checks a change before it is written; the id is that of the record that
    /// changes, none when it is created.
    pub check: fn(&Tx<'_>, Option<i64>, &mut Changes) -> Result<()>,
    /// Does what follows from a record that was created, changed or restored.
    pub after_write: fn(&Tx<'_>, &Context, i64) -> Result<()>,
    /// Loads what a page of records carries from other tables.
    pub attach: fn(&Connection, &Selection, &[i64], &Zone) -> Result<Attachments>,
    /// A selection of everything that a record holds itself, without what is attached; see [`Selection::own`].
    pub own: OnceLock<Selection>,
}

/// A record in a line: what people know it by.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The record's id.
    pub id: i64,
    /// The name by which people know the record.
    pub name: String,
    /// Details that tell the record from others of that name.
    pub about: String,
}

impl Brief {
    /// A record of a name; what is empty, or the name again, tells nothing more.
    pub fn new(id: i64, name: String, about: [Option<String>; 2]) -> Self {
        let about = about.into_iter().flatten();
        let about: Vec<String> = about
            .filter(|text| !text.is_empty() && *text != name)
            .collect();
        Self {
            id,
            name,
            about: about.join(", "),
        }
    }
}

/// The properties that are shown of another record.
pub const REFERENCE: &[&str] = &["id", "_type"];

/// One field of a resource: everything else that shows, reads or writes records follows from it.
#[derive(Debug, Clone, Copy)]
#[must_use]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub struct Field {
    /// Its name in the API.
    pub name: &'static str,
    /// Its column, or for a [`Kind::Reference`] the column of the id.
    pub column: &'static str,
    pub kind: Kind,
    /// The meaning of the field, for the API's document.
    pub about: &'static str,
    /// The name of the field in the console.
    pub label: &'static str,
    /// The help text of the console's form.
    pub help: &'static str,
    /// Headers of imported lists that mean it, beside its name: lowercase ASCII letters, in many
    /// languages, with spaces between them.
    aliases: &'static str,
    /// Set where the full-text index has the field.
    pub is_text_indexed: bool,
    /// Set where a unique code is the same in whatever case it is written; its index says so, too.
    pub is_in_any_case: bool,
    /// The form of new values.
    pub form: Form,
    /// Set where the field may have several lines.
    pub is_multiline: bool,
    /// Set where people may change the field in their own record.
    pub is_own: bool,
}

impl Field {
    const fn new(name: &'static str, column: &'static str, kind: Kind) -> Self {
        Self {
            name,
            column,
            kind,
            label: "",
            about: "",
            help: "",
            aliases: "",
            is_text_indexed: false,
            is_in_any_case: false,
            form: Form::Any,
            is_multiline: false,
            is_own: false,
        }
    }

    /// The id of the record.
    pub const fn id() -> Self {
        Self::new("id", "id", Kind::Id)
    }

    /// The `_type` constant.
    pub const fn record_type() -> Self {
        Self::new("_type", "", Kind::Type)
    }

    /// The sectioned `data` object.
    pub const fn document() -> Self {
        Self::new("data", "data", Kind::Document)
    }

    /// The sources of a record.
    pub const fn sources() -> Self {
        Self::new("sources", "sources", Kind::Sources)
    }

    /// A field that [`Resource::attach`] loads under this name.
    pub const fn attached(name: &'static str) -> Self {
        Self::new(name, "", Kind::Attached)
    }

    /// A unique code.
    pub const fn code(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::Code)
    }

    /// Plain text.
    pub const fn text(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::Text)
    }

    /// True or false.
    pub const fn flag(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::Flag)
    }

    /// A time that clients set.
    pub const fn time(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::Time)
    }

    /// A time that clients set, shown as `yyyy-mm-dd hh:mm:ss`.
    pub const fn plain_time(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::PlainTime)
    }

    /// A time that the server sets.
    pub const fn stamp(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::Stamp)
    }

    /// Another record of the same table; `column` holds its id.
    pub const fn reference(name: &'static str, column: &'static str) -> Self {
        Self::new(name, column, Kind::Reference)
    }

    /// With what the console calls it.
    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    /// With what it means, for the API's document.
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// With help in the console's form.
    pub const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    /// With headers that mean it in imported lists.
    pub const fn aliases(mut self, aliases: &'static str) -> Self {
        self.aliases = aliases;
        self
    }

    /// In the full-text index; a trigger of `schema.sql` keeps it there.
    pub const fn text_indexed(mut self) -> Self {
        self.is_text_indexed = true;
        self
    }

    /// The same code in whatever case it is written; the unique index in `schema.sql` says so, too.
    pub const fn in_any_case(mut self) -> Self {
        self.is_in_any_case = true;
        self
    }

    /// With new values of a form.
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Of several lines.
    pub const fn multiline(mut self) -> Self {
        self.is_multiline = true;
        self
    }

    /// People may change it in their own record.
    pub const fn own(mut self) -> Self {
        self.is_own = true;
        self
    }

    /// Returns whether a header of an imported list means the field.
    pub fn has_alias(&self, header: &str) -> bool {
        self.aliases
            .split(' ')
            .any(|alias| alias == header && !alias.is_empty())
    }

    /// Two lists of fields as one; `N` is how many there are in all.
    ///
    /// # Panics
    /// While it is compiled, for another `N`.
    pub const fn joined<const N: usize>(first: &[Self], then: &[Self]) -> [Self; N] {
        assert!(first.len() + then.len() == N);
        let mut joined = [first[0]; N];
        let mut at = 0;
        while at < N {
            joined[at] = if at < first.len() {
                first[at]
            } else {
                then[at - first.len()]
            };
            at += 1;
        }
        joined
    }
}

/// The form of a text. A value that changes is judged by it where somebody types or sends it (contract §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Any,
    Email,
    Letters,
}

impl Form {
    /// Returns what a text must be; `None` where it is that.
    pub fn lacking(self, text: &str) -> Option<&'static str> {
        match self {
            Self::Email if !text.contains('@') => {
                Some("must be an e-mail address, with an @, or null")
            }
            Self::Letters if !text.chars().all(char::is_alphabetic) => {
                Some("must be letters, one for each flag")
            }
            _ => None,
        }
    }
}

/// The kind of value that a property holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The record's id.
    Id,
    /// The `_type` constant.
    Type,
    /// A unique code.
    Code,
    /// Plain text.
    Text,
    /// True or false.
    Flag,
    /// A time that clients set, in the zone without an offset when shown (`PlainTime`) or with one.
    Time,
    /// As [`Kind::Time`], shown as `yyyy-mm-dd hh:mm:ss`.
    PlainTime,
    /// A time that the server sets.
    Stamp,
    /// The sources of the record: a JSON array that the server keeps.
    Sources,
    /// The sectioned `data` object.
    Document,
    /// Another record of the same table.
    Reference,
    /// A value that [`Resource::attach`] loads under this name.
    Attached,
}

impl Kind {
    /// Returns whether clients may set it; what they may not set is ignored when sent (contract §2).
    pub fn is_writable(self) -> bool {
        !matches!(
            self,
            Self::Id | Self::Type | Self::Stamp | Self::Sources | Self::Attached
        )
    }

    /// Returns whether it is always shown.
    pub fn always_stands(self) -> bool {
        matches!(self, Self::Id | Self::Type)
    }
}

/// JSON text by property name and record id; what has none is left out.
#[derive(Default)]
pub struct Attachments {
    texts: HashMap<(&'static str, i64), String>,
    complete: Option<usize>,
}

impl Attachments {
    /// Marks it as complete for the first so many of the records that were asked for; the others are to be asked for
    /// anew.
    pub fn end_after(&mut self, records: usize) {
        self.complete = Some(records);
    }

    /// Returns those of the records asked for that it is complete for.
    pub fn complete_for<'a>(&self, ids: &'a [i64]) -> &'a [i64] {
        &ids[..self.complete.unwrap_or(ids.len()).min(ids.len())]
    }

    /// The JSON text of a property of a record.
    pub fn get(&self, property: &'static str, id: i64) -> Option<&str> {
        self.texts.get(&(property, id)).map(String::as_str)
    }

    /// Sets the JSON text of a property of a record.
    pub fn set(&mut self, property: &'static str, id: i64, json: String) {
        self.texts.insert((property, id), json);
    }
}

impl Resource {
    /// Its properties that refer to other records.
    pub fn references(&self) -> impl Iterator<Item = &'static Field> {
        self.fields
            .iter()
            .filter(|field| field.kind == Kind::Reference)
    }

    /// The property of a name.
    pub fn property(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|property| property.name == name)
    }

    /// The columns of its unique codes with their names in the API.
    pub fn codes(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.fields
            .iter()
            .filter(|property| property.kind == Kind::Code)
            .map(|property| (property.column, property.name))
    }

    /// Returns whether the code in a column is the same in whatever case it is written.
    pub fn is_in_any_case(&self, column: &str) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.column == column && field.is_in_any_case)
    }

    /// The error when there is no such record.
    pub fn missing(&self, asked: &dyn std::fmt::Display) -> error::Error {
        error::Error::new(
            self.not_found,
            format!(
                "there is no {} {}",
                self.name,
                crate::types::text::shortened(&asked.to_string())
            ),
        )
    }
}

/// The fields among these that a search compares, for a [`crate::core::search::Subject`].
pub fn searchable(fields: &'static [Field]) -> &'static [SearchField] {
    let fields = fields.iter().filter_map(|field| {
        let kind = match field.kind {
            Kind::Id => FieldKind::Number,
            Kind::Reference => FieldKind::Reference,
            Kind::Code | Kind::Text => FieldKind::Text,
            Kind::Time | Kind::PlainTime | Kind::Stamp => FieldKind::Time,
            Kind::Flag => FieldKind::Flag,
            Kind::Type | Kind::Sources | Kind::Document | Kind::Attached => return None,
        };
        Some(SearchField {
            name: field.name,
            column: field.column,
            kind,
            text_indexed: field.is_text_indexed,
        })
    });
    Vec::leak(fields.collect())
}

/// The most children shown with a record (contract §2).
const CHILDREN_MAX: usize = 1_000;

/// Attaches `children`: the living records whose parent is one of `ids`.
pub fn attach_children(
    connection: &Connection,
    resource: &Resource,
    ids: &[i64],
    attachments: &mut Attachments,
) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT parent_id, id FROM {} WHERE parent_id IN (SELECT value FROM json_each(?1)) AND {} ORDER BY id",
        resource.table, resource.alive
    ))?;
    let mut rows = statement.query([serde_json::json!(ids).to_string()])?;
    let mut children: HashMap<i64, Vec<i64>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let of_parent = children.entry(row.get(0)?).or_default();
        if of_parent.len() < CHILDREN_MAX {
            of_parent.push(row.get(1)?);
        }
    }
    for (parent, children) in children {
        let shown: Vec<_> = children
            .iter()
            .map(|id| format!("{{\"id\":{id},\"_type\":\"{}\"}}", resource.name))
            .collect();
        attachments.set("children", parent, format!("[{}]", shown.join(",")));
    }
    Ok(())
}
