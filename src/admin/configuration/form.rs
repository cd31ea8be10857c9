//! The settings of a scope as a form: a control fit for each parameter, and rows for further
//! settings that apps know by themselves.

use crate::{
    admin::Fields,
    domain::apps::{
        Settings,
        parameters::{self, FEATURES, PARAMETERS},
    },
    types::{
        Zone,
        error::{Error, Result},
        json,
    },
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Empty rows that wait for more settings, and empty ranks for more ranks.
const EMPTY_ROWS: usize = 2;

/// What the form says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    /// Parameters that the scope states itself.
    set: BTreeSet<String>,
    texts: BTreeMap<&'static str, String>,
    features: BTreeSet<String>,
    /// Each with the types of a rank, separated by commas.
    ranks: Vec<String>,
    forced: BTreeSet<String>,
    /// Further settings and their values, as JSON or plain text.
    rows: Vec<(String, String)>,
}

/// The texts of the form; those in plural hold what no tick is for.
const TEXTS: [&str; 6] = [
    "enableAt",
    "disableAt",
    "allowRejected",
    "delegateType",
    "features",
    "locks",
];

impl Form {
    /// What settings say: those of the scope itself, and for the rest those that hold anyway.
    pub fn of(own: &Settings, base: &Settings, zone: &Zone) -> Self {
        let held = |name: &str| own.get(name).or_else(|| base.get(name)).cloned();
        let texts = |name: &str| texts(&held(name).unwrap_or_default());
        let (known, others) = split(texts("availableFeatures"), |name| {
            FEATURES.iter().any(|(known, _)| *known == name)
        });
        let (forced, locks) = split(texts("forced"), |name| {
            PARAMETERS.iter().any(|known| known.name == name)
        });
        let time = |name: &str| {
            let at = held(name).and_then(|value| zone.read(name, &value).ok());
            at.map_or_else(String::new, |at| zone.plain(at).replace(' ', "T"))
        };
        let yes = held("allowRejected") == Some(Value::Bool(true));
        let kind = held("delegateType").and_then(|kind| kind.as_str().map(ToOwned::to_owned));
        let all = [
            time("enableAt"),
            time("disableAt"),
            if yes { "yes" } else { "no" }.to_owned(),
            kind.unwrap_or_default(),
            others.join(", "),
            locks.join(", "),
        ];
        let ranks = held("deviceHierarchy").unwrap_or_default();
        Self {
            set: own
                .keys()
                .filter(|name| parameters::parameter(name).is_some())
                .cloned()
                .collect(),
            texts: TEXTS.into_iter().zip(all).collect(),
            features: known.into_iter().collect(),
            ranks: ranks
                .as_array()
                .into_iter()
                .flatten()
                .map(|rank| self::texts(rank).join(", "))
                .collect(),
            forced: forced.into_iter().collect(),
            rows: own
                .iter()
                .filter(|(name, _)| parameters::parameter(name).is_none())
                .map(|(name, value)| (name.clone(), shown(value)))
                .collect(),
        }
    }

    /// What was sent.
    pub fn sent(form: &Fields) -> Self {
        let all = |name| -> BTreeSet<String> { form.all(name).map(ToOwned::to_owned).collect() };
        Self {
            set: all("set"),
            texts: TEXTS
                .into_iter()
                .map(|name| (name, whole_time(form.text(name))))
                .collect(),
            features: all("feature"),
            ranks: form
                .all("rank")
                .map(|rank| rank.trim().to_owned())
                .filter(|rank| !rank.is_empty())
                .collect(),
            forced: all("forced"),
            rows: form
                .all("key")
                .zip(form.all("value"))
                .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                .filter(|(key, value)| !(key.is_empty() && value.is_empty()))
                .collect(),
        }
    }

    /// The settings that the form says, checked, where `own` and `base` are as in [`Form::of`]. For
    /// `all` apps every parameter is said; otherwise those that are ticked as set, and those that
    /// were changed without a tick: nothing that was typed is lost.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the setting.
    pub fn settings(
        &self,
        all: bool,
        own: &Settings,
        base: &Settings,
        zone: &Zone,
    ) -> Result<Settings> {
        let shown = Self::of(own, base, zone);
        let mut settings = Settings::new();
        for parameter in PARAMETERS {
            let name = parameter.name;
            let typed = self.value(name);
            let changed = typed != shown.value(name);
            if !(all || self.sets(name) || (changed && !shown.sets(name))) {
                continue;
            }
            // As it was, in its order, where it still says the same.
            let held = own.get(name).or_else(|| base.get(name)).cloned();
            let value = held.filter(|_| !changed).unwrap_or(typed);
            settings.insert(name.to_owned(), value);
        }
        for (name, typed) in &self.rows {
            if name.is_empty() {
                return Err(Error::invalid(format!("\"{typed}\" has no name")));
            }
            if typed.is_empty() {
                continue;
            }
            if parameters::parameter(name).is_some() || settings.contains_key(name) {
                return Err(Error::invalid(format!("{name}: stands twice")));
            }
            settings.insert(name.clone(), read(name, typed)?);
        }
        parameters::checked("", &settings, zone).map_err(|cause| {
            let message = cause.message.trim_start_matches('.');
            Error::new(cause.kind, message.to_owned())
        })
    }

