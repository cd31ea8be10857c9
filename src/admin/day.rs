//! The end of a day on one page: its numbers, what is left to do, and everything as one file.

mod archive;

use crate::admin::{layout::number, prelude::*};
use crate::{
    db::counters,
    domain::{
        gate::fleet,
        interactions::{
            arrivals::Arrived,
            everybody_out::follow,
            inside::{self, Occupied},
            log::Counts,
            presence::ANYWHERE,
        },
    },
    ops::backup::ledger,
    types::DeviceId,
};
use rusqlite::OptionalExtension;

const PAGE: &str = "/console/day";
/// Places that are emptied, the fullest first.
const PLACES_MAX: usize = 1_000;
/// Places that the page names.
const NAMED_MAX: usize = 8;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get(PAGE, show)
        .then(OPERATOR)
        .post("/console/day/empty", empty)
        .get("/console/day/download", archive::download)
        .all()
}

/// A gate with scans that are not uploaded.
struct Waiting {
    name: String,
    queue: i64,
    path: String,
    is_online: bool,
}

#[derive(Template)]
#[template(path = "day.html")]
struct Page {
    layout: Layout,
    day: String,
    arrived: Arrived,
    /// The hour with the most arrivals, and how many.
    busiest: Option<(String, i64)>,
    counts: Counts,
    waiting: Vec<Waiting>,
    inside: Vec<Occupied>,
    people: i64,
    backup: Option<Timestamp>,
    is_backed_up: bool,
}

impl Page {
    fn scans(&self) -> i64 {
        self.waiting.iter().map(|gate| gate.queue).sum()
    }
}

/// The hour in which most people arrived, such as `09:00 – 10:00`.
fn busiest(arrived: &Arrived, zone: &Zone) -> Option<(String, i64)> {
    let mut hours = std::collections::BTreeMap::<i64, i64>::new();
    for (minute, count) in &arrived.by_minute {
        *hours.entry(minute.div_euclid(60)).or_default() += count;
    }
    let (hour, count) = hours.into_iter().max_by_key(|(_, count)| *count)?;
    let clock = |hour: i64| {
        let plain = zone.plain(Timestamp(hour * 3_600_000));
        plain.get(11..16).unwrap_or_default().to_owned()
    };
    Some((format!("{} – {}", clock(hour), clock(hour + 1)), count))
}

async fn show(request: RequestContext) -> Result<Response> {
    let console = request.console.clone();
    let ctx = request.context();
    let read = move |connection: &Connection, layout| {
        let now = Timestamp::now();
        let zone = &ctx.settings.zone;
        let arrived = console.live.arrived(connection, now)?;
        let gates = fleet::watched(connection, console.app(), now)?.into_iter();
        let waiting = gates
            .filter(|gate| gate.report.queue > 0)
            .map(|gate| Waiting {
                path: format!("/console/gates#gate-{}", gate.device),
                queue: gate.report.queue,
                is_online: gate.is_online,
                name: gate.name,
            });
        let backup = ledger::last_made(connection)?;
        // A copy of the morning has nothing of the day.
        let newest: Option<Timestamp> = connection
            .prepare_cached("SELECT created_at FROM interactions ORDER BY id DESC LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(Page {
            layout,
            day: texts::day_in_words(zone, now),
            busiest: busiest(&arrived, zone),
            arrived,
            counts: Counts::all_since(connection, ctx.settings.day(now).begins)?,
            waiting: waiting.collect(),
            inside: inside::busiest(connection, NAMED_MAX)?,
            people: counters::people(connection, ANYWHERE)?,
            is_backed_up: backup.is_some_and(|at| {
                at >= ctx.settings.day(now).begins && newest.is_none_or(|newest| at >= newest)
            }),
            backup,
        })
    };
    request.page("Close the day", Area::Dashboard, read).await
}

/// Checks everybody out, place after place.
async fn empty(request: RequestContext) -> Result<Response> {
    let (ctx, console) = (request.context(), request.console.clone());
    // On its own: a browser that goes away does not stop it half-way.
    let work = async move {
        let store = &console.app().store;
        let places = store.look_up(|connection| inside::busiest(connection, PLACES_MAX))?;
        let mut out = 0;
        for place in places {
            let id = DeviceId(place.id);
            // Who was inside something below has left that already.
            if store.look_up(|connection| counters::people(connection, id))? > 0 {
                out += follow::at_once(console.app(), &ctx, id).await?;
            }
        }
        Ok::<_, Error>(out)
    };
    let out = tokio::spawn(work).await.map_err(Error::defect)??;
    let out = i64::try_from(out).unwrap_or(i64::MAX);
    request.done(
        format!("Everybody is out: {} checked out.", number(out)),
        PAGE,
    )
}
