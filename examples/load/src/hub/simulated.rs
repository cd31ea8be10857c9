//! A venue as a hub sees it: a feed whose every item follows from its number, so that what the hub must have is known.

use crate::{Failure, Result};
use gatepost::core::{
    head_office::{PAIR, PUSH, PairRequest, Paired, Push, Pushed, venue::pack},
    outgoing::{Answer, Client, Reach, Request},
};
use serde_json::{json, value::RawValue};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Places of each venue.
const PLACES: usize = 10;
/// Changes in a push, as a venue sends them.
const ITEMS_MAX: usize = 2_000;
/// The wait for a hub that is gone.
const RETRY: Duration = Duration::from_millis(200);
/// When the event begins, in Unix seconds: 2026-11-21, 08:00 UTC.
const BEGINS_S: usize = 1_795_248_000;
const TYPES: [&str; 2] = ["visitor", "speaker"];

/// The size of a venue.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub attendees: usize,
    pub interactions: usize,
}

impl Size {
    /// Items of its feed: places, attendees, purchases, and what happened.
    pub fn items(self) -> usize {
        self.snapshot() + self.interactions
    }

    /// Those before the interactions.
    fn snapshot(self) -> usize {
        PLACES + self.attendees + self.purchases()
    }

    fn purchases(self) -> usize {
        self.attendees / 10
    }
}

/// What happens to a venue on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Nothing,
    /// A standby takes over: the epoch rises.
    Replaced,
    /// It is restored from a backup: what came after it is gone, and other things happen in its place.
    Restored,
}

/// A venue that pushes.
pub struct Simulated {
    pub name: String,
    pub size: Size,
    event: Event,
    office: i64,
    secret: String,
    number: usize,
    epoch: i64,
    /// Grows with a restore.
    generation: usize,
    client: Arc<Client>,
    /// The hubs, the one that answers first.
    hubs: Vec<String>,
    /// The longest that a venue went without an answer, of all that were paired together.
    pub longest_ms: Arc<AtomicU64>,
}

/// An interaction of a venue.
struct Fact {
    kind: &'static str,
    who: usize,
    place: usize,
    at_s: usize,
}

