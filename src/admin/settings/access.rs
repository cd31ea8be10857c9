//! The default rules of entry, in a form that says what they mean.

use crate::{
    admin::{
        Fields,
        engine::{Choice, Input, SettingsForm},
    },
    types::{
        error::{Error, Result},
        text::whole,
    },
};
use serde_json::{Map, Value};

pub(super) static FORM: SettingsForm = SettingsForm {
    heading: "Who may enter, unless a device says otherwise",
    help: "Every room, session or gate can have rules of its own. What it leaves open follows these.",
    path: "/console/settings/access",
    page: "/console/settings",
    keys: &["access"],
    inputs,
    changes,
    saved: "Saved. The rules count at every gate that has none of its own.",
};

const RULE_SETS: [(&str, &str); 3] = [
    ("", "Everybody with a known code (nothing set)"),
    ("open", "Everybody with a known code"),
    (
        "simple",
        "Only who has joined or booked it, or what it belongs to",
    ),
];

const ENTRIES: [(&str, &str); 3] = [
    ("", "Again and again (nothing set)"),
    ("multiple", "Again and again"),
    ("single", "Not again before checking out"),
];

/// The numbers among the rules: name, label, what it is where nothing is set, and help.
const NUMBERS: [(&str, &str, &str, &str); 4] = [
    (
        "maxCheckIns",
        "Check-ins per person",
        "any number",
        "1 makes every ticket good for one entry, ever.",
    ),
    (
        "capacity",
        "People inside at a time",
        "any number",
        "When so many are inside, the next one waits for somebody to check out.",
    ),
    (
        "opensBefore",
        "Opens before the start",
        "any time",
        "Minutes before the start from which people are let in.",
    ),
    (
        "closesAfter",
        "Closes after the end",
        "any time",
        "Minutes after the end until which people are let in.",
    ),
];

fn inputs(stored: &Map<String, Value>) -> Vec<Input> {
    let rule = |name: &str| match stored.get("access").and_then(|rules| rules.get(name)) {
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
        None => String::new(),
    };
    let choices = |name: &str, all: [(&str, &str); 3]| {
        let choice = |(value, label)| Choice::new(value, label, rule(name) == value);
        all.map(choice).to_vec()
    };
    let choices = [
        Input::select("ruleSet", "Who", choices("ruleSet", RULE_SETS)),
        Input::select("entry", "How often", choices("entry", ENTRIES)),
    ];
    let numbers = NUMBERS.into_iter().map(|(name, label, without, help)| {
        Input::text(name, label, &rule(name))
            .attribute("inputmode", "numeric")
            .placeholder(without)
            .help(help)
    });
    choices.into_iter().chain(numbers).collect()
}

/// What is left empty is no rule.
fn changes(form: &Fields) -> Result<Map<String, Value>> {
    let mut rules = Map::new();
    for name in ["ruleSet", "entry"] {
        if let Some(chosen) = form.filled(name) {
            rules.insert(name.into(), chosen.into());
        }
    }
    for (name, ..) in NUMBERS {
        if let Some(text) = form.filled(name) {
            let number: u32 =
                whole(text).map_err(|fault| Error::invalid(format!("{name}: {fault}")))?;
            rules.insert(name.into(), number.into());
        }
    }
    let rules = (!rules.is_empty()).then_some(Value::Object(rules));
    Ok(Map::from_iter([(
        "access".to_owned(),
        rules.unwrap_or_default(),
    )]))
}
