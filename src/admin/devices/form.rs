//! The form of a device or an event.

use super::TYPES;
use crate::{
    admin::{
        Area, Fields, RequestContext, Route, answer,
        engine::{self, Choice, Document, Editor, Group, Input, RecordDraft},
        route,
    },
    core::{
        Context,
        records::{Field, Kind, write},
        rules::{AccessRules, Entry, RuleSet},
        settings,
    },
    db::Tx,
    domain::{
        devices::{
            self, EVENT, MANAGER, Offer,
            record::{Record, form_fields},
            rule_texts,
        },
        events,
    },
    types::{
        error::{self, Error, Result},
        json, text,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The section of a document that has the rules of entry.
pub const ACCESS: &str = "Access";
/// Devices that are offered as a parent.
const OFFERED: usize = 20;

/// Rules that are numbers: name, label, what a value means.
const NUMBERS: [(&str, &str, &str); 4] = [
    (
        "maxCheckIns",
        "Check-ins per person, at most",
        "All days together, including overrides.",
    ),
    (
        "capacity",
        "People inside, at most",
        "Later arrivals wait until somebody is checked out.",
    ),
    (
        "opensBefore",
        "Opens, minutes before the start",
        "0 opens at the start.",
    ),
    (
        "closesAfter",
        "Closes, minutes after the end",
        "0 closes at the end.",
    ),
];

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
                draft.values.set("parent", &shown(id, &parent.name));
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
        let rules = record.rules();
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
            values.set("parent", &shown(parent.id, &parent.name));
        }
        for (name, rule) in rule_values(rules.unwrap_or_default()) {
            values.set(name, &rule);
        }
        values.document = Document::new(&record.document(), ACCESS);
        Ok(draft)
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, _: Option<&i64>, draft: &Draft) -> engine::Groups {
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
        about.insert(3, parent_input(values.get("parent")));
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
        groups.push(rules_group(
            values,
            settings::load(connection)?.access,
            draft,
        ));
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

    fn typed(_: &[Group], form: &Fields) -> Result<Draft> {
        let mut values = RecordDraft::typed(form, form_fields());
        let rules = rule_values(AccessRules::default());
        let names = rules.iter().map(|(name, _)| *name);
        for name in names.chain(["deviceType", "parent", "available"]) {
            values.set(name, form.text(name));
        }
        Ok(Draft {
            name: values.get("name").to_owned(),
            unreadable: None,
            values,
        })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<i64> {
        let (mut body, of_event) = changes(tx, &draft.values, &RecordDraft::default(), None)?;
        body.entry("available").or_insert(false.into());
        let id = write::create(tx, ctx, &devices::RESOURCE, body)?;
        patch_event(tx, ctx, id, draft, of_event)?;
        Ok(id)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &Draft) -> Result<()> {
        let id = *id;
        let (before, record) = (Self::find(tx, &id)?, Record::find(tx, id)?);
        let (body, of_event) = changes(tx, &draft.values, &before.values, Some(&record))?;
        if !body.is_empty() {
            write::patch(tx, ctx, &devices::RESOURCE, id, body)?;
        }
        patch_event(tx, ctx, id, draft, of_event)
    }

    fn created(request: &RequestContext, draft: Draft, id: i64) -> Result<Response> {
        request.done(format!("{} created.", draft.name), &Self::page(&id))
    }
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

fn rule_values(rules: AccessRules) -> [(&'static str, String); 6] {
    let number = |number: Option<u32>| number.map_or_else(String::new, |it| it.to_string());
    let rule_set = match rules.rule_set {
        None => "",
        Some(RuleSet::Open) => "open",
        Some(RuleSet::Simple) => "simple",
    };
    let entry = match rules.entry {
        None => "",
        Some(Entry::Multiple) => "multiple",
        Some(Entry::Single) => "single",
    };
    [
        ("ruleSet", rule_set.to_owned()),
        ("entry", entry.to_owned()),
        ("maxCheckIns", number(rules.max_check_ins)),
        ("capacity", number(rules.capacity)),
        ("opensBefore", number(rules.opens_before)),
        ("closesAfter", number(rules.closes_after)),
    ]
}

/// The fields of the rules of entry, each with what holds where the device has no rule of its own.
fn rules_group(values: &RecordDraft, defaults: AccessRules, draft: &Draft) -> Group {
    let radios =
        |name: &'static str, label, default: &str, own: [(&'static str, &'static str); 2]| {
            let typed = values.get(name);
            let default = default.trim_end_matches('.');
            let instance = Choice::new(
                "",
                format!("As in the settings: {default}"),
                typed.is_empty(),
            );
            let own = own.map(|(value, text)| Choice::new(value, text, typed == value));
            Input::radios(name, label, std::iter::once(instance).chain(own))
        };
    let rule_sets = [
        ("open", rule_texts::who(Some(RuleSet::Open))),
        ("simple", rule_texts::who(Some(RuleSet::Simple))),
    ];
    let entries = [
        ("multiple", rule_texts::entry(Some(Entry::Multiple))),
        ("single", rule_texts::entry(Some(Entry::Single))),
    ];
    let mut inputs = vec![
        radios(
            "ruleSet",
            "Who",
            rule_texts::who(defaults.rule_set),
            rule_sets,
        ),
        radios(
            "entry",
            "How often",
            rule_texts::entry(defaults.entry),
            entries,
        ),
    ];
    let in_settings = rule_values(defaults);
    for (name, label, meaning) in NUMBERS {
        let default = in_settings.iter().find(|(known, _)| *known == name);
        let default = match default.map_or("", |(_, number)| number) {
            "" => "no limit",
            number => number,
        };
        inputs.push(
            Input::line("number", name, label)
                .value(values.get(name))
                .attribute("min", "0")
                .attribute("max", u32::MAX.to_string())
                .help(format!(
                    "{meaning} Leave empty to use the settings: {default}."
                )),
        );
    }
    let group = Group::new("Entry rules", inputs);
    match &draft.unreadable {
        None => group,
        Some(stored) => group.help(format!(
            "The rules stored here cannot be read, so every check-in is refused. Choose who may enter; saving \
             replaces what is stored: {stored}"
        )),
    }
}

/// What was changed: of the device, and of the event that it is.
fn changes(
    connection: &Connection,
    typed: &RecordDraft,
    before: &RecordDraft,
    record: Option<&Record>,
) -> Result<(Map<String, Value>, Map<String, Value>)> {
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
            name => parent(connection, name)?.into(),
        };
        body.insert("parent".into(), parent);
    }
    let stored = record.map_or_else(|| json!({}), Record::document);
    let mut data = typed.document.joined(&stored)?;
    if data.contains_key(ACCESS) {
        return Err(Error::invalid(
            "rest: the entry rules (Access) have fields of their own above",
        ));
    }
    let rules = typed_rules(typed)?;
    if !rules.is_empty()
        || stored
            .get(ACCESS)
            .is_some_and(|stored| *stored == json!({}))
    {
        data.insert(ACCESS.to_owned(), rules.into());
    }
    let unreadable = record.is_some_and(|record| record.rules().is_none());
    // Even an empty patch writes a readable document in place of another.
    let patch = json::difference(&stored, &data.into()).or(unreadable.then(|| json!({})));
    if let Some(patch) = patch {
        body.insert("data".into(), patch);
    }
    Ok((body, of_event))
}

