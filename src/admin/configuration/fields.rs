//! The fields of settings: from the settings to a form, and from what was typed back to settings.

use super::tasks::Task;
use crate::admin::prelude::*;
use crate::{
    domain::{
        apps::{
            Settings,
            parameters::{self, FEATURES, Kind, PARAMETERS, Parameter},
            pin,
            values::{self, Words, strings},
        },
        devices::Offer,
    },
    types::{json, text::whole},
};
use serde_json::{Value, json};

/// The fields of settings, of one task or of all; `own` counts before `base`.
pub fn groups(
    is_all: bool,
    task: Option<&Task>,
    own: &Settings,
    base: &Settings,
    words: &Words<'_>,
) -> Vec<Group> {
    let zone = words.zone;
    let group = |known: &'static Parameter| {
        let held = held(known, own, base, zone);
        let mut inputs = match known.kind {
            Kind::Pin => pin_inputs(known, held),
            _ => inputs(known, &shown(known, held, zone), words.places),
        };
        if !is_all {
            let otherwise = base.get(known.name).unwrap_or(&Value::Null);
            let otherwise = words.say(known.name, otherwise);
            let otherwise = tx("configuration-otherwise").with("value", otherwise);
            let own = Choice::new(known.name, "Set here.", own.contains_key(known.name))
                .help(otherwise.to_string());
            inputs.insert(0, Input::checks("set", "Own value", vec![own]));
        }
        Group::new(known.label, inputs).help(known.meaning)
    };
    let is_shown = |name: &str| task.is_none_or(|task| task.has(name));
    let known = PARAMETERS.iter().filter(|known| is_shown(known.name));
    let mut groups: Vec<Group> = known.map(group).collect();
    if task.is_some_and(|task| !task.has("")) {
        return groups;
    }
    let is_further = |(name, _): &(&String, &Value)| parameters::parameter(name).is_none();
    let rows = own.iter().filter(is_further);
    let rows: Vec<_> = rows
        .map(|(name, value)| (name.clone(), as_typed(value)))
        .collect();
    let others = base.iter().filter(|other| !is_all && is_further(other));
    let others = others.map(|(name, value)| {
        let other = tx("configuration-name-is-value").with("name", name);
        other.with("value", words.say(name, value)).to_string()
    });
    let others: Vec<String> = others.collect();
    let help = if others.is_empty() {
        t("configuration-further-settings-help")
    } else {
        let help = tx("configuration-further-settings-help-for-all");
        help.with("others", others.join(", ")).to_string()
    };
    let rows = Input::pairs("rows", "Names and values", &rows);
    groups.push(Group::new("Further settings", vec![rows]).help(help));
    groups
}

/// Returns the value of a setting; `None` where it is not set, or to one that cannot be used.
fn held<'a>(
    known: &Parameter,
    own: &'a Settings,
    base: &'a Settings,
    zone: &Zone,
) -> Option<&'a Value> {
    let usable = |settings: &'a Settings| {
        let value = settings.get(known.name)?;
        let is_earlier_pin = known.kind == Kind::Pin && value.is_string();
        let is_usable = is_earlier_pin || values::checked("", known.kind, value, zone).is_ok();
        is_usable.then_some(value)
    };
    usable(own).or_else(|| usable(base))
}

/// A PIN is replaced or removed, and never shown.
fn pin_inputs(known: &'static Parameter, held: Option<&Value>) -> Vec<Input> {
    let is_set = held.is_some_and(|held| !held.is_null());
    let label = if is_set { "New PIN" } else { "PIN" };
    let mut typed = Input::line("password", known.name, label)
        .attribute("autocomplete", "new-password")
        .attribute("inputmode", "numeric")
        .attribute("pattern", "[0-9]{6,8}");
    if is_set {
        typed = typed.help("A PIN is set. Leave empty to keep it.");
    }
    let mut inputs = vec![typed];
    if is_set {
        inputs.push(Input::flag(NO_PIN, "Remove the PIN"));
    }
    inputs
}

