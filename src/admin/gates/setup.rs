//! Place, kiosk, walk-ins, policy and PIN of one gate, switched where it stands. Each applies at once: a draft of the
//! app configuration is not published with it.

use super::{Told, shown};
use crate::admin::prelude::*;
use crate::{
    admin::{
        configuration::{place_choices, places},
        form::mark,
    },
    domain::{
        apps::{
            Kiosk, Settings, configuration,
            parameters::{self, POLICIES},
            pin::{self, SUPERVISOR_PIN},
            scope::Scope,
            values::{Words, strings},
        },
        devices::record::Record,
        gate::fleet::Gate,
    },
    types::{DeviceId, error},
};
use serde_json::{Value, json};

/// The feature that registers people.
const CREATE: &str = "delegate-create";
/// Settings that are switched here, beside the PIN.
const OWN: [&str; 5] = [
    "place",
    "offlinePolicy",
    "kiosk",
    "kioskWalkIn",
    "availableFeatures",
];

/// The settings of a gate to choose.
pub(super) struct Changing {
    pub device: DeviceId,
    /// The version of its own settings.
    pub seen: String,
    pub places: Vec<Choice>,
    pub policies: Vec<Choice>,
    pub is_kiosk: bool,
    pub has_walk_ins: bool,
    /// The PIN that ends a kiosk and opens the supervisors' menu: of its own, of all gates, or none.
    pub pin: &'static str,
    pub has_own_pin: bool,
}

impl Changing {
    pub fn of(connection: &Connection, gate: &Gate, zone: &Zone) -> Result<Self> {
        let offers = places(connection)?;
        let words = Words {
            zone,
            places: &offers,
        };
        let document = configuration::published(connection)?.document;
        let base = Scope::Device(gate.code.clone()).base(connection, &document)?;
        let otherwise = |name: &str, own: &str| {
            let value = words.say(name, base.get(name).unwrap_or(&Value::Null));
            Choice::new("", format!("as for all apps: {value}"), own.is_empty())
        };
        let own = |name: &str| {
            let own = gate.own.get(name).and_then(Value::as_str);
            own.unwrap_or_default().to_owned()
        };
        let (place, policy) = (own("place"), own("offlinePolicy"));
        let chosen: Vec<&str> = Some(&*place)
            .filter(|place| !place.is_empty())
            .into_iter()
            .collect();
        let mut places = place_choices(&offers, &chosen);
        places.insert(0, otherwise("place", &place));
        let mut policies = choices(POLICIES.iter().copied(), &policy);
        policies.insert(0, otherwise("offlinePolicy", &policy));
        let is_set = |settings: &Settings| {
            let pin = settings.get(SUPERVISOR_PIN);
            pin.is_some_and(|pin| !pin.is_null())
        };
        Ok(Self {
            device: gate.device,
            seen: seen(&gate.own),
            places,
            policies,
            is_kiosk: gate.is_kiosk,
            has_walk_ins: has_walk_ins(&gate.settings),
            pin: match (is_set(&gate.own), is_set(&gate.settings)) {
                (true, _) => "This gate has a PIN of its own.",
                (false, true) => "The PIN of all gates counts here.",
                (false, false) => "No PIN is set: a kiosk then ends only here.",
            },
            has_own_pin: is_set(&gate.own),
        })
    }
}

/// A mark of the settings that a gate has of its own.
fn seen(own: &Settings) -> String {
    mark(&OWN.map(|name| own.get(name)))
}

fn has_feature(settings: &Settings) -> bool {
    let features = settings.get("availableFeatures").unwrap_or(&Value::Null);
    strings(features).any(|feature| feature == CREATE)
}

fn is_on(settings: &Settings, name: &str) -> bool {
    settings.get(name) == Some(&Value::Bool(true))
}

