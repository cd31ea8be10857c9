//! Bodies that are no JSON, or not the JSON that is asked for.

use super::{Venue, WRITES};
use crate::harness::Server;
use serde_json::json;

#[test]
fn what_is_not_json_is_refused_and_writes_nothing() {
    let venue = Venue::new();
    let before = venue.written();
    for body in [
        &b""[..],
        b" ",
        b"{",
        b"}",
        b"{}}",
        b"{} {}",
        b"{} x",
        b"{'firstName': 'x'}",
        b"{firstName: 1}",
        b"{\"firstName\"}",
        b"{\"firstName\":}",
        b"{\"firstName\": \"x\",}",
        b"{\"firstName\": \"x",
        b"{\"firstName\": \"\\x\"}",
        b"{\"firstName\": \"\\u12\"}",
        b"{\"firstName\": \"a\nb\"}",
        b"{\"firstName\": \"a\0b\"}",
        b"{\"firstName\": \xff}",
        b"{\"firstName\": \"\xff\xfe\"}",
        b"{\"firstName\": \"\xc3\"}",
        b"{\"firstName\": \"\xed\xa0\x80\"}",
        b"{\"\xff\": 1}",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\0}\0",
        b"{\"firstName\": \"\\ud800\"}",
        b"{\"firstName\": \"\\udc00\\ud800\"}",
        b"{\"data\": {\"Data\": {\"x\": \"a\\ud83d\"}}}",
        b"{\"data\": {\"\\ud800\": {}}}",
        b"{\"firstName\": NaN}",
        b"{\"firstName\": Infinity}",
        b"{\"startAt\": 01}",
        b"{\"startAt\": 0x10}",
        b"{\"startAt\": +1}",
        b"{\"startAt\": .5}",
        b"{\"startAt\": 1.}",
        b"{\"startAt\": 1e}",
        b"{\"startAt\": --1}",
        b"{\"startAt\": 1-1}",
        b"{\"a\": tru}",
        b"{} // comment",
        b"/**/{}",
        b"firstName=Ada",
        b"<delegate/>",
        b"\0",
    ] {
        for write in WRITES {
            let answer = venue.send_json(write, body);
            let text = String::from_utf8_lossy(body);
            assert_eq!(
                (answer.reply.status, answer.reply.code()),
                (400, 1100),
                "{write:?} {text}"
            );
        }
    }
    assert_eq!(venue.written(), before);
    venue.goes_on();
}

#[test]
fn json_that_is_no_object_is_refused() {
    let venue = Venue::new();
    let before = venue.written();
    for body in [
        "null",
        "true",
        "1",
        "-1.5e3",
        "\"x\"",
        "[]",
        "[1]",
        "[{}]",
        "[[]]",
        " \n[7]",
        // What a derived reader might take for the properties in their order.
        "[null, \"barcode:A\"]",
        "[{\"k\": {\"interactionType\": \"lead\", \"delegate\": \"barcode:A\"}}]",
    ] {
        for write in WRITES {
            venue.send_json(write, body).reply.invalid("");
        }
    }
    let item = json!({"interactions": {"k": ["lead", "barcode:A"]}}).to_string();
    let answer = venue.send_json(("POST", "/interaction/batch"), item);
    assert_eq!(
        answer.reply.data()[0]["meta"]["error"]["internalCode"],
        1100
    );
    assert_eq!(venue.written(), before);
    venue.goes_on();
}

#[test]
fn nesting_ends_at_64_levels() {
    let venue = Venue::new();
    // The body, data and Data are three levels.
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels - 3), "]".repeat(levels - 3));
        format!("{{\"data\": {{\"Data\": {{\"x\": {open}1{close}}}}}}}")
    };
    for write in [WRITES[0], WRITES[1], WRITES[2], WRITES[3], WRITES[4]] {
        let answer = venue.send_json(write, nested(64));
        assert!(answer.reply.status < 300, "{write:?}: {answer:?}");
        let sent: serde_json::Value = serde_json::from_str(&nested(64)).expect("JSON");
        assert_eq!(answer.reply.data()["data"], sent["data"]);
        // What was read can be sent back: reading adds no level.
        let again = venue.send_json(write, json!({"data": sent["data"]}).to_string());
        assert!(again.reply.status < 300, "{write:?}: {again:?}");
    }
    let before = venue.written();
    for write in WRITES {
        // Items of a batch are looked at one by one, and this is none.
        let about = if write.1 == "/interaction/batch" {
            ""
        } else {
            "64"
        };
        for levels in [65, 66, 127, 129, 1000, 500_000] {
            venue.send_json(write, nested(levels)).reply.invalid(about);
        }
        for unclosed in ["[", "{\"a\":", "[{\"\":"] {
            venue
                .send_json(write, unclosed.repeat(100_000))
                .reply
                .invalid("");
        }
    }
    // Brackets in strings are none.
    let text = json!({"delegate": "barcode:A", "data": {"x": "[".repeat(100), "y\\\"[": "\\\"[{"}})
        .to_string();
    assert_eq!(venue.send_json(WRITES[7], text).reply.status, 201);
    assert_eq!(venue.written(), before + 1);
    venue.goes_on();
}

#[test]
fn a_body_must_say_that_it_is_json() {
    let venue = Venue::new();
    let before = venue.written();
    for other in [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/octet-stream",
        "json",
        "*/*",
        ";",
        "application/xml; x=application/json",
    ] {
        for write in WRITES {
            venue
                .send(write, Some(other), "{}")
                .reply
                .refused(415, 1107, "application/json");
        }
    }
    assert_eq!(venue.written(), before);
    for fine in [
        Some("application/json"),
        Some("application/json; charset=utf-8"),
        Some("Application/JSON ;x=y"),
        Some("application/merge-patch+json"),
        None,
    ] {
        assert_eq!(
            venue.send(WRITES[1], fine, "{}").reply.status,
            200,
            "{fine:?}"
        );
    }
    venue.goes_on();
}

#[test]
fn a_property_that_stands_twice_is_refused() {
    let venue = Venue::new();
    let before = venue.written();
    for (write, name) in [
        (WRITES[0], "firstName"),
        (WRITES[1], "company"),
        (WRITES[3], "name"),
        (WRITES[5], "eventName"),
        (WRITES[7], "nonce"),
        (WRITES[9], "interactions"),
    ] {
        let value = if name == "interactions" {
            "{}"
        } else {
            "\"x\""
        };
        let body = format!("{{\"{name}\": {value}, \"{name}\": {value}}}");
        venue.send_json(write, body).reply.invalid(name);
    }
    let deep = r#"{"data": {"Data": {"x": 1, "y": [{"z": 1, "z": 2}]}}}"#;
    for write in [WRITES[0], WRITES[1], WRITES[3]] {
        venue
            .send_json(write, deep.to_owned())
            .reply
            .invalid("\"z\" stands twice");
    }
    let deep = r#"{"delegate": 1, "data": {"x": {"z": 1, "z": 2}}}"#;
    venue
        .send_json(WRITES[7], deep.to_owned())
        .reply
        .invalid("\"z\" stands twice");
    assert_eq!(venue.written(), before);
}

#[test]
fn a_compressed_body_is_not_taken_for_a_plain_one() {
    let (_server, api) = Server::with_api();
    let request = api
        .request(reqwest::Method::POST, "/delegate/new")
        .json(&serde_json::json!({}));
    crate::harness::reply(request.header("Content-Encoding", "gzip")).refused(
        415,
        1107,
        "Content-Encoding",
    );
}
