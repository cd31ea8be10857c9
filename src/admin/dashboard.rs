//! The dashboard: the state of the event now. A stream renews it, rendered once a beat for everybody of
//! a role.

use super::{
    Console,
    deliveries::{Problem, problems},
    layout::bytes,
    live::MINUTES,
};
use crate::admin::prelude::*;
use crate::{
    core::settings,
    db::{counters, integrity::Condition},
    domain::{
        apps::state::{self, Running},
        delegates, devices,
        interactions::{
            evacuation,
            inside::{self, Occupied},
            log::lines::{Line, newest_conflicts, newest_refusals},
            presence::ANYWHERE,
        },
    },
    identity::App,
    ops::backup::ledger::{self, Purpose},
};
use std::sync::Arc;

/// Lines of each list.
const LINES: usize = 8;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console", show)
        .then(ADMINISTRATOR)
        .post("/console/dashboard/closed", dismiss_closed)
        .then(VIEWER)
        .get("/console/dashboard/stream", stream)
        .then(ADMINISTRATOR)
        .action("/console/dashboard/acknowledge", acknowledge)
        .all()
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Page {
    layout: Layout,
    now: Now,
    /// Evacuations that run: their numbers and the names of their places.
    evacuations: Vec<(i64, String)>,
    /// Places that an upgrade closed to those who are not registered.
    closed: Vec<(i64, String)>,
    /// Incidents with the file, until somebody acknowledges them.
    notices: Vec<(Timestamp, String)>,
    /// The time of the newest notice.
    shown_until: i64,
}

#[derive(Template)]
#[template(path = "dashboard_now.html")]
struct Part<'a> {
    layout: &'a Layout,
    now: &'a Now,
}

/// A step of the preparation.
struct Step {
    name: &'static str,
    why: &'static str,
    path: &'static str,
    done: bool,
}

struct Now {
    /// Faults of the file now.
    alarms: Vec<String>,
    /// Empty once all are done.
    steps: Vec<Step>,
    bars: Vec<Bar>,
    this_minute: i64,
    last_minute: i64,
    most: i64,
    /// People inside anywhere, each counted once.
    people: i64,
    inside: Vec<Occupied>,
    devices: Vec<Running>,
    online: usize,
    offline: usize,
    /// UHF readers that cannot be reached, and why.
    readers_down: Vec<(String, String)>,
    refusals: Vec<Line>,
    conflicts: Vec<Line>,
    file: String,
    disk_free: Option<String>,
    disk_low: bool,
    backup: Option<Timestamp>,
    /// Why the last scheduled backup failed.
    backup_trouble: Option<String>,
    /// Destinations that fail or do not send.
    problems: Vec<Problem>,
}

/// A bar of the chart, in its units.
struct Bar {
    x: usize,
    y: u64,
    height: u64,
    count: u64,
    minutes_ago: usize,
}

/// Height of the chart, in its units.
const CHART: u64 = 100;

fn bars(counts: &[u64]) -> Vec<Bar> {
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let bar = |(at, count): (usize, &u64)| {
        // A single check-in stays visible.
        let height = (count * CHART / most).max(u64::from(*count > 0));
        Bar {
            x: at * 10,
            y: CHART - height,
            height,
            count: *count,
            minutes_ago: MINUTES - 1 - at,
        }
    };
    counts.iter().enumerate().map(bar).collect()
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
        let devices = state::running(connection, now)?;
        let online = devices.iter().filter(|device| device.online).count();
        let file = [String::new(), "-wal".to_owned()]
            .iter()
            .filter_map(|suffix| {
                let mut path = app.store.path().as_os_str().to_owned();
                path.push(suffix);
                std::fs::metadata(path).ok()
            })
            .map(|found| found.len())
            .sum();
        let folder = app
            .store
            .path()
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        let free = fs4::available_space(folder.unwrap_or(std::path::Path::new("."))).ok();
        let steps = steps(connection)?;
        let all_done = steps.iter().all(|step| step.done);
        Ok(Self {
            alarms: alarms(app),
            steps: if all_done { Vec::new() } else { steps },
            bars: bars(counts),
            this_minute: shown(counts.last()),
            last_minute: shown(counts.iter().rev().nth(1)),
            most: shown(counts.iter().max()),
            people: counters::people(connection, ANYWHERE)?,
            inside: inside::fullest(connection, LINES)?,
            offline: devices.len() - online,
            online,
            readers_down: console.readers.down(),
            devices,
            refusals: newest_refusals(connection, LINES)?,
            conflicts: newest_conflicts(connection, LINES)?,
            file: bytes(file),
            disk_low: free.is_some_and(|free| free < 1 << 30),
            disk_free: free.map(bytes),
            backup_trouble: backup_trouble(app, connection)?,
            problems: problems(connection, layout)?,
            backup: ledger::last_made(connection)?,
        })
    }
}