/// The field that removes the PIN.
const NO_PIN: &str = "noSupervisorPin";

/// The places to choose from; a selector of another one, which a file brought, stays to be chosen.
pub fn place_choices(places: &[Offer], chosen: &[&str]) -> Vec<Choice> {
    let offered = places
        .iter()
        .map(|place| (format!("code:{}", place.code), place.with_type()));
    let mut all: Vec<(String, String)> = offered.collect();
    for selector in chosen {
        if !all.iter().any(|(known, _)| known == selector) {
            all.push(((*selector).to_owned(), (*selector).to_owned()));
        }
    }
    let choice = |(value, label): (String, String)| {
        let is_chosen = chosen.contains(&&*value);
        Choice::named(value, label, is_chosen)
    };
    all.into_iter().map(choice).collect()
}

fn inputs(known: &'static Parameter, value: &Value, places: &[Offer]) -> Vec<Input> {
    let chosen: Vec<&str> = strings(value).collect();
    match known.name {
        "availableFeatures" => {
            let features = FEATURES
                .iter()
                .map(|(name, about)| Choice::new(*name, *name, chosen.contains(name)).help(*about));
            let others = chosen.iter().filter(|name| !is_feature(name));
            let others: Vec<&str> = others.copied().collect();
            vec![
                Input::checks("feature", "Features", features),
                Input::text("features", "Others, separated by commas")
                    .value(others.join(", "))
                    .wide(),
            ]
        }
        "forced" => {
            let others = PARAMETERS.iter().filter(|other| other.name != known.name);
            let parameters = others
                .map(|other| Choice::new(other.name, other.label, chosen.contains(&other.name)));
            let others = chosen.iter().filter(|name| !is_parameter(name));
            let others: Vec<&str> = others.copied().collect();
            let label = "Others by name, separated by commas";
            vec![
                Input::checks("forced", "Settings", parameters),
                Input::text("locks", label).value(others.join(", ")).wide(),
            ]
        }
        "deviceHierarchy" => {
            let ranks = value.as_array().into_iter().flatten();
            let ranks = ranks.map(|rank| strings(rank).collect::<Vec<_>>().join(", "));
            let ranks: Vec<String> = ranks.collect();
            vec![
                Input::area("rank", "Ranks", 4)
                    .value(ranks.join("\n"))
                    .wide()
                    .help(
                        "A line a rank, the highest first. Separate types of one rank by commas.",
                    ),
            ]
        }
        "allowRejected" => {
            let all = [
                ("no", "No: refused attendees stay outside."),
                (
                    "yes",
                    "Yes: the gate admits them all the same, and it is recorded.",
                ),
            ];
            let chosen = if *value == json!(true) { "yes" } else { "no" };
            let choices = engine::choices(all, chosen);
            vec![Input::radios(known.name, known.label, choices)]
        }
        name => vec![input(name, known, value, places)],
    }
}

/// The field of a setting that is like others of its kind.
fn input(name: &'static str, known: &'static Parameter, value: &Value, places: &[Offer]) -> Input {
    let text = value.as_str().unwrap_or_default();
    let chosen: Vec<&str> = strings(value).collect();
    match known.kind {
        Kind::Flag => {
            let chosen = if *value == json!(true) { "yes" } else { "no" };
            let choices = engine::choices([("no", "No"), ("yes", "Yes")], chosen);
            Input::radios(name, known.label, choices)
        }
        Kind::Place => {
            let chosen: Vec<&str> = value.as_str().into_iter().collect();
            let mut choices = place_choices(places, &chosen);
            choices.insert(0, Choice::new("", "chosen in the app", text.is_empty()));
            Input::select(name, known.label, choices)
        }
        Kind::Places => Input::checks(name, "Places", place_choices(places, &chosen))
            .help("All may be chosen where none is ticked."),
        Kind::OneOf(choices) => {
            let choices = engine::choices(choices.iter().copied(), text);
            Input::radios(name, "The gate admits", choices)
        }
        Kind::AnyOf(all) => {
            let choice = |(value, label): &(&'static str, &'static str)| {
                Choice::new(*value, *label, chosen.contains(value))
            };
            // Those with a tick first, so that their order is sent back.
            let mut all = all.to_vec();
            let place = |value: &str| chosen.iter().position(|one| *one == value);
            all.sort_by_key(|(value, _)| place(value).unwrap_or(usize::MAX));
            Input::checks(name, "Languages", all.iter().map(choice))
        }
        Kind::Number(least, most) => {
            let number = value.as_i64().map(|number| number.to_string());
            Input::number(name, "Seconds", least.into(), most.into())
                .value(number.unwrap_or_default())
        }
        Kind::Texts => Input::words(name, "Types, separated by commas")
            .value(chosen.join(", "))
            .wide(),
        Kind::Time => Input::line("datetime-local", name, "Time")
            .value(text)
            .attribute("step", "1")
            .help("Leave empty for any time. In the time zone of this instance."),
        _ => Input::text(name, "Type").value(text),
    }
}

