//! Fields for the types of attendees that may enter, and when: of a place, and of the setting `access`.

use super::engine::Input;
use crate::core::texts::t;
use serde_json::{Map, Value, json};

/// Which types may enter: not a rule of its own, but how the two beside it are told apart.
pub const WHICH: &str = "whichTypes";
const TYPES: &str = "types";
const TIMES: &str = "typeTimes";

/// The fields.
pub fn inputs(inherited: &str) -> Vec<Input> {
    let which = [
        ("", inherited),
        ("all", "All types, whatever else is set"),
        ("listed", "Only the types listed here"),
    ];
    vec![
        Input::select(WHICH, "Types of attendees", which),
        Input::lines(TYPES, "Types that may enter", 3)
            .help("One a line, such as Crew. With none listed, nobody may enter."),
        Input::lines(TIMES, "Times of types", 3)
            .placeholder("22:00 to 02:00: Crew, VIP")
            .help(
                "One entry a line: times of every day, or of one (2026-11-21 18:00 to 2026-11-22 01:00: VIP). \
                 Types that no entry names may enter at any time.",
            ),
    ]
}

/// From the rules to the fields.
pub fn shown(mut rules: Map<String, Value>) -> Map<String, Value> {
    let times = rules.get(TIMES).and_then(Value::as_array).cloned();
    let which = match (rules.get(TYPES), &times) {
        (Some(_), _) => "listed",
        (None, Some(_)) => "all",
        (None, None) => "",
    };
    rules.insert(WHICH.to_owned(), which.into());
    if let Some(times) = times {
        let lines = times.iter().map(line).collect();
        rules.insert(TIMES.to_owned(), lines);
    }
    rules
}

fn line(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let types = entry[TYPES].as_array().into_iter().flatten();
    let types: Vec<&str> = types.filter_map(Value::as_str).collect();
    format!(
        "{} {} {}: {}",
        text("from"),
        t("devices-from-to-until"),
        text("until"),
        types.join(", ")
    )
}

/// From the fields to the rules. What is no entry becomes one that cannot be read.
pub fn stored(mut fields: Map<String, Value>) -> Map<String, Value> {
    let which = fields.remove(WHICH);
    let mut list = |name: &str| match fields.remove(name) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let (types, times) = (list(TYPES), list(TIMES));
    let times: Vec<Value> = times.iter().filter_map(Value::as_str).map(entry).collect();
    let is_listed = which == Some(json!("listed")) || !types.is_empty();
    if !times.is_empty() || (which == Some(json!("all")) && !is_listed) {
        fields.insert(TIMES.to_owned(), times.into());
    }
    if is_listed {
        fields.insert(TYPES.to_owned(), types.into());
    }
    fields
}

fn entry(line: &str) -> Value {
    let parts = line.split_once(": ").and_then(|(times, types)| {
        let own = format!(" {} ", t("devices-from-to-until"));
        let between = [" to ", &own, "–"];
        let found = between.iter().find_map(|word| times.split_once(*word));
        Some((found?, types))
    });
    let ((from, until), types) = parts.unwrap_or(((line, ""), ""));
    let types = types.split(',').map(str::trim);
    let types: Vec<&str> = types.filter(|name| !name.is_empty()).collect();
    json!({"types": types, "from": from.trim(), "until": until.trim()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_typed_with_a_word_or_a_dash() {
        for typed in ["22:00 to 02:00: Crew, VIP", "22:00–02:00: Crew, VIP"] {
            let read = json!({"types": ["Crew", "VIP"], "from": "22:00", "until": "02:00"});
            assert_eq!(entry(typed), read, "{typed}");
        }
    }

    #[test]
    fn rules_that_are_shown_and_saved_stay_as_they_are() {
        for rules in [
            json!({}),
            json!({"entry": "daily"}),
            json!({"types": []}),
            json!({"types": ["Crew", "VIP, gold"]}),
            json!({"typeTimes": []}),
            json!({"types": ["Crew"], "typeTimes": [
                {"types": ["Crew", "VIP"], "from": "22:00", "until": "02:00"},
                {"types": ["VIP"], "from": "2026-11-21 18:00", "until": "2026-11-22 01:00"},
            ]}),
        ] {
            let Value::Object(before) = rules else {
                unreachable!("an object");
            };
            let mut fields = shown(before.clone());
            // As empty fields are read.
            for name in [TYPES, TIMES] {
                fields.entry(name).or_insert_with(|| json!([]));
            }
            assert_eq!(stored(fields), before);
        }
    }

    #[test]
    fn a_line_that_is_no_entry_is_refused_as_it_was_typed() {
        let fields = json!({"typeTimes": ["at night: Crew"]});
        let Value::Object(fields) = fields else {
            unreachable!("an object");
        };
        let rules = Value::Object(stored(fields));
        let error = crate::core::rules::AccessRules::parse("access", &rules).unwrap_err();
        assert!(
            error.to_string().contains("not \"at night: Crew\""),
            "{}",
            error
        );
    }
}
