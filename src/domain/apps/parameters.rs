//! The settings that apps know (spec: Device configuration, the table of parameters), each with its
//! meaning, its kind and its check. Whatever has another name is a setting of some app's own: it is
//! kept and sent as it is.

use crate::types::{
    Zone,
    error::{Error, Result},
    text,
};
use serde_json::{Map, Value, json};

/// Characters of a parameter's name.
const NAME_MAX_CHARS: usize = 100;

/// A parameter of the specification.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What the console calls it.
    pub label: &'static str,
    /// Another spelling, taken and sent as well.
    pub also: Option<&'static str>,
    /// What it holds.
    pub kind: Kind,
    /// What it does, for whoever sets it.
    pub meaning: &'static str,
    /// Whether an app may set it for itself, unless it is forced.
    pub local: bool,
}

/// What a parameter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A time, or `null`.
    Time,
    /// True or false.
    Flag,
    /// A text, or `null`.
    Text,
    /// A list of texts.
    Texts,
    /// A list of lists of texts.
    Ranks,
}

/// Every parameter of the specification.
#[rustfmt::skip]
pub const PARAMETERS: &[Parameter] = &[
    Parameter { name: "availableFeatures", label: "Features", also: None, kind: Kind::Texts, local: true,
        meaning: "What the app offers." },
    Parameter { name: "deviceHierarchy", label: "Ranks of places", also: None, kind: Kind::Ranks, local: false,
        meaning: "The ranks of places, from the event down. Guests are checked in at the lowest; the ranks above organise who may enter." },
    Parameter { name: "allowRejected", label: "Admit refused attendees", also: None, kind: Kind::Flag, local: true,
        meaning: "Let guests in whom the rules refuse: the app joins them first, and if that does not help, overrides." },
    Parameter { name: "delegateType", label: "Type of new attendees", also: None, kind: Kind::Text, local: true,
        meaning: "The type of delegates that the app creates." },
    Parameter { name: "enableAt", label: "Works from", also: Some("enabledAt"), kind: Kind::Time, local: false,
        meaning: "The app does not work before this time." },
    Parameter { name: "disableAt", label: "Works until", also: Some("disabledAt"), kind: Kind::Time, local: false,
        meaning: "The app does not work after this time." },
    Parameter { name: "forced", label: "Locked in the app", also: None, kind: Kind::Texts, local: false,
        meaning: "What must not be changed in the app." },
];

/// The values of `availableFeatures` that every app knows, each with what it means.
pub const FEATURES: &[(&str, &str)] = &[
    ("check-in", "let guests in"),
    ("check-out", "note that guests leave"),
    ("lead", "record leads"),
    ("delegate-create", "create delegates"),
    ("delegate-search", "search delegates by name"),
    (
        "ping",
        "tell the server regularly that the app is there, its time, failed uploads and configuration",
    ),
    (
        "ping-info",
        "tell battery, status, position and network as well",
    ),
];

/// The parameter of this name, in whichever spelling.
pub fn parameter(name: &str) -> Option<&'static Parameter> {
    PARAMETERS
        .iter()
        .find(|known| known.name == name || known.also == Some(name))
}

/// The name as settings hold it: the first of two spellings.
pub fn canonical(name: &str) -> &str {
    parameter(name).map_or(name, |known| known.name)
}

/// Settings that were checked: names in their first spelling, times in ISO 8601. `path` is where
/// they stand, for messages.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the parameter and what would be right.
pub fn checked(
    path: &str,
    settings: &Map<String, Value>,
    zone: &Zone,
) -> Result<Map<String, Value>> {
    let mut read = Map::new();
    for (name, value) in settings {
        let place = format!("{path}.{}", text::shortened(name));
        check_name(&place, name)?;
        let value = match parameter(name) {
            Some(known) => checked_value(&place, known.kind, value, zone)?,
            None => value.clone(),
        };
        let name = canonical(name);
        if read.get(name).is_some_and(|before| *before != value) {
            return Err(Error::invalid(format!(
                "{place}: differs from {path}.{name}, which is another spelling of it"
            )));
        }
        read.insert(name.to_owned(), value);
    }
    Ok(read)
}

fn check_name(place: &str, name: &str) -> Result<()> {
    let fits = !name.is_empty() && name.chars().count() <= NAME_MAX_CHARS && !name.contains('\0');
    if fits {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "{place}: a setting's name has 1 to {NAME_MAX_CHARS} characters"
        )))
    }
}

fn checked_value(place: &str, kind: Kind, value: &Value, zone: &Zone) -> Result<Value> {
    let wrong = |right: &str| Err(Error::invalid(format!("{place}: must be {right}")));
    match (kind, value) {
        (Kind::Time | Kind::Text, Value::Null) | (Kind::Flag, Value::Bool(_)) => Ok(value.clone()),
        (Kind::Time, value) => Ok(json!(zone.iso(zone.read(place, value)?))),
        (Kind::Flag, _) => wrong("true or false"),
        (Kind::Text, Value::String(text)) => {
            text::check_text(place, text)?;
            Ok(value.clone())
        }
        (Kind::Text, _) => wrong("a string or null"),
        (Kind::Texts, Value::Array(items)) if texts(items) => Ok(value.clone()),
        (Kind::Texts, _) => wrong("a list of strings"),
        (Kind::Ranks, Value::Array(ranks)) if ranks.iter().all(is_rank) => Ok(value.clone()),
        (Kind::Ranks, _) => wrong(
            "a list of lists of device types, such as [[\"event\"], [\"location\", \"room\"], [\"session\"]]",
        ),
    }
}

