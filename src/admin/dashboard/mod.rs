//! The dashboard: the state of the event now. A stream renews its parts, rendered once a beat for everybody
//! of a role.
//!
//! - `attention`: what needs somebody; `chart`: arrivals by the time of day
//! - `wall`: the same numbers for a screen in the foyer, and the link that opens it

mod attention;
mod chart;
pub mod wall;

use super::{Console, layout::bytes, live::Shared};
use crate::admin::prelude::*;
use crate::{
    core::settings,
    db::counters,
    domain::{
        apps::state,
        delegates,
        devices::{
            self,
            upcoming::{Upcoming, upcoming},
        },
        interactions::{
            arrivals::{Arrived, OfType},
            evacuation,
            inside::{self, Occupied},
            log::lines::{Line, newest_passages},
            presence::ANYWHERE,
        },
    },
    identity::{App, ConsoleRole},
    ops::backup::ledger,
};
use answer::Rendered;
use attention::{Item, Urgency};
use chart::Chart;
use std::{path::Path, sync::Arc};

/// Rows of what happened.
const ROWS: usize = 6;
/// Places that are looked at, and those that are shown.
const PLACES_MAX: usize = 50;
const PLACES: usize = 7;
/// Types that are shown one by one.
const TYPES: usize = 6;
/// Rows of what needs somebody.
const ITEMS: usize = 8;
/// A session that begins within this is told.
const SOON_MS: i64 = 12 * 3_600_000;
/// Beats between two looks: once a second while much happens.
const EVERY: u64 = 2;

/// The parts of the page, each renewed by itself.
const PARTS: [&str; 8] = [
    "next",
    "begin",
    "arrived",
    "attention",
    "inside",
    "arrivals",
    "activity",
    "status",
];

/// The parts rendered for each role.
pub type Made = [Shared<[Rendered; PARTS.len()]>; ConsoleRole::ALL.len()];

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console", show)
        .then(ADMINISTRATOR)
        .post("/console/dashboard/closed", dismiss_closed)
        .then(VIEWER)
        .get("/console/dashboard/stream", stream)
        .then(ADMINISTRATOR)
        .action("/console/dashboard/acknowledge", acknowledge)
        .with(wall::routes())
        .all()
}

#[derive(Template)]
#[template(path = "dashboard/page.html")]
struct Page {
    layout: Layout,
    now: Now,
    /// The day in words.
    day: String,
    /// Evacuations that run: their numbers and the names of their places.
    evacuations: Vec<(i64, String)>,
    /// The last one that ended.
    last_evacuation: Option<i64>,
}

#[derive(Template)]
#[template(path = "dashboard/part.html")]
struct Part<'a> {
    layout: &'a Layout,
    now: &'a Now,
    name: &'a str,
}

/// A step of the preparation.
struct Step {
    name: &'static str,
    why: &'static str,
    path: &'static str,
    done: bool,
}

struct Now {
    /// Empty once all are done.
    steps: Vec<Step>,
    arrived: Arrived,
    items: Vec<Item>,
    chart: Chart,
    /// Check-ins of this minute.
    this_minute: i64,
    last_minute: i64,
    /// People inside anywhere, each counted once.
    people: i64,
    inside: Vec<Occupied>,
    /// The first arrival of the day.
    first: Option<Timestamp>,
    next: Option<Upcoming>,
    passages: Vec<Line>,
    file: String,
    disk_free: Option<String>,
    backup: Option<Timestamp>,
}

fn shown(count: Option<&u64>) -> i64 {
    count.map_or(0, |count| i64::try_from(*count).unwrap_or(i64::MAX))
}

impl Now {
    fn read(
        console: &Console,
        layout: &Layout,
        counts: &[u64],
        connection: &Connection,
    ) -> Result<Self> {
        let (app, now) = (console.app(), Timestamp::now());
        let arrived = console.live.arrived(connection, now)?;
        let mut inside = inside::fullest(connection, now, PLACES_MAX)?;
        let items = attention::list(console, layout, connection, &inside, now)?;
        inside.truncate(PLACES);
        let steps = steps(connection)?;
        let all_done = steps.iter().all(|step| step.done);
        let first = arrived.by_minute.keys().next();
        let soon = upcoming(connection, now, Timestamp(now.0 + SOON_MS), 1)?;
        Ok(Self {
            steps: if all_done { Vec::new() } else { steps },
            items,
            chart: Chart::new(&arrived.by_minute, &app.settings().zone, now),
            this_minute: shown(counts.last()),
            last_minute: shown(counts.iter().rev().nth(1)),
            people: counters::people(connection, ANYWHERE)?,
            inside,
            first: first.map(|minute| Timestamp(minute * 60_000)),
            next: soon.into_iter().next(),
            passages: newest_passages(connection, ROWS)?,
            file: bytes(file_bytes(app)),
            disk_free: disk_free(app).map(bytes),
            backup: ledger::last_made(connection)?,
            arrived,
        })
    }

    /// Counts those who are expected and did not come yet.
    fn missing(&self) -> i64 {
        self.arrived.expected - self.arrived.arrived
    }

    fn types(&self) -> Vec<OfType> {
        types(&self.arrived)
    }

    /// The worst of what needs somebody.
    fn worst(&self) -> &'static str {
        match self.items.first().map(|item| item.urgency) {
            Some(Urgency::Now) => "bad",
            Some(Urgency::Soon) => "warn",
            _ => "",
        }
    }

    /// Returns the things that need attention, as far as they are shown, and how many more there are.
    fn shown_items(&self) -> (&[Item], usize) {
        let shown = self.items.len().min(ITEMS);
        (&self.items[..shown], self.items.len() - shown)
    }
}

