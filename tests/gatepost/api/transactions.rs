//! `/tx/new`: always accepted, kept word for word, loaded as far as it goes, and never twice.

use crate::harness::{Agrees, Caller, Reply, Server, at_once, reply};
use gatepost::{domain::sales, identity::Role};
use reqwest::Method;
use serde_json::{Value, json};

pub(super) struct Till {
    pub(super) api: Caller,
    event: i64,
    product: i64,
}

impl Till {
    pub(super) fn open() -> (Server, Self) {
        let (server, api) = Server::with_api();
        let event = api.device(&json!({"name": "Fair", "deviceType": "event"}));
        let product = api.device(&json!({"name": "Day ticket", "parent": event}));
        let till = Self {
            api,
            event,
            product,
        };
        (server, till)
    }

    pub(super) fn sale(&self, code: &str, barcodes: &[&str]) -> Value {
        let tickets: Vec<Value> = barcodes
            .iter()
            .map(|barcode| json!({"product": self.product, "description": "Day ticket", "barcode": barcode}))
            .collect();
        let (quantity, total) = (barcodes.len(), 2500 * barcodes.len());
        json!({
            "context": self.event, "code": code, "totalAmount": total, "createdAt": 1_790_000_000,
            "recordedBy": "Ada", "notes": "Grüße",
            "transactions": [{"paymentMethod": "cash", "amount": total, "change": 0}],
            "items": [{"code": format!("{code}0000"), "product": self.product, "quantity": quantity,
                "description": "Day ticket", "unitAmount": 2500, "totalAmount": total,
                "discountAmount": null, "delegates": tickets}],
        })
    }

    pub(super) fn send(&self, body: &Value) -> Reply {
        self.api.post("/tx/new", body)
    }

    fn send_bytes(&self, body: &'static [u8]) -> Reply {
        reply(self.api.request(Method::POST, "/tx/new").body(body))
    }
}

#[track_caller]
pub(super) fn told(reply: &Reply) -> Vec<String> {
    let listed = reply.data()["inconsistencies"].as_array().expect("a list");
    let line = |told: &Value| format!("{}: {}", told["path"], told["message"]).replace('"', "");
    listed.iter().map(line).collect()
}

pub(super) fn barcodes(reply: &Reply) -> Vec<String> {
    let delegates = reply.data()["delegates"].as_array().expect("a list");
    let barcode = |made: &Value| made["barcode"].as_str().unwrap_or_default().to_owned();
    delegates.iter().map(barcode).collect()
}

#[test]
fn a_ticket_that_was_sold_opens_the_door_of_its_product_and_of_the_event() {
    let (server, till) = Till::open();
    server.settings(&json!({"access": {"ruleSet": "simple"}}));
    let reply = till.send(&till.sale("TLH26", &["A1", "A2"]));
    assert_eq!((reply.status, told(&reply)), (201, vec![]));
    reply
        .data()
        .agrees(&json!({"_type": "transaction", "code": "TLH26"}));
    assert_eq!(barcodes(&reply), ["A1", "A2"]);
    let delegate = till.api.get("/delegate/barcode:A2?fields=sources,data");
    assert_eq!(delegate.data()["sources"], json!(["tx"]));
    for device in [till.event, till.product] {
        let body = json!({"delegate": "barcode:A1", "device": device});
        till.api.interact("check-in", &body).is(201);
    }
    let joins = till
        .api
        .get("/interaction/list?search={\"==\":[\"interactionType\",\"join\"]}");
    assert_eq!(joins.list().len(), 4);
}

#[test]
fn the_same_purchase_again_creates_nothing_twice_and_a_changed_one_adds_its_tickets() {
    let (server, till) = Till::open();
    let (small, large) = (
        till.sale("T", &["A", "B"]),
        till.sale("T", &["A", "B", "C"]),
    );
    let first = till.send(&small);
    assert_eq!(till.send(&small), first);
    let revised = till.send(&large);
    assert_eq!(revised.id(), first.id());
    assert_eq!(barcodes(&revised), ["A", "B", "C"]);
    assert!(
        told(&revised)[0].contains("sent before with other content"),
        "{revised:?}"
    );
    // In whatever order they come again.
    for body in [&large, &small, &small, &large] {
        assert_eq!(barcodes(&till.send(body)), ["A", "B", "C"]);
    }
    assert_eq!(server.count("delegates"), 3);
    assert_eq!(server.count("transactions"), 1);
    assert_eq!(server.count("transaction_bodies"), 2);
    assert_eq!(
        server.value::<i64>("SELECT total_amount FROM transactions"),
        5000
    );
    let kept: Vec<u8> = server.value("SELECT body FROM transaction_bodies ORDER BY id LIMIT 1");
    assert_eq!(kept, small.to_string().into_bytes());
}

#[test]
fn one_purchase_fifty_times_at_once_is_one() {
    let (server, till) = Till::open();
    let body = till.sale("T", &["A", "B", "C"]);
    let replies = at_once(50, |_| till.send(&body));
    assert!(
        replies.iter().all(|reply| *reply == replies[0]),
        "{replies:?}"
    );
    assert_eq!(barcodes(&replies[0]), ["A", "B", "C"]);
    assert_eq!(server.count("delegates"), 3);
    assert_eq!(server.count("interactions"), 6);
}

