//! The settings of all apps, of a type or of a device, as a form that changes the draft.

use super::{PAGE, path, scope};
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::{
        apps::{
            Settings, configuration,
            parameters::{self, FEATURES, Kind, PARAMETERS, Parameter, in_words, strings},
            scope::{Current, Scope, differences},
        },
        devices::{self, RESOURCE, record::Record},
    },
    types::json,
};
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "configuration/edit.html")]
struct Page {
    layout: Layout,
    scope: Scope,
    /// The device that has the code.
    device: Option<i64>,
    has_own: bool,
    form: Form,
    /// Who changed what is there last.
    who: String,
}

impl Page {
    fn read(connection: &Connection, layout: Layout, scope: Scope, zone: &Zone) -> Result<Self> {
        let current = Current::read(connection)?;
        let base = scope.base(connection, current.document())?;
        let own = scope.settings(current.document());
        let draft_by = current.draft.as_ref().map(|draft| &draft.actor);
        let actor = draft_by.or(current.published.actor.as_ref());
        let mut page = Self {
            device: devices::with_code(connection, scope.code())?.map(|device| device.id),
            has_own: !own.is_empty() && scope != Scope::All,
            form: Form {
                action: path(&scope),
                version: current.mark(),
                groups: groups(scope == Scope::All, &own, &base, zone),
                ..Form::default()
            },
            who: match actor {
                Some(actor) => audit::actor_name(connection, actor)?,
                None => "Somebody".to_owned(),
            },
            layout,
            scope,
        };
        page.layout.title = page.scope.name(connection)?;
        Ok(page)
    }
}

async fn page(request: &RequestContext, scope: Scope) -> Result<Page> {
    let layout = request.layout("App configuration", Some(Area::Configuration));
    let zone = request.console.settings().zone.clone();
    request
        .read(move |connection| Page::read(connection, layout, scope, &zone))
        .await
}

pub async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, scope(&request.query)?).await?)
}

/// The form of the device with an id.
pub async fn of_device(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let record = request.look_up(|connection| Record::find(connection, id))?;
    if record.deleted_at.is_some() {
        return Err(RESOURCE.missing(&id));
    }
    let code = record.text("code").to_owned();
    Ok(answer::go(&path(&Scope::Device(code))))
}

enum Saved {
    Draft,
    /// Nothing differs from what is in force, so there is no draft.
    Same,
    Stale,
}

pub async fn save(request: RequestContext) -> Result<Response> {
    let scope = scope(&request.form)?;
    let (of, form, begun_on) = (
        scope.clone(),
        request.form.clone(),
        request.form.text("version").to_owned(),
    );
    let saved = request
        .write(move |tx, ctx| {
            let current = Current::read(tx)?;
            if current.mark() != begun_on {
                return Ok(Saved::Stale);
            }
            let zone = &ctx.settings.zone;
            let mut document = current.document().clone();
            let settings = if form.text("do") == "remove" && of != Scope::All {
                Settings::new()
            } else {
                let (own, base) = (of.settings(&document), of.base(tx, &document)?);
                typed_settings(&form, of == Scope::All, &own, &base, zone)?
            };
            of.put(&mut document, settings);
            let seen = current.draft.map(|draft| draft.updated_at);
            configuration::save_draft(tx, ctx, &document, seen)?;
            if differences(&current.published.document, &document, zone).is_empty() {
                configuration::discard_draft(tx, ctx)?;
                return Ok(Saved::Same);
            }
            Ok(Saved::Draft)
        })
        .await;
    let cause = match saved {
        Ok(Saved::Draft) => {
            return request.done("Draft saved. Apps get it when you publish it.", PAGE);
        }
        Ok(Saved::Same) => return request.done("Nothing differs from what is in force.", PAGE),
        Ok(Saved::Stale) => None,
        Err(cause) if is_theirs(&cause) => Some(cause),
        Err(cause) => return Err(cause),
    };
    let mut shown = page(&request, scope.clone()).await?;
    if let Some(cause) = cause {
        shown.form.reject(&request.form, &beside_a_field(cause));
    } else {
        let now = page(&request, scope).await?.form;
        shown.form.warn(&request.form, &shown.who, now);
    }
    answer::form_again(&shown)
}