fn is_feature(name: &str) -> bool {
    FEATURES.iter().any(|(known, _)| *known == name)
}

fn is_parameter(name: &str) -> bool {
    PARAMETERS.iter().any(|known| known.name == name)
}

/// A value as its fields send it.
fn shown(known: &Parameter, held: Option<&Value>, zone: &Zone) -> Value {
    let held = held.unwrap_or(&Value::Null);
    match known.kind {
        Kind::Time => match zone.read(known.name, held) {
            Ok(at) => json!(zone.plain(at).replace(' ', "T")),
            Err(_) => Value::Null,
        },
        Kind::Flag => json!(*held == json!(true)),
        Kind::Text | Kind::Place | Kind::Number(..) => held.clone(),
        Kind::Texts => ordered(known, strings(held)),
        Kind::Places => chosen(strings(held)),
        Kind::AnyOf(_) => listed(strings(held).collect()),
        Kind::OneOf(choices) => match (held, choices.first()) {
            (Value::Null, Some((usual, _))) => json!(usual),
            _ => held.clone(),
        },
        Kind::Pin => Value::Null,
        Kind::Ranks => match held {
            Value::Null => json!([]),
            ranks => ranks.clone(),
        },
    }
}

/// Reads the value from the fields of a parameter.
fn typed(known: &Parameter, form: &Fields) -> Value {
    let name = known.name;
    match known.kind {
        Kind::OneOf(choices) => json!(
            form.filled(name)
                .or(choices.first().map(|(usual, _)| *usual))
        ),
        Kind::Time | Kind::Text | Kind::Place => match form.text(name) {
            "" => Value::Null,
            time if known.kind == Kind::Time && time.len() == "2026-11-21T09:02".len() => {
                json!(format!("{time}:00"))
            }
            text => json!(text),
        },
        Kind::Flag => json!(form.text(name) == "yes"),
        Kind::Pin => match form.text(name) {
            "" if form.ticked(NO_PIN) => json!(""),
            "" => Value::Null,
            pin => json!(pin),
        },
        Kind::Number(..) => match form.text(name) {
            "" => Value::Null,
            text => whole::<i64>(text).map_or_else(|_| json!(text), |number| json!(number)),
        },
        Kind::Places => chosen(form.all(name)),
        Kind::AnyOf(_) => listed(form.all(name).collect()),
        Kind::Texts if name == "walkInTypes" => json!(parts(form.text(name)).collect::<Vec<_>>()),
        Kind::Texts => {
            let (checks, others) = match name {
                "forced" => ("forced", "locks"),
                _ => ("feature", "features"),
            };
            ordered(known, form.all(checks).chain(parts(form.text(others))))
        }
        Kind::Ranks => {
            let lines = form.all("rank").flat_map(str::lines);
            let ranks = lines.map(|line| parts(line).collect::<Vec<_>>());
            json!(ranks.filter(|rank| !rank.is_empty()).collect::<Vec<_>>())
        }
    }
}

/// Returns the names that are ticked, in whichever order; `null` for none.
fn chosen<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    listed(names)
}