#[test]
fn what_does_not_fit_is_told_and_the_rest_is_loaded() {
    let (server, till) = Till::open();
    till.api.delegate(&json!({"barcode": "TAKEN"}));
    let mut body = till.sale("T", &["A", "TAKEN"]);
    body["context"] = json!(9999);
    body["totalAmount"] = json!(1);
    body["items"][0]["delegates"][0]["product"] = json!(8888);
    let reply = till.send(&body);
    assert_eq!(reply.status, 201);
    assert_eq!(barcodes(&reply), ["A"]);
    let told = told(&reply);
    for expected in [
        "context: there is no device 9999",
        "items[0].delegates[0].product: there is no device 8888",
        "transactions: they add up to 5000",
        "items: they add up to 5000 and not to 1",
        "items[0].delegates[1].barcode: barcode",
    ] {
        assert!(
            told.iter().any(|line| line.starts_with(expected)),
            "{expected}: {told:?}"
        );
    }
    assert_eq!(server.count("interactions"), 0);
    // Once the code is free, the same body again does not take it: what was looked at was told.
    assert_eq!(till.send(&body), reply);
}

#[test]
fn what_is_no_purchase_at_all_is_kept_word_for_word() {
    let (server, till) = Till::open();
    let bodies: [&'static [u8]; 5] = [
        b"",
        b"total: 25",
        b"[1]",
        b"\xff\xfe\x00",
        b"{\"code\": \"X\"",
    ];
    for body in bodies {
        let reply = till.send_bytes(body);
        assert_eq!(reply.status, 201);
        assert_eq!(told(&reply).len(), 1, "{reply:?}");
        assert_eq!(reply.data()["code"].as_str().map(str::len), Some(64));
        assert_eq!(till.send_bytes(body), reply);
        let id = reply.id();
        let kept: Vec<u8> = server.value(&format!(
            "SELECT body FROM transaction_bodies WHERE transaction_id = {id}"
        ));
        assert_eq!(kept, body);
    }
    assert_eq!(server.count("transactions"), 5);
    let large = reply_to(&till, vec![b' '; 8 * 1024 * 1024 + 1]);
    large.refused(413, 1106, "8388608");
}

pub(super) fn reply_to(till: &Till, body: Vec<u8>) -> Reply {
    reply(till.api.request(Method::POST, "/tx/new").body(body))
}

#[test]
fn a_purchase_that_was_cut_off_is_finished_at_the_next_start() {
    let (server, till) = Till::open();
    let reply = till.send(&till.sale("T", &["A", "B", "C"]));
    // As a cut between two slices leaves it.
    let (b, c) = (
        reply.data()["delegates"][1]["id"].clone(),
        reply.data()["delegates"][2]["id"].clone(),
    );
    server.sql(&format!(
        "DELETE FROM transaction_delegates WHERE delegate_id IN ({b}, {c});
         DELETE FROM interactions WHERE first_delegate_id IN ({b}, {c});
         DELETE FROM delegates WHERE id IN ({b}, {c});
         UPDATE transaction_bodies SET loaded = 1;"
    ));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime
        .block_on(sales::resume(&server.app.store))
        .expect("it is finished");
    let barcodes: String =
        server.value("SELECT group_concat(barcode, ' ') FROM transaction_delegates");
    assert_eq!(barcodes, "A B C");
    assert_eq!(server.count("interactions"), 6);
    assert_eq!(
        server.value::<i64>("SELECT loaded FROM transaction_bodies"),
        3
    );
}

#[test]
fn a_long_purchase_is_loaded_in_slices() {
    let (_server, till) = Till::open();
    let codes: Vec<String> = (0..600).map(|number| format!("N{number:04}")).collect();
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    let reply = till.send(&till.sale("T", &codes));
    assert_eq!((told(&reply), barcodes(&reply).len()), (vec![], 600));
}

#[test]
fn a_key_gives_the_same_answer_and_stands_for_one_body() {
    let (server, till) = Till::open();
    let keyed = |body: &Value| {
        let request = till.api.request(Method::POST, "/tx/new");
        reply(request.header("Idempotency-Key", "k").json(body))
    };
    let first = keyed(&till.sale("T", &["A"]));
    keyed(&till.sale("T", &["A"])).repeats(&first);
    // A purchase is taken whatever its headers say; what is wrong with them is listed.
    let other = keyed(&till.sale("U", &["B"]));
    assert!(told(&other)[0].contains("Idempotency-Key"), "{other:?}");
    assert_eq!((other.status, barcodes(&other)), (201, vec!["B".into()]));
    keyed(&till.sale("T", &["A"])).repeats(&first);
    assert_eq!(server.count("delegates"), 2);
    let other = server.caller(&[Role::DelegateWrite]);
    other
        .post("/tx/new", &json!({}))
        .refused(403, 1202, "ROLE_OAUTH2_TX_WRITE");
}