fn alarms(app: &App) -> Vec<String> {
    let lost = app.store.lost().map(|path| {
        format!(
            "{} was removed, renamed, replaced, overwritten or cut short. Nothing is stored any more: check-ins are refused. Stop the server, put the file back or restore a backup, and start it again.",
            path.display()
        )
    });
    let damaged = match app.store.integrity().condition() {
        Condition::Damaged(_, lines) => Some(format!(
            "The database file is damaged: {}. Run gatepost check, which says what to do, and keep the last sound backup.",
            lines.join("; ")
        )),
        Condition::Sound(_) | Condition::Unchecked => app.store.stats().has_damage().then(|| {
            "The database file is damaged: it could not be read or written. Run gatepost check, which says what to do, and keep the last sound backup.".to_owned()
        }),
    };
    let unmarked = (!app.store.usage().is_marked()).then(|| {
        "Another program reads an older state of the database file. Until it ends, a copy of the file would not tell that it lacks its log: copy it with gatepost backup only.".to_owned()
    });
    lost.into_iter().chain(damaged).chain(unmarked).collect()
}

fn backup_trouble(app: &App, connection: &Connection) -> Result<Option<String>> {
    if app.settings().backups.is_none() {
        return Ok(None);
    }
    let last = ledger::last(connection, Purpose::Scheduled)?;
    Ok(last.and_then(|last| last.failure))
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
        let notices = settings::notices::list(connection)?.into_iter();
        let notices = notices.map(|notice| (Timestamp(notice.at), notice.what));
        let notices: Vec<_> = notices.collect();
        Ok(Page {
            now: Now::read(&console, &layout, &counts, connection)?,
            layout,
            evacuations: evacuations(connection)?,
            closed: devices::closed_by_upgrade(connection)?,
            shown_until: notices.last().map_or(0, |(at, _)| at.0),
            notices,
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
    Ok(Done::new("Notices acknowledged", "/console"))
}

/// The dashboard whenever it changes.
async fn stream(request: RequestContext) -> Result<Response> {
    answer::parts(request, ["now"], Default::default(), 1, parts)
}

/// Made once a beat for everybody of a role, which decides which links are offered.
async fn parts(request: Arc<RequestContext>, beat: u64) -> Result<[String; 1]> {
    let role = request.current_user()?.role as usize;
    let shared = &request.console.dashboard[role];
    if let Some(made) = shared.get(beat) {
        return Ok([made.as_ref().clone()]);
    }
    let counts = request.console.live.check_ins();
    let console = Arc::clone(&request.console);
    let layout = request.layout("", Some(Area::Dashboard));
    let read = move |connection: &Connection| {
        let now = Now::read(&console, &layout, &counts, connection)?;
        Ok((layout, now))
    };
    let (layout, now) = request.read(read).await?;
    let made = answer::part(&Part {
        layout: &layout,
        now: &now,
    })?;
    Ok([shared.keep(beat, made).as_ref().clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_is_the_chart_and_the_lowest_is_seen() {
        let bars = bars(&[0, 1, 1000]);
        let heights: Vec<_> = bars.iter().map(|bar| (bar.y, bar.height)).collect();
        assert_eq!(heights, [(100, 0), (99, 1), (0, 100)]);
    }
}
