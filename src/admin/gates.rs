//! Gates: what each gate app says of itself and what is wrong, a message to all of them, and the place and
//! the offline policy of each.

use super::configuration::{place_choices, places};
use crate::admin::prelude::*;
use crate::{
    core::{
        audit,
        settings::gate_message::{self, GateMessage, MAX_CHARS},
    },
    domain::{
        apps::{
            OfflinePolicy, Settings, configuration,
            parameters::{self, POLICIES},
            scope::Scope,
            values::Words,
        },
        devices::record::Record,
        gate::fleet::{Gate, Problem, gates},
    },
    identity::App,
    types::{DeviceId, error},
};
use serde_json::{Value, json};

const PAGE: &str = "/console/gates";

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PAGE, show)
        .post("/console/gates/message", send)
        .action("/console/gates/message/clear", clear)
        .action("/console/gates/:id/settings", change)
        .all()
}

#[derive(Template)]
#[template(path = "gates.html")]
struct Page {
    layout: Layout,
    gates: Vec<Line>,
    /// The gate whose settings are changed; the page stands still meanwhile.
    changing: Option<Changing>,
    message: Option<GateMessage>,
    /// When the message was sent, and by whom.
    sent: String,
    /// What was typed, where it could not be sent.
    text: String,
    wrong: Option<String>,
}

struct Line {
    gate: Gate,
    /// Whether it needs somebody now, and what is wrong, in words.
    problems: Vec<(bool, String)>,
    clock: String,
    /// Whom it admits while it is offline, where that is not the usual.
    policy: Option<&'static str>,
}

/// The settings of a gate to choose.
struct Changing {
    device: DeviceId,
    /// What it has of its own.
    seen: String,
    places: Vec<Choice>,
    policies: Vec<Choice>,
}

impl Page {
    fn read(
        connection: &Connection,
        layout: Layout,
        app: &App,
        changing: Option<i64>,
    ) -> Result<Self> {
        let gates = gates(connection, app, Timestamp::now())?;
        let changing = gates.iter().find(|gate| Some(gate.device.0) == changing);
        let zone = &app.settings().zone;
        let changing = changing.map(|gate| Changing::of(connection, gate, zone));
        let message = gate_message::current(connection)?;
        let sent = match &message {
            Some(message) => {
                let by = audit::actor_name(connection, &message.by)?;
                format!("Sent {} by {by}.", layout.clock(&Timestamp(message.at)))
            }
            None => String::new(),
        };
        Ok(Self {
            changing: changing.transpose()?,
            gates: gates
                .into_iter()
                .map(|gate| Line::of(gate, &layout))
                .collect(),
            message,
            sent,
            text: String::new(),
            wrong: None,
            layout,
        })
    }

    /// The form of a gate, if that is the one that is changed.
    fn changing_at(&self, device: &DeviceId) -> Option<&Changing> {
        let changing = self.changing.as_ref();
        changing.filter(|changing| changing.device == *device)
    }

    /// How many need somebody.
    fn in_need(&self) -> usize {
        let in_need = |line: &&Line| line.problems.iter().any(|(is_bad, _)| *is_bad);
        self.gates.iter().filter(in_need).count()
    }
}

impl Line {
    fn of(gate: Gate, layout: &Layout) -> Self {
        let problems = gate.problems.iter();
        Self {
            problems: problems
                .map(|problem| (problem.is_bad(), describe(*problem, layout)))
                .collect(),
            clock: match gate.report.clock_offset_ms {
                Some(offset) if offset.abs() >= 2_000 => {
                    let side = if offset > 0 { "behind" } else { "ahead" };
                    format!("{} {side}", span(offset.abs()))
                }
                Some(_) => "right".to_owned(),
                None => String::new(),
            },
            policy: POLICIES
                .iter()
                .find(|(name, _)| {
                    gate.policy != OfflinePolicy::Admit && *name == gate.policy.name()
                })
                .map(|(_, words)| *words),
            gate,
        }
    }
}

impl Changing {
    fn of(connection: &Connection, gate: &Gate, zone: &Zone) -> Result<Self> {
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
        let [place, policy] = own(&gate.own);
        let chosen: Vec<&str> = Some(&*place)
            .filter(|place| !place.is_empty())
            .into_iter()
            .collect();
        let mut places = place_choices(&offers, &chosen);
        places.insert(0, otherwise("place", &place));
        let mut policies = choices(POLICIES.iter().copied(), &policy);
        policies.insert(0, otherwise("offlinePolicy", &policy));
        Ok(Self {
            device: gate.device,
            seen: format!("{place} {policy}"),
            places,
            policies,
        })
    }
}

