//! System calls of a server, as strace writes them down, held against the promise that a power
//! failure takes nothing that was answered 2xx.
//!
//! The order of the lines is the order of events as far as it matters: a thread that was told
//! something by another goes on only after strace has written down what that one did.

use super::process::{GATEPOST, Served, until};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What marks a request: it stands in the request, in its row of the file, and in its answer.
pub fn mark(number: usize) -> String {
    format!("mark{number:05}.")
}

/// A server under strace.
pub struct Traced {
    pub served: Served,
    trace: PathBuf,
}

impl Traced {
    /// Starts one; `injected` are strace's words for what is to go wrong.
    pub fn start(db: &Path, arguments: &[&str], injected: &[&str]) -> Self {
        let trace = super::process::beside(db, ".strace");
        let mut strace = strace(&trace);
        // Pages of 4 KiB are to be seen whole, with the files and sockets they went to.
        strace.args(["-yy", "-s", "5000"]);
        strace.args([
            "-e",
            "trace=pwrite64,pwritev,write,writev,sendto,sendmsg,fdatasync,fsync",
        ]);
        strace.args(injected).arg(GATEPOST);
        Self {
            served: Served::start_by(strace, db, arguments),
            trace,
        }
    }

    /// Ends the server and gives what it did.
    pub fn end(self) -> Vec<Call> {
        self.served.stop();
        // strace writes how its last thread ended, and nothing after it.
        let mut text = String::new();
        until("strace is done", || {
            text = String::from_utf8_lossy(&std::fs::read(&self.trace).expect("a trace")).into();
            text.lines()
                .last()
                .is_some_and(|line| line.contains("+++ exited with 0 +++"))
        });
        parse(&text)
    }
}

/// strace, that lets the server be our child.
pub fn strace(output: &Path) -> Command {
    let found = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .status();
    assert!(
        found.is_ok_and(|status| status.success()),
        "strace is needed to see what would survive a power failure: apt-get install strace"
    );
    let mut strace = Command::new("strace");
    strace.arg("-D").arg("-f").arg("-o").arg(output);
    strace
}

/// A system call; `began` and `ended` are numbers of lines.
#[derive(Debug)]
pub struct Call {
    began: usize,
    ended: usize,
    name: String,
    /// Everything between the name and the result, strings and paths included.
    arguments: String,
    result: String,
}

/// Reads a trace; a call that was interrupted in the trace by another thread's is put together.
pub fn parse(trace: &str) -> Vec<Call> {
    let mut under_way: HashMap<&str, (usize, String)> = HashMap::new();
    let mut calls = Vec::new();
    for (number, line) in trace.lines().enumerate() {
        let Some((thread, text)) = line.split_once(' ') else {
            continue;
        };
        let text = text.trim_start();
        if let Some(begun) = text.strip_suffix(" <unfinished ...>") {
            under_way.insert(thread, (number, begun.to_owned()));
            continue;
        }
        let (began, text) = match text.strip_prefix("<... ") {
            None => (number, text.to_owned()),
            Some(resumed) => {
                let rest = resumed.split_once(" resumed>").map_or("", |(_, rest)| rest);
                let (began, begun) = under_way.remove(thread).expect("a call that began");
                (began, begun + rest)
            }
        };
        if let Some((name, rest)) = text.split_once('(')
            && let Some((arguments, result)) = rest.rsplit_once(" = ")
        {
            calls.push(Call {
                began,
                ended: number,
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                result: result.to_owned(),
            });
        }
    }
    calls
}

impl Call {
    fn is_log_write(&self) -> bool {
        self.name.starts_with("pwrite") && self.file().ends_with("-wal")
    }

    /// A sync of the log that is told to have worked.
    fn is_log_sync(&self) -> bool {
        self.is_sync() && self.file().ends_with("-wal")
    }

    /// A sync that is told to have worked.
    fn is_sync(&self) -> bool {
        matches!(&*self.name, "fdatasync" | "fsync") && self.result == "0"
    }

    /// An answer that promises something.
    fn is_success(&self) -> bool {
        self.is_answer() && self.arguments.contains("HTTP/1.1 2")
    }

    fn is_answer(&self) -> bool {
        matches!(&*self.name, "write" | "writev" | "sendto" | "sendmsg")
            && self.file().starts_with("TCP:[")
    }

    /// The path or socket that the first argument stands for.
    fn file(&self) -> &str {
        let descriptor = self.arguments.split_once('<').map_or("", |(_, rest)| rest);
        let end = descriptor.find(['>', ',']).unwrap_or(descriptor.len());
        if descriptor.starts_with("TCP:") {
            descriptor
        } else {
            &descriptor[..end]
        }
    }

    fn marks(&self) -> impl Iterator<Item = &str> {
        self.arguments.match_indices("mark").filter_map(|(at, _)| {
            let mark = self.arguments.get(at..at + 10)?;
            let digits = mark[4..9].bytes().all(|byte| byte.is_ascii_digit());
            (digits && mark.ends_with('.')).then_some(mark)
        })
    }
}

/// What a trace shows about a promise.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Marks of requests that were answered 2xx.
    pub answered: Vec<String>,
    /// Answers that went out before what they promise was on the disk.
    pub broken: Vec<String>,
}