/// Names in their order; `null` for none.
fn listed(names: Vec<&str>) -> Value {
    if names.is_empty() {
        Value::Null
    } else {
        json!(names)
    }
}

/// Names in the order of the form: those with a tick first.
fn ordered<'a>(known: &Parameter, names: impl Iterator<Item = &'a str>) -> Value {
    let has_tick = |name: &&str| match known.name {
        "forced" => is_parameter(name),
        "walkInTypes" => false,
        _ => is_feature(name),
    };
    let place = |name: &&str| match known.name {
        "walkInTypes" => None,
        "forced" => PARAMETERS.iter().position(|other| other.name == *name),
        _ => FEATURES.iter().position(|(other, _)| other == name),
    };
    let (mut ticked, others): (Vec<&str>, Vec<&str>) = names.partition(has_tick);
    ticked.sort_by_key(place);
    json!([ticked, others].concat())
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(',').map(str::trim);
    parts.filter(|part| !part.is_empty())
}

/// The settings that were typed: those with a tick, and those that were changed without one. What was
/// not changed, and what belongs to other tasks, stays as it is stored.
pub fn typed_settings(
    form: &Fields,
    is_all: bool,
    task: Option<&Task>,
    own: &Settings,
    base: &Settings,
    zone: &Zone,
) -> Result<Settings> {
    let is_shown = |name: &str| task.is_none_or(|task| task.has(name));
    let mut settings = left_alone(own, is_shown)?;
    for known in PARAMETERS.iter().filter(|known| is_shown(known.name)) {
        let name = known.name;
        let held = held(known, own, base, zone);
        let typed = typed(known, form);
        let is_changed = typed != shown(known, held, zone);
        let has_tick = form.all("set").any(|set| set == name);
        let counts = if is_all {
            held.is_some() || is_changed
        } else {
            has_tick || (is_changed && !own.contains_key(name))
        };
        if counts {
            // A PIN that is removed is typed as empty.
            let typed = if typed == json!("") {
                Value::Null
            } else {
                typed
            };
            let value = match held.filter(|_| !is_changed) {
                None => typed,
                // One that an earlier version kept as text may be shorter than those of today.
                Some(kept) if known.kind == Kind::Pin => pin::sent(kept)?,
                Some(kept) => kept.clone(),
            };
            settings.insert(name.to_owned(), value);
        }
    }
    for (name, typed) in form.pairs() {
        if name.is_empty() {
            return Err(Error::invalid(format!("\"{typed}\" has no name")));
        }
        if typed.is_empty() {
            continue;
        }
        if parameters::parameter(&name).is_some() || settings.contains_key(&name) {
            return Err(Error::field(name, "stands twice"));
        }
        let value = parsed(&name, &typed)?;
        settings.insert(name, value);
    }
    parameters::checked("", &settings, zone)
}

/// The settings that a form does not have, as they are stored.
fn left_alone(own: &Settings, is_shown: impl Fn(&str) -> bool) -> Result<Settings> {
    let others = own.iter().filter(|(name, _)| !is_shown(name));
    let kept = others.map(|(name, value)| {
        let is_pin = name == pin::SUPERVISOR_PIN;
        let value = if is_pin {
            pin::sent(value)?
        } else {
            value.clone()
        };
        Ok((name.clone(), value))
    });
    kept.collect()
}

/// A further setting as text, where that is read back as the same; otherwise as JSON.
fn as_typed(value: &Value) -> String {
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

fn parsed(name: &str, typed: &str) -> Result<Value> {
    let wrong = |cause: &dyn std::fmt::Display| Error::field(name, cause);
    match serde_json::from_str(typed) {
        Ok(value) => {
            json::check_limits(typed.as_bytes()).map_err(|cause| cause.at(name))?;
            Ok(value)
        }
        Err(cause) if typed.starts_with(['{', '[', '"']) => {
            Err(wrong(&format!("this {}", json::fault(&cause))))
        }
        Err(_) => Ok(json!(typed)),
    }
}

#[cfg(test)]
mod tests;