/// Returns whether people are registered at it: by themselves at a kiosk, by the crew at a gate.
fn has_walk_ins(settings: &Settings) -> bool {
    match Kiosk::of(settings) {
        Some(kiosk) => kiosk.walk_in,
        None => has_feature(settings),
    }
}

/// Returns the changes that the switches make to the settings of a gate, which has those of `base` unless it has its
/// own.
fn switched(sent: &Fields, now: &Settings, base: &Settings) -> Settings {
    let mut changes = Settings::new();
    for (name, field) in [("place", "place"), ("offlinePolicy", "policy")] {
        let typed = sent.filled(field);
        changes.insert(
            name.to_owned(),
            typed.map_or(Value::Null, |typed| json!(typed)),
        );
    }
    // What is as for all apps stays so when that changes.
    let mut set = |name: &str, value: Value| {
        let is_base = base.get(name).unwrap_or(&json!(false)) == &value;
        let value = if is_base { Value::Null } else { value };
        changes.insert(name.to_owned(), value);
    };
    let (is_kiosk, walk_ins) = (sent.ticked("kiosk"), sent.ticked("walkIns"));
    if is_kiosk != is_on(now, "kiosk") {
        set("kiosk", json!(is_kiosk));
    }
    if walk_ins != has_walk_ins(now) {
        if walk_ins != has_feature(now) && (walk_ins || !is_on(now, "kiosk")) {
            let features = now.get("availableFeatures").unwrap_or(&Value::Null);
            let mut features: Vec<&str> =
                strings(features).filter(|name| *name != CREATE).collect();
            if walk_ins {
                features.push(CREATE);
            }
            set("availableFeatures", json!(features));
        }
        if is_kiosk {
            set("kioskWalkIn", json!(walk_ins));
        }
    }
    changes
}

fn changed(name: &str) -> String {
    format!("{name} changed. The gate follows at its next contact.")
}

/// Gives a gate settings of its own, or those of all apps.
pub(super) async fn change(request: RequestContext) -> Result<Response> {
    let (id, sent) = (request.id("id")?, request.form.clone());
    let work = request.write(move |tx, ctx| {
        let device = Record::find(tx, id)?;
        let code = device.text("code");
        let document = configuration::published(tx)?.document;
        let own = document.by_device.get(code).cloned().unwrap_or_default();
        if seen(&own) != sent.text("seen") {
            return Err(Error::new(
                error::Kind::CodeTaken,
                format!(
                    "somebody else changed {} meanwhile; look at its settings now",
                    device.name
                ),
            ));
        }
        let base = Scope::Device(code.to_owned()).base(tx, &document)?;
        let kind = Some(device.kind()).filter(|kind| !kind.is_empty());
        let changes = switched(&sent, &document.effective(kind, code), &base);
        // What is taken away needs no check.
        let set = changes.iter().filter(|(_, value)| !value.is_null());
        let set: Settings = set
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        parameters::checked("settings", &set, &ctx.settings.zone)?;
        configuration::change_device(tx, ctx, code, &changes)?;
        Ok(device.name)
    });
    let told = work.await.map(|name| changed(&name));
    answered(&request, id, told).await
}

/// Makes a gate a kiosk, or a gate again.
pub(super) async fn kiosk(request: RequestContext) -> Result<Response> {
    let (id, is_kiosk) = (request.id("id")?, request.form.text("kiosk") == "1");
    let work = request.write(move |tx, ctx| {
        let device = Record::find(tx, id)?;
        let code = device.text("code");
        let document = configuration::published(tx)?.document;
        let base = Scope::Device(code.to_owned()).base(tx, &document)?;
        // What is as for all apps stays so when that changes.
        let value = if is_on(&base, "kiosk") == is_kiosk {
            Value::Null
        } else {
            json!(is_kiosk)
        };
        let changes = Settings::from_iter([("kiosk".to_owned(), value)]);
        configuration::change_device(tx, ctx, code, &changes)?;
        let now = if is_kiosk { "a kiosk" } else { "a gate" };
        Ok(format!(
            "{} becomes {now} at its next contact.",
            device.name
        ))
    });
    match work.await {
        Ok(told) if request.is_part() => {
            answer::page(&shown(&request, None, Some(Told::done(told))).await?)
        }
        Ok(told) => request.done(told, super::PAGE),
        Err(cause) => Err(cause),
    }
}