/// A number that looks like chance, always the same for the same.
fn scrambled(number: usize) -> usize {
    let mut state = (number as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((state ^ (state >> 31)) >> 8).unwrap_or_default()
}

impl Simulated {
    /// Pairs a venue with its code.
    pub async fn pair(
        client: &Arc<Client>,
        url: &str,
        number: usize,
        code: &str,
        size: Size,
        event: Event,
    ) -> Result<Self> {
        let asked = PairRequest {
            code: code.to_owned(),
            file: number.to_string(),
            epoch: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let body = serde_json::to_vec(&asked)?;
        let request = Request::post(format!("{url}{PAIR}"), "application/json", body);
        let answer = client
            .send(request)
            .await
            .map_err(|failure| failure.to_string())?;
        if !answer.is_success() {
            return Err(format!("pairing: {} {}", answer.status, answer.text()).into());
        }
        let paired: Paired = serde_json::from_slice(&answer.body)?;
        Ok(Self {
            name: paired.name,
            size,
            event,
            office: paired.venue,
            secret: paired.secret,
            number,
            epoch: 0,
            generation: 0,
            client: Arc::clone(client),
            hubs: vec![url.to_owned()],
            longest_ms: Arc::default(),
        })
    }

    /// The interaction of a number. After a restore other things happened from half of them on.
    fn fact(&self, at: usize) -> Fact {
        let is_changed = self.generation > 0 && at >= self.size.interactions / 2;
        let seed = scrambled(at ^ (self.number << 32) ^ (usize::from(is_changed) << 56));
        let kind = match seed % 10 {
            0 => "check-out",
            1 => "lead",
            _ => "check-in",
        };
        Fact {
            kind,
            who: seed / 10 % (self.size.attendees * 9 / 10).max(1),
            place: seed / 1_000_003 % PLACES,
            at_s: BEGINS_S + at * 36_000 / self.size.interactions.max(1),
        }
    }

    /// Writes an item of the feed.
    fn item(&self, at: usize, out: &mut String) {
        let size = self.size;
        let (kind, id, data) = if at < PLACES {
            (
                "device",
                at + 1,
                json!({"name": format!("Hall {at}"), "deviceType": "session"}),
            )
        } else if at < PLACES + size.attendees {
            let who = at - PLACES;
            let data = json!({
                "barcode": format!("V{}-{who}", self.number), "firstName": "Ada", "lastName": format!("No {who}"),
                "email": format!("ada{who}@v{}.example.org", self.number), "company": "Example",
                "delegateType": TYPES[who % 2],
            });
            ("delegate", who + 1, data)
        } else if at < size.snapshot() {
            let purchase = at - PLACES - size.attendees;
            (
                "transaction",
                purchase + 1,
                json!({"code": format!("T{purchase}"), "totalAmount": 1_000 + purchase}),
            )
        } else {
            let at = at - size.snapshot();
            let fact = self.fact(at);
            let seconds = fact.at_s - BEGINS_S;
            let when = format!(
                "2026-11-21T{:02}:{:02}:{:02}+00:00",
                8 + seconds / 3_600,
                seconds / 60 % 60,
                seconds % 60
            );
            let data = json!({
                "interactionType": fact.kind, "firstDelegate": {"id": fact.who + 1, "_type": "delegate"},
                "firstDevice": {"id": fact.place + 1, "_type": "device"}, "recordedAt": when, "createdAt": when,
            });
            ("interaction", at + 1, data)
        };
        let cursor = self.cursor(at + 1);
        let _ = write!(
            out,
            "{{\"cursor\":\"{cursor}\",\"action\":\"upsert\",\"kind\":\"created\",\"type\":\"{kind}\",\"id\":{id},\"data\":{data}}}"
        );
    }

    fn cursor(&self, at: usize) -> String {
        format!("{}-{at}", self.generation)
    }

    /// Where a cursor of the hub is; none where it is of the time before a restore, or there is none.
    fn position(&self, cursor: Option<&str>) -> Option<usize> {
        let (generation, at) = cursor?.split_once('-')?;
        let at = at.parse().ok()?;
        (generation == self.generation.to_string()).then_some(at)
    }

    /// Pushes everything up to a number of items; returns the times of the pushes that were answered.
    pub async fn push_to(&mut self, until: usize) -> Result<Vec<Duration>> {
        let mut times = Vec::new();
        // Outer: it has to be asked; inner: a snapshot begins.
        let (mut is_known, mut at) = (false, None::<usize>);
        let mut answered = Instant::now();
        while !is_known || at.unwrap_or_default() < until {
            let is_due = at.unwrap_or_default() >= self.size.items() / 2;
            match self.event {
                Event::Replaced if is_due => {
                    (self.epoch, self.event, is_known) = (7, Event::Nothing, false);
                }
                Event::Restored if is_due => {
                    (self.generation, self.event, at) = (1, Event::Nothing, None);
                }
                _ => {}
            }
            let begun = Instant::now();
            let from: Option<usize> = is_known.then(|| at.unwrap_or_default());
            let body = self.body(from.map(|from| (at, from, (from + ITEMS_MAX).min(until))))?;
            let request =
                Request::post(format!("{}{PUSH}", self.hubs[0]), "application/json", body)
                    .header("Content-Encoding", "gzip")
                    .header("Authorization", format!("Bearer {}", self.secret));
            let Ok(answer) = self.client.send(request).await else {
                is_known = false;
                self.hubs.rotate_left(1);
                tokio::time::sleep(RETRY).await;
                continue;
            };
            if let Some(pushed) = told(&answer)? {
                (at, is_known) = (self.position(pushed.cursor.as_deref()), true);
                let waited = answered.elapsed().as_millis().try_into()?;
                self.longest_ms.fetch_max(waited, Ordering::Relaxed);
                answered = Instant::now();
                let others = pushed
                    .hubs
                    .into_iter()
                    .filter(|hub| !self.hubs.contains(hub));
                let others: Vec<_> = others.collect();
                self.hubs.extend(others);
                if from.is_some() && answer.status == 200 {
                    times.push(begun.elapsed());
                }
            } else {
                is_known = false;
                tokio::time::sleep(RETRY).await;
            }
        }
        Ok(times)
    }

    /// A push of the items of a range; without one it only asks.
    fn body(&self, range: Option<(Option<usize>, usize, usize)>) -> Result<Vec<u8>> {
        let mut text = String::from("[");
        if let Some((_, from, to)) = range {
            for at in from..to {
                if at > from {
                    text.push(',');
                }
                self.item(at, &mut text);
            }
        }
        text.push(']');
        let items: Vec<&RawValue> = serde_json::from_str(&text)?;
        let push = Push {
            venue: self.office,
            file: self.number.to_string(),
            epoch: self.epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            clock: gatepost::types::Timestamp::now().0,
            from: range.and_then(|(at, _, _)| at).map(|at| self.cursor(at)),
            to: range.map(|(_, _, to)| self.cursor(to)),
            complete: range.is_some_and(|(_, _, to)| to >= self.snapshot()),
            behind: 0,
            behind_ms: 0,
            items,
            kept: None,
        };
        pack(&push).map_err(|cause| cause.to_string().into())
    }

    /// The items of its last snapshot: a restored venue has half of what happened.
    fn snapshot(&self) -> usize {
        let size = self.size;
        if self.generation == 0 {
            size.snapshot()
        } else {
            size.items() / 2
        }
    }

    /// Adds what the hub's reports must show of this venue: rows by report, as texts.
    pub fn expect(&self, rows: &mut BTreeMap<&'static str, BTreeSet<String>>) {
        let (mut at_places, mut leads) = (BTreeMap::new(), BTreeMap::new());
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for at in 0..self.size.interactions {
            let fact = self.fact(at);
            let of_place = match fact.kind {
                "check-in" => &mut at_places,
                "lead" => &mut leads,
                _ => continue,
            };
            let (count, people): &mut (usize, BTreeSet<usize>) =
                of_place.entry(fact.place).or_default();
            *count += 1;
            people.insert(fact.who);
            if fact.kind == "check-in" {
                first.entry(fact.who).or_insert(fact.at_s);
            }
        }
        let name = &self.name;
        let mut add = |report, row: String| {
            rows.entry(report).or_default().insert(row);
        };
        for (place, (count, people)) in &at_places {
            add(
                "attendance",
                format!("{name}|Hall {place}|session|{count}|{}", people.len()),
            );
        }
        for (place, (count, people)) in &leads {
            add(
                "leads",
                format!("{name}|Hall {place}|{count}|{}", people.len()),
            );
        }
        let mut hours: BTreeMap<usize, usize> = BTreeMap::new();
        for at_s in first.values() {
            *hours.entry((at_s - BEGINS_S) / 3_600 + 8).or_default() += 1;
        }
        for (hour, people) in hours {
            add(
                "arrivals",
                format!("{name}|2026-11-21T{hour:02}:00:00+00:00|{people}"),
            );
        }
        for (nth, kind) in TYPES.iter().enumerate() {
            let expected = (0..self.size.attendees)
                .filter(|who| who % 2 == nth)
                .count();
            let arrived = first.keys().filter(|who| *who % 2 == nth).count();
            add(
                "no-shows",
                format!("{name}|{kind}|{expected}|{arrived}|{}", expected - arrived),
            );
        }
        let purchases = self.size.purchases();
        let total: usize = (0..purchases).map(|purchase| 1_000 + purchase).sum();
        add("sales", format!("{name}|{purchases}|{total}"));
    }
}

/// What the hub told; none where it is to be asked again.
fn told(answer: &Answer) -> Result<Option<Pushed>, Failure> {
    match answer.status {
        200 => Ok(Some(serde_json::from_slice(&answer.body)?)),
        409 => Ok(Some(
            serde_json::from_slice(&answer.body).map_err(|_| answer.text())?,
        )),
        500.. => Ok(None),
        status => Err(format!("the hub answered {status}: {}", answer.text()).into()),
    }
}

/// A client of all venues.
pub fn client() -> Arc<Client> {
    Arc::new(Client::new(|| Reach::Local).with_limits(Duration::from_secs(60), 1 << 20))
}
