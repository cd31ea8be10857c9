//! Name, time zone, address and origins; beside them the logo, the default entry rules, and facts.

use super::{layout, scans, times, walk_ins};
use crate::admin::prelude::*;
use crate::{
    admin::{engine::SettingsForm, entry_types},
    core::settings::{self, logo},
    db::Durability,
    domain::{devices::rule_texts, tickets},
};
use serde_json::{Value, json};

const HERE: &str = "/console/settings";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .post(HERE, |request| save(request, 0))
        .post("/console/settings/access", |request| save(request, 1))
        .post("/console/settings/outgoing", |request| save(request, 2))
        .post("/console/settings/change-feed", |request| save(request, 3))
        .post("/console/settings/presence", |request| save(request, 4))
        .post("/console/settings/interaction-types", |request| {
            save(request, 5)
        })
        .post("/console/settings/walk-ins", |request| save(request, 6))
        .post("/console/settings/scans", |request| save(request, 7))
        .post("/console/settings/logo", put_logo)
        .action("/console/settings/logo/remove", |tx, ctx, _| {
            logo::remove(tx, ctx)?;
            Ok(Done::new("Logo removed.", HERE))
        })
}

#[derive(Template)]
#[template(path = "settings/general.html")]
struct Page {
    layout: Layout,
    forms: Vec<Form>,
    trial: scans::Trial,
    /// The address that the command line gave.
    flag: Option<String>,
    /// The address to try from outside, and its QR code.
    outside: Option<(String, String)>,
    logo: Option<Timestamp>,
    file: String,
    version: &'static str,
    safe: bool,
}

impl Page {
    /// The page, with a form on it that could not be saved.
    fn new(request: &RequestContext, again: Option<Form>) -> Result<Self> {
        let console = &request.console;
        let (stored, logo) = request
            .look_up(|connection| Ok((settings::stored(connection)?, logo::since(connection)?)))?;
        let forms = FORMS.iter().map(|form| form.form(&stored));
        let mut forms = forms.collect::<Result<Vec<Form>>>()?;
        if let Some(again) = again
            && let Some(form) = forms.iter_mut().find(|form| form.action == again.action)
        {
            *form = again;
        }
        let outside = console.public_url().map(|url| {
            let address = format!("{url}{}{}", tickets::PATH, tickets::TRIAL);
            tickets::data_url(&address).map(|picture| (address, picture))
        });
        Ok(Self {
            outside: outside.transpose()?,
            layout: layout(request, "Settings"),
            forms,
            trial: request.look_up(|connection| scans::Trial::new(connection, &request.query))?,
            flag: console.public_url.clone(),
            logo,
            file: console.store.path().display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            safe: console.store.durability() == Durability::Full,
        })
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request, None)?)
}

async fn save(request: RequestContext, form: usize) -> Result<Response> {
    let form = &FORMS[form];
    let before = request.console.settings().zone.clone();
    match form.save(&request).await? {
        None if let Some(question) = times::path(&request, &before)? => {
            request.done("Saved. One question is left.", &question)
        }
        None => request.done(form.saved, HERE),
        Some(again) => answer::form_again(&Page::new(&request, Some(again))?),
    }
}

async fn put_logo(mut request: RequestContext) -> Result<Response> {
    let content = match request.upload() {
        Some(upload) => upload.small(logo::MAX_BYTES).await,
        None => Ok(Vec::new()),
    };
    let saved = match content {
        Ok(content) => {
            let work = request.write(move |tx, ctx| logo::save(tx, ctx, &content));
            work.await
        }
        Err(cause) => Err(cause),
    };
    match saved {
        Ok(()) => request.done("Logo saved. It is shown here and in the apps.", HERE),
        Err(cause) => request.failed(cause, show).await,
    }
}

/// The choices of who may sign in to apps with a code.
const CODES: [(&str, &str); 5] = [
    ("", "Existing users (nothing set)"),
    ("off", "Nobody: passwords only"),
    ("users", "Existing users"),
    (
        "delegates",
        "Users, and attendees with an e-mail address of their own",
    ),
    ("anyone", "Anybody with an e-mail address"),
];

const RULE_SETS: [(&str, &str); 3] = [
    ("", "Everybody with a known code (nothing set)"),
    ("open", "Everybody with a known code"),
    ("simple", "Registered attendees only"),
];

const ENTRIES: [(&str, &str); 4] = [
    ("", "Any number of times (nothing set)"),
    ("multiple", "Any number of times"),
    ("single", "Again only after checking out"),
    ("daily", "Again only after checking out, or on another day"),
];

