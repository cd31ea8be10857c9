//! A stop: what was accepted is answered, then the process ends, and by itself.

use super::{Venue, rest};
use crate::faults::{
    process::{GATEPOST, Served, until},
    wire::{PATIENCE, Wire},
};
use crate::harness::has;
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
};

const LENGTH: usize = 19;

/// A request whose handler waits for its body.
fn begun(venue: &Venue) -> TcpStream {
    let mut stream = TcpStream::connect(venue.served.address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!(
        "POST /api/v5/delegate/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {}\r\nExpect: 100-continue\r\nContent-Length: {LENGTH}\r\n\r\n",
        venue.token
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut told = [0; 25];
    stream.read_exact(&mut told).expect("it may go on");
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

fn wait_until_nobody_is_accepted(venue: &Venue) {
    until("nobody is accepted any more", || {
        TcpStream::connect(venue.served.address).is_err()
    });
}

fn what_was_accepted_is_finished_after(signal: &str) {
    let venue = Venue::open(&["--stop-time", "60"]);
    let mut idle = venue.served.wire();
    venue.delegate(&mut idle, "A-1");
    let requests: Vec<_> = (0..20).map(|_| begun(&venue)).collect();
    venue.served.ask(signal);
    wait_until_nobody_is_accepted(&venue);
    // An idle connection is not waited for.
    assert_eq!(idle.end(), b"");
    for (n, mut stream) in requests.into_iter().enumerate() {
        let body = format!("{{\"barcode\": \"B-{n:02}\"}}");
        assert_eq!(body.len(), LENGTH);
        stream.write_all(body.as_bytes()).expect("sent");
        let told = String::from_utf8(rest(stream)).expect("text");
        assert!(told.starts_with("HTTP/1.1 201 Created"), "{told}");
        has(&told, "connection: close");
    }
    let Venue {
        served,
        token,
        db,
        folder,
    } = venue;
    assert_eq!(served.ended().code(), Some(0));
    // And what was answered is in the file.
    let again = Venue {
        served: Served::start_by(Command::new(GATEPOST), &db, &[]),
        token,
        db,
        folder,
    };
    let mut wire: Wire = again.served.wire();
    for n in 0..20 {
        let found = again.get(&mut wire, &format!("/delegate/barcode:B-{n:02}"));
        assert_eq!(found.status, 200, "{found:?}");
    }
}

#[test]
fn what_was_accepted_is_finished_after_a_term() {
    what_was_accepted_is_finished_after("TERM");
}

#[test]
fn what_was_accepted_is_finished_after_an_interrupt() {
    what_was_accepted_is_finished_after("INT");
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let venue = Venue::open(&["--stop-time", "1", "--body-time", "3600"]);
    let never_ends = begun(&venue);
    venue.served.ask("TERM");
    assert_eq!(venue.served.ended().code(), Some(0));
    rest(never_ends);
}

#[test]
fn who_cannot_wait_interrupts_again() {
    let venue = Venue::open(&["--stop-time", "3600", "--body-time", "3600"]);
    let never_ends = begun(&venue);
    venue.served.ask("INT");
    wait_until_nobody_is_accepted(&venue);
    venue.served.ask("INT");
    assert_eq!(venue.served.ended().code(), Some(1));
    rest(never_ends);
}

/// A head that never ends is no request yet: the other limits are an hour, and so is the stop's.
#[test]
fn a_stop_does_not_wait_for_half_a_head() {
    let venue = Venue::open(&["--stop-time", "3600", "--header-time", "3600"]);
    let mut half = TcpStream::connect(venue.served.address).expect("a connection");
    half.write_all(b"GET / HTTP/1.1\r\nHo").expect("sent");
    until("it is open", || {
        venue.metric("gatepost_connections_open") >= 2
    });
    venue.served.ask("TERM");
    assert_eq!(venue.served.ended().code(), Some(0));
}
