//! What can be measured: check-ins, batches of them, look-ups and lists.

use crate::{
    Result,
    client::{Response, Target},
    pairs::{Nonces, Pair, Pairs, barcode, scattering_stride, seed, unix_s},
    run::Workload,
    setup::Venue,
};
use std::{collections::VecDeque, fmt::Write};

/// How many check-ins of a lane await their check-out, so that a check-out does not find its
/// pages still warm from a moment ago.
const INSIDE: usize = 256;

/// Check-ins and check-outs in turn, one a request, by the gate of the lane. All that a lane let in it lets out again at
/// the end, so that the next run finds the venue empty.
pub struct CheckIns {
    target: Target,
    pairs: Pairs,
    inside: VecDeque<Pair>,
    inside_max: usize,
    /// The next one is a check-in.
    entering: bool,
    nonces: Option<Nonces>,
    body: String,
}

impl CheckIns {
    pub fn new(venue: &Venue, lane: usize, lanes: usize, nonce: bool) -> Result<Self> {
        let gate = venue.gate(lane);
        let pairs = Pairs::new(venue.delegates, &gate.places, lane, lanes)?;
        Ok(Self {
            target: gate.target,
            inside_max: INSIDE.min(pairs.len() / 2),
            pairs,
            inside: VecDeque::with_capacity(INSIDE),
            entering: true,
            nonces: nonce.then(|| Nonces::new(lane as u64)),
            body: String::new(),
        })
    }

    fn write(&mut self, request: &mut Vec<u8>, pair: Pair, entering: bool) {
        self.body.clear();
        self.body.push('{');
        write_interaction(&mut self.body, pair, self.nonces.as_mut());
        self.body.push('}');
        let path = if entering {
            "/api/v5/interaction/new/check-in"
        } else {
            "/api/v5/interaction/new/check-out"
        };
        self.target.post(request, path, &self.body);
    }
}

impl Workload for CheckIns {
    fn next(&mut self, request: &mut Vec<u8>) {
        let leaving = !self.entering && self.inside.len() >= self.inside_max;
        self.entering = leaving;
        if leaving && self.next_to_tidy(request) {
            return;
        }
        let pair = self.pairs.next();
        self.inside.push_back(pair);
        self.write(request, pair, true);
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 201)
    }

    fn next_to_tidy(&mut self, request: &mut Vec<u8>) -> bool {
        let Some(pair) = self.inside.pop_front() else {
            return false;
        };
        self.write(request, pair, false);
        true
    }
}

/// Batches, each what one gate has gathered at its session's door: one of check-ins, then one of
/// the same delegates' check-outs, then the next session.
pub struct Batches {
    target: Target,
    delegates: Pairs,
    devices: Vec<i64>,
    door: usize,
    inside: Vec<Pair>,
    size: usize,
    nonces: Option<Nonces>,
    body: String,
}

impl Batches {
    pub fn new(venue: &Venue, lane: usize, lanes: usize, size: usize, nonce: bool) -> Result<Self> {
        let delegates = Pairs::new(venue.delegates, &venue.devices[..1], lane, lanes)?;
        if delegates.len() < size {
            return Err(format!("{size} a batch needs {} delegates", size * lanes).into());
        }
        let gate = venue.gate(lane);
        Ok(Self {
            target: gate.target,
            delegates,
            devices: gate.places,
            door: lane,
            inside: Vec::with_capacity(size),
            size,
            nonces: nonce.then(|| Nonces::new(lane as u64)),
            body: String::new(),
        })
    }

    fn write(&mut self, request: &mut Vec<u8>, pairs: &[Pair], kind: &str) {
        self.body.clear();
        self.body.push_str("{\"interactions\":{");
        for (key, pair) in pairs.iter().enumerate() {
            let comma = if key > 0 { "," } else { "" };
            let _ = write!(
                self.body,
                "{comma}\"{key}\":{{\"interactionType\":\"{kind}\","
            );
            write_interaction(&mut self.body, *pair, self.nonces.as_mut());
            self.body.push('}');
        }
        self.body.push_str("}}");
        self.target
            .post(request, "/api/v5/interaction/batch", &self.body);
    }
}

impl Workload for Batches {
    fn next(&mut self, request: &mut Vec<u8>) {
        if !self.next_to_tidy(request) {
            self.door = (self.door + 1) % self.devices.len();
            let device = self.devices[self.door];
            let entering = |_| Pair {
                device,
                ..self.delegates.next()
            };
            let pairs: Vec<_> = (0..self.size).map(entering).collect();
            self.write(request, &pairs, "check-in");
            self.inside = pairs;
        }
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        let body = std::str::from_utf8(answer.body).unwrap_or_default();
        body.matches("\"status\":201").count() as u64
    }

    fn units(&self) -> u64 {
        self.size as u64
    }

    fn next_to_tidy(&mut self, request: &mut Vec<u8>) -> bool {
        let pairs = std::mem::take(&mut self.inside);
        if !pairs.is_empty() {
            self.write(request, &pairs, "check-out");
        }
        !pairs.is_empty()
    }
}

fn write_interaction(body: &mut String, pair: Pair, nonces: Option<&mut Nonces>) {
    let Pair { delegate, device } = pair;
    let now_s = unix_s();
    let _ = write!(
        body,
        "\"firstDelegate\":\"barcode:{}\",\"firstDevice\":{device},\"recordedAt\":{now_s}",
        barcode(delegate)
    );
    if let Some(nonces) = nonces {
        let _ = write!(body, ",\"nonce\":\"{}\"", nonces.next());
    }
}

/// Look-ups of one delegate by barcode.
pub struct LookUps {
    target: Target,
    delegates: u64,
    stride: u64,
    at: u64,
}

impl LookUps {
    pub fn new(venue: &Venue, lane: usize) -> Self {
        Self {
            target: venue.target.clone(),
            delegates: venue.delegates,
            stride: scattering_stride(venue.delegates),
            at: seed(lane as u64) % venue.delegates,
        }
    }
}

impl Workload for LookUps {
    fn next(&mut self, request: &mut Vec<u8>) {
        self.at = (self.at + self.stride) % self.delegates;
        let barcode = barcode(self.at + 1);
        self.target.get(
            request,
            format_args!("/api/v5/delegate/barcode:{barcode}?fields=id,barcode,firstName,lastName"),
        );
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 200)
    }
}

/// Pages of the delegate list, one after the other, as an app does that fills its own store.
pub struct Lists {
    target: Target,
    fields: String,
    limit: u64,
    pages: u64,
    page: u64,
}

impl Lists {
    pub fn new(venue: &Venue, lane: usize, limit: u64, fields: &str) -> Self {
        let pages = (venue.delegates / limit).max(1);
        Self {
            target: venue.target.clone(),
            fields: fields.to_owned(),
            limit,
            pages,
            page: seed(lane as u64) % pages,
        }
    }
}

impl Workload for Lists {
    fn next(&mut self, request: &mut Vec<u8>) {
        self.page = (self.page + 1) % self.pages;
        let (limit, fields) = (self.limit, &self.fields);
        let offset = self.page * limit;
        self.target.get(
            request,
            format_args!("/api/v5/delegate/list?limit={limit}&offset={offset}&fields={fields}"),
        );
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 200)
    }
}
