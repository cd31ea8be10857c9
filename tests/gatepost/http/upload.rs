//! A list that comes over a slow network is taken, however long it takes.

use super::Venue;
use crate::faults::process::GATEPOST;
use reqwest::{blocking::Body, header, redirect};
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    process::{Command, Stdio},
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
    let mut added = Command::new(GATEPOST)
        .args(["user", "add", "ada@example.com", "--admin"])
        .args(["--password-stdin", "--db"])
        .arg(&venue.db)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("gatepost runs");
    let mut stdin = added.stdin.take().expect("a pipe");
    stdin.write_all(b"correct horse\n").expect("a password");
    drop(stdin);
    assert!(added.wait().expect("an end").success());
    let http = crate::harness::http()
        .redirect(redirect::Policy::none())
        .build()
        .expect("a client");
    let url = format!("http://{}", venue.served.address);
    let signed_in = http
        .post(format!("{url}/console/sign-in"))
        .form(&[("email", "ada@example.com"), ("password", "correct horse")])
        .send()
        .expect("an answer");
    let cookie = signed_in.headers()[header::SET_COOKIE].clone();
    let page = http
        .get(format!("{url}/console"))
        .header(header::COOKIE, &cookie)
        .send()
        .and_then(reqwest::blocking::Response::text)
        .expect("a page");
    let token = page.split("name=\"csrf\" value=\"").nth(1);
    let token = token
        .and_then(|rest| rest.split('"').next())
        .expect("a token");
    let sent = |path: &str, kind: &str, pieces: &[&'static str]| {
        http.post(format!("{url}{path}"))
            .header("x-csrf-token", token)
            .header(header::COOKIE, &cookie)
            .header(header::CONTENT_TYPE, kind)
            .body(slow(pieces))
            .send()
            .map(|answer| answer.status().as_u16())
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
