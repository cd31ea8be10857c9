//! Runs workloads against a server for a while. Each lane has one connection, and sends its next
//! request when the last is answered or, at a rate, at fixed times.

use crate::{
    Result,
    client::{Connection, Response, Target},
    histogram::Histogram,
    report::Report,
    schedule,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{sync::mpsc::UnboundedReceiver, task::JoinSet};

/// What a lane sends, and what it makes of the answers.
pub trait Workload: Send + 'static {
    /// Writes the next request.
    fn next(&mut self, request: &mut Vec<u8>);

    /// How many units of work the answer to the last request acknowledges. Fewer than
    /// [`Workload::units`] is an error, which the report tells with the answer.
    fn acknowledged(&mut self, answer: &Response<'_>) -> u64;

    /// Units of work in every request.
    fn units(&self) -> u64 {
        1
    }

    /// Writes a request that puts things back in order after the run; none when they are.
    fn next_to_tidy(&mut self, request: &mut Vec<u8>) -> bool {
        let _ = request;
        false
    }
}

/// How long, and how.
#[derive(Clone, Copy)]
pub struct Plan {
    pub warm_up: Duration,
    pub duration: Duration,
    /// The time from one request to the next, of all lanes together; without, as fast as answers
    /// come.
    pub every: Option<Duration>,
}

impl Plan {
    pub fn seconds(duration_s: u64, warm_up_s: u64) -> Self {
        Self {
            warm_up: Duration::from_secs(warm_up_s),
            duration: Duration::from_secs(duration_s),
            every: None,
        }
    }

    /// The same at a fixed rate of all lanes together.
    pub fn at_rate(self, rate_per_s: u32) -> Self {
        Self {
            every: Some(Duration::from_secs(1) / rate_per_s),
            ..self
        }
    }
}

/// The measured part of a run.
#[derive(Clone, Copy)]
struct Window {
    from: Instant,
    until: Instant,
}

/// What all lanes have seen.
#[derive(Default)]
struct Tally {
    latencies: Histogram,
    units: u64,
    /// Kinds of failure: how often, and one answer in full.
    errors: BTreeMap<String, (u64, String)>,
}

impl Tally {
    fn fail(&mut self, kind: String, sample: impl FnOnce() -> String) {
        self.errors.entry(kind).or_insert_with(|| (0, sample())).0 += 1;
    }
}

/// Runs one lane for each workload, all at once.
pub async fn run<W: Workload>(
    name: &str,
    target: &Target,
    lanes: Vec<W>,
    plan: Plan,
) -> Result<Report> {
    let connections = lanes.len();
    let tally = Arc::new(Mutex::new(Tally::default()));
    let mut tasks = JoinSet::new();
    let from = Instant::now() + plan.warm_up;
    let window = Window {
        from,
        until: from + plan.duration,
    };
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        opened.push(target.connect().await?);
    }
    let mut due = plan.every.map_or_else(Vec::new, |every| {
        schedule::start(connections, every, window.until)
    });
    for (connection, workload) in opened.into_iter().zip(lanes) {
        let due = due.pop();
        tasks.spawn(drive(connection, workload, window, due, Arc::clone(&tally)));
    }
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    let total = std::mem::take(&mut *lock(&tally));
    Ok(Report {
        name: name.to_owned(),
        connections,
        duration: plan.duration,
        latencies: total.latencies,
        units: total.units,
        errors: total.errors,
    })
}

async fn drive<W: Workload>(
    mut connection: Connection,
    mut workload: W,
    window: Window,
    mut due: Option<UnboundedReceiver<Instant>>,
    tally: Arc<Mutex<Tally>>,
) {
    let mut request = Vec::with_capacity(1024);
    while Instant::now() < window.until {
        let due_at = match &mut due {
            None => None,
            Some(due) => match due.recv().await {
                None => break,
                due_at => due_at,
            },
        };
        workload.next(&mut request);
        // A late request counts from its due time: a guest was waiting.
        let begun = due_at.unwrap_or_else(Instant::now);
        match connection.exchange(&request).await {
            Ok(answer) => {
                let done = Instant::now();
                let units = workload.acknowledged(&answer);
                let mut tally = lock(&tally);
                if units < workload.units() {
                    let kind = format!("status {}, {}", answer.status, internal_code(answer.body));
                    tally.fail(kind, || shortened(answer.body));
                }
                if (window.from..window.until).contains(&done) {
                    tally.latencies.record(done - begun);
                    tally.units += units;
                }
            }
            Err(cause) => {
                lock(&tally).fail("connection lost".into(), || cause.to_string());
                return;
            }
        }
    }
    while workload.next_to_tidy(&mut request) {
        if connection.exchange(&request).await.is_err() {
            return;
        }
    }
}

/// All lanes are on one thread, so that nobody ever waits for this.
fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

fn internal_code(body: &[u8]) -> String {
    let error = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .map(|answer| answer["meta"]["error"]["internalCode"].clone());
    match error {
        Some(code) if !code.is_null() => format!("code {code}"),
        _ => "not what was expected".into(),
    }
}

fn shortened(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(400).collect()
}
