//! Connections that are opened to be kept open.

use super::{Venue, rest};
use crate::faults::{process::until, wire::PATIENCE};
use crate::harness::has;
use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Of each kind; three kinds make 2,000.
const EACH: usize = 667;
const SHORT: [&str; 6] = ["--header-time", "2", "--body-time", "2", "--idle-time", "2"];

fn connect(address: SocketAddr, beginning: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(beginning.as_bytes()).expect("sent");
    stream
}

fn connect_all(address: SocketAddr, beginning: &str) -> Vec<TcpStream> {
    (0..EACH).map(|_| connect(address, beginning)).collect()
}

#[test]
fn two_thousand_bad_connections_are_ended_and_look_ups_go_on_beside_them() {
    let files = rlimit::increase_nofile_limit(u64::MAX).expect("a limit");
    assert!(
        files > 4096,
        "this test needs 4096 files; ulimit -n is {files}"
    );
    let venue = Venue::open(&SHORT);
    venue.delegate(&mut venue.served.wire(), "A-1");
    let address = venue.served.address;
    let body =
        "POST /api/v5/delegate/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    let body = format!(
        "{body}Authorization: Bearer {}\r\nContent-Length: 5000\r\n\r\n{{",
        venue.token
    );
    let mut heads = connect_all(address, "GET /health/live HTTP/1.1\r\nX-Slow: ");
    let mut bodies = connect_all(address, &body);
    let idle = connect_all(address, "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(venue.metric("gatepost_connections_open") > 0);

    let over = AtomicBool::new(false);
    let looked_up = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut looked_up = 0;
            let mut wire = venue.served.wire();
            while !over.load(Ordering::Relaxed) {
                let found = venue.get(&mut wire, "/delegate/barcode:A-1?fields=id");
                assert_eq!(found.status, 200, "{found:?}");
                looked_up += 1;
            }
            looked_up
        });
        // A byte now and then is what makes them slow rather than dead; it wins them no time.
        let ended = || {
            venue.metric("gatepost_connections_ended_total{reason=\"head\"}") >= 667
                && venue.metric("gatepost_connections_ended_total{reason=\"idle\"}") >= 667
        };
        until("the limits end them", || {
            for stream in heads.iter_mut().chain(&mut bodies) {
                let _ = stream.write_all(b" ");
            }
            std::thread::sleep(Duration::from_millis(50));
            ended()
        });
        for stream in heads {
            assert_eq!(rest(stream), b"");
        }
        for stream in bodies {
            // It is told why, unless it was still sending when it was cut off.
            let told = rest(stream);
            let told = String::from_utf8_lossy(&told);
            assert!(
                told.is_empty() || told.starts_with("HTTP/1.1 400 "),
                "{told}"
            );
        }
        for stream in idle {
            let told = rest(stream);
            let told = String::from_utf8_lossy(&told);
            assert!(told.starts_with("HTTP/1.1 200 OK"), "{told}");
        }
        over.store(true, Ordering::Relaxed);
        looking.join().expect("look-ups")
    });
    assert!(looked_up > 0);
    until("their places are given up", || {
        venue.metric("gatepost_connections_open") < 10
    });
}

#[test]
fn a_slow_body_is_told_why_it_is_cut_off() {
    let venue = Venue::open(&SHORT);
    let mut wire = venue.served.wire();
    let begun =
        "POST /api/v5/delegate/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    for length in [
        "Content-Length: 100\r\n\r\n{",
        "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ] {
        let head = format!("{begun}Authorization: Bearer {}\r\n{length}", venue.token);
        let answer = wire.call(head.as_bytes()).expect("an answer");
        assert_eq!((answer.status, answer.code()), (400, 1100), "{answer:?}");
        has(answer.body.to_string(), "not all there after 2 s");
        assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
        assert_eq!(wire.end(), b"");
        wire = venue.served.wire();
    }
}

#[test]
fn a_connection_in_use_is_never_idle() {
    let venue = Venue::open(&["--idle-time", "1", "--header-time", "1"]);
    let mut wire = venue.served.wire();
    venue.delegate(&mut wire, "A-1");
    let idle = connect(
        venue.served.address,
        "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    // As long as the idle one needs to be ended, this one is used.
    let ended = "gatepost_connections_ended_total{reason=\"idle\"}";
    until("the idle one is ended", || {
        let found = venue.get(&mut wire, "/delegate/barcode:A-1");
        assert_eq!(found.status, 200);
        venue.metric(ended) > 0
    });
    rest(idle);
    venue.get(&mut wire, "/delegate/barcode:A-1").is(200);
}

#[test]
fn a_client_that_takes_nothing_of_its_answer_is_cut_off() {
    let venue = Venue::open(&["--send-time", "1"]);
    let (status, document) = venue.text("/openapi.json");
    assert_eq!(status, 200);
    // More than every buffer between the two ends holds.
    let asked = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20_000_000 / document.len());
    let mut stream = connect(venue.served.address, "");
    stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
    let mut writer = stream.try_clone().expect("the same");
    let sending = std::thread::spawn(move || writer.write_all(asked.as_bytes()));
    until("it is cut off", || {
        venue.metric("gatepost_connections_ended_total{reason=\"stalled\"}") > 0
    });
    let _ = sending.join().expect("no panic");
    stream.flush().expect("nothing to do");
    rest(stream);
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let venue = Venue::open(&[]);
    let mut stream = connect(venue.served.address, "GET /health/live HTTP/1.1\r\n");
    let line = format!("X-Large: {}\r\n", "x".repeat(1000));
    for _ in 0..200 {
        // It may be refused while it is still being sent.
        if stream.write_all(line.as_bytes()).is_err() {
            break;
        }
    }
    let told = rest(stream);
    let told = String::from_utf8_lossy(&told);
    assert!(
        told.is_empty() || told.starts_with("HTTP/1.1 431 "),
        "{told}"
    );
    assert_eq!(venue.text("/health/live").0, 200);
}
