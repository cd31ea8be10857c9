//! Gates that keep each scan until the second machine has it.

use crate::{
    Result,
    client::Response,
    pairs::{Nonces, Pairs, barcode, unix_s},
    run::Workload,
    setup::{Gate, Venue},
};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// A scan that a gate keeps until it is covered.
pub struct Scan {
    lane: usize,
    pub nonce: String,
    body: String,
    mark: i64,
}

/// What all gates keep, and how far the second machine is as they know.
#[derive(Default)]
pub struct Told {
    pub scans: Vec<Scan>,
    covered: i64,
}

#[derive(Default, Clone)]
pub struct Kept(pub Arc<Mutex<Told>>);

/// Check-ins of a gate, each of somebody who has not been at its place yet.
pub struct Scans {
    lane: usize,
    gate: Gate,
    pairs: Pairs,
    nonces: Nonces,
    last: (String, String),
    kept: Kept,
}

impl Scans {
    pub fn new(venue: &Venue, lane: usize, lanes: usize, kept: &Kept) -> Result<Self> {
        let gate = venue.gate(lane);
        Ok(Self {
            lane,
            pairs: Pairs::new(venue.delegates, &gate.places, lane, lanes)?,
            gate,
            nonces: Nonces::new(lane as u64),
            last: Default::default(),
            kept: kept.clone(),
        })
    }
}

const PATH: &str = "/api/v5/interaction/new/check-in";

impl Workload for Scans {
    fn next(&mut self, request: &mut Vec<u8>) {
        let (pair, nonce) = (self.pairs.next(), self.nonces.next());
        let body = format!(
            r#"{{"firstDelegate":"barcode:{}","firstDevice":{},"recordedAt":{},"nonce":"{nonce}"}}"#,
            barcode(pair.delegate),
            pair.device,
            unix_s()
        );
        self.gate.target.post(request, PATH, &body);
        self.last = (nonce, body);
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        if answer.status != 201 {
            return 0;
        }
        let told: Value = serde_json::from_slice(answer.body).unwrap_or_default();
        let number = |name: &str| told["meta"]["durable"][name].as_i64().unwrap_or_default();
        let (nonce, body) = std::mem::take(&mut self.last);
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.covered = kept.covered.max(number("covered"));
        kept.scans.push(Scan {
            lane: self.lane,
            nonce,
            body,
            mark: number("mark"),
        });
        1
    }
}

/// Sends again what is not covered, as gates do; how many.
pub async fn resend(venue: &Venue, kept: &Told) -> Result<usize> {
    let uncovered = kept.scans.iter().filter(|scan| scan.mark > kept.covered);
    let (mut connection, mut request, mut count) = (venue.target.connect().await?, Vec::new(), 0);
    for scan in uncovered {
        let body = scan.body.replacen('{', r#"{"admitted":true,"#, 1);
        venue.gate(scan.lane).target.post(&mut request, PATH, &body);
        let answer = connection.exchange(&request).await?;
        if !matches!(answer.status, 200 | 201) {
            return Err(String::from_utf8_lossy(answer.body).into_owned().into());
        }
        count += 1;
    }
    Ok(count)
}