fn texts(items: &[Value]) -> bool {
    items
        .iter()
        .all(|item| item.as_str().is_some_and(|text| !text.is_empty()))
}

fn is_rank(rank: &Value) -> bool {
    rank.as_array()
        .is_some_and(|types| !types.is_empty() && texts(types))
}

/// The setting with the supervisors' PIN, which apps are sent as a hash alone.
pub const SUPERVISOR_PIN: &str = "supervisorPin";

/// Settings as apps are sent them: both spellings of each name that has two, in `forced` too.
pub fn spelled_out(mut settings: Map<String, Value>) -> Map<String, Value> {
    settings.remove(SUPERVISOR_PIN);
    if let Some(Value::Array(forced)) = settings.get_mut("forced") {
        for known in PARAMETERS {
            let named = |name: &str| forced.iter().any(|forced| forced == name);
            if let Some(also) = known.also
                && (named(known.name) || named(also))
            {
                forced.retain(|name| name != known.name && name != also);
                forced.extend([json!(known.name), json!(also)]);
            }
        }
    }
    for known in PARAMETERS {
        if let (Some(also), Some(value)) = (known.also, settings.get(known.name)) {
            settings.insert(also.to_owned(), value.clone());
        }
    }
    settings
}

/// What the console calls a parameter: its label, or the name of one that only apps know.
#[must_use]
pub fn label(name: &str) -> &str {
    parameter(name).map_or(name, |known| known.label)
}

/// A value as the console shows it.
#[must_use]
pub fn in_words(name: &str, value: &Value, zone: &Zone) -> String {
    let listed = |names: &[&str]| match names {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    match (parameter(name).map(|known| known.kind), value) {
        (Some(Kind::Time), Value::Null) => "at any time".to_owned(),
        (Some(Kind::Time), at) => match zone.read(name, at) {
            Ok(at) => zone.plain(at),
            Err(_) => at.to_string(),
        },
        (_, Value::Null) => "none".to_owned(),
        (Some(Kind::Flag), Value::Bool(true)) => "yes".to_owned(),
        (Some(Kind::Flag), Value::Bool(false)) => "no".to_owned(),
        (Some(Kind::Texts), names) if name == "forced" => {
            let names = strings(names).map(label);
            listed(&names.collect::<Vec<_>>())
        }
        (Some(Kind::Texts), names) => listed(&strings(names).collect::<Vec<_>>()),
        (Some(Kind::Ranks), ranks) => {
            let ranks = ranks.as_array().into_iter().flatten();
            let ranks = ranks.map(|rank| strings(rank).collect::<Vec<_>>().join(" or "));
            ranks.collect::<Vec<_>>().join(" › ")
        }
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

/// The texts of a list.
pub fn strings(list: &Value) -> impl Iterator<Item = &str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &Value) -> Result<Value> {
        let object = settings.as_object().unwrap();
        checked("default", object, &Zone::named("Europe/Berlin").unwrap()).map(Value::Object)
    }

    #[test]
    fn settings_are_read_in_either_spelling() {
        for (given, kept) in [
            (
                json!({"enabledAt": 1_795_248_120, "disableAt": null}),
                json!({"enableAt": "2026-11-21T09:02:00+01:00", "disableAt": null}),
            ),
            (
                json!({"enableAt": "2026-11-21 09:02:00", "enabledAt": "2026-11-21T08:02:00Z"}),
                json!({"enableAt": "2026-11-21T09:02:00+01:00"}),
            ),
            (
                json!({"availableFeatures": ["check-in", "own"], "uiMode": {"dark": true}, "delegateType": null}),
                json!({"availableFeatures": ["check-in", "own"], "uiMode": {"dark": true}, "delegateType": null}),
            ),
        ] {
            assert_eq!(read(&given).unwrap(), kept);
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (given, named) in [
            (
                json!({"allowRejected": "yes"}),
                "default.allowRejected: must be true or false",
            ),
            (
                json!({"availableFeatures": "check-in"}),
                "default.availableFeatures",
            ),
            (
                json!({"availableFeatures": [1]}),
                "default.availableFeatures",
            ),
            (
                json!({"forced": [["a"]]}),
                "default.forced: must be a list of strings",
            ),
            (json!({"forced": "allowRejected"}), "default.forced"),
            (
                json!({"deviceHierarchy": ["event"]}),
                "default.deviceHierarchy",
            ),
            (json!({"deviceHierarchy": [[]]}), "default.deviceHierarchy"),
            (json!({"delegateType": 1}), "default.delegateType"),
            (json!({"disabledAt": "tomorrow"}), "default.disabledAt"),
            (
                json!({"enableAt": null, "enabledAt": 0}),
                "another spelling",
            ),
            (json!({"": 1}), "name has 1 to"),
        ] {
            let message = read(&given).unwrap_err().message;
            assert!(message.contains(named), "{given}: {message}");
        }
    }

    #[test]
    fn apps_are_sent_both_spellings() {
        let settings = json!({"enableAt": null, "forced": ["disabledAt", "uiMode"], "uiMode": 1});
        let sent = spelled_out(settings.as_object().unwrap().clone());
        assert_eq!(
            Value::Object(sent),
            json!({"enableAt": null, "enabledAt": null, "forced": ["uiMode", "disableAt", "disabledAt"], "uiMode": 1})
        );
    }
}