/// The place and the policy of a gate's own; empty for those of all apps.
fn own(settings: &Settings) -> [String; 2] {
    ["place", "offlinePolicy"].map(|name| {
        let own = settings.get(name).and_then(Value::as_str);
        own.unwrap_or_default().to_owned()
    })
}

/// `45 s`, `20 min`, `3 h`.
fn span(ms: i64) -> String {
    match ms / 1000 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// Says what is wrong with a gate.
pub(super) fn describe(problem: Problem, layout: &Layout) -> String {
    match problem {
        Problem::NeverSeen => "Not connected yet".to_owned(),
        Problem::Offline(since) => format!("Offline since {}", layout.clock(&since)),
        Problem::FailedUploads(1) => "1 upload failed".to_owned(),
        Problem::FailedUploads(count) => format!("{} uploads failed", layout.number(&count)),
        Problem::Waiting(count, since) => {
            let scans = if count == 1 { "scan" } else { "scans" };
            let since =
                since.map_or_else(String::new, |at| format!(" since {}", layout.clock(&at)));
            format!("{} {scans} waiting{since}", layout.number(&count))
        }
        Problem::NoList => "No list yet".to_owned(),
        Problem::OldList(at) => format!("List {} old", span(Timestamp::now().0 - at.0)),
        Problem::NoPlace => "No place chosen".to_owned(),
        Problem::LowBattery(percent) => format!("Battery {percent} %"),
        Problem::Clock(offset) => format!("Clock {} off", span(offset.abs())),
        Problem::Hidden => "App not on the screen".to_owned(),
        Problem::OtherSettings(version) => format!("Settings of version {version} not there yet"),
        Problem::OtherVersion => "App not up to date: reload it".to_owned(),
    }
}

async fn page(request: &RequestContext) -> Result<Page> {
    let layout = request.layout("Gates", Some(Area::Gates));
    let app = request.console.app().clone();
    let changing = request.query.number("change").ok().flatten();
    request
        .read(move |connection| Page::read(connection, layout, &app, changing))
        .await
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request).await?)
}

async fn send(request: RequestContext) -> Result<Response> {
    let text = request.form.text("text").to_owned();
    let sent = request
        .write(move |tx, ctx| gate_message::send(tx, ctx, &text))
        .await;
    match sent {
        Ok(()) => request.done("Message sent. Gates show it within seconds.", PAGE),
        Err(cause) if is_theirs(&cause) => {
            let mut page = page(&request).await?;
            request.form.text("text").clone_into(&mut page.text);
            let fault = cause.message.trim_start_matches("text: ");
            page.wrong = Some(answer::sentence(fault));
            answer::form_again(&page)
        }
        Err(cause) => Err(cause),
    }
}

fn clear(tx: &Tx<'_>, ctx: &Context, _: &Action) -> Result<Done> {
    gate_message::clear(tx, ctx)?;
    Ok(Done::new("Message cleared.", PAGE))
}

/// Gives a gate a place and a policy of its own, or those of all apps.
fn change(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let device = Record::find(tx, action.id)?;
    let code = device.text("code");
    let current = configuration::published(tx)?.document;
    let kept = current.by_device.get(code).cloned().unwrap_or_default();
    if own(&kept).join(" ").trim() != action.form.text("seen") {
        return Err(Error::new(
            error::Kind::CodeTaken,
            format!(
                "somebody else changed {} meanwhile; look at its settings now",
                device.name
            ),
        ));
    }
    let [place, policy] = ["place", "policy"].map(|name| action.form.filled(name));
    let mut changes = Settings::new();
    for (name, typed) in [("place", place), ("offlinePolicy", policy)] {
        changes.insert(
            name.to_owned(),
            typed.map_or(Value::Null, |typed| json!(typed)),
        );
    }
    parameters::checked("settings", &changes, &ctx.settings.zone)?;
    configuration::change_device(tx, ctx, code, &changes)?;
    let message = format!(
        "{} changed. The gate follows with its next contact.",
        device.name
    );
    Ok(Done::new(message, PAGE))
}
