//! A process that may open few files: what it has goes on, and what it cannot have is waited for.

use super::{Venue, rest};
use crate::faults::{
    process::{GATEPOST, until},
    wire::PATIENCE,
};
use crate::harness::has;
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
};

/// Files that the server may open: enough for the database and some forty connections.
const FILES: u32 = 140;

fn with_few_files() -> Command {
    let mut shell = Command::new("sh");
    let limited = format!("ulimit -n {FILES} && exec \"$0\" \"$@\"");
    shell.args(["-c", &limited, GATEPOST]);
    shell
}

fn open(venue: &Venue, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(venue.served.address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(sent).expect("sent");
    stream
}

/// A connection whose request is being answered: its handler waits for 18 bytes of a body.
fn begun(venue: &Venue) -> TcpStream {
    let head = format!(
        "POST /api/v5/delegate/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {}\r\nExpect: 100-continue\r\nContent-Length: 18\r\n\r\n",
        venue.token
    );
    let mut stream = open(venue, head.as_bytes());
    let mut told = [0; 25];
    stream.read_exact(&mut told).expect("it may go on");
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

fn assert_created(stream: &mut TcpStream) {
    let mut told = [0; 12];
    stream.read_exact(&mut told).expect("an answer");
    assert_eq!(&told, b"HTTP/1.1 201");
}

#[test]
fn who_is_served_goes_on_and_who_waits_gets_the_place_of_who_is_idle() {
    let venue = Venue::open_by(with_few_files(), &[]);
    has(venue.log(), "connections at a time");
    let mut early = venue.served.wire();
    venue.delegate(&mut early, "A-1");
    // Three times what there is room for; nobody closes one of them, and their time is not over.
    let idle: Vec<_> = (0..FILES).map(|_| open(&venue, b"")).collect();
    let mut late = venue.served.wire();
    venue.get(&mut late, "/delegate/barcode:A-1").is(200);
    assert!(venue.metric("gatepost_connections_ended_total{reason=\"room\"}") > 0);
    // Whatever happened to the connection, the next one finds a place.
    let mut again = venue.served.wire();
    venue.delegate(&mut again, "A-2");
    drop(idle);
}

/// Requests that are being answered are never cut off for the sake of others.
#[test]
fn with_every_place_in_use_a_new_connection_waits_until_one_is_free() {
    let venue = Venue::open_by(with_few_files(), &["--max-connections", "16"]);
    let mut used: Vec<_> = (0..16).map(|_| begun(&venue)).collect();
    let mut waits = open(
        &venue,
        b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    waits.set_nonblocking(true).expect("set");
    let early = waits.read(&mut [0; 1]);
    assert!(early.is_err(), "{early:?}");
    waits.set_nonblocking(false).expect("set");
    let mut first = used.remove(0);
    first.write_all(b"{\"barcode\":\"B-001\"").expect("sent");
    drop(first);
    assert!(rest(waits).starts_with(b"HTTP/1.1 200 OK"));
    for (n, stream) in used.iter_mut().enumerate() {
        let body = format!("{{\"barcode\":\"C-{n:02}\"}}");
        stream.write_all(body.as_bytes()).expect("sent");
    }
    for stream in &mut used {
        assert_created(stream);
    }
}

/// A hard limit that every system allows.
#[cfg(target_os = "linux")]
const HARD_MIN: u64 = 1024;

/// The connections alone would fit, but the files run out for another reason.
#[cfg(target_os = "linux")]
#[test]
fn when_accepting_fails_it_is_tried_again() {
    let venue = Venue::open(&[]);
    let mut early = begun(&venue);
    let pid = venue.served.pid();
    let open_files = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("files")
        .count();
    let limit = |files: u64| {
        let pid = i32::try_from(pid).expect("a process");
        let both = Some((files, HARD_MIN));
        rlimit::prlimit(pid, rlimit::Resource::NOFILE, both, None).expect("a limit");
    };
    // Below what it has, so that a connection that happens to end frees nothing.
    limit(open_files as u64 - 10);
    let waits = open(
        &venue,
        b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    until("it is told", || venue.log().contains("no more connections"));
    early.write_all(b"{\"barcode\":\"D-01\"}").expect("sent");
    assert_created(&mut early);
    limit(HARD_MIN);
    assert!(rest(waits).starts_with(b"HTTP/1.1 200 OK"));
    assert_eq!(venue.text("/health/live").0, 200);
}
