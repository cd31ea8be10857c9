//! `kill -9` while a long purchase becomes delegates: nothing is lost, nothing is made twice.

use super::{
    process::{Served, gatepost, token, told, until},
    wire::{Wire, post},
};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::path::Path;

const TICKETS: usize = 4_000;
/// How often it is killed on the way.
const KILLS: i64 = 4;

fn sale(device: i64, code: &str) -> Value {
    let tickets: Vec<Value> = (0..TICKETS)
        .map(|number| json!({"product": device, "barcode": format!("{code}-{number}")}))
        .collect();
    let total = 100 * TICKETS;
    json!({
        "context": device, "code": code, "totalAmount": total, "createdAt": 1_790_000_000, "recordedBy": "Ada",
        "transactions": [{"paymentMethod": "cash", "amount": total}],
        "items": [{"code": format!("{code}0000"), "product": device, "quantity": TICKETS, "unitAmount": 100,
            "totalAmount": total, "delegates": tickets}],
    })
}

fn count(db: &Path, sql: &str) -> i64 {
    // As another process would: the server's locks are not ours.
    let connection = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY);
    connection
        .and_then(|connection| connection.query_row(sql, [], |row| row.get(0)))
        .unwrap_or(-1)
}

#[test]
fn a_purchase_that_is_killed_on_its_way_is_made_whole_and_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    let client = told(
        &db,
        &[
            "client",
            "add",
            "till",
            "--json",
            "--role",
            "tx-write",
            "--role",
            "device-write",
        ],
    );
    let mut served = Served::start(&db);
    let mut wire = served.wire();
    let token = token(&mut wire, &client).expect("a token");
    let device = wire
        .call(&post("/device/new", &token, &json!({"name": "Fair"})))
        .expect("an answer");
    let device = device.data()["id"].as_i64().expect("an id");
    let request = post("/tx/new", &token, &sale(device, "T"));
    let mut till: Wire = served.wire();
    till.write(&request).expect("sent");
    let made = "SELECT count(*) FROM transaction_delegates";
    let mut before = 0;
    for kill in 1..=KILLS {
        let enough = kill * i64::try_from(TICKETS).expect("a number") / (KILLS + 2);
        until("some tickets are made", || {
            count(&db, made) > enough.max(before)
        });
        served.kill();
        before = count(&db, made);
        // The start after a kill finishes what was begun, without the till.
        served = Served::start(&db);
    }
    let unfinished = "SELECT count(*) FROM transaction_bodies WHERE loaded < tickets";
    until("the purchase is whole", || count(&db, unfinished) == 0);
    let tickets = i64::try_from(TICKETS).expect("a number");
    for (sql, expected) in [
        ("SELECT count(*) FROM delegates", tickets),
        ("SELECT count(*) FROM transaction_delegates", tickets),
        (
            "SELECT count(DISTINCT first_delegate_id) FROM interactions",
            tickets,
        ),
        ("SELECT count(*) FROM interactions", tickets),
        ("SELECT count(*) FROM transactions", 1),
        ("SELECT count(*) FROM transaction_bodies", 1),
        ("SELECT count(*) FROM inconsistencies", 0),
    ] {
        assert_eq!(count(&db, sql), expected, "{sql}");
    }
    assert!(before > 0 && before < tickets, "it was never cut: {before}");
    // The till never heard; it sends again, and makes nothing twice.
    let again = served.wire().call(&request).expect("an answer");
    assert_eq!(again.status, 201);
    let delegates = again.data()["delegates"].as_array().map(Vec::len);
    assert_eq!(delegates, Some(TICKETS));
    assert_eq!(count(&db, "SELECT count(*) FROM interactions"), tickets);
    served.stop();
    let checked = gatepost(&db, &["check"]);
    assert!(checked.status.success(), "{checked:?}");
}
