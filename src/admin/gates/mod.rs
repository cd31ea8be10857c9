//! Gates as a control room: every gate, app and reader by urgency, with what is wrong and what to do first; the
//! settings of one, and a message to all gates.

mod setup;
pub(super) mod words;

use crate::admin::prelude::*;
use crate::{
    core::{
        audit,
        settings::gate_message::{self, GateMessage, MAX_CHARS},
    },
    domain::{
        apps::{OfflinePolicy, parameters::POLICIES},
        devices::called_at_place,
        gate::fleet::{self, Gate, Problem},
        readers::{service::Shown, state::Connection as Connected},
    },
    types::DeviceId,
};
use setup::Changing;

const PAGE: &str = "/console/gates";
/// Places that are named of a reader.
const PLACES_NAMED: usize = 2;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PAGE, show)
        .post("/console/gates/message", send)
        .action("/console/gates/message/clear", clear)
        .post("/console/gates/:id/settings", setup::change)
        .post("/console/gates/:id/kiosk", setup::kiosk)
        .post("/console/gates/:id/pin", setup::set_pin)
        .all()
}

#[derive(Template)]
#[template(path = "gates/page.html")]
struct Page {
    layout: Layout,
    /// Devices that need somebody, the most urgent first.
    urgent: Vec<Line>,
    working: Vec<Line>,
    /// Gates, other apps and readers: how many there are, and how many have contact.
    counts: [(&'static str, &'static str, usize, usize); 3],
    /// The gate whose settings are open.
    changing: Option<Changing>,
    /// The outcome of a change that was made in place.
    told: Option<Told>,
    message: Option<GateMessage>,
    /// The time when the message was sent, and its author.
    sent: String,
    /// The typed text, where it could not be sent.
    text: String,
    wrong: Option<String>,
}

/// The outcome of a change.
struct Told {
    text: String,
    is_fault: bool,
}

impl Told {
    fn done(text: String) -> Self {
        let is_fault = false;
        Self { text, is_fault }
    }

    fn fault(text: String) -> Self {
        let is_fault = true;
        Self { text, is_fault }
    }
}

/// A gate, an app or a reader.
struct Line {
    device: DeviceId,
    name: String,
    /// `gate`, `kiosk`, `app` or `reader`.
    kind: &'static str,
    places: Vec<(i64, String)>,
    /// True if people feel it now; `None` where nothing is wrong.
    is_bad: Option<bool>,
    symbol: &'static str,
    /// The troubles, the worst first, and what to do about them.
    told: String,
    advice: String,
    seen_at: Option<Timestamp>,
    is_online: bool,
    last_scan: Option<Timestamp>,
    queue: i64,
    battery: String,
    clock: String,
    /// The attendees that it admits while it is offline, where those are not the usual ones.
    policy: Option<&'static str>,
}

impl Line {
    fn of(gate: Gate, layout: &Layout) -> Self {
        let worst = gate.problems.first().copied();
        // Scans wait because there is no contact, as the advice says.
        let is_cut_off = |one: &&Problem| {
            matches!(worst, Some(Problem::Offline(_))) && matches!(one, Problem::Waiting(..))
        };
        let told = gate.problems.iter().filter(|one| !is_cut_off(one));
        let told: Vec<_> = told.map(|one| words::problem(*one, layout)).collect();
        Self {
            device: gate.device,
            kind: match (gate.is_gate, gate.is_kiosk) {
                (false, _) => "app",
                (true, false) => "gate",
                (true, true) => "kiosk",
            },
            is_bad: worst.map(|worst| gate.is_bad(worst)),
            symbol: worst.map_or("online", words::symbol),
            told: told.join(", "),
            advice: worst.map_or_else(String::new, |one| words::advice(&gate, one, layout)),
            clock: words::clock(gate.report.clock_offset_ms.map(|behind| -behind)),
            policy: POLICIES
                .iter()
                .find(|(name, _)| {
                    gate.is_gate
                        && gate.policy != OfflinePolicy::Admit
                        && *name == gate.policy.name()
                })
                .map(|(_, words)| *words),
            places: gate
                .place
                .into_iter()
                .map(|(id, name)| (id.0, name))
                .collect(),
            name: gate.name,
            seen_at: gate.seen_at,
            is_online: gate.is_online,
            last_scan: gate.last_scan,
            queue: gate.report.queue,
            battery: gate
                .report
                .battery
                .map_or_else(String::new, |percent| format!("{percent} %")),
        }
    }

    fn of_reader(reader: Shown, layout: &Layout, place_name: impl Fn(i64) -> String) -> Self {
        let problems = words::of_reader(&reader, layout);
        let told: Vec<_> = problems.iter().map(|(_, what, _)| what.as_str()).collect();
        let antennas = reader.config.setup.antennas.iter();
        let mut places: Vec<i64> = antennas
            .filter_map(|one| reader.config.watched(one.antenna))
            .map(|watched| watched.place)
            .collect();
        places.sort_unstable();
        places.dedup();
        let (is_online, seen_at) = match reader.state.connection {
            Connected::Connected(_) => (true, Some(layout.now())),
            Connected::Posting => (true, reader.state.last_read),
            _ => (false, reader.state.last_read),
        };
        let worst = problems.first();
        Self {
            device: DeviceId(reader.id),
            kind: "reader",
            is_bad: worst.map(|(is_bad, ..)| *is_bad),
            symbol: match worst {
                Some((true, ..)) => "offline",
                Some(_) => "warn",
                None => "online",
            },
            told: told.join(", "),
            advice: worst.map_or_else(String::new, |(.., advice)| advice.clone()),
            places: places
                .into_iter()
                .take(PLACES_NAMED)
                .map(|id| (id, place_name(id)))
                .collect(),
            seen_at,
            is_online,
            last_scan: reader.state.last_read,
            queue: 0,
            battery: "mains".to_owned(),
            clock: words::clock(reader.state.clock_offset_ms),
            policy: None,
            name: reader.config.name,
        }
    }

