//! UHF readers: how each is, what its antennas hear, tags and codes of nobody, and tags to encode.

mod calibrate;
mod form;

use super::prelude::*;
use crate::{
    core::{
        dns_sd::{self, Found},
        reader::Protocol,
    },
    domain::readers::{
        encode,
        service::Shown,
        state::{AntennaState, Connection as Connected, ReaderState},
        unknown::{self, Prefix},
    },
};
use std::collections::BTreeSet;

const PAGE: &str = "/console/readers";

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PAGE, show)
        .get("/console/readers/find", found)
        .get("/console/readers/encode.csv", encode_list)
        .post("/console/readers/encode", assign)
        .post("/console/readers/forget", forget)
        .with(calibrate::routes())
        .with(form::routes())
        .all()
}

#[derive(Template)]
#[template(path = "readers/list.html")]
struct Page {
    layout: Layout,
    readers: Vec<Line>,
    down: usize,
    /// Ids and names.
    switched_off: Vec<(i64, String)>,
    /// People who are somewhere by what readers noticed.
    people: usize,
    waiting: usize,
    lost: u64,
    unknown: Vec<Prefix>,
    without_tag: i64,
    with_tag: i64,
}

struct Line {
    reader: Shown,
    protocol: &'static str,
    /// The state, and whether that is good or bad.
    state: &'static str,
    /// The reason why it is down.
    reason: String,
    /// The path that it posts to, unless the server connects to it.
    posts_to: Option<String>,
    tone: &'static str,
    model: String,
    clock: String,
    antennas: Vec<AntennaLine>,
}

struct AntennaLine {
    number: u16,
    place: Option<(i64, String)>,
    zone: &'static str,
    state: AntennaState,
}

impl Line {
    fn of(reader: Shown, places: &dyn Fn(i64) -> String) -> Self {
        let (state, tone) = state_and_tone(&reader.state);
        let (model, reason) = match &reader.state.connection {
            Connected::Connected(known) => {
                let (maker, firmware) = (&known.manufacturer, &known.firmware);
                (
                    format!("{maker} model {}, {firmware}", known.model),
                    String::new(),
                )
            }
            Connected::Down { reason, retry_in } => {
                let seconds = retry_in.as_secs();
                let reason = format!("{reason} The next try is within {seconds} s.");
                (String::new(), reason)
            }
            _ => (String::new(), String::new()),
        };
        let (protocol, path) = match reader.config.setup.protocol {
            Protocol::Llrp => ("LLRP", None),
            Protocol::Impinj => ("Impinj IoT", Some("impinj")),
            Protocol::Zebra => ("Zebra IoT", Some("zebra")),
            Protocol::Push => ("posted", Some("reads")),
        };
        let clock = reader.state.clock_offset_ms.map(clock_words);
        Self {
            state,
            reason,
            tone,
            posts_to: path.map(|path| format!("/api/v5/reader/{path}?reader={}", reader.id)),
            model,
            protocol,
            clock: clock.unwrap_or_default(),
            antennas: antenna_lines(&reader, places),
            reader,
        }
    }
}

/// The state of a reader, and its tone: good, warning or bad.
fn state_and_tone(state: &ReaderState) -> (&'static str, &'static str) {
    match &state.connection {
        Connected::Waiting if state.last_read.is_some() => ("silent", "warn"),
        Connected::Waiting => ("no reads yet", "warn"),
        Connected::Posting => ("sends", "good"),
        Connected::Connecting => ("connecting", "warn"),
        Connected::Connected(_) => ("connected", "good"),
        Connected::Down { .. } => ("down", "bad"),
    }
}

/// The offset of a clock, in words.
fn clock_words(offset_ms: i64) -> String {
    let side = if offset_ms >= 0 { "ahead" } else { "behind" };
    match offset_ms.abs() {
        ..500 => "right".to_owned(),
        ms @ 500..120_000 => format!("{}.{} s {side}", ms / 1000, ms % 1000 / 100),
        ms => format!("{} min {side}", ms / 60_000),
    }
}

