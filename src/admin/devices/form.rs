//! The form of a device or an event.

use super::{TYPES, parent, rules};
use crate::admin::prelude::*;
use crate::{
    admin::{
        engine::{Document, RecordDraft},
        route,
    },
    core::{
        records::{Field, Kind, write},
        settings,
    },
    domain::{
        devices::{
            self, EVENT, MANAGER,
            doors::{DOOR, is_place_of_doors},
            record::{Record, form_fields},
        },
        events,
    },
    types::{error, json},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The section of a document that has the rules of entry.
pub const ACCESS: &str = "Access";

pub(super) fn routes() -> Vec<Route> {
    engine::routes::<Devices>(
        "/console/devices/new",
        "/console/devices/:id/edit",
        route::OPERATOR,
    )
}

struct Devices;

#[derive(Clone, Default, Serialize)]
struct Draft {
    name: String,
    /// The stored document, where its rules cannot be read.
    unreadable: Option<String>,
    values: RecordDraft,
    /// The rules of entry that the device sets.
    rules: Map<String, Value>,
}

fn is_of_event(field: &Field) -> bool {
    MANAGER.iter().any(|known| known.name == field.name)
}

impl Editor for Devices {
    type Key = i64;
    type Draft = Draft;
    type Created = i64;
    const LIST: &'static str = "/console/devices";
    const NOUN: &'static str = "device";
    const AREA: Area = Area::Devices;

    fn blank(_: &RequestContext) -> Draft {
        let mut draft = Draft::default();
        draft.values.set("available", "1");
        draft
    }

    fn begin(connection: &Connection, query: &Fields) -> Result<Option<Draft>> {
        let mut draft = Draft::default();
        draft.values.set("available", "1");
        draft.values.set("deviceType", query.text("type"));
        if let Some(id) = query.number("parent")? {
            let parent = Record::find(connection, id)?;
            if parent.deleted_at.is_none() {
                draft.values.set("parent", &parent::shown(id, &parent.name));
            }
        }
        Ok(Some(draft))
    }

    fn noun(draft: &Draft) -> &'static str {
        if draft.values.get("deviceType") == EVENT {
            EVENT
        } else {
            Self::NOUN
        }
    }

    fn find(connection: &Connection, id: &i64) -> Result<Draft> {
        let id = *id;
        let record = Record::find(connection, id)?;
        if record.deleted_at.is_some() {
            return Err(Error::new(
                error::Kind::DeviceNotFound,
                format!(
                    "{} is deleted; restore it before you change it",
                    record.name
                ),
            ));
        }
        let zone = settings::load(connection)?.zone;
        let mut draft = Draft {
            unreadable: unreadable(&record),
            name: record.name.clone(),
            ..Draft::default()
        };
        let values = &mut draft.values;
        for field in form_fields() {
            values.set(field.name, record.text(field.column));
        }
        values.set_time("startAt", record.start_at, &zone);
        values.set_time("endAt", record.end_at, &zone);
        values.set("deviceType", record.kind());
        values.set("available", if record.available { "1" } else { "" });
        if let Some(parent) = record.parent.as_ref().filter(|parent| !parent.deleted) {
            values.set("parent", &parent::shown(parent.id, &parent.name));
        }
        let document = record.document();
        values.document = Document::new(&document, ACCESS);
        if let (Some(_), Some(Value::Object(rules))) = (record.rules(), document.get(ACCESS)) {
            draft.rules.clone_from(rules);
        }
        Ok(draft)
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, id: Option<&i64>, draft: &Draft) -> engine::Groups {
        let values = &draft.values;
        let fields = |wanted: fn(&Field) -> bool| -> Vec<Input> {
            let fields = form_fields().filter(move |field| wanted(field));
            fields.map(|field| values.input(field)).collect()
        };
        let mut about = fields(|field| field.kind == Kind::Text && !is_of_event(field));
        about.insert(
            2,
            Input::text("deviceType", "Type")
                .value(values.get("deviceType"))
                .explained(TYPES)
                .help("Choose one, or write another word."),
        );
        about.insert(3, parent::input(values.get("parent")));
        about.push(
            Input::flag("available", "In use")
                .on(!values.get("available").is_empty())
                .help("While a place is not in use, every check-in is refused."),
        );
        let times = fields(|field| field.kind == Kind::Time);
        let mut groups = vec![
            Group::new("About", about),
            Group::new("When", times).help("In the time zone of this instance."),
        ];
        let manager = fields(is_of_event);
        if values.get("deviceType") == EVENT {
            groups.push(Group::new("Event manager", manager));
        }
        groups.push(rules::group(
            connection,
            &rules::Of {
                id: id.copied(),
                is_door: is_door(connection, draft)?,
                set: &draft.rules,
                unreadable: draft.unreadable.as_deref(),
            },
        )?);
        groups.push(
            Group::new("Codes", fields(|field| field.kind == Kind::Code))
                .help("Each code is unique among all devices."),
        );
        groups.push(engine::document_group(
            &values.document,
            "Values of your own, such as a floor or a host. To remove a value, empty it.",
            "{\"Signage\": {\"colour\": \"green\"}}",
        ));
        Ok(groups)
    }

    fn typed(groups: &[Group], form: &Fields) -> Result<Draft> {
        let mut values = RecordDraft::typed(form, form_fields());
        for name in ["deviceType", "parent", "available"] {
            values.set(name, form.text(name));
        }
        Ok(Draft {
            name: values.get("name").to_owned(),
            unreadable: None,
            rules: rules::typed(groups, form)?,
            values,
        })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<i64> {
        let (mut body, of_event) = changes(tx, draft, &RecordDraft::default(), None)?;
        body.entry("available").or_insert(false.into());
        let id = write::create(tx, ctx, &devices::RESOURCE, body)?;
        patch_event(tx, ctx, id, draft, of_event)?;
        Ok(id)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &Draft) -> Result<()> {
        let id = *id;
        let (before, record) = (Self::find(tx, &id)?, Record::find(tx, id)?);
        let (body, of_event) = changes(tx, draft, &before.values, Some(&record))?;
        if !body.is_empty() {
            write::patch(tx, ctx, &devices::RESOURCE, id, body)?;
        }
        patch_event(tx, ctx, id, draft, of_event)
    }

    fn created(request: &RequestContext, draft: Draft, id: i64) -> Result<Response> {
        request.done(format!("{} created.", draft.name), &Self::page(&id))
    }
}

/// Returns whether the typed device would be a door of a place.
fn is_door(connection: &Connection, draft: &Draft) -> Result<bool> {
    let above = draft.values.get("parent");
    if draft.values.get("deviceType") != DOOR || above.is_empty() {
        return Ok(false);
    }
    // What means no device is told when it is saved.
    let Ok(above) = parent::find(connection, above) else {
        return Ok(false);
    };
    let kind = Record::find(connection, above)?.kind().to_owned();
    Ok(is_place_of_doors(Some(&kind)))
}

fn patch_event(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    draft: &Draft,
    changes: Map<String, Value>,
) -> Result<()> {
    if changes.is_empty() || draft.values.get("deviceType") != EVENT {
        return Ok(());
    }
    write::patch(tx, ctx, &events::RESOURCE, id, changes)
}

/// The stored document, where its rules of entry cannot be read.
pub fn unreadable(record: &Record) -> Option<String> {
    match record.rules() {
        Some(_) => None,
        None => record.data.clone(),
    }
}

/// Returns the changes: to the device, and to the event that it is.
fn changes(
    connection: &Connection,
    draft: &Draft,
    before: &RecordDraft,
    record: Option<&Record>,
) -> Result<(Map<String, Value>, Map<String, Value>)> {
    let typed = &draft.values;
    let of_event = typed.changes(before, MANAGER.iter());
    let mut body = typed.changes(before, form_fields().filter(|field| !is_of_event(field)));
    if typed.differs(before, "deviceType") {
        body.insert("deviceType".into(), typed.value("deviceType"));
    }
    if typed.differs(before, "available") {
        let available = !typed.get("available").is_empty();
        body.insert("available".into(), available.into());
    }
    if typed.differs(before, "parent") {
        let parent = match typed.get("parent") {
            "" => Value::Null,
            name => parent::find(connection, name)?.into(),
        };
        body.insert("parent".into(), parent);
    }
    let stored = record.map_or_else(|| json!({}), Record::document);
    let mut data = typed.document.joined(&stored)?;
    if data.contains_key(ACCESS) {
        return Err(Error::field(
            "rest",
            "the entry rules (Access) have fields of their own above",
        ));
    }
    let unreadable = record.is_some_and(|record| record.rules().is_none());
    let rules = match stored.get(ACCESS).filter(|_| !unreadable) {
        Some(stored) => rules::with_others(draft.rules.clone(), stored),
        None => draft.rules.clone(),
    };
    if !rules.is_empty() || stored.get(ACCESS) == Some(&json!({})) {
        data.insert(ACCESS.to_owned(), rules.into());
    }
    // Even an empty patch writes a readable document in place of another.
    let patch = json::difference(&stored, &data.into()).or(unreadable.then(|| json!({})));
    if let Some(patch) = patch {
        body.insert("data".into(), patch);
    }
    Ok((body, of_event))
}
