//! The form of a device or an event.

use super::TYPES;
use crate::admin::prelude::*;
use crate::{
    admin::{
        engine::{Document, RecordDraft},
        entry_types, route,
    },
    core::{
        records::{Field, Kind, write},
        rules::{AccessRules, Entry, RuleSet},
        settings,
    },
    domain::{
        devices::{
            self, EVENT, MANAGER, Offer,
            doors::{DOOR, is_place_of_doors},
            record::{Record, form_fields},
            rule_texts,
        },
        events,
    },
    types::{error, json, text},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The section of a document that has the rules of entry.
pub const ACCESS: &str = "Access";
/// The heading of the rules of entry.
const RULES: &str = "Entry rules";
/// The rules of entry that have a field.
const FIELDS: [&str; 12] = [
    "ruleSet",
    "entry",
    "maxCheckIns",
    "per",
    "capacity",
    "opensBefore",
    "closesAfter",
    "types",
    "typeTimes",
    "everybodyOutAt",
    EXCEPT,
    ONE_AT_A_TIME,
];
/// Those that a door may set.
const OF_DOORS: [&str; 5] = [
    "ruleSet",
    "opensBefore",
    "closesAfter",
    "types",
    "typeTimes",
];
const EXCEPT: &str = "everybodyOutExcept";
const ONE_AT_A_TIME: &str = "oneAtATime";
/// Devices that are offered as a parent.
const OFFERED: usize = 20;

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
        let defaults = settings::load(connection)?.access;
        let mut rules = rules_group(&defaults, draft);
        rules.inputs.extend(everybody_out_inputs());
        let has_rooms = id.is_some_and(|id| devices::has_open_rooms(connection, *id, &defaults));
        if has_rooms || draft.rules.contains_key(ONE_AT_A_TIME) {
            rules.inputs.push(one_at_a_time_input());
        }
        if draft.unreadable.is_none() && is_door(connection, draft)? {
            // One that is set has to be emptied.
            let is_set = |input: &Input| draft.rules.contains_key(&*input.name);
            rules
                .inputs
                .retain(|input| OF_DOORS.contains(&&*input.name) || is_set(input));
            rules = rules.help(
                "The rules of the place that it belongs to hold at this door. What you set here must pass, too; single \
                 entry, check-ins and people inside are counted at the place.",
            );
        }
        let shown = entry_types::shown(draft.rules.clone());
        groups.extend(engine::filled(vec![rules], &shown)?);
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
        let rules = groups.iter().filter(|group| group.heading == RULES);
        let mut rules = engine::read(rules.flat_map(|group| &group.inputs), form)?;
        // As if they had never been set.
        for (name, none) in [(EXCEPT, json!([])), (ONE_AT_A_TIME, json!(false))] {
            if rules.get(name) == Some(&none) {
                rules.remove(name);
            }
        }
        Ok(Draft {
            name: values.get("name").to_owned(),
            unreadable: None,
            rules: entry_types::stored(rules),
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

/// Whether what is typed would be a door of a place.
fn is_door(connection: &Connection, draft: &Draft) -> Result<bool> {
    let above = draft.values.get("parent");
    if draft.values.get("deviceType") != DOOR || above.is_empty() {
        return Ok(false);
    }
    // What means no device is told when it is saved.
    let Ok(above) = parent(connection, above) else {
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

/// The fields of the rules of entry, each with what holds where the device has no rule of its own.
fn rules_group(defaults: &AccessRules, draft: &Draft) -> Group {
    let radios = |name, label, default: &str, own: &[(&'static str, &'static str)]| {
        let default = format!("As in the settings: {}", default.trim_end_matches('.'));
        let own = own.iter().map(|(value, text)| (*value, (*text).to_owned()));
        Input::radios(name, label, std::iter::once(("", default)).chain(own))
    };
    let number = |name, label, meaning: &str, default: Option<u32>| {
        let default = default.map_or_else(|| "no limit".to_owned(), |number| number.to_string());
        let help = format!("{meaning} Leave empty to use the settings: {default}.");
        Input::number(name, label, 0, u32::MAX.into()).help(help)
    };
    let rule_sets = [("open", RuleSet::Open), ("simple", RuleSet::Simple)];
    let rule_sets = rule_sets.map(|(value, rule)| (value, rule_texts::who(Some(rule))));
    let entries = [
        ("multiple", Entry::Multiple),
        ("single", Entry::Single),
        ("daily", Entry::Daily),
    ];
    let entries = entries.map(|(value, entry)| (value, rule_texts::entry(Some(entry))));
    let mut inputs = vec![
        radios(
            "ruleSet",
            "Who",
            rule_texts::who(defaults.rule_set),
            &rule_sets,
        ),
        radios(
            "entry",
            "How often",
            rule_texts::entry(defaults.entry),
            &entries,
        ),
        number(
            "maxCheckIns",
            "Check-ins per person, at most",
            "Including overrides.",
            defaults.max_check_ins,
        ),
        Input::select("per", "These check-ins are counted", rule_texts::PER),
        number(
            "capacity",
            "People inside, at most",
            "Later arrivals wait until somebody is checked out.",
            defaults.capacity,
        ),
        number(
            "opensBefore",
            "Opens, minutes before the start",
            "0 opens at the start.",
            defaults.opens_before,
        ),
        number(
            "closesAfter",
            "Closes, minutes after the end",
            "0 closes at the end.",
            defaults.closes_after,
        ),
    ];
    inputs.extend(entry_types::inputs(
        "As at the nearest place above that says it, or in the settings",
    ));
    let group = Group::new(RULES, inputs);
    match &draft.unreadable {
        None => group,
        Some(stored) => group.help(format!(
            "The rules stored here cannot be read, so every check-in is refused. Choose who may enter; saving \
             replaces what is stored: {stored}"
        )),
    }
}

fn everybody_out_inputs() -> [Input; 2] {
    [
        Input::line("time", "everybodyOutAt", "Everybody leaves at").help(
            "At this time of each day, whoever is inside, here or at a place below, is checked out. Leave empty \
             to check out nobody.",
        ),
        Input::words(EXCEPT, "Except attendees of the type")
            .placeholder("crew, exhibitor")
            .help("Types separated by commas."),
    ]
}

fn one_at_a_time_input() -> Input {
    Input::flag(ONE_AT_A_TIME, "One room at a time").help(
        "Whoever checks in at one of the places below counts as inside of that one alone. Nobody has to check out \
         when they move on.",
    )
}

/// What was changed: of the device, and of the event that it is.
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
    let unreadable = record.is_some_and(|record| record.rules().is_none());
    let mut rules = draft.rules.clone();
    // Rules that have no field yet stay as they are.
    if let Some(Value::Object(stored)) = stored.get(ACCESS).filter(|_| !unreadable) {
        let kept = stored
            .iter()
            .filter(|(name, _)| !FIELDS.contains(&name.as_str()));
        rules.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
    }
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
