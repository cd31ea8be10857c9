//! `/metrics`: the server's figures as Prometheus reads them (contract §1). It needs no token and
//! holds nothing personal: counts, sizes and durations. Operations are counted by their path pattern, so
//! their number is bounded.

use super::connections::Connections;
use crate::{
    db::{integrity::Condition, open::beside},
    domain::readers::{Readers, state::ReaderState},
    identity::App,
    types::observe::{self, DURATIONS, Exposition, Histogram},
};
use poem::{Response, http::StatusCode};
use std::{
    path::Path,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// The counters outside the application.
pub struct Sources {
    /// Requests.
    pub traffic: Arc<Traffic>,
    pub connections: Arc<Connections>,
    /// UHF readers.
    pub readers: Arc<Readers>,
}

impl Sources {
    pub fn page(&self, app: &App) -> Response {
        let mut page = Exposition::default();
        process(&mut page);
        self.traffic.expose(&mut page);
        errors(&mut page);
        self.connections(&mut page);
        writer(&mut page, app);
        self.readers(&mut page);
        file(&mut page, app);
        replica(&mut page, app);
        Response::builder()
            .content_type("text/plain; version=0.0.4; charset=utf-8")
            .body(page.text())
    }

    fn readers(&self, page: &mut Exposition) {
        let shown = self.readers.shown();
        if shown.is_empty() {
            return;
        }
        let down = shown.iter().filter(|reader| reader.state.is_down()).count();
        let sum =
            |of: fn(&ReaderState) -> u64| shown.iter().map(|reader| of(&reader.state)).sum::<u64>();
        let (people, waiting, lost) = self.readers.counts();
        page.single(
            "gatepost_uhf_readers",
            "gauge",
            "UHF readers in use.",
            shown.len(),
        );
        page.single(
            "gatepost_uhf_readers_down",
            "gauge",
            "UHF readers that cannot be reached.",
            down,
        );
        page.single(
            "gatepost_uhf_reads_total",
            "counter",
            "Tag reads taken.",
            sum(|state| state.reads),
        );
        page.single(
            "gatepost_uhf_reads_dropped_total",
            "counter",
            "Tag reads that had to make room or could not be matched.",
            sum(|state| state.dropped),
        );
        page.single(
            "gatepost_uhf_reads_unknown_total",
            "counter",
            "Reads of tags that no attendee has.",
            sum(|state| state.unknown),
        );
        page.single(
            "gatepost_uhf_people",
            "gauge",
            "People at a place by what readers noticed.",
            people,
        );
        page.single(
            "gatepost_uhf_interactions_waiting",
            "gauge",
            "Entries, exits and sightings that wait to be recorded.",
            waiting,
        );
        page.single(
            "gatepost_uhf_interactions_lost_total",
            "counter",
            "Entries, exits and sightings that could not be kept.",
            lost,
        );
    }

    fn connections(&self, page: &mut Exposition) {
        page.single(
            "gatepost_connections_open",
            "gauge",
            "Connections open now.",
            self.connections.open(),
        );
        page.single(
            "gatepost_connections_refused_total",
            "counter",
            "Connections refused because their address had too many.",
            self.connections.refused(),
        );
        let name = "gatepost_connections_ended_total";
        page.about(
            name,
            "counter",
            "Connections ended by the server, by reason.",
        );
        for (reason, count) in self.connections.ended() {
            page.sample(name, &format!("reason=\"{reason}\""), count);
        }
    }
}

fn process(page: &mut Exposition) {
    page.about("gatepost_build_info", "gauge", "The running version.");
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
    page.sample("gatepost_build_info", version, 1);
    if let Some(memory) = memory_stats::memory_stats() {
        page.single(
            "process_resident_memory_bytes",
            "gauge",
            "Resident memory.",
            memory.physical_mem,
        );
    }
}

fn errors(page: &mut Exposition) {
    let name = "gatepost_errors_total";
    page.about(
        name,
        "counter",
        "Errors and refusals told to callers, by internal code.",
    );
    for (code, count) in observe::errors_by_code() {
        page.sample(name, &format!("code=\"{code}\""), count);
    }
}

fn writer(page: &mut Exposition, app: &App) {
    let stats = app.store.stats();
    page.single(
        "gatepost_check_ins_total",
        "counter",
        "Check-ins stored, overrides included.",
        stats.check_ins(),
    );
    page.single(
        "gatepost_write_queue_jobs",
        "gauge",
        "Writes waiting for the writer or being committed.",
        stats.queued(),
    );
    let name = "gatepost_write_group_jobs";
    page.about(name, "histogram", "Writes committed together.");
    page.numbers(name, "", stats.groups());
    let name = "gatepost_commit_duration_seconds";
    page.about(name, "histogram", "Commits, their fsync included.");
    page.durations(name, "", stats.commits());
    page.single(
        "gatepost_write_groups_lost_total",
        "counter",
        "Groups of writes that the file did not take.",
        stats.groups_lost(),
    );
}

fn integrity(page: &mut Exposition, condition: &Condition) {
    let (at, damaged) = match condition {
        // What is not known is not told as sound.
        Condition::Unchecked => return,
        Condition::Sound(at) => (at, 0),
        Condition::Damaged(at, _) => (at, 1),
    };
    page.single(
        "gatepost_database_damaged",
        "gauge",
        "1 where the last integrity check found damage, 0 where all was sound.",
        damaged,
    );
    page.single(
        "gatepost_database_checked_timestamp_seconds",
        "gauge",
        "When the last integrity check ended, in Unix time.",
        at.0 / 1000,
    );
}

fn file(page: &mut Exposition, app: &App) {
    let path = app.store.path();
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    page.single(
        "gatepost_database_bytes",
        "gauge",
        "Size of the database file.",
        size(path),
    );
    page.single(
        "gatepost_wal_bytes",
        "gauge",
        "Size of its write-ahead log.",
        size(&beside(path, "-wal")),
    );
    page.single(
        "gatepost_database_in_place",
        "gauge",
        "1 while the database file and its log are whole and where they were at the start, otherwise 0.",
        u8::from(app.store.lost().is_none()),
    );
    integrity(page, &app.store.integrity().condition());
    let (lookups, lists) = app.store.readers_in_use();
    let name = "gatepost_readers_in_use";
    page.about(name, "gauge", "Reading connections in use.");
    page.sample(name, "pool=\"lookups\"", lookups);
    page.sample(name, "pool=\"lists\"", lists);
}

fn replica(page: &mut Exposition, app: &App) {
    let Some(replication) = app.replication.get() else {
        return;
    };
    let mark = app.store.stats().mark();
    for (name, about, value) in [
        (
            "gatepost_epoch",
            "Epoch of the file; a promotion raises it.",
            replication.epoch,
        ),
        ("gatepost_mark", "Position of the change feed.", mark),
        (
            "gatepost_covered_mark",
            "Position up to which the replica has everything.",
            replication.covered(mark),
        ),
    ] {
        page.single(name, "gauge", about, value);
    }
    page.single(
        "gatepost_replica_lag_seconds",
        "gauge",
        "Time for which something has been waiting for the replica.",
        replication.lag().as_secs_f64(),
    );
}

/// The counted operations.
pub struct Traffic(Vec<Operation>);

struct Operation {
    /// Prometheus labels: `method="GET",route="/delegate/list"`.
    labels: String,
    /// By the first digit of the status, from 1.
    by_class: [AtomicU64; 5],
    took: Histogram,
}

impl Operation {
    fn new(method: &str, route: &str) -> Self {
        Self {
            labels: format!("method=\"{method}\",route=\"{route}\""),
            by_class: Default::default(),
            took: Histogram::new(DURATIONS),
        }
    }
}

impl Default for Traffic {
    /// Only what is no operation yet: number 0.
    fn default() -> Self {
        Self(vec![Operation::new("", "other")])
    }
}

impl Traffic {
    /// The number of an operation, known before or new.
    pub fn operation(&mut self, method: &str, route: &str) -> usize {
        let new = Operation::new(method, route);
        let known = self.0.iter().position(|known| known.labels == new.labels);
        known.unwrap_or_else(|| {
            self.0.push(new);
            self.0.len() - 1
        })
    }

    /// Counts an answer; `took` is the time until it began.
    pub fn answered(&self, operation: usize, status: StatusCode, took: Duration) {
        let Some(operation) = self.0.get(operation) else {
            return;
        };
        let class = usize::from(status.as_u16() / 100).clamp(1, 5);
        operation.by_class[class - 1].fetch_add(1, Relaxed);
        operation.took.record_duration(took);
    }

    /// Writes what was counted; operations without a request are left out.
    pub fn expose(&self, page: &mut Exposition) {
        let used = || {
            self.0
                .iter()
                .filter(|operation| operation.took.cumulated().1 > 0)
        };
        page.about(
            "gatepost_http_requests_total",
            "counter",
            "Requests answered, by operation and class of status.",
        );
        for operation in used() {
            for (class, count) in operation.by_class.iter().enumerate() {
                let count = count.load(Relaxed);
                if count > 0 {
                    let labels = format!("{},status=\"{}xx\"", operation.labels, class + 1);
                    page.sample("gatepost_http_requests_total", &labels, count);
                }
            }
        }
        page.about(
            "gatepost_http_request_duration_seconds",
            "histogram",
            "Time from a request's head to the beginning of its answer.",
        );
        for operation in used() {
            page.durations(
                "gatepost_http_request_duration_seconds",
                &operation.labels,
                &operation.took,
            );
        }
    }
}