/// The largest types; the smaller ones as one.
fn types(arrived: &Arrived) -> Vec<OfType> {
    let mut types = arrived.by_type.clone();
    if types.len() > TYPES {
        let others = types.split_off(TYPES - 1);
        types.push(OfType {
            name: OTHERS.to_owned(),
            expected: others.iter().map(|other| other.expected).sum(),
            arrived: others.iter().map(|other| other.arrived).sum(),
        });
    }
    types
}

/// Stands for several types.
const OTHERS: &str = "other types";

/// A type as people read it.
fn type_name(of: &OfType) -> String {
    if of.name.is_empty() {
        say("No type")
    } else {
        answer::capital(&if of.name == OTHERS {
            say(OTHERS)
        } else {
            of.name.clone()
        })
    }
}

/// The list of those of a type who did not come yet; none for several types, or none.
fn type_path(of: &OfType) -> Option<String> {
    let is_one = !of.name.is_empty() && of.name != OTHERS;
    is_one.then(|| {
        let query = super::filter::query(&[("type", &of.name), ("been", "no")]);
        format!("/console/delegates?{query}")
    })
}

/// Describes a line of the activity, such as `checked in`, with its symbol and its tone.
fn describe_line(line: &Line) -> (String, &'static str, &'static str) {
    if line.waits {
        return ("was let in".to_owned(), "warn", "warn");
    }
    if line.is_refused() {
        return ("was refused".to_owned(), "block", "bad");
    }
    let tone = if line.message.is_some() {
        "warn"
    } else {
        "good"
    };
    match &*line.kind {
        "check-in" => ("checked in".to_owned(), "in", tone),
        "check-in-override" => ("was admitted".to_owned(), "in", tone),
        "check-out" => ("checked out".to_owned(), "out", ""),
        other => (other.to_owned(), "check", tone),
    }
}

/// The size of the file with its log.
fn file_bytes(app: &App) -> u64 {
    let files = ["", "-wal"].iter().filter_map(|suffix| {
        let mut path = app.store.path().as_os_str().to_owned();
        path.push(suffix);
        std::fs::metadata(path).ok()
    });
    files.map(|found| found.len()).sum()
}

/// The free space beside the file.
fn disk_free(app: &App) -> Option<u64> {
    let folder = app.store.path().parent();
    let folder = folder.filter(|path| !path.as_os_str().is_empty());
    fs4::available_space(folder.unwrap_or(Path::new("."))).ok()
}

fn steps(connection: &Connection) -> Result<Vec<Step>> {
    Ok(vec![
        Step {
            name: "Import attendees",
            why: "The client's list, as CSV or Excel.",
            path: "/console/import",
            done: delegates::is_any(connection)?,
        },
        Step {
            name: "Create an event",
            why: "Rooms, sessions and tickets belong to it.",
            path: "/console/devices/new?type=event",
            done: devices::is_any_event(connection)?,
        },
        Step {
            name: "Connect a device",
            why: "Point a gate app at the QR code.",
            path: "/console/discovery",
            done: state::is_any_app(connection)?,
        },
    ])
}

/// The evacuations that run, with the names of their places.
fn evacuations(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let running = evacuation::running(connection)?.into_iter();
    running
        .map(|one| Ok((one.id, one.name(connection)?)))
        .collect()
}

async fn show(request: RequestContext) -> Result<Response> {
    let counts = request.console.live.check_ins();
    let console = Arc::clone(&request.console);
    let read = move |connection: &Connection, layout| {
        Ok(Page {
            now: Now::read(&console, &layout, &counts, connection)?,
            day: texts::day_in_words(&console.settings().zone, Timestamp::now()),
            layout,
            evacuations: evacuations(connection)?,
            last_evacuation: evacuation::ended(connection, 1)?.pop().map(|one| one.id),
        })
    };
    request.page("Dashboard", Area::Dashboard, read).await
}

/// Hides the places that the upgrade closed.
async fn dismiss_closed(request: RequestContext) -> Result<Response> {
    request.write(|tx, _| devices::forget_closed(tx)).await?;
    Ok(answer::go("/console"))
}

fn acknowledge(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let until = action.form.number("until")?.unwrap_or_default();
    settings::notices::acknowledge(tx, ctx, Timestamp(until))?;
    Ok(Done::new("Notice acknowledged", "/console"))
}

/// The parts of the dashboard whenever they change.
async fn stream(request: RequestContext) -> Result<Response> {
    answer::parts(request, Default::default(), EVERY, parts)
}

/// Made once a beat for everybody of a role, which decides which links are offered.
async fn parts(request: Arc<RequestContext>, beat: u64) -> Result<Arc<[Rendered; PARTS.len()]>> {
    let role = request.current_user()?.role as usize;
    request.console.dashboard[role]
        .get(beat, render(&request))
        .await
}

async fn render(request: &RequestContext) -> Result<Arc<[Rendered; PARTS.len()]>> {
    let counts = request.console.live.check_ins();
    let console = Arc::clone(&request.console);
    let layout = request.layout("", Some(Area::Dashboard));
    let read = move |connection: &Connection| {
        let now = Now::read(&console, &layout, &counts, connection)?;
        Ok((layout, now))
    };
    let (layout, now) = request.read(read).await?;
    let mut made = [const { String::new() }; PARTS.len()];
    for (name, part) in PARTS.into_iter().zip(&mut made) {
        *part = answer::part(&Part {
            layout: &layout,
            now: &now,
            name,
        })?;
    }
    Ok(answer::rendered(PARTS, &made))
}
