//! Settings as people say them, and what differs between two configurations.

use super::scope::Scope;
use crate::{
    domain::apps::{Document, Settings},
    types::Zone,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Whose it is.
    pub scope: Scope,
    pub label: String,
    pub before: String,
    pub after: String,
}

/// What a parameter is called in the console; others are called as they are.
pub fn label(name: &str) -> String {
    match name {
        "availableFeatures" => "Features",
        "deviceHierarchy" => "Ranks of places",
        "allowRejected" => "Admit refused attendees",
        "delegateType" => "Type of new attendees",
        "enableAt" => "Works from",
        "disableAt" => "Works until",
        "forced" => "Locked in the app",
        name => name,
    }
    .to_owned()
}

/// A setting's value in words.
pub fn value(name: &str, value: &Value, zone: &Zone) -> String {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items
            .filter_map(|item| item.as_str().map(ToOwned::to_owned))
            .collect()
    };
    match (name, value) {
        ("enableAt" | "disableAt", Value::Null) => "at any time".to_owned(),
        ("enableAt" | "disableAt", at) => match zone.read(name, at) {
            Ok(at) => zone.plain(at),
            Err(_) => at.to_string(),
        },
        (_, Value::Null) => "none".to_owned(),
        ("allowRejected", Value::Bool(yes)) => if *yes { "yes" } else { "no" }.to_owned(),
        ("forced", names) => {
            let names: Vec<_> = texts(names).iter().map(|name| label(name)).collect();
            listed(&names)
        }
        ("availableFeatures", names) => listed(&texts(names)),
        ("deviceHierarchy", ranks) => {
            let ranks = ranks.as_array().into_iter().flatten();
            let ranks: Vec<_> = ranks.map(|rank| texts(rank).join(" or ")).collect();
            ranks.join(" › ")
        }
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

/// What differs from one configuration to another.
pub fn differences(before: &Document, after: &Document, zone: &Zone) -> Vec<Changed> {
    let built_in = Document::built_in().default;
    let mut changed = Vec::new();
    compare(
        &Scope::All,
        (&before.default, &after.default),
        Some(&built_in),
        zone,
        &mut changed,
    );
    let none = Settings::new();
    let kinds = before.by_type.keys().chain(after.by_type.keys());
    for kind in kinds.collect::<BTreeSet<_>>() {
        let of = |document: &Document| document.by_type.get(kind).cloned().unwrap_or_default();
        compare(
            &Scope::Type(kind.clone()),
            (&of(before), &of(after)),
            Some(&none),
            zone,
            &mut changed,
        );
    }
    let codes = before.by_device.keys().chain(after.by_device.keys());
    for code in codes.collect::<BTreeSet<_>>() {
        let of = |document: &Document| document.by_device.get(code).cloned().unwrap_or_default();
        compare(
            &Scope::Device(code.clone()),
            (&of(before), &of(after)),
            Some(&none),
            zone,
            &mut changed,
        );
    }
    changed
}

fn compare(
    scope: &Scope,
    (before, after): (&Settings, &Settings),
    unset: Option<&Settings>,
    zone: &Zone,
    changed: &mut Vec<Changed>,
) {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for name in names {
        let of = |settings: &Settings| {
            let held = settings.get(name).or_else(|| unset?.get(name));
            held.cloned()
        };
        let (was, is) = (of(before), of(after));
        if was == is {
            continue;
        }
        let told = |held: Option<Value>| match held {
            Some(held) => value(name, &held, zone),
            None if *scope == Scope::All => "not set".to_owned(),
            None => "as for all apps".to_owned(),
        };
        changed.push(Changed {
            scope: scope.clone(),
            label: label(name),
            before: told(was),
            after: told(is),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_told_in_words() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let parse = |document: Value| Document::parse("appConfig", &document, &zone).unwrap();
        let before = Document::built_in();
        let after = parse(json!({
            "default": {"enableAt": "2026-11-21 09:00:00", "uiMode": "dark", "forced": ["allowRejected"]},
            "byType": {"regoapp": {"availableFeatures": []}},
            "byDevice": {"42": {"deviceHierarchy": [["event"], ["location", "room"]]}},
        }));
        let told: Vec<_> = differences(&before, &after, &zone)
            .into_iter()
            .map(|it| format!("{}: {} → {}", it.label, it.before, it.after))
            .collect();
        assert_eq!(
            told,
            [
                "Works from: at any time → 2026-11-21 09:00:00",
                "Locked in the app: nothing → Admit refused attendees",
                "uiMode: not set → dark",
                "Features: as for all apps → nothing",
                "Ranks of places: as for all apps → event › location or room",
            ]
        );
        assert!(differences(&after, &after, &zone).is_empty());
    }
}