static FORMS: [SettingsForm; 8] = [
    SettingsForm {
        heading: "The instance",
        path: HERE,
        defaults: || json!({"timeZone": "UTC", "dayStartsAt": settings::DAY_STARTS_AT.to_string(), "publicUrlReachable": false}),
        inputs: general_inputs,
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "Entry rules",
        help: "Every room, session or gate can have rules of its own. These apply where it has none.",
        path: "/console/settings/access",
        part_of: Some("access"),
        inputs: access_inputs,
        shown: entry_types::shown,
        stored: entry_types::stored,
        saved: "Saved. The rules apply at every gate that has none of its own.",
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "Outgoing calls",
        path: "/console/settings/outgoing",
        part_of: Some("outgoing"),
        defaults: || json!({"allowLocal": false}),
        inputs: || {
            let local = Input::flag("allowLocal", "Programs on this machine may be called");
            vec![local.wide().help(
                "By webhooks and gateways for messages. Without it they reach the internet and this \
                 network, but neither this machine nor link-local addresses.",
            )]
        },
        saved: "Saved. It applies to calls from now on.",
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "Change feed",
        path: "/console/settings/change-feed",
        part_of: Some("changeFeed"),
        defaults: || json!({"keepDays": settings::FEED_KEPT_DAYS}),
        inputs: || {
            let days = Input::number("keepDays", "Days that deletions are kept", 1, 3_650);
            vec![days.required().help(
                "A copy of the data that was not updated for longer begins with a snapshot again.",
            )]
        },
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "UHF readers",
        help: "How tag reads become entries and exits. A place overrides these in its section Presence.",
        path: "/console/settings/presence",
        part_of: Some("presence"),
        defaults: presence_defaults,
        inputs: presence_inputs,
        saved: "Saved. It applies to reads from now on.",
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "Interaction types",
        path: "/console/settings/interaction-types",
        part_of: Some("interactionTypes"),
        defaults: || json!({"knownOnly": false}),
        inputs: || {
            let known = Input::flag("knownOnly", "Known types only");
            vec![known.wide().help(
                "Interactions of other types are refused, which finds misspelt ones. Leave it off where an app \
                 records types of its own.",
            )]
        },
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "Walk-ins at the desk",
        path: "/console/settings/walk-ins",
        part_of: Some("walkIn"),
        inputs: walk_ins::inputs,
        shown: walk_ins::shown,
        stored: walk_ins::stored,
        check: walk_ins::check,
        saved: "Saved. The desk asks for these prices from now on.",
        ..SettingsForm::EMPTY
    },
    SettingsForm {
        heading: "Scanned codes",
        path: "/console/settings/scans",
        part_of: Some("scans"),
        inputs: scans::inputs,
        saved: "Saved. It applies to scans from now on, at gates within seconds.",
        ..SettingsForm::EMPTY
    },
];

fn general_inputs() -> Vec<Input> {
    vec![
        Input::text("name", "Name of the event or the venue")
            .max(200)
            .placeholder("Gatepost"),
        Input::text("timeZone", "Time zone")
            .offered(Zone::names())
            .help("The venue's time zone, such as Europe/Berlin."),
        Input::line("time", "dayStartsAt", "A day begins at").help(
            "For rules that count by days. What happens after midnight and before it belongs to the day before.",
        ),
        Input::line("url", "publicUrl", "Address of this server for apps")
            .wide()
            .placeholder("https://gate.example.org")
            .help(
                "Leave it empty unless a proxy or a name stands before this machine: then the address \
                 that was called is used. The option --public-url takes precedence.",
            ),
        Input::flag("publicUrlReachable", "This address is reachable from outside")
            .wide()
            .help(
                "Attendees get pages for their tickets and certificates there, without signing in. Try it first, below.",
            ),
        Input::lines("corsOrigins", "Web apps that may call the API", 3)
            .wide()
            .help(
                "One address a line, such as https://gate.example.org. Empty: any web app may, with a \
                 token of its own.",
            ),
        Input::select("oneTimePasswords", "Sign-in to apps with a code by e-mail", CODES)
            .wide()
            .help(
                "A person without a user becomes one with the first sign-in, tied to the attendee with \
                 that address. Apps send the code, or people ask for it at /otp.",
            ),
    ]
}

fn presence_defaults() -> Value {
    json!({
        "rssiFloorDbm": -70, "moveDb": 6, "minReads": 2, "windowMs": 2000, "goneAfterSeconds": 60, "doorDeadSeconds": 5,
    })
}

fn presence_inputs() -> Vec<Input> {
    vec![
        Input::number("rssiFloorDbm", "Weakest read that counts, in dBm", -120, 0)
            .decimal()
            .help("Calibrate readers suggests a value."),
        Input::number("moveDb", "Lead of another room, in dB", 0, 40)
            .decimal()
            .help("How much better another room must hear a tag before somebody moves there."),
        Input::number("minReads", "Reads that make a sighting", 1, 20),
        Input::number("windowMs", "Milliseconds for these reads", 100, 60_000),
        Input::number(
            "goneAfterSeconds",
            "Seconds without a read until somebody has left a room",
            1,
            86_400,
        ),
        Input::number(
            "doorDeadSeconds",
            "Seconds for which a doorway ignores who has just passed",
            0,
            3_600,
        ),
    ]
}

fn access_inputs() -> Vec<Input> {
    let number = |name, label| Input::number(name, label, 0, i64::from(u32::MAX));
    let mut inputs = vec![
        Input::select("ruleSet", "Who", RULE_SETS),
        Input::select("entry", "How often", ENTRIES),
        number("maxCheckIns", "Check-ins per person")
            .placeholder("any number")
            .help("1 makes every ticket good for one entry, ever or each day."),
        Input::select("per", "These check-ins are counted", rule_texts::PER),
        number("capacity", "People inside at a time")
            .placeholder("any number")
            .help("When so many are inside, the next one waits for somebody to check out."),
        number("opensBefore", "Opens before the start")
            .placeholder("any time")
            .help("Minutes before the start from which people are let in."),
        number("closesAfter", "Closes after the end")
            .placeholder("any time")
            .help("Minutes after the end until which people are let in."),
    ];
    inputs.extend(entry_types::inputs("All types (nothing set)"));
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::presence::PresenceSettings;

    #[test]
    fn the_form_shows_the_defaults_of_presence() {
        let shown = PresenceSettings::parse("presence", &presence_defaults());
        assert_eq!(shown.expect("settings"), PresenceSettings::default());
    }
}