/// The error with the name of the field that shows it.
fn beside_a_field(mut cause: Error) -> Error {
    let (name, rest) = cause.message.split_once(": ").unwrap_or_default();
    let field = match name {
        "availableFeatures" => "features",
        "deviceHierarchy" => "rank",
        "forced" => "locks",
        known if parameters::parameter(known).is_some() => known,
        _ => "",
    };
    cause.message = if field.is_empty() {
        format!("rows: the setting {}", cause.message)
    } else {
        format!("{field}: {rest}")
    };
    cause
}

/// The fields of settings; `own` counts before `base`.
fn groups(is_all: bool, own: &Settings, base: &Settings, zone: &Zone) -> Vec<Group> {
    let group = |known: &'static Parameter| {
        let held = own.get(known.name).or_else(|| base.get(known.name));
        let mut inputs = inputs(known, &shown(known, held, zone));
        if !is_all {
            let otherwise = base.get(known.name).unwrap_or(&Value::Null);
            let otherwise = in_words(known.name, otherwise, zone);
            let own = Choice::new(known.name, "Set here.", own.contains_key(known.name))
                .help(format!("Otherwise: {otherwise}"));
            inputs.insert(0, Input::checks("set", "Own value", vec![own]));
        }
        Group::new(known.label, inputs).help(known.meaning)
    };
    let mut groups: Vec<Group> = PARAMETERS.iter().map(group).collect();
    let is_further = |(name, _): &(&String, &Value)| parameters::parameter(name).is_none();
    let rows = own.iter().filter(is_further);
    let rows: Vec<_> = rows
        .map(|(name, value)| (name.clone(), as_typed(value)))
        .collect();
    let others = base.iter().filter(|other| !is_all && is_further(other));
    let others = others.map(|(name, value)| format!("{name} is {}", in_words(name, value, zone)));
    let others: Vec<String> = others.collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" For all apps: {}.", others.join(", "))
    };
    let help = format!(
        "Settings that only your apps know, such as uiMode. A value is text or JSON; to remove a setting, empty \
         its value.{others}"
    );
    let rows = Input::pairs("rows", "Names and values", &rows);
    groups.push(Group::new("Further settings", vec![rows]).help(help));
    groups
}

fn inputs(known: &'static Parameter, value: &Value) -> Vec<Input> {
    let text = value.as_str().unwrap_or_default();
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
        name if known.kind == Kind::Time => vec![
            Input::line("datetime-local", name, "Time")
                .value(text)
                .attribute("step", "1")
                .help("Leave empty for any time. In the time zone of this instance."),
        ],
        name => vec![Input::text(name, "Type").value(text)],
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
        Kind::Text => held.clone(),
        Kind::Texts => ordered(known, strings(held)),
        Kind::Ranks => match held {
            Value::Null => json!([]),
            ranks => ranks.clone(),
        },
    }
}

