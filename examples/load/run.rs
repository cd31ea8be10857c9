//! Runs workloads against a server for a while, in closed loops: each lane has one connection and
//! sends its next request when the last is answered, or at its pace when it has one.

use crate::{
    Result,
    client::{Connection, Response, Target},
    histogram::Histogram,
    report::Report,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

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
    /// A lane's time from one request to the next; without, as fast as answers come.
    pub pace: Option<Duration>,
}

impl Plan {
    pub fn seconds(duration_s: u64, warm_up_s: u64) -> Self {
        Self {
            warm_up: Duration::from_secs(warm_up_s),
            duration: Duration::from_secs(duration_s),
            pace: None,
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
    for (lane, workload) in lanes.into_iter().enumerate() {
        let connection = target.connect().await?;
        let pace = plan.pace.map(|every| Pace::new(every, lane, connections));
        tasks.spawn(drive(
            connection,
            workload,
            window,
            pace,
            Arc::clone(&tally),
        ));
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
    mut pace: Option<Pace>,
    tally: Arc<Mutex<Tally>>,
) {
    let mut request = Vec::with_capacity(1024);
    while Instant::now() < window.until {
        workload.next(&mut request);
        let begun = match &mut pace {
            Some(pace) => pace.wait().await,
            None => Instant::now(),
        };
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

/// Sends at fixed times. A request that is late because the one before it took long is counted
/// from the time at which it should have been sent: a guest was waiting.
struct Pace {
    every: Duration,
    due: Instant,
}

impl Pace {
    fn new(every: Duration, lane: usize, lanes: usize) -> Self {
        let share = u32::try_from(lane).unwrap_or(0) * every / u32::try_from(lanes).unwrap_or(1);
        Self {
            every,
            due: Instant::now() + share,
        }
    }

    /// Waits until the next request is due; the time from which it counts.
    async fn wait(&mut self) -> Instant {
        let due = self.due;
        self.due += self.every;
        if due <= Instant::now() {
            return due;
        }
        tokio::time::sleep_until(due.into()).await;
        Instant::now()
    }
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