    fn value(&self, name: &str) -> Value {
        let optional = |text: &str| match text {
            "" => Value::Null,
            text => json!(text),
        };
        match name {
            "availableFeatures" => {
                // In the order of the specification, so that the same ticks are the same setting.
                let known = FEATURES.iter().map(|(name, _)| (*name).to_owned());
                let ticked = known.filter(|name| self.features.contains(name));
                json!(
                    ticked
                        .chain(parts(self.get("features")))
                        .collect::<Vec<_>>()
                )
            }
            "deviceHierarchy" => {
                let ranks: Vec<_> = self.ranks.iter().map(|rank| parts(rank)).collect();
                json!(ranks)
            }
            "forced" => {
                let known = PARAMETERS.iter().map(|known| known.name.to_owned());
                let ticked = known.filter(|name| self.forced.contains(name));
                json!(ticked.chain(parts(self.get("locks"))).collect::<Vec<_>>())
            }
            "allowRejected" => json!(self.get(name) == "yes"),
            name => optional(self.get(name)),
        }
    }

    /// A text of the form.
    pub fn get(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// Whether a parameter is ticked as set here.
    pub fn sets(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    /// Whether a feature is ticked.
    pub fn offers(&self, feature: &str) -> bool {
        self.features.contains(feature)
    }

    /// Whether a parameter is ticked as locked.
    pub fn locks(&self, name: &str) -> bool {
        self.forced.contains(name)
    }

    /// Ranks, with an empty one at the end.
    pub fn ranks(&self) -> Vec<String> {
        let mut ranks = self.ranks.clone();
        ranks.push(String::new());
        ranks
    }

    /// Further settings, with empty rows at the end.
    pub fn rows(&self) -> Vec<(String, String)> {
        let empty = (0..EMPTY_ROWS).map(|_| (String::new(), String::new()));
        self.rows.iter().cloned().chain(empty).collect()
    }
}

/// A browser leaves seconds out where they are zero.
fn whole_time(text: &str) -> String {
    let minute = text.len() == "2026-11-21T09:02".len() && text.as_bytes()[10] == b'T';
    if minute {
        format!("{text}:00")
    } else {
        text.to_owned()
    }
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(ToOwned::to_owned))
        .collect()
}

fn split(names: Vec<String>, known: impl Fn(&str) -> bool) -> (Vec<String>, Vec<String>) {
    names.into_iter().partition(|name| known(name))
}

fn parts(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

/// A value in one line: text as it is, unless it would be read as something else.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text)
            if !text.is_empty()
                && text.trim() == text
                && serde_json::from_str::<Value>(text).is_err()
                && !text.starts_with(['{', '[', '"']) =>
        {
            text.clone()
        }
        other => other.to_string(),
    }
}

/// A value as it was typed: JSON, or else plain text.
fn read(name: &str, typed: &str) -> Result<Value> {
    let wrong = |cause: &dyn std::fmt::Display| Error::invalid(format!("{name}: {cause}"));
    match serde_json::from_str(typed) {
        Ok(value) => {
            json::check_limits(typed.as_bytes()).map_err(|cause| wrong(&cause.message))?;
            Ok(value)
        }
        Err(cause) if typed.starts_with(['{', '[', '"']) => {
            Err(wrong(&format!("this {}", json::fault(&cause))))
        }
        Err(_) => Ok(json!(typed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::apps::Document;

    fn settings(value: &Value) -> Settings {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_form_says_what_the_settings_said() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let base = Document::built_in().default;
        for own in [
            json!({}),
            json!({"enableAt": "2026-11-21T09:02:00+01:00", "disableAt": null}),
            json!({"availableFeatures": ["check-in", "own-thing"], "allowRejected": true, "delegateType": "vip"}),
            json!({"deviceHierarchy": [["organisation"], ["event"], ["session", "room"]], "forced": ["allowRejected", "uiMode"]}),
            json!({"uiMode": "dark", "n": 2, "digits": "2", "deep": {"a": [1, null]}, "quoted": "\"x", "empty": "", "spaced": " x "}),
        ] {
            let own = settings(&own);
            let form = Form::of(&own, &base, &zone);
            assert_eq!(form.settings(false, &own, &base, &zone).unwrap(), own);
        }
        // All parameters are said for all apps.
        let form = Form::of(&base, &base, &zone);
        assert_eq!(form.settings(true, &base, &base, &zone).unwrap(), base);
    }

    #[test]
    fn what_was_changed_without_a_tick_counts_and_a_tick_that_went_takes_it_back() {
        let zone = Zone::default();
        let base = Document::built_in().default;
        let own = settings(&json!({"delegateType": "vip"}));
        let mut form = Form::of(&own, &base, &zone);
        form.texts.insert("allowRejected", "yes".into());
        form.set.remove("delegateType");
        assert_eq!(
            form.settings(false, &own, &base, &zone).unwrap(),
            settings(&json!({"allowRejected": true}))
        );
    }

    fn settings_of(form: &Form) -> Result<Settings> {
        form.settings(false, &Settings::new(), &Settings::new(), &Zone::default())
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (rows, told) in [
            (&[("", "x")][..], "\"x\" has no name"),
            (&[("uiMode", "a"), ("uiMode", "b")], "uiMode: stands twice"),
            (&[("enabledAt", "x")], "enabledAt: stands twice"),
            (&[("uiMode", "{")], "uiMode: this is not valid JSON"),
        ] {
            let form = Form {
                rows: rows
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect(),
                ..Form::default()
            };
            let message = settings_of(&form).unwrap_err().message;
            assert!(message.contains(told), "{message}");
        }
        let mut form = Form::default();
        form.set.insert("enableAt".into());
        form.texts.insert("enableAt", "tomorrow".into());
        let message = settings_of(&form).unwrap_err().message;
        assert!(message.starts_with("enableAt: "), "{message}");
    }
}