fn typed_rules(typed: &RecordDraft) -> Result<Map<String, Value>> {
    let mut rules = Map::new();
    for (name, _) in rule_values(AccessRules::default()) {
        let text = typed.get(name);
        if text.is_empty() {
            continue;
        }
        let value = if NUMBERS.iter().any(|(known, ..)| *known == name) {
            let number: u32 =
                text::whole(text).map_err(|fault| Error::invalid(format!("{name}: {fault}")))?;
            number.into()
        } else {
            text.into()
        };
        rules.insert(name.to_owned(), value);
    }
    Ok(rules)
}

/// A device as the field for a parent shows it.
fn shown(id: i64, name: &str) -> String {
    format!("{name} (#{id})")
}

fn parent_input(value: &str) -> Input {
    Input::text("parent", "Belongs to")
        .value(value)
        .offered([value])
        .help("Type a part of its name, or its code. Leave empty for top level.")
        .attribute("hx-get", "/console/devices/parents")
        .attribute("hx-trigger", "focus once, input changed delay:150ms")
        .attribute("hx-target", "#parent-offered")
}

/// The device that was typed: `Hall (#7)`, a number, a code or a name.
fn parent(connection: &Connection, typed: &str) -> Result<i64> {
    let id = typed
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once("(#"))
        .map_or(typed, |(_, id)| id)
        .trim_start_matches('#');
    let named = devices::find_typed(connection, id, typed)?;
    let typed = text::shortened(typed);
    match named.as_slice() {
        [id] => Ok(*id),
        [] => Err(Error::invalid(format!(
            "parent: there is no device \"{typed}\"; type a part of its name and choose one"
        ))),
        _ => Err(Error::invalid(format!(
            "parent: there are several devices \"{typed}\"; choose one from the list, or type its code"
        ))),
    }
}

#[derive(Template)]
#[template(path = "devices/parents.html")]
struct Parents {
    offers: Vec<Offer>,
}

/// The devices that the typed text may mean, as options.
pub(super) async fn parents(request: RequestContext) -> Result<Response> {
    let typed = text::fold(request.query.text("parent"));
    let offers = request
        .read(move |connection| devices::matching(connection, &typed, OFFERED))
        .await?;
    answer::page(&Parents { offers })
}
