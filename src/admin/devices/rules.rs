//! The rules of entry as fields of a form.

use crate::admin::prelude::*;
use crate::{
    admin::entry_types,
    core::{
        rules::{AccessRules, Entry, RuleSet},
        settings,
    },
    domain::{
        devices::{self, rule_texts},
        interactions::judge::{self, DeviceCache},
    },
    types::DeviceId,
};
use serde_json::{Map, Value, json};

/// The heading of the rules of entry.
const RULES: &str = "Entry rules";
/// The rules of entry that have a field.
const FIELDS: [&str; 13] = [
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
    "zone",
];
/// Rules that a door may set.
const OF_DOORS: [&str; 6] = [
    "ruleSet",
    entry_types::WHICH,
    "opensBefore",
    "closesAfter",
    "types",
    "typeTimes",
];
const EXCEPT: &str = "everybodyOutExcept";
const ONE_AT_A_TIME: &str = "oneAtATime";
/// The device of a form, as far as its rules go.
pub(super) struct Of<'a> {
    /// `None`: a new device.
    pub id: Option<i64>,
    /// Set where it is a door of a place.
    pub is_door: bool,
    /// The rules that it sets.
    pub set: &'a Map<String, Value>,
    /// The stored document, where its rules cannot be read.
    pub unreadable: Option<&'a str>,
}

/// The fields with the rules that the device sets. A door has those that it may set.
pub(super) fn group(connection: &Connection, of: &Of<'_>) -> Result<Group> {
    let defaults = settings::load(connection)?.access;
    let above = match of.id {
        Some(id) => judge::rule_set_above(connection, &DeviceCache::default(), DeviceId(id))?,
        None => None,
    };
    let mut group = of_settings(&defaults, above, of.unreadable);
    group.inputs.extend(everybody_out_inputs());
    let has_rooms = of
        .id
        .is_some_and(|id| devices::has_open_rooms(connection, id, &defaults));
    if has_rooms || of.set.contains_key(ONE_AT_A_TIME) {
        group.inputs.push(one_at_a_time_input());
    }
    group.inputs.push(
        Input::line("text", "zone", "Zone on badges")
            .help("Up to 3 letters, such as B. A badge with {zones} prints those of all places that its holder may enter."),
    );
    if of.is_door && of.unreadable.is_none() {
        // One that is set has to be emptied.
        let is_set = |input: &Input| of.set.contains_key(&*input.name);
        group
            .inputs
            .retain(|input| OF_DOORS.contains(&&*input.name) || is_set(input));
        group = group.help(
            "The rules of the place that it belongs to hold at this door. What you set here must pass, too; single \
             entry, check-ins and people inside are counted at the place.",
        );
    }
    let shown = entry_types::shown(of.set.clone());
    let mut filled = engine::filled(vec![group], &shown)?;
    filled
        .pop()
        .ok_or_else(|| Error::defect("a form without its rules"))
}

/// The rules that were typed.
pub(super) fn typed(groups: &[Group], form: &Fields) -> Result<Map<String, Value>> {
    let rules = groups.iter().filter(|group| group.heading == RULES);
    let mut rules = engine::read(rules.flat_map(|group| &group.inputs), form)?;
    // As if they had never been set.
    for (name, none) in [(EXCEPT, json!([])), (ONE_AT_A_TIME, json!(false))] {
        if rules.get(name) == Some(&none) {
            rules.remove(name);
        }
    }
    Ok(entry_types::stored(rules))
}

/// The typed rules with those stored ones that have no field.
pub(super) fn with_others(mut typed: Map<String, Value>, stored: &Value) -> Map<String, Value> {
    let others = stored.as_object().into_iter().flatten();
    let others = others.filter(|(name, _)| !FIELDS.contains(&name.as_str()));
    typed.extend(others.map(|(name, value)| (name.clone(), value.clone())));
    typed
}

/// The fields of rules that have a default, each with what holds where the device has no rule of its own.
fn of_settings(
    defaults: &AccessRules,
    above: Option<(String, RuleSet)>,
    unreadable: Option<&str>,
) -> Group {
    let mut inputs = Vec::from(choice_inputs(defaults, above));
    inputs.extend(count_inputs(defaults));
    inputs.extend(time_inputs(defaults));
    inputs.extend(entry_types::inputs(
        "As at the nearest place above that says it, or in the settings",
    ));
    let group = Group::new(RULES, inputs);
    match unreadable {
        None => group,
        Some(stored) => group.help(format!(
            "The rules stored here cannot be read, so every check-in is refused. Choose who may enter; saving \
             replaces what is stored: {stored}"
        )),
    }
}

fn choice_inputs(defaults: &AccessRules, above: Option<(String, RuleSet)>) -> [Input; 2] {
    let radios = |name,
                  label,
                  (from, default): (Option<String>, &str),
                  own: &[(&'static str, &'static str)]| {
        let default = say(default);
        let default = default.trim_end_matches('.');
        let default = match from {
            Some(place) => tx("devices-as-at-place").with("place", place),
            None => tx("devices-as-in-the-settings"),
        }
        .with("what", default)
        .to_string();
        let own = own.iter().map(|(value, text)| (*value, (*text).to_owned()));
        Input::radios(name, label, std::iter::once(("", default)).chain(own))
    };
    let rule_sets = [("open", RuleSet::Open), ("simple", RuleSet::Simple)];
    let rule_sets = rule_sets.map(|(value, rule)| (value, rule_texts::who(Some(rule))));
    let entries = [
        ("multiple", Entry::Multiple),
        ("single", Entry::Single),
        ("daily", Entry::Daily),
    ];
    let entries = entries.map(|(value, entry)| (value, rule_texts::entry(Some(entry))));
    let who = match above {
        Some((place, rule)) => (Some(place), rule_texts::who(Some(rule))),
        None => (None, rule_texts::who(defaults.rule_set)),
    };
    let how_often = (None, rule_texts::entry(defaults.entry));
    [
        radios("ruleSet", "Who", who, &rule_sets),
        radios("entry", "How often", how_often, &entries),
    ]
}

fn count_inputs(defaults: &AccessRules) -> [Input; 3] {
    [
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
    ]
}

fn time_inputs(defaults: &AccessRules) -> [Input; 2] {
    [
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
    ]
}

fn number(name: &'static str, label: &'static str, meaning: &str, default: Option<u32>) -> Input {
    let default = default.map_or_else(|| "no limit".to_owned(), |number| number.to_string());
    let help = format!("{meaning} Leave empty to use the settings: {default}.");
    Input::number(name, label, 0, u32::MAX.into()).help(help)
}

fn everybody_out_inputs() -> [Input; 2] {
    [
        Input::line("time", "everybodyOutAt", "Everybody leaves at").help(
            "At this time of each day, whoever is inside, here or at a place below, is checked out. Leave empty \
             to check out nobody.",
        ),
        Input::lines(EXCEPT, "Except attendees of the type", 2).help("One type a line, such as Crew."),
    ]
}

fn one_at_a_time_input() -> Input {
    Input::flag(ONE_AT_A_TIME, "One room at a time").help(
        "Whoever checks in at one of the places below counts as inside of that one alone. Nobody has to check out \
         when they move on.",
    )
}