/// What the fields of a parameter say.
fn typed(known: &Parameter, form: &Fields) -> Value {
    let name = known.name;
    match known.kind {
        Kind::Time | Kind::Text => match form.text(name) {
            "" => Value::Null,
            time if known.kind == Kind::Time && time.len() == "2026-11-21T09:02".len() => {
                json!(format!("{time}:00"))
            }
            text => json!(text),
        },
        Kind::Flag => json!(form.text(name) == "yes"),
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

/// Names in the order of the form: those with a tick first.
fn ordered<'a>(known: &Parameter, names: impl Iterator<Item = &'a str>) -> Value {
    let has_tick = |name: &&str| match known.name {
        "forced" => is_parameter(name),
        _ => is_feature(name),
    };
    let place = |name: &&str| match known.name {
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
/// not changed stays as it is stored.
fn typed_settings(
    form: &Fields,
    is_all: bool,
    own: &Settings,
    base: &Settings,
    zone: &Zone,
) -> Result<Settings> {
    let mut settings = Settings::new();
    for known in PARAMETERS {
        let name = known.name;
        let held = own.get(name).or_else(|| base.get(name));
        let typed = typed(known, form);
        let is_changed = typed != shown(known, held, zone);
        let has_tick = form.all("set").any(|set| set == name);
        if is_all || has_tick || (is_changed && !own.contains_key(name)) {
            let kept = held.filter(|_| !is_changed).cloned();
            settings.insert(name.to_owned(), kept.unwrap_or(typed));
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
            return Err(Error::invalid(format!("{name}: stands twice")));
        }
        let value = parsed(&name, &typed)?;
        settings.insert(name, value);
    }
    parameters::checked("", &settings, zone).map_err(|cause| {
        let message = cause.message.trim_start_matches('.');
        Error::new(cause.kind, message.to_owned())
    })
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

    /// The form of settings as a browser sends it.
    fn form(is_all: bool, own: &Settings, base: &Settings, zone: &Zone) -> Fields {
        let groups = groups(is_all, own, base, zone);
        Form {
            groups,
            ..Form::default()
        }
        .into_sent()
    }

    fn set(form: &mut Fields, name: &str, value: &str) {
        form.0.retain(|(known, _)| known != name);
        form.0.push((name.to_owned(), value.to_owned()));
    }

    #[test]
    fn a_form_says_what_the_settings_said() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let base = Document::built_in().default;
        for own in [
            json!({}),
            json!({"enableAt": "2026-11-21T09:02:00+01:00", "disableAt": null}),
            json!({"availableFeatures": ["own-thing", "check-in"], "allowRejected": true, "delegateType": "vip"}),
            json!({"deviceHierarchy": [["organisation"], ["event"], ["session", "room"]], "forced": ["allowRejected", "uiMode"]}),
            json!({"uiMode": "dark", "n": 2, "digits": "2", "deep": {"a": [1, null]}, "quoted": "\"x", "empty": "", "spaced": " x "}),
        ] {
            let own = settings(&own);
            let sent = form(false, &own, &base, &zone);
            let read = typed_settings(&sent, false, &own, &base, &zone).unwrap();
            assert_eq!(read, own);
        }
        let sent = form(true, &base, &base, &zone);
        assert_eq!(
            typed_settings(&sent, true, &base, &base, &zone).unwrap(),
            base
        );
    }

    #[test]
    fn what_was_changed_without_a_tick_counts_and_a_tick_that_went_takes_it_back() {
        let zone = Zone::default();
        let base = Document::built_in().default;
        let own = settings(&json!({"delegateType": "vip"}));
        let mut sent = form(false, &own, &base, &zone);
        set(&mut sent, "allowRejected", "yes");
        sent.0.retain(|(name, _)| name != "set");
        assert_eq!(
            typed_settings(&sent, false, &own, &base, &zone).unwrap(),
            settings(&json!({"allowRejected": true}))
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let none = Settings::new();
        let (base, zone) = (Document::built_in().default, Zone::default());
        for (rows, message) in [
            (&[("", "x")][..], "rows: the setting \"x\" has no name"),
            (
                &[("uiMode", "a"), ("uiMode", "b")],
                "rows: the setting uiMode: stands twice",
            ),
            (&[("enabledAt", "x")], "stands twice"),
            (&[("uiMode", "{")], "uiMode: this is not valid JSON"),
            (
                &[("set", "enableAt"), ("enableAt", "tomorrow")],
                "enableAt: ",
            ),
        ] {
            let mut sent = form(false, &none, &base, &zone);
            for (name, value) in rows {
                match *name {
                    "set" | "enableAt" => set(&mut sent, name, value),
                    name => sent.0.extend([
                        ("key".to_owned(), name.to_owned()),
                        ("value".to_owned(), (*value).to_owned()),
                    ]),
                }
            }
            let cause = typed_settings(&sent, false, &none, &base, &zone).unwrap_err();
            let cause = beside_a_field(cause).message;
            assert!(cause.contains(message), "{cause}");
        }
    }
}
