//! The first run: the first administrator, the name of the instance, and the place *Entrance* where gate
//! apps check in.

use crate::{
    core::{
        Context,
        records::write as records,
        settings::{self, logo},
    },
    db::Tx,
    domain::{apps::configuration, devices},
    identity::users::{self, NewUser},
    types::{UserId, error::Result},
};
use serde_json::{Map, Value, json};

/// A way in which people enter: what an administrator chooses on the first run.
#[derive(Debug)]
pub struct Admission {
    pub name: &'static str,
    pub label: &'static str,
    pub help: &'static str,
    /// `data.Access` of the entrance of an event of one day.
    rules: fn() -> Value,
}

impl Admission {
    /// `data.Access` of the entrance. On several days tickets that enter once enter on each.
    fn rules(&self, several_days: bool) -> Value {
        let mut rules = (self.rules)();
        if several_days && rules["entry"] == "single" {
            rules = json!({"ruleSet": rules["ruleSet"], "entry": "daily"});
        }
        rules
    }
}

/// The lengths of an event to choose from.
pub const DAYS: [(&str, &str, &str); 2] = [
    ("one", "One day", ""),
    (
        "several",
        "Several days",
        "One entry per ticket is one on each day then.",
    ),
];

pub const ADMISSIONS: [Admission; 3] = [
    Admission {
        name: "once",
        label: "One entry per ticket",
        help: "A ticket that was used is refused.",
        rules: || json!({"ruleSet": "open", "entry": "single", "maxCheckIns": 1}),
    },
    Admission {
        name: "again",
        label: "Come and go",
        help: "A ticket may be scanned again. The gate shows when it was used before.",
        rules: || json!({"ruleSet": "open", "entry": "multiple"}),
    },
    Admission {
        name: "registered",
        label: "Registered attendees only",
        help: "Only those who joined or booked the entrance or its event, once each.",
        rules: || json!({"ruleSet": "simple", "entry": "single", "maxCheckIns": 1}),
    },
];

/// The code of the place that the first run creates.
const ENTRANCE: &str = "entrance";
/// The setting of gate apps that names, as a selector, where they check in.
const PLACE: &str = "place";

/// Creates the entrance, and has gate apps check in there unless they are told otherwise.
fn create_entrance(
    tx: &Tx<'_>,
    ctx: &Context,
    admission: &Admission,
    several_days: bool,
) -> Result<()> {
    let properties = json!({
        "name": "Entrance", "code": ENTRANCE, "deviceType": "room",
        "data": {"Access": admission.rules(several_days)},
    });
    if let Value::Object(properties) = properties {
        records::create(tx, ctx, &devices::RESOURCE, properties)?;
    }
    let mut document = configuration::published(tx)?.document;
    let place = json!(format!("code:{ENTRANCE}"));
    document.default.insert(PLACE.to_owned(), place);
    configuration::publish(tx, ctx, &document)?;
    Ok(())
}

/// The choices of an administrator on the first run.
pub struct FirstRun {
    pub administrator: NewUser,
    pub settings: Map<String, Value>,
    pub logo: Option<Vec<u8>>,
    pub admission: Option<&'static Admission>,
    pub several_days: bool,
}

/// Sets the instance up; `None` where it has an administrator already.
pub fn set_up(tx: &Tx<'_>, ctx: &Context, first: &FirstRun) -> Result<Option<UserId>> {
    if users::has_administrator(tx)? {
        return Ok(None);
    }
    settings::save(tx, ctx, &first.settings)?;
    if let Some(logo) = &first.logo {
        logo::save(tx, ctx, logo)?;
    }
    if let Some(admission) = first.admission {
        create_entrance(tx, ctx, admission, first.several_days)?;
    }
    users::create(tx, ctx, &first.administrator).map(Some)
}