    /// Tells when it was heard of last.
    fn seen(&self) -> String {
        self.seen_at
            .map_or_else(|| "never".to_owned(), words::since)
    }

    /// The symbol of what it is.
    fn icon(&self) -> &'static str {
        match self.kind {
            "reader" => "readers",
            "app" => "person",
            _ => "gates",
        }
    }

    fn is_of_gates(&self) -> bool {
        ["gate", "kiosk"].contains(&self.kind)
    }

    fn has_no_place(&self) -> bool {
        self.is_of_gates() && self.places.is_empty()
    }
}

impl Page {
    fn read(
        connection: &Connection,
        layout: Layout,
        console: &super::Console,
        changing: Option<i64>,
    ) -> Result<Self> {
        let app = console.app();
        let gates = fleet::gates(connection, app, Timestamp::now())?;
        let open = gates
            .iter()
            .find(|gate| gate.is_gate && Some(gate.device.0) == changing);
        let zone = &app.settings().zone;
        let changing = open.map(|gate| Changing::of(connection, gate, zone));
        let name = |place| called_at_place(connection, DeviceId(place)).unwrap_or_default();
        let readers = console.readers.shown().into_iter();
        let readers = readers.map(|reader| Line::of_reader(reader, &layout, name));
        let gates = gates.into_iter().map(|gate| Line::of(gate, &layout));
        let mut lines: Vec<Line> = gates.chain(readers).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.is_bad));
        let count = |kind: fn(&Line) -> bool| {
            let of_kind = || lines.iter().filter(|line| kind(line));
            (
                of_kind().count(),
                of_kind().filter(|line| line.is_online).count(),
            )
        };
        let counts = [
            ("gate", "gates", count(Line::is_of_gates)),
            ("reader", "readers", count(|line| line.kind == "reader")),
            ("other app", "other apps", count(|line| line.kind == "app")),
        ];
        let message = gate_message::current(connection)?;
        let sent = match &message {
            Some(message) => {
                let by = audit::actor_name(connection, &message.by)?;
                say(format!(
                    "Sent {} by {by}.",
                    layout.clock(&Timestamp(message.at))
                ))
            }
            None => String::new(),
        };
        let (urgent, working) = lines.into_iter().partition(|line| line.is_bad.is_some());
        Ok(Self {
            changing: changing.transpose()?,
            urgent,
            working,
            counts: counts.map(|(one, several, (all, online))| (one, several, all, online)),
            told: None,
            message,
            sent,
            text: String::new(),
            wrong: None,
            layout,
        })
    }

    /// The settings of a gate, where they are open.
    fn changing_at(&self, line: &Line) -> Option<&Changing> {
        let changing = self.changing.as_ref();
        changing.filter(|changing| changing.device == line.device)
    }

    /// `9 of 10 gates and 2 of 2 readers in contact`.
    fn contact(&self) -> String {
        let counts = self.counts.iter().filter(|(_, _, all, _)| *all > 0);
        let counts: Vec<_> = counts
            .map(|(one, several, all, online)| {
                let name = if *all == 1 { one } else { several };
                let count = tx("gates-count-in-contact").with("online", online);
                count.with("all", all).with("name", say(name)).to_string()
            })
            .collect();
        match counts.split_last() {
            None => String::new(),
            Some((last, [])) => tx("gates-in-contact").with("all", last).to_string(),
            Some((last, others)) => {
                let text = tx("gates-all-in-contact").with("others", others.join(", "));
                text.with("last", last).to_string()
            }
        }
    }

    /// The address at which the list is renewed.
    fn address(&self) -> String {
        match &self.changing {
            Some(changing) => format!("{PAGE}?change={}", changing.device),
            None => PAGE.to_owned(),
        }
    }
}

/// The page with the settings of a gate open, and what came of a change.
async fn shown(
    request: &RequestContext,
    changing: Option<i64>,
    told: Option<Told>,
) -> Result<Page> {
    let layout = request.layout("Gates", Some(Area::Gates));
    let console = std::sync::Arc::clone(&request.console);
    let read = move |connection: &Connection| Page::read(connection, layout, &console, changing);
    let mut page = request.read(read).await?;
    page.told = told;
    Ok(page)
}

async fn show(request: RequestContext) -> Result<Response> {
    let changing = request.query.number("change").ok().flatten();
    answer::page(&shown(&request, changing, None).await?)
}

async fn send(request: RequestContext) -> Result<Response> {
    let text = request.form.text("text").to_owned();
    let sent = request
        .write(move |tx, ctx| gate_message::send(tx, ctx, &text))
        .await;
    match sent {
        Ok(()) => request.done("Message sent. Gates show it within seconds.", PAGE),
        Err(mut cause) if is_theirs(&cause) => {
            let mut page = shown(&request, None, None).await?;
            request.form.text("text").clone_into(&mut page.text);
            cause.field.retain(|field| field != "text");
            page.wrong = Some(answer::sentence(&cause));
            answer::form_again(&page)
        }
        Err(cause) => Err(cause),
    }
}

fn clear(tx: &Tx<'_>, ctx: &Context, _: &Action) -> Result<Done> {
    gate_message::clear(tx, ctx)?;
    Ok(Done::new("Message cleared.", PAGE))
}