/// The antennas that are set up or heard something: readers tell of sockets that nothing hangs on, too.
fn antenna_lines(reader: &Shown, places: &dyn Fn(i64) -> String) -> Vec<AntennaLine> {
    let known = &reader.state.antennas;
    let heard = known
        .iter()
        .filter(|(_, antenna)| antenna.last_read.is_some());
    let set_up = reader.config.setup.antennas.iter();
    let numbers: BTreeSet<u16> = heard
        .map(|(number, _)| *number)
        .chain(set_up.map(|one| one.antenna))
        .collect();
    let lines = numbers.into_iter().map(|number| {
        let watched = reader.config.watched(number);
        AntennaLine {
            number,
            place: watched.map(|watched| (watched.place, places(watched.place))),
            zone: watched.map_or("", |watched| watched.zone.name()),
            state: known.get(&number).cloned().unwrap_or_default(),
        }
    });
    lines.collect()
}

async fn show(request: RequestContext) -> Result<Response> {
    let readers = &request.console.readers;
    let configuration = readers.configuration();
    let name = |place: i64| {
        configuration
            .place_name(place)
            .unwrap_or_default()
            .to_owned()
    };
    let lines = readers
        .shown()
        .into_iter()
        .map(|reader| Line::of(reader, &name));
    let mut lines: Vec<Line> = lines.collect();
    // What needs somebody comes first.
    lines.sort_by_key(|line| line.tone != "bad");
    let down = lines.iter().filter(|line| line.tone == "bad").count();
    let (people, waiting, lost) = readers.counts();
    let layout = request.layout("Readers", Some(Area::Readers));
    let read = move |connection: &Connection| {
        let (with_tag, without_tag) = encode::counts(connection)?;
        Ok(Page {
            layout,
            readers: lines,
            down,
            switched_off: configuration.switched_off.into_iter().collect(),
            people,
            waiting,
            lost,
            unknown: unknown::prefixes(connection)?,
            without_tag,
            with_tag,
        })
    };
    answer::page(&request.read(read).await?)
}

#[derive(Template)]
#[template(path = "readers/found.html")]
struct FoundPage {
    layout: Layout,
    found: Vec<Found>,
    failure: Option<String>,
    /// Addresses that are set up.
    known: Vec<String>,
}

impl FoundPage {
    fn is_known(&self, address: &str) -> bool {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        self.known
            .iter()
            .any(|known| known == address || known == host)
    }
}

/// Asks the LAN for readers.
async fn found(request: RequestContext) -> Result<Response> {
    let found = tokio::task::spawn_blocking(|| dns_sd::find(&["_llrp._tcp"]))
        .await
        .map_err(Error::defect)?;
    let (found, failure) = match found {
        Ok(found) => (found, None),
        Err(cause) => (
            Vec::new(),
            Some(format!("The network cannot be asked: {cause}.")),
        ),
    };
    let shown = request.console.readers.shown().into_iter();
    let known = shown.filter_map(|reader| reader.config.setup.address.clone());
    answer::page(&FoundPage {
        layout: request.layout("Readers on the network", Some(Area::Readers)),
        found,
        failure,
        known: known.collect(),
    })
}

async fn forget(request: RequestContext) -> Result<Response> {
    let prefix = request.form.text("prefix").to_owned();
    let forgotten = request
        .write(move |tx, _| unknown::forget(tx, &prefix))
        .await?;
    request.done(format!("{forgotten} unknown tags forgotten."), PAGE)
}

/// Gives a tag number to everybody who has none.
async fn assign(request: RequestContext) -> Result<Response> {
    let prefix = request.form.text("prefix").trim().to_uppercase();
    if let Err(cause) = encode::check_prefix(&prefix) {
        return request.done(answer::sentence(&cause), PAGE);
    }
    let mut assigned = 0;
    loop {
        let prefix = prefix.clone();
        let slice = request
            .write(move |tx, ctx| encode::assign(tx, ctx, &prefix))
            .await?;
        assigned += slice;
        if slice < encode::SLICE {
            break;
        }
    }
    let readers = request.console.readers.configuration().readers;
    let ignoring = readers.into_values().filter(|reader| {
        let begins = reader.setup.epc_prefix.as_deref().unwrap_or_default();
        let begins = begins.to_ascii_uppercase();
        !prefix.starts_with(&begins) && !begins.starts_with(&prefix)
    });
    let ignoring: Vec<String> = ignoring.map(|reader| reader.name).collect();
    let told = format!("{assigned} attendees got a tag number.");
    let told = match ignoring.join(", ") {
        names if names.is_empty() => told,
        names => format!("{told} Readers that ignore such tags by their setup: {names}."),
    };
    request.done(told, PAGE)
}

async fn encode_list(request: RequestContext) -> Result<Response> {
    let list = request.read(encode::list).await?;
    Ok(answer::download(
        "tags.csv",
        "text/csv; charset=utf-8",
        list,
    ))
}
