//! Gates that send as fast as they are answered, and write down what they were told.

use super::{
    ledger::{Entry, Item, Shape},
    process::{Site, until},
    wire::Wire,
};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Items that a gate sends at most: whatever it waits for, its book does not grow without end.
const ITEMS_MAX: usize = 100_000;

/// Gates at work.
pub struct Load {
    gates: Vec<JoinHandle<Vec<Entry>>>,
    acknowledged: Arc<AtomicUsize>,
    enough: Arc<AtomicBool>,
}

impl Load {
    /// Starts one gate for each of `work`: what it sends, and how many items at once. `name` is in
    /// every mark.
    pub fn start(address: SocketAddr, site: &Site, name: &str, work: &[(Shape, usize)]) -> Self {
        let acknowledged = Arc::new(AtomicUsize::new(0));
        let enough = Arc::new(AtomicBool::new(false));
        let gates = work
            .iter()
            .enumerate()
            .map(|(number, &(shape, items))| {
                let gate = Gate {
                    name: format!("{name}-{number}"),
                    shape,
                    items,
                    token: site.token.clone(),
                    delegates: site.delegates.clone(),
                    devices: site.devices.clone(),
                    acknowledged: Arc::clone(&acknowledged),
                    enough: Arc::clone(&enough),
                };
                std::thread::spawn(move || gate.send_all(address))
            })
            .collect();
        Self {
            gates,
            acknowledged,
            enough,
        }
    }

    /// Waits until so many requests were acknowledged.
    pub fn wait_for(&self, requests: usize) {
        until("the gates are answered", || {
            let gone = self.gates.iter().all(JoinHandle::is_finished);
            assert!(!gone, "the gates gave up early");
            self.acknowledged.load(Ordering::Relaxed) >= requests
        });
    }

    /// Sends the gates home and takes what they wrote down; a gate whose server is dead has gone
    /// already.
    pub fn finish(self) -> Vec<Entry> {
        self.enough.store(true, Ordering::Relaxed);
        let books = self
            .gates
            .into_iter()
            .map(|gate| gate.join().expect("a gate that goes home"));
        books.flatten().collect()
    }
}

struct Gate {
    name: String,
    shape: Shape,
    items: usize,
    token: String,
    delegates: Vec<i64>,
    devices: Vec<i64>,
    acknowledged: Arc<AtomicUsize>,
    enough: Arc<AtomicBool>,
}

impl Gate {
    /// Sends until it is told to stop or the connection breaks; the last request is then one whose
    /// answer nobody has seen.
    fn send_all(&self, address: SocketAddr) -> Vec<Entry> {
        let mut entries = Vec::new();
        let Ok(mut wire) = Wire::open(address) else {
            return entries;
        };
        let mut number = 0;
        while !self.enough.load(Ordering::Relaxed) {
            if number > ITEMS_MAX {
                std::thread::sleep(Duration::from_millis(2));
                continue;
            }
            let items = number..number + self.items;
            number += self.items;
            let mut entry = Entry::new(self.shape, items.map(|number| self.item(number)).collect());
            let answered = wire.call(&entry.request(&self.token));
            let gone = answered.is_err();
            if let Ok(answer) = answered {
                entry.take(&answer, false).expect("a good answer or none");
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            entries.push(entry);
            if gone {
                break;
            }
        }
        entries
    }

    /// In, out, in again; some recorded earlier than they are sent.
    fn item(&self, number: usize) -> Item {
        Item {
            mark: format!("{}-{number}", self.name),
            kind: ["check-in", "check-out", "check-in-override", "join"][number / 7 % 4],
            delegate: self.delegates[number % self.delegates.len()],
            device: self.devices[number % self.devices.len()],
            recorded_at_s: number
                .is_multiple_of(5)
                .then(|| 1_790_000_000 + i64::try_from(number * 7919 % 100_000).expect("small")),
        }
    }
}