/// Gives a gate a PIN of its own, or takes it away.
pub(super) async fn set_pin(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let is_removed = request.form.text("do") == "remove";
    let typed = if is_removed {
        Value::Null
    } else {
        json!(request.form.text("pin"))
    };
    let name = |connection: &Connection| {
        let device = Record::find(connection, id)?;
        pin::check("supervisor PIN", &typed)?;
        Ok(device)
    };
    let device = match request.look_up(name) {
        Ok(device) => device,
        Err(cause) => return answered(&request, id, Err(cause)).await,
    };
    // Too slow for the writer's thread.
    let hashed = request.read(move |_| pin::hashed(&typed, None)).await?;
    let code = device.text("code").to_owned();
    let changes = Settings::from_iter([(SUPERVISOR_PIN.to_owned(), hashed)]);
    let work = request.write(move |tx, ctx| configuration::change_device(tx, ctx, &code, &changes));
    let told = work.await.map(|_| changed(&device.name));
    answered(&request, id, told).await
}

/// The page with what came of it; the settings stay open.
async fn answered(request: &RequestContext, id: i64, told: Result<String>) -> Result<Response> {
    match told {
        Ok(told) if request.is_part() => {
            answer::page(&shown(request, Some(id), Some(Told::done(told))).await?)
        }
        Ok(told) => request.done(told, &format!("{}?change={id}#gate-{id}", super::PAGE)),
        Err(cause) if is_theirs(&cause) && cause.kind != error::Kind::DeviceNotFound => {
            let fault = answer::sentence(&cause);
            answer::form_again(&shown(request, Some(id), Some(Told::fault(fault))).await?)
        }
        Err(cause) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(value: Value) -> Settings {
        value.as_object().cloned().unwrap_or_default()
    }

    fn changes(sent: &[(&str, &str)], own: &Value) -> Value {
        let base = settings(json!({"availableFeatures": ["check-in"], "place": "code:hall"}));
        let mut now = base.clone();
        now.extend(settings(own.clone()));
        let sent = sent
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut changes = switched(&Fields(sent.collect()), &now, &base);
        changes.retain(|name, _| !["place", "offlinePolicy"].contains(&name.as_str()));
        changes.into()
    }

    #[test]
    fn what_is_as_for_all_apps_is_no_setting_of_its_own() {
        let kiosk = json!({"kiosk": true});
        let crew = json!({"availableFeatures": ["check-in", "delegate-create"]});
        let both = json!({"kiosk": true, "kioskWalkIn": true, "availableFeatures": ["check-in", "delegate-create"]});
        for (sent, own, expected) in [
            (&[][..], &json!({}), json!({})),
            (&[("kiosk", "1")], &json!({}), json!({"kiosk": true})),
            (&[("kiosk", "1")], &kiosk, json!({})),
            (&[], &kiosk, json!({"kiosk": null})),
            (&[("walkIns", "1")], &json!({}), crew.clone()),
            (&[], &crew, json!({"availableFeatures": null})),
            // What the crew may do is not yet for everybody.
            (
                &[("kiosk", "1"), ("walkIns", "1")],
                &crew,
                json!({"kiosk": true}),
            ),
            (
                &[("kiosk", "1"), ("walkIns", "1")],
                &kiosk,
                json!({"kioskWalkIn": true, "availableFeatures": ["check-in", "delegate-create"]}),
            ),
            (&[("kiosk", "1")], &both, json!({"kioskWalkIn": null})),
        ] {
            assert_eq!(changes(sent, own), expected, "{sent:?} {own}");
        }
    }
}
