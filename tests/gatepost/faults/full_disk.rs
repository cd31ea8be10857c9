//! A disk that is full, or breaks, while 64 gates send: none of them is told that something is
//! stored which is not, reading goes on, and once there is room writing goes on too, without a
//! restart. Three ways to fill it: SQLite's own limit of pages (fails inside a job), a limit of the
//! size of files that the kernel sets the process (fails at the commit), and errors that strace
//! injects (no space at a write, an I/O error at a sync).

use super::{
    evidence,
    ledger::{self, Entry, Item, Shape},
    process::{GATEPOST, Served, Site, until},
    trace::{self, Traced},
    wire::{Wire, get},
};
use crate::harness::Server;
use rusqlite::Connection;
use serde_json::json;
use std::{
    net::SocketAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};

const GATES: usize = 64;

/// Who sends what to whom.
#[derive(Clone)]
struct Target {
    address: SocketAddr,
    token: String,
    delegates: Vec<i64>,
    device: i64,
}

impl Target {
    fn of(served: &Served, site: &Site) -> Self {
        Self {
            address: served.address,
            token: site.token.clone(),
            delegates: site.delegates.clone(),
            device: site.devices[0],
        }
    }

    fn wire(&self) -> Wire {
        Wire::open(self.address).expect("a connection")
    }

    /// Looks a delegate up and lists what happened, as often as said.
    fn assert_reads(&self, times: usize) {
        let mut wire = self.wire();
        for _ in 0..times {
            let delegate = format!("/delegate/id:{}?fields=id,barcode", self.delegates[0]);
            for path in [delegate.as_str(), "/interaction/list?limit=5", "/ping"] {
                let answer = wire.call(&get(path, &self.token)).expect("an answer");
                assert_eq!(answer.status, 200, "{path}: {answer:?}");
            }
        }
    }
}

/// Gates that send each interaction again, under its nonce, until it is taken.
struct Gates {
    threads: Vec<JoinHandle<Vec<Entry>>>,
    taken: Arc<Vec<AtomicUsize>>,
    refused: Arc<AtomicUsize>,
    enough: Arc<AtomicBool>,
}

impl Gates {
    fn start(target: &Target, count: usize) -> Self {
        let taken: Arc<Vec<_>> = Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect());
        let refused = Arc::new(AtomicUsize::new(0));
        let enough = Arc::new(AtomicBool::new(false));
        let threads = (0..count).map(|gate| {
            let (target, taken) = (target.clone(), Arc::clone(&taken));
            let (refused, enough) = (Arc::clone(&refused), Arc::clone(&enough));
            std::thread::spawn(move || {
                let mut wire = target.wire();
                let mut entries = Vec::new();
                while !enough.load(Relaxed) {
                    let entry = new_entry(&target, gate, entries.len());
                    entries.push(send_until_taken(
                        &mut wire, &target, entry, &refused, &enough,
                    ));
                    taken[gate].fetch_add(1, Relaxed);
                }
                entries
            })
        });
        Self {
            threads: threads.collect(),
            taken,
            refused,
            enough,
        }
    }

    /// Waits until every gate had so many more interactions taken.
    fn await_taken(&self, more: usize) {
        let before: Vec<usize> = self.taken.iter().map(|taken| taken.load(Relaxed)).collect();
        until("every gate is served", || {
            self.assert_at_work();
            self.taken
                .iter()
                .zip(&before)
                .all(|(taken, before)| taken.load(Relaxed) >= before + more)
        });
    }

    fn await_refused(&self, more: usize) {
        let before = self.refused.load(Relaxed);
        until("writes are refused", || {
            self.assert_at_work();
            self.refused.load(Relaxed) >= before + more
        });
    }

    fn assert_at_work(&self) {
        let gone = self.threads.iter().any(JoinHandle::is_finished);
        assert!(!gone, "a gate gave up");
    }

    fn finish(self) -> Vec<Entry> {
        self.enough.store(true, Relaxed);
        let books = self
            .threads
            .into_iter()
            .map(|gate| gate.join().expect("a gate that goes home"));
        books.flatten().collect()
    }
}

fn new_entry(target: &Target, gate: usize, number: usize) -> Entry {
    let item = Item {
        mark: format!("{}g{gate}-{number}", trace::mark(gate * 1000 + number)),
        kind: if number.is_multiple_of(2) {
            "check-in"
        } else {
            "check-out"
        },
        delegate: target.delegates[gate % target.delegates.len()],
        device: target.device,
        recorded_at_s: None,
    };
    Entry::new(Shape::Single, vec![item])
}