/// Of every answer 2xx with a mark: the first write of the mark to the log must have been followed
/// by a sync of the log that began after it and was done before the answer began. Nothing syncs the
/// log between the writes of one commit, so this sync is the one of the commit, also where several
/// requests share it.
pub fn judge_marks(calls: &[Call]) -> Verdict {
    let mut written: HashMap<&str, usize> = HashMap::new();
    for call in calls.iter().filter(|call| call.is_log_write()) {
        for mark in call.marks() {
            written.entry(mark).or_insert(call.ended);
        }
    }
    let mut verdict = Verdict::default();
    for answer in calls.iter().filter(|call| call.is_success()) {
        for mark in answer.marks() {
            verdict.answered.push(mark.to_owned());
            let fault = match written.get(mark) {
                None => Some("was never written"),
                Some(&write) if is_synced(calls, write, answer.began) => None,
                Some(_) => Some("was answered before it was synced"),
            };
            verdict
                .broken
                .extend(fault.map(|fault| format!("{mark} {fault}")));
        }
    }
    verdict
}

fn is_synced(calls: &[Call], write: usize, answer: usize) -> bool {
    calls
        .iter()
        .any(|call| call.is_log_sync() && call.began > write && call.ended < answer)
}

/// Where one request is sent after the other, more can be said: when an answer 2xx begins, nothing
/// at all that was written to the log is without a sync.
pub fn judge_all(calls: &[Call]) -> Verdict {
    let mut verdict = Verdict::default();
    for answer in calls.iter().filter(|call| call.is_success()) {
        let before = |call: &&Call| call.is_log_write() && call.began < answer.began;
        let last_write = calls.iter().filter(before).map(|call| call.ended).max();
        verdict.answered.push(format!("line {}", answer.began));
        if last_write.is_some_and(|write| !is_synced(calls, write, answer.began)) {
            verdict
                .broken
                .push(format!("the answer in line {}", answer.began));
        }
    }
    verdict
}

/// The names of the files survive too: their folder was synced before the first answer.
pub fn folder_is_synced(calls: &[Call], folder: &Path) -> bool {
    let folder = folder.to_str().expect("a name");
    let first_answer = calls
        .iter()
        .find(|call| call.is_success())
        .expect("an answer");
    let synced = |call: &&Call| call.is_sync() && call.file() == folder;
    let log = calls
        .iter()
        .find(|call| call.is_log_write())
        .expect("a write to the log");
    calls
        .iter()
        .filter(synced)
        .any(|call| call.began > log.ended && call.ended < first_answer.began)
}

/// The controls of the judges: traces written by hand.
#[test]
fn a_trace_is_judged_by_the_order_of_its_events() {
    let write = "7 pwrite64(5</x/g.db-wal>, \"..mark00001...\", 4096, 24) = 4096\n";
    let sync = "7 fdatasync(5</x/g.db-wal>) = 0\n";
    let answer = "9 writev(8<TCP:[127.0.0.1:1->127.0.0.1:2]>, [{iov_base=\"HTTP/1.1 201 Created\\r\\n\", iov_len=20}, {iov_base=\"mark00001.\", iov_len=10}], 2) = 30\n";
    let refusal = "9 writev(8<TCP:[127.0.0.1:1->127.0.0.1:2]>, [{iov_base=\"HTTP/1.1 503\", iov_len=20}], 1) = 30\n";
    let fine = |trace: &[&str]| {
        let calls = parse(&trace.concat());
        (
            judge_marks(&calls).broken.is_empty(),
            judge_all(&calls).broken.is_empty(),
        )
    };
    assert_eq!(fine(&[write, sync, answer]), (true, true));
    assert_eq!(fine(&[write, refusal]), (true, true));
    assert_eq!(fine(&[write, answer, sync]), (false, false));
    assert_eq!(fine(&[sync, write, answer]), (false, false));
    assert_eq!(fine(&[sync, answer]), (false, true));
    assert_eq!(
        fine(&[write, "7 fdatasync(5</x/g.db>) = 0\n", answer]),
        (false, false)
    );
    assert_eq!(
        fine(&[
            write,
            "7 fdatasync(5</x/g.db-wal>) = -1 EIO (Input/output error)\n",
            answer
        ]),
        (false, false)
    );
    // A sync that began before the write was done, or is not done when the answer begins.
    let parts = |call: &str, result: &str| {
        (
            format!("{call} <unfinished ...>\n"),
            format!("7 <... fdatasync resumed>) = {result}\n"),
        )
    };
    let (begun, resumed) = parts("7 fdatasync(5</x/g.db-wal>", "0");
    assert_eq!(fine(&[write, &begun, &resumed, answer]), (true, true));
    assert_eq!(fine(&[write, &begun, answer, &resumed]), (false, false));
    let other_thread = write.replacen('7', "6", 1);
    assert_eq!(
        fine(&[&begun, &other_thread, &resumed, answer]),
        (false, false)
    );
    // Another commit on its way does not spoil the answers of the one before; only where requests
    // come one after the other there must be none.
    let other = write.replace("mark00001", "mark00002");
    assert_eq!(fine(&[write, sync, &other, answer]), (true, false));
}
