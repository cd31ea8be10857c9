//! Bodies that are too large, too long in coming, or cut off.

use super::{Venue, WRITES, send_bytes, told};
use crate::{
    faults::wire::PATIENCE,
    harness::{Server, has, whole},
};
use gatepost::identity::ConsoleRole;
use reqwest::{Method, blocking::Body};
use serde_json::json;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
};

const MIB: usize = 1024 * 1024;

/// A delegate's body of exactly so many bytes.
fn of_size(bytes: usize) -> Vec<u8> {
    let frame = json!({"data": {"Data": {"x": ""}}}).to_string();
    let filled = frame.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - frame.len())));
    assert_eq!(filled.len(), bytes);
    filled.into_bytes()
}

#[test]
fn a_record_has_at_most_a_mebibyte_however_it_comes() {
    let venue = Venue::new();
    assert_eq!(venue.send_json(WRITES[0], of_size(MIB)).reply.status, 201);
    let before = venue.written();
    for write in &WRITES[..9] {
        for bytes in [MIB + 1, 2 * MIB] {
            venue
                .send_json(*write, of_size(bytes))
                .reply
                .refused(413, 1106, "1048576");
            // Chunked, nobody says beforehand how long it will be.
            let api = if write.1.ends_with("/myself") {
                &venue.user
            } else {
                &venue.all
            };
            let method: Method = write.0.parse().expect("a method");
            let chunked = Body::new(std::io::Cursor::new(of_size(bytes)));
            let request = api
                .request(method, write.1)
                .header("Content-Type", "application/json");
            let answer = whole(request.body(chunked));
            told(&answer);
            answer.reply.refused(413, 1106, "1048576");
        }
    }
    assert_eq!(venue.written(), before);
    let chunked = Body::new(std::io::Cursor::new(of_size(5000)));
    let request = venue
        .all
        .request(Method::POST, "/delegate/new")
        .header("Content-Type", "application/json");
    assert_eq!(whole(request.body(chunked)).reply.status, 201);
    venue.goes_on();
}

#[test]
fn a_record_does_not_grow_past_its_limit_by_patches() {
    let venue = Venue::new();
    let part = "x".repeat(MIB - 1000);
    let patch = |name: &str| {
        venue.send_json(
            WRITES[1],
            json!({"data": {"Data": {name: part}}}).to_string(),
        )
    };
    assert_eq!(patch("a").reply.status, 200);
    patch("b").reply.invalid("data");
    assert_eq!(patch("a").reply.status, 200);
    venue.goes_on();
}

#[test]
fn a_batch_has_at_most_32_mebibytes_and_an_item_one() {
    let venue = Venue::new();
    let item = |bytes: usize| {
        let data = json!({"x": "x".repeat(bytes)});
        json!({"interactionType": "lead", "delegate": "barcode:A", "data": data})
    };
    let batch = json!({"interactions": {"large": item(MIB), "small": item(10)}}).to_string();
    let answer = venue.send_json(WRITES[9], batch);
    let told: Vec<_> = (0..2)
        .map(|index| answer.reply.data()[index]["status"].clone())
        .collect();
    assert_eq!(told, [413, 201]);
    assert_eq!(
        answer.reply.data()[0]["meta"]["error"]["internalCode"],
        1106
    );
    let before = venue.written();
    let mut body = json!({"interactions": {"k": item(10)}})
        .to_string()
        .into_bytes();
    body.resize(32 * MIB + 1, b' ');
    venue
        .send_json(WRITES[9], body.clone())
        .reply
        .refused(413, 1106, "33554432");
    assert_eq!(venue.written(), before);
    body.truncate(32 * MIB);
    assert_eq!(venue.send_json(WRITES[9], body).reply.status, 200);
    venue.goes_on();
}