fn send_until_taken(
    wire: &mut Wire,
    target: &Target,
    mut entry: Entry,
    refused: &AtomicUsize,
    enough: &AtomicBool,
) -> Entry {
    let request = entry.request(&target.token);
    let mut resent = false;
    loop {
        let answer = wire.call(&request).expect("an answer");
        if answer.status != 503 {
            entry.take(&answer, resent).expect("taken, or 503");
            return entry;
        }
        assert_eq!(answer.code(), 1108, "{answer:?}");
        // The store is as open as before: what is told is the disk's trouble.
        let message = answer.body["meta"]["error"]["message"]
            .as_str()
            .unwrap_or_default();
        assert!(message.contains("could not"), "{answer:?}");
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
        refused.fetch_add(1, Relaxed);
        if enough.load(Relaxed) {
            return entry;
        }
        resent = true;
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The whole story; what is in the file afterwards is held against what the gates were told.
fn endure(target: &Target, fill: impl FnOnce(), make_room: impl FnOnce()) -> Vec<Entry> {
    let gates = Gates::start(target, GATES);
    gates.await_taken(1);
    fill();
    gates.await_refused(GATES);
    target.assert_reads(20);
    gates.await_refused(2 * GATES);
    make_room();
    gates.await_taken(2);
    target.assert_reads(1);
    gates.finish()
}

fn assert_told_the_truth(entries: &[Entry], file: &Connection) {
    file.busy_timeout(super::wire::PATIENCE).expect("a timeout");
    assert_eq!(evidence::troubles(file), Vec::<String>::new());
    assert_eq!(ledger::check(entries, file), Vec::<String>::new());
}

#[test]
fn when_the_file_may_not_grow_whole_groups_are_refused_and_writing_recovers() {
    let (server, gate) = Server::with_api();
    let target = Target {
        address: server.address(),
        token: gate.token.to_string(),
        delegates: (0..8)
            .map(|n| gate.delegate(&json!({"barcode": format!("T-{n}")})))
            .collect(),
        device: gate.device(&json!({"name": "Gate"})),
    };
    // The limit is the connection's own; what is set inside a transaction that is undone stays.
    let limit = |pages: &'static str| {
        let _ = server
            .app
            .store
            .write(move |tx| {
                let sql = format!("PRAGMA max_page_count = {pages}");
                let now: i64 = tx.query_row(&sql, [], |row| row.get(0))?;
                assert!(now > 0);
                Ok(())
            })
            .wait();
    };
    // Less than there are: SQLite takes it as "no more".
    let entries = endure(&target, || limit("1"), || limit("4294967294"));
    assert_told_the_truth(
        &entries,
        &Connection::open(server.path()).expect("the file"),
    );
}

/// A server whose files can be kept from growing, as on a full disk, and its standard error with
/// them.
#[test]
fn when_the_disk_is_full_whole_groups_are_refused_and_writing_recovers() {
    let site = Site::prepare();
    let mut shell = Command::new("sh");
    // The signal would end the process; a full disk sends none.
    shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", GATEPOST]);
    let mut served = Served::start_by(shell, &site.db, &[]);
    let pid = served.pid().to_string();
    let limit = |bytes: &str| {
        let limited = Command::new("prlimit")
            .args(["--pid", &pid, bytes])
            .status();
        assert!(
            limited.is_ok_and(|status| status.success()),
            "prlimit (util-linux) is needed"
        );
    };
    let target = Target::of(&served, &site);
    let entries = endure(
        &target,
        || limit("--fsize=4096:"),
        || limit("--fsize=unlimited:"),
    );
    assert!(served.is_running());
    served.kill();
    assert_told_the_truth(&entries, &Connection::open(&site.db).expect("the file"));
}

#[test]
fn when_there_is_no_space_for_the_log_writes_are_refused_and_recover() {
    let site = Site::prepare();
    let log = super::process::beside(&site.db, "-wal");
    let mut strace = trace::strace(&site.folder.path().join("strace"));
    strace
        .args(["-e", "trace=pwrite64", "-P"])
        .arg(log.canonicalize().unwrap_or(log));
    strace.args(["-e", "inject=pwrite64:error=ENOSPC:when=300..500", GATEPOST]);
    let mut served = Served::start_by(strace, &site.db, &[]);
    let target = Target::of(&served, &site);
    let gates = Gates::start(&target, GATES);
    gates.await_refused(1);
    target.assert_reads(5);
    // More than the writes that fail, so that they are over.
    gates.await_taken(20);
    let entries = gates.finish();
    served.kill();
    assert_told_the_truth(&entries, &Connection::open(&site.db).expect("the file"));
}

/// After a sync that failed nobody knows what is on the disk: what it was to make safe is not
/// answered 2xx until a later sync worked.
#[test]
fn when_a_sync_fails_nothing_is_promised() {
    let site = Site::prepare();
    let injected = ["-e", "inject=fdatasync:error=EIO:when=10..30"];
    let traced = Traced::start(&site.db, &[], &injected);
    let target = Target::of(&traced.served, &site);
    let gates = Gates::start(&target, 4);
    gates.await_refused(4);
    gates.await_taken(10);
    let entries = gates.finish();
    let verdict = trace::judge_marks(&traced.end());
    let taken = entries
        .iter()
        .filter(|entry| entry.answers.is_some())
        .count();
    assert_eq!(verdict.answered.len(), taken);
    assert_eq!(verdict.broken, Vec::<String>::new());
    assert_told_the_truth(&entries, &Connection::open(&site.db).expect("the file"));
}
