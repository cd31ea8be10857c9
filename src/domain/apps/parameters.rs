//! The settings that apps know (spec: Device configuration, the table of parameters; those of the gate app),
//! each with its meaning and its kind. Whatever has another name is a setting of some app's own: it is kept
//! and sent as it is.

use super::{
    pin::{self, SUPERVISOR_PIN},
    values,
};
use crate::types::{
    Zone,
    error::{Error, Result},
    text,
};
use serde_json::{Map, Value, json};

pub use super::values::Kind;

/// Characters of a parameter's name.
const NAME_MAX_CHARS: usize = 100;

/// A setting that apps know.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The name of the parameter in the console.
    pub label: &'static str,
    /// Another spelling, taken and sent as well.
    pub also: Option<&'static str>,
    pub kind: Kind,
    /// The effect of the parameter, for whoever sets it.
    pub meaning: &'static str,
    /// Set where an app may set it for itself, unless it is forced.
    pub local: bool,
}

/// Parameters of the specification, then those of the gate app.
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
    Parameter { name: "place", label: "Place", also: None, kind: Kind::Place, local: true,
        meaning: "Where a gate checks in. A gate goes there at once when you publish another place." },
    Parameter { name: "places", label: "Places to choose from", also: None, kind: Kind::Places, local: false,
        meaning: "The places that may be chosen in a gate, beside its own." },
    Parameter { name: "offlinePolicy", label: "While offline", also: None, kind: Kind::OneOf(POLICIES), local: false,
        meaning: "Whom a gate admits while the server does not answer." },
    Parameter { name: SUPERVISOR_PIN, label: "Supervisor PIN", also: None, kind: Kind::Pin, local: false,
        meaning: "With it a supervisor replaces lost badges at a gate and, where refused attendees may be admitted, lets them in. 6 to 8 digits. Apps get a hash of it; set for one device, it is for that device alone." },
    Parameter { name: "walkInTypes", label: "Types of walk-ins", also: None, kind: Kind::Texts, local: false,
        meaning: "The types to choose from when somebody is registered at a gate. Needs the feature delegate-create." },
    Parameter { name: "kiosk", label: "Kiosk", also: None, kind: Kind::Flag, local: false,
        meaning: "Attendees check themselves in, with large buttons and without a list." },
    Parameter { name: "kioskLanguages", label: "Languages of kiosks", also: None, kind: Kind::AnyOf(LANGUAGES), local: false,
        meaning: "The languages that attendees choose from, the first to start in; all where none is ticked." },
    Parameter { name: "kioskWalkIn", label: "Walk-ins at kiosks", also: None, kind: Kind::Flag, local: false,
        meaning: "People without a ticket register themselves. Needs the feature delegate-create." },
    Parameter { name: "kioskIdleSeconds", label: "Kiosks start over after", also: None, kind: Kind::Number(IDLE_S.0, IDLE_S.1), local: false,
        meaning: "Seconds without a touch, 10 to 600; 45 unless set." },
];

/// The people whom a gate admits while it is offline; the first unless set.
pub const POLICIES: &[(&str, &str)] = &[
    ("admit", "Whom the list and the rules admit"),
    ("joined-only", "Registered attendees only"),
    ("hold", "Nobody until the server answers"),
];

/// The languages of kiosks.
pub const LANGUAGES: &[(&str, &str)] = &[
    ("en", "English"),
    ("de", "German"),
    ("fr", "French"),
    ("es", "Spanish"),
    ("da", "Danish"),
];

/// The least and the most seconds after which a kiosk starts over.
pub const IDLE_S: (u16, u16) = (10, 600);

/// The values of `availableFeatures` that every app knows, each with what it means.
pub const FEATURES: &[(&str, &str)] = &[
    ("check-in", "let guests in"),
    ("check-out", "note that guests leave"),
    ("lead", "record leads"),
    ("delegate-create", "register new attendees"),
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

/// Settings that were checked: names in their first spelling, times in ISO 8601, without a PIN that is
/// masked. `path` is where they stand, for messages; empty where they stand alone.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the parameter and what would be right.
pub fn checked(
    path: &str,
    settings: &Map<String, Value>,
    zone: &Zone,
) -> Result<Map<String, Value>> {
    let mut read = Map::new();
    let field = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for (name, value) in settings {
        let place = field(&text::shortened(name));
        check_name(&place, name)?;
        if name == SUPERVISOR_PIN && pin::is_masked(value) {
            continue;
        }
        let value = match parameter(name) {
            Some(known) => values::checked(&place, known.kind, value, zone)?,
            None => value.clone(),
        };
        let name = canonical(name);
        if read.get(name).is_some_and(|before| *before != value) {
            return Err(Error::invalid(format!(
                "differs from {}, which is another spelling of it",
                field(name)
            ))
            .at(place));
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
        Err(Error::field(
            place,
            format!("a setting's name has 1 to {NAME_MAX_CHARS} characters"),
        ))
    }
}

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

/// The name of a parameter in the console: its label, or the name of one that only apps know.
#[must_use]
pub fn label(name: &str) -> &str {
    parameter(name).map_or(name, |known| known.label)
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
            (
                json!({"place": null, "places": ["id:5", "code:a:b"], "offlinePolicy": "hold", "supervisorPin": {"salt": "00"}}),
                json!({"place": null, "places": ["id:5", "code:a:b"], "offlinePolicy": "hold"}),
            ),
            (
                json!({"kiosk": true, "kioskLanguages": ["da"], "kioskIdleSeconds": 600, "supervisorPin": "081500"}),
                json!({"kiosk": true, "kioskLanguages": ["da"], "kioskIdleSeconds": 600, "supervisorPin": "081500"}),
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
            (json!({"place": "hall"}), "default.place: must name a place"),
            (
                json!({"places": "code:hall"}),
                "default.places: must be a list",
            ),
            (
                json!({"places": ["code:hall", 5]}),
                "default.places: must be a list",
            ),
            (
                json!({"offlinePolicy": "all"}),
                "must be admit, joined-only or hold",
            ),
            (
                json!({"supervisorPin": "12"}),
                "supervisorPin: must have 6 to 8 digits",
            ),
            (
                json!({"kiosk": "yes"}),
                "default.kiosk: must be true or false",
            ),
            (
                json!({"kioskLanguages": ["en", "tlh"]}),
                "a list of en, de, fr, es",
            ),
            (
                json!({"kioskIdleSeconds": 5}),
                "kioskIdleSeconds: must be a whole number from 10 to 600",
            ),
            (json!({"walkInTypes": [""]}), "default.walkInTypes"),
        ] {
            let message = read(&given).unwrap_err().to_string();
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
