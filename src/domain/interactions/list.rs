//! The list of interactions, and those that a delegate carries in answers.

use super::rows::{self, COLUMNS, Interaction, PROPERTY_NAMES};
use crate::{
    core::{
        records::{
            Attachments, Expansion, Selection,
            list::{Listing, SLICE_MAX_BYTES, Written},
        },
        search::{FieldKind, SearchField, Stretches, Subject},
    },
    domain::{delegates, devices},
    identity::{Principal, Role, roles::lacking},
    types::{Zone, error::Result},
};
use rusqlite::Connection;

/// The interactions that can be searched.
pub static SEARCHED: Subject = Subject {
    name: "interaction",
    table: "interactions",
    alive: "1",
    fields: &[
        field("id", "id", FieldKind::Number),
        field("interactionType", "interaction_type", FieldKind::Text),
        field("firstDelegate", "first_delegate_id", FieldKind::Number),
        field("secondDelegate", "second_delegate_id", FieldKind::Number),
        field("thirdDelegate", "third_delegate_id", FieldKind::Number),
        field("firstDevice", "first_device_id", FieldKind::Number),
        field("secondDevice", "second_device_id", FieldKind::Number),
        field("thirdDevice", "third_device_id", FieldKind::Number),
        field("recordedAt", "recorded_at", FieldKind::Time),
        field("createdAt", "created_at", FieldKind::Time),
        // Nothing changes an interaction: it was last changed when it was created.
        field("updatedAt", "created_at", FieldKind::Time),
    ],
    text_index: None,
    kind: Some(("interaction_type", "lower(interaction_type)")),
    stretches: Some(Stretches {
        column: "recorded_at",
        expression: "recorded_at / 600000",
        length_ms: 600_000,
    }),
    document: "iif(json_valid(data), data, NULL)",
    shared: Some("shared"),
    counted: None,
    statements: false,
    messages: None,
    batches: None,
};

const fn field(name: &'static str, column: &'static str, kind: FieldKind) -> SearchField {
    SearchField {
        name,
        column,
        kind,
        text_indexed: false,
    }
}

/// All interactions, with the properties that are asked for.
pub struct Interactions {
    /// The properties shown; all without it.
    pub fields: Option<Vec<&'static str>>,
    /// The zone in which times are shown.
    pub zone: Zone,
    pub expansion: Expansion,
}

/// The properties that hold a participant.
pub const PARTICIPANTS: &[&str] = PROPERTY_NAMES.split_at(2).1.split_at(6).0;

/// Reads which of the records in others a caller is shown whole; `known` are the properties that hold one.
///
/// # Errors
/// As [`Expansion::parse`]; [`crate::types::error::Kind::Forbidden`] without the role that reads such records.
pub fn expansion(
    sent: Option<&str>,
    known: &[&'static str],
    caller: &Principal,
) -> Result<Expansion> {
    let visible = caller.visible_properties.as_deref();
    let expansion = Expansion::parse(sent, known, || shown(visible))?;
    for (end, role) in [
        ("Delegate", Role::DelegateRead),
        ("Device", Role::DeviceRead),
    ] {
        let is_shown = expansion.names().iter().any(|name| name.ends_with(end));
        if is_shown && !caller.has(role) {
            return Err(lacking(&[role]));
        }
    }
    Ok(expansion)
}

/// The properties of participants that are shown, of delegates those that are `visible`.
pub fn shown(visible: Option<&[String]>) -> Vec<Selection> {
    vec![
        Selection::seen(&delegates::RESOURCE, visible),
        Selection::seen(&devices::RESOURCE, None),
    ]
}

impl Listing for Interactions {
    fn source(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("interactions", "TRUE", None)
    }

    /// Without a condition SQLite counts the entries of an index.
    fn count(&self, connection: &Connection) -> Result<u64> {
        let sql = "SELECT count(*) FROM interactions";
        Ok(connection
            .prepare_cached(sql)?
            .query_row([], |row| row.get(0))?)
    }

    fn write(&self, connection: &Connection, ids: &[i64], out: &mut String) -> Result<Written> {
        let mut written = Written::default();
        for id in ids {
            written.add(out, |out| {
                let Some(interaction) = rows::find(connection, *id)? else {
                    return Ok(false);
                };
                let begins = out.len();
                interaction.write(&self.zone, self.fields.as_deref(), out);
                self.expansion.expand(connection, &self.zone, out, begins)?;
                Ok(true)
            })?;
            if out.len() > SLICE_MAX_BYTES {
                break;
            }
        }
        Ok(written)
    }
}

/// The most interactions shown of a delegate in each place; the newest. The rest is in the list of
/// interactions.
const EMBEDDED_MAX: i64 = 1_000;
/// No more of them are shown once they have so many bytes.
const EMBEDDED_MAX_BYTES: usize = 4 * 1024 * 1024;

/// The properties that carry interactions, with the column by which they belong to the delegate.
const PLACES: [(&str, &str); 3] = [
    ("firstInteractions", "first_delegate_id"),
    ("secondInteractions", "second_delegate_id"),
    ("thirdInteractions", "third_delegate_id"),
];

/// Attaches the interactions of the delegates `ids`, as far as the selection shows them; of the first
/// delegates alone, where these have very many bytes of them.
pub fn attach(
    connection: &Connection,
    selection: &Selection,
    ids: &[i64],
    zone: &Zone,
    attachments: &mut Attachments,
) -> Result<()> {
    let mut bytes = 0;
    for (done, id) in (1..).zip(ids) {
        for (property, column) in PLACES {
            if !selection.shows(property) {
                continue;
            }
            let shown = newest(connection, column, *id, zone)?;
            bytes += shown.len();
            if !shown.is_empty() {
                attachments.set(property, *id, shown);
            }
        }
        if bytes > SLICE_MAX_BYTES {
            attachments.end_after(done);
            break;
        }
    }
    Ok(())
}

/// The newest interactions of a delegate as a JSON array, the oldest of them first; nothing without
/// any.
fn newest(connection: &Connection, column: &str, id: i64, zone: &Zone) -> Result<String> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM interactions WHERE {column} = ?1 ORDER BY id DESC LIMIT {EMBEDDED_MAX}"
    ))?;
    let mut rows = statement.query([id])?;
    let (mut text, mut begins) = (String::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let mut interaction = Interaction::read(row)?;
        interaction.complete(connection)?;
        begins.push(text.len());
        interaction.write(zone, None, &mut text);
        if text.len() > EMBEDDED_MAX_BYTES {
            break;
        }
    }
    if begins.is_empty() {
        return Ok(text);
    }
    let mut shown = String::with_capacity(text.len() + begins.len() + 1);
    let mut end = text.len();
    for begin in begins.into_iter().rev() {
        shown.push(if shown.is_empty() { '[' } else { ',' });
        shown.push_str(&text[begin..end]);
        end = begin;
    }
    shown.push(']');
    Ok(shown)
}
