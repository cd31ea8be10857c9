//! Numbers at the edges of what JSON, 64 bits and floats can hold.

use super::{Venue, WRITES};
use crate::harness::words;
use serde_json::Value;

#[test]
fn a_whole_number_past_64_bits_is_refused_rather_than_changed() {
    let venue = Venue::new();
    let before = venue.written();
    for number in words(
        "9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616 \
         100000000000000000000000000000000000000000000000000 1e400 -1e400 1e999999999999999999 \
         123456789e9999",
    ) {
        for write in WRITES {
            let body = format!("{{\"data\": {{\"Data\": {{\"n\": [{number}]}}}}}}");
            venue.send_json(write, body).reply.invalid("");
        }
        for name in ["parent", "startAt", "available", "name"] {
            venue
                .send_json(WRITES[3], format!("{{\"{name}\": {number}}}"))
                .reply
                .invalid("");
        }
        for name in ["delegate", "firstDevice", "recordedAt", "nonce"] {
            let answer = venue.send_json(WRITES[7], format!("{{\"{name}\": {number}}}"));
            assert_eq!(answer.reply.status, 400, "{name}: {number}");
        }
    }
    assert_eq!(venue.written(), before);
    venue.goes_on();
}

#[test]
fn numbers_within_64_bits_come_back_as_they_went() {
    let venue = Venue::new();
    for number in words(
        "0 -1 9223372036854775807 -9223372036854775808 9007199254740993 0.1 -2.5 1e308 5e-324 \
         1.7976931348623157e308 123456.789e-3",
    ) {
        let body = format!("{{\"data\": {{\"Data\": {{\"n\": {number}}}}}}}");
        let answer = venue.send_json(WRITES[0], body);
        let sent: Value = serde_json::from_str(number).expect("a number");
        assert_eq!(answer.reply.data()["data"]["Data"]["n"], sent, "{number}");
    }
}

#[test]
fn an_id_is_a_whole_number_and_nothing_else() {
    let venue = Venue::new();
    for id in [
        "1.0",
        "1.5",
        "1e0",
        "-0.0",
        "true",
        "[1]",
        "{\"id\": 1.0}",
        "{\"id\": true}",
    ] {
        for name in ["parent", "owner", "previous"] {
            venue
                .send_json(WRITES[0], format!("{{\"{name}\": {id}}}"))
                .reply
                .invalid(name);
        }
        for name in ["delegate", "secondDelegate", "device"] {
            let body = format!("{{\"firstDelegate\": 1, \"{name}\": {id}}}");
            let body = if name == "delegate" {
                format!("{{\"{name}\": {id}}}")
            } else {
                body
            };
            venue.send_json(WRITES[7], body).reply.invalid("");
        }
    }
    // One that is whole, but nobody's.
    for id in words("0 -1 999999 9223372036854775807 -9223372036854775808") {
        let answer = venue.send_json(WRITES[7], format!("{{\"delegate\": {id}}}"));
        answer.reply.refused(404, 1301, id);
        venue
            .send_json(WRITES[0], format!("{{\"parent\": {id}}}"))
            .reply
            .invalid("parent");
    }
}

#[test]
fn times_outside_the_years_1_to_9999_are_refused() {
    let venue = Venue::new();
    for time in [
        "253402207201",
        "-62135596801",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854776",
        "1.0",
        "1e3",
        "\"10000-01-01 00:00:00\"",
        "\"0000-00-00 00:00:00\"",
        "\"-9999-01-01T00:00:00Z\"",
        "\"2026-11-21\\u0000\"",
        "\"2026-11-21T09:02:00+99:00\"",
        "\"99999999999999999999\"",
        "\"1\"",
    ] {
        venue
            .send_json(WRITES[3], format!("{{\"startAt\": {time}}}"))
            .reply
            .invalid("startAt");
        let body = format!("{{\"delegate\": \"barcode:A\", \"recordedAt\": {time}}}");
        venue
            .send_json(WRITES[7], body)
            .reply
            .refused(400, 1503, "recordedAt");
    }
    for time in [
        "253402207200",
        "-62135596800",
        "\"9999-12-30 22:00:00\"",
        "\"0001-01-01T00:00:00Z\"",
    ] {
        let body = format!(
            "{{\"delegate\": \"barcode:A\", \"device\": \"code:gate\", \"recordedAt\": {time}}}"
        );
        let answer = venue.send_json(("POST", "/interaction/new/check-in"), body);
        assert_eq!(answer.reply.status, 201, "{time}: {answer:?}");
        let shown = answer.reply.data()["recordedAt"].to_string();
        assert!(
            shown.contains("9999-12-30T22:00:00") || shown.contains("0001-01-01T00:00:00"),
            "{shown}"
        );
    }
    // In a zone that reaches past either end too.
    for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        venue
            .server
            .settings(&serde_json::json!({"timeZone": zone}));
        for made in venue.all.get("/interaction/list").list() {
            assert!(
                made["recordedAt"].as_str().is_some_and(|at| at.len() == 25),
                "{zone}: {made}"
            );
        }
    }
    venue.goes_on();
}
