//! A list that comes over a slow network is taken, however long it takes.

use super::Venue;
use crate::{
    console::{Crew, commanded},
    harness::PASSWORD,
};
use reqwest::{Method, blocking::Body, header};
use std::{
    collections::VecDeque,
    io::{self, Read},
    time::Duration,
};

/// Longer than a body may take here.
const PAUSE: Duration = Duration::from_millis(1_200);

/// Pieces of a body, each after a pause.
struct Slow(VecDeque<&'static [u8]>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = self.0.pop_front() else {
            return Ok(0);
        };
        std::thread::sleep(PAUSE);
        buffer[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

fn slow(pieces: &[&'static str]) -> Body {
    Body::new(Slow(pieces.iter().map(|piece| piece.as_bytes()).collect()))
}

#[test]
fn a_list_may_take_its_time_and_nothing_else_may() {
    let venue = Venue::open(&["--body-time", "1"]);
    let administrator = [
        "user",
        "add",
        "ada@example.com",
        "--admin",
        "--password-stdin",
    ];
    assert!(commanded(&venue.db, &administrator).status.success());
    let url = format!("http://{}", venue.served.address);
    let crew = Crew::sign_in_at(&url, "ada@example.com", PASSWORD);
    let sent = |path: &str, kind: &str, pieces: &[&'static str]| {
        let request = crew
            .request(Method::POST, path)
            .header("x-csrf-token", &crew.csrf);
        let request = request
            .header(header::CONTENT_TYPE, kind)
            .body(slow(pieces));
        request.send().map(|answer| answer.status().as_u16())
    };
    let list = [
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n",
        "first name\n",
        "Ada\n\r\n--x--\r\n",
    ];
    let taken = sent("/console/import", "multipart/form-data; boundary=x", &list);
    assert_eq!(taken.expect("an answer"), 303);
    // Another form of the same user has its time, and no more.
    let form = "application/x-www-form-urlencoded";
    let cut = sent("/console/import/1/discard", form, &["a=", "b", "c", "d"]);
    assert!(cut.map_or(true, |status| status == 400), "it was cut off");
}