#[test]
fn a_body_cut_in_the_middle_stores_nothing() {
    let venue = Venue::new();
    let before = venue.written();
    let item = json!({"interactionType": "lead", "delegate": "barcode:A"});
    let whole_body = json!({"interactions": {"a": item, "b": item}}).to_string();
    let token = &venue.all.token;
    let head = format!(
        "POST /api/v5/interaction/batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n"
    );
    let length = whole_body.len();
    for cut in [0, 1, length / 2, length - 1] {
        let declared = format!(
            "{head}Content-Length: {length}\r\n\r\n{}",
            &whole_body[..cut]
        );
        let chunked = format!(
            "{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{}",
            &whole_body[..cut]
        );
        for request in [declared, chunked] {
            let (status, text) = send_bytes(&venue.server, request.as_bytes(), true);
            assert!(status == 0 || status == 400, "{text}");
        }
    }
    // Whole, but of chunks that never end.
    let endless = format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{whole_body}\r\n");
    let (status, text) = send_bytes(&venue.server, endless.as_bytes(), true);
    assert!(status == 0 || status == 400, "{text}");
    assert_eq!(venue.written(), before);
    venue.goes_on();
}

/// Whatever anybody may post: where, as what, and the status of what is too much.
const ANONYMOUS: [(&str, &str, u16); 8] = [
    ("/console/sign-in", FORM, 413),
    ("/console/sign-in/code", FORM, 413),
    ("/console/setup", FORM, 413),
    ("/otp", FORM, 413),
    ("/api/oauth/v2/token", FORM, 400),
    ("/api/v5/oauth/v2/token", "application/json", 400),
    ("/api/v5/oauth/v2/revoke", FORM, 400),
    ("/api/v5/device-request/new", "application/json", 413),
];
const FORM: &str = "application/x-www-form-urlencoded";

/// Sends a head and a part of its body, and reads the status of the answer.
fn refused_early(address: SocketAddr, head: &str, part: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(head.as_bytes()).expect("sent");
    stream.write_all(part).expect("sent");
    let mut told = [0; 12];
    stream
        .read_exact(&mut told)
        .expect("an answer before the rest is sent");
    let told = String::from_utf8_lossy(&told).into_owned();
    told[9..].parse().expect("a status")
}

/// Nothing that anybody may send costs more than a look at its head (contract §9 throttles guesses, not bytes).
#[test]
fn what_needs_no_sign_in_is_small_and_is_refused_before_it_is_there() {
    let server = Server::start();
    server.crew(ConsoleRole::Administrator);
    for (path, kind, status) in ANONYMOUS {
        let head = |length: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n{length}\r\n\r\n"
            )
        };
        let declared = head(&format!("Content-Length: {}", 4 * MIB));
        assert_eq!(
            refused_early(server.address(), &declared, b"a&a&a&"),
            status,
            "{path}"
        );
        let chunked = head("Transfer-Encoding: chunked");
        let part = format!("2000\r\n{}\r\n", "a&".repeat(0x1000));
        assert_eq!(
            refused_early(server.address(), &chunked, part.as_bytes()),
            status,
            "{path}"
        );
        if kind == FORM {
            let many = "a&".repeat(32) + "a";
            let sent = head(&format!("Content-Length: {}", many.len()));
            assert_eq!(
                refused_early(server.address(), &sent, many.as_bytes()),
                status,
                "{path}"
            );
        }
    }
    // The form of the setup link may have a file, and no more beside it than the others.
    let field = "--e\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nxxxx\r\n".repeat(40);
    let long = format!(
        "--e\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n{}\r\n",
        "x".repeat(5_000)
    );
    for part in [field, long] {
        let head = format!(
            "POST /console/setup HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=e\r\nContent-Length: {}\r\n\r\n",
            4 * MIB
        );
        assert_eq!(refused_early(server.address(), &head, part.as_bytes()), 413);
    }
}

#[test]
fn a_form_of_the_console_has_ten_thousand_fields_at_most() {
    let (_server, crew) = Server::with_viewer();
    let sent = |body: String| {
        let request = crew.request(Method::POST, "/console/sign-out");
        whole(request.header("Content-Type", FORM).body(body))
    };
    let many = sent("a&".repeat(2 * MIB));
    assert_eq!(many.reply.status, 413);
    has(&many.text, "at most 10000 fields");
    let csrf = &crew.csrf;
    let most = format!("csrf={csrf}{}", "&a".repeat(9_999));
    assert_eq!(sent(format!("{most}&a")).reply.status, 413);
    let large = format!("csrf={csrf}&a={}", "x".repeat(3 * MIB));
    let large = sent(large);
    assert_eq!(
        (large.reply.status, large.header("location")),
        (303, "/console/sign-in")
    );
}
