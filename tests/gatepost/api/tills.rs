//! What tills do to `/tx/new`: retries and revisions in any order, at once, and bodies of any size.

use super::transactions::{Till, barcodes, reply_to, told};
use crate::faults::process;
use crate::harness::{Server, at_once, has, reply};
use gatepost::types::secret::{digest, hex};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Tickets that a revision may have.
const TICKETS: [&str; 5] = ["A", "B", "C", "D", "E"];

/// Revisions by their tickets, and in which order they are sent, some of them again.
fn orders() -> impl Strategy<Value = (Vec<BTreeSet<usize>>, Vec<usize>)> {
    let revision = proptest::collection::btree_set(0..TICKETS.len(), 1..=TICKETS.len());
    proptest::collection::vec(revision, 1..5).prop_flat_map(|revisions| {
        let count = revisions.len();
        let sent = proptest::collection::vec(0..count, 1..10);
        (Just(revisions), sent)
    })
}

fn ends(code: &str, tickets: &BTreeSet<usize>) -> Vec<String> {
    let named = tickets.iter().map(|at| format!("{code}-{}", TICKETS[*at]));
    named.collect()
}

fn revision(till: &Till, code: &str, tickets: &BTreeSet<usize>) -> Value {
    let barcodes = ends(code, tickets);
    let barcodes: Vec<&str> = barcodes.iter().map(String::as_str).collect();
    till.sale(code, &barcodes)
}

/// What the file has of a purchase: purchases, bodies, tickets, joins.
fn there(server: &Server, code: &str) -> [i64; 4] {
    let of = format!("(SELECT id FROM transactions WHERE code = '{code}')");
    let tickets =
        format!("SELECT delegate_id FROM transaction_delegates WHERE transaction_id IN {of}");
    [
        format!("SELECT count(*) FROM transactions WHERE code = '{code}'"),
        format!("SELECT count(*) FROM transaction_bodies WHERE transaction_id IN {of}"),
        format!("SELECT count(*) FROM delegates WHERE id IN ({tickets})"),
        format!("SELECT count(*) FROM interactions WHERE first_delegate_id IN ({tickets})"),
    ]
    .map(|sql| server.value(&sql))
}

#[test]
fn retries_and_revisions_in_any_order_create_nothing_twice() {
    let (server, till) = Till::open();
    let mut runner = TestRunner::new(Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    });
    let number = std::cell::Cell::new(0);
    let law = |(revisions, sent): (Vec<BTreeSet<usize>>, Vec<usize>)| {
        number.set(number.get() + 1);
        let code = format!("P{}", number.get());
        let mut distinct = BTreeSet::new();
        let mut tickets = BTreeSet::new();
        for at in &sent {
            let reply = till.send(&revision(&till, &code, &revisions[*at]));
            prop_assert_eq!(reply.status, 201);
            distinct.insert(revisions[*at].clone());
            tickets.extend(&revisions[*at]);
            let mut made = barcodes(&reply);
            made.sort();
            prop_assert_eq!(made, ends(&code, &tickets));
            // What came first is in force and fits; whatever differs is told so.
            let first = revisions[*at] == revisions[sent[0]];
            prop_assert_eq!(told(&reply).is_empty(), first);
        }
        let count = |length: usize| i64::try_from(length).expect("a small number");
        let (bodies, made) = (count(distinct.len()), count(tickets.len()));
        prop_assert_eq!(there(&server, &code), [1, bodies, made, 2 * made]);
        Ok(())
    };
    runner.run(&orders(), law).expect("the law holds");
    assert_eq!(
        server.count("delegates"),
        server.value::<i64>("SELECT count(DISTINCT barcode) FROM delegates")
    );
}

#[test]
fn revisions_that_come_at_once_make_each_ticket_once() {
    let (server, till) = Till::open();
    let all: Vec<BTreeSet<usize>> = (1..32_usize)
        .map(|bits| (0..5).filter(|at| bits & (1 << at) != 0).collect())
        .collect();
    let replies = at_once(all.len(), |at| till.send(&revision(&till, "T", &all[at])));
    for (reply, tickets) in replies.iter().zip(&all) {
        let made: BTreeSet<String> = barcodes(reply).into_iter().collect();
        let own: BTreeSet<String> = ends("T", tickets).into_iter().collect();
        assert!(own.is_subset(&made), "{own:?} {made:?}");
    }
    assert_eq!(there(&server, "T"), [1, 31, 5, 10]);
}

#[test]
fn an_absurd_number_or_a_name_that_stands_twice_hides_nothing_else() {
    let (_server, till) = Till::open();
    let text = till
        .sale("T", &["A"])
        .to_string()
        .replacen("2500", &"9".repeat(40), 1)
        .replacen('{', "{\"notes\":\"first\",", 1);
    let reply = reply_to(&till, text.into_bytes());
    assert_eq!(barcodes(&reply), ["A"]);
    let told = told(&reply);
    for expected in ["stands twice", "totalAmount: is out of range"] {
        assert!(
            told.iter().any(|line| line.contains(expected)),
            "{expected}: {told:?}"
        );
    }
}

#[test]
fn whoever_paid_is_let_in_whatever_the_ticket_is_called() {
    let (server, till) = Till::open();
    let mut body = till.sale("T", &["A", "B"]);
    body["items"][0]["delegates"][0]["description"] = json!("x".repeat(10_001));
    let reply = till.send(&body);
    assert_eq!(barcodes(&reply), ["A", "B"]);
    let told = told(&reply);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("items[0].delegates[0].description: description: must have at most"),
        "{told:?}"
    );
    let joins = "SELECT count(*) FROM interactions WHERE recorded_at = 1790000000000";
    assert_eq!(server.value::<i64>(joins), 4, "joined when it was bought");
}

#[test]
fn a_body_of_eight_mebibytes_is_taken_and_costs_a_bounded_time() {
    let (server, till) = Till::open();
    let whole = |begin: &str, part: &str, end: &str| {
        let count = (8 * 1024 * 1024 - begin.len() - end.len()) / part.len();
        let mut body = format!("{begin}{}{end}", part.repeat(count)).into_bytes();
        body.resize(8 * 1024 * 1024, b' ');
        body
    };
    for (body, loaded, expected) in [
        // A note that is long.
        (
            whole("{\"code\":\"N\",\"notes\":\"", "x", "\"}"),
            "SELECT length(notes) > 8000000 FROM transactions WHERE code = 'N'",
            "totalAmount: is missing",
        ),
        // Too many values to be read at all.
        (
            whole("{\"code\":\"V\",\"items\":[", "{},", "{}]}"),
            "SELECT count(*) = 0 FROM transactions WHERE code = 'V'",
            "it has more than 1000000 values",
        ),
        // More lines than have counters, nothing of which fits.
        (
            whole(
                "{\"code\":\"L\",\"items\":[",
                "{\"quantity\":0                              },",
                "{}]}",
            ),
            "SELECT count(*) = 10000 FROM transaction_items",
            "and only the first 10000 are loaded",
        ),
        // Hundreds of thousands of tickets, all with one barcode.
        (
            whole(
                "{\"code\":\"B\",\"items\":[{\"code\":\"B0000\",\"delegates\":[",
                "{\"barcode\":\"SAME\"},",
                "{}]}]}",
            ),
            "SELECT count(*) = 1 FROM delegates WHERE barcode = 'SAME'",
            "another ticket of this purchase has it",
        ),
    ] {
        let reply = reply_to(&till, body.clone());
        assert_eq!(reply.status, 201, "{expected}");
        let told = told(&reply);
        assert!(told.len() <= 2_002, "{}", told.len());
        assert!(
            told.iter().any(|line| line.contains(expected)),
            "{expected}: {:?}",
            told.first()
        );
        assert!(server.value::<bool>(loaded), "{loaded}");
        let id = reply.id();
        let kept: Vec<u8> = server.value(&format!(
            "SELECT body FROM transaction_bodies WHERE transaction_id = {id}"
        ));
        assert!(kept == body, "{expected}: it is kept word for word");
    }
    // What a page shows is bounded, and a spreadsheet holds what its cells can.
    let note: i64 = server.value("SELECT id FROM transactions WHERE code = 'N'");
    let crew = server.viewer();
    for page in ["/console/sales", &format!("/console/sales/{note}")] {
        let html = crew.page(page);
        assert!(html.len() < 100_000, "{page}: {}", html.len());
    }
    let list = server.file("sales.xlsx", "");
    std::fs::remove_file(&list).expect("gone");
    let output = process::gatepost(
        &server.path(),
        &["export", "transactions", "--output", &list],
    );
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    has(&told, "longer than a cell of a spreadsheet holds");
}

#[test]
fn a_number_that_is_none_costs_nothing_else() {
    let (server, till) = Till::open();
    for (n, none) in ["NaN", "-Infinity", "1e999"].into_iter().enumerate() {
        let (code, ticket) = (format!("NONE{n}"), format!("NONE{n}A"));
        let text = till.sale(&code, &[&ticket]).to_string();
        let text = text.replacen(
            "\"totalAmount\":2500",
            &format!("\"totalAmount\":{none}"),
            1,
        );
        let reply = reply_to(&till, text.clone().into_bytes());
        assert_eq!(reply.data()["code"], code);
        assert_eq!(barcodes(&reply), [ticket]);
        let told = told(&reply);
        assert!(
            told[0].contains("it is not valid JSON") && told[0].contains("such values left out"),
            "{told:?}"
        );
        assert_eq!(told[1..], ["totalAmount: is missing"], "{none}");
        let kept: Vec<u8> = server.value(&format!(
            "SELECT body FROM transaction_bodies WHERE transaction_id = {}",
            reply.id()
        ));
        assert_eq!(kept, text.into_bytes());
    }
    assert_eq!(
        server.value::<i64>("SELECT sum(net) FROM transaction_payments"),
        7_500
    );
}

#[test]
fn a_purchase_that_is_only_laid_out_otherwise_is_the_same() {
    let (server, till) = Till::open();
    let sale = till.sale("T", &["A"]);
    let keyed = |body: String| {
        let request = till.api.request(Method::POST, "/tx/new");
        reply(request.header("Idempotency-Key", "k").body(body))
    };
    let first = keyed(sale.to_string());
    let wide = serde_json::to_string_pretty(&sale).expect("JSON");
    assert_eq!(reply_to(&till, wide.clone().into_bytes()), first);
    keyed(wide).repeats(&first);
    let mut turned = sale.clone();
    let notes = turned.as_object_mut().and_then(|sale| sale.remove("notes"));
    turned["notes"] = notes.expect("notes");
    assert_ne!(turned.to_string(), sale.to_string());
    assert_eq!(till.send(&turned), first);
    assert_eq!(there(&server, "T"), [1, 1, 1, 2]);
    // What is read as the same, and is not.
    for other in [
        sale.to_string().replacen('{', "{\"notes\":\"other\",", 1),
        sale.to_string().replacen(":2500", ":2500.0", 1),
    ] {
        let reply = reply_to(&till, other.into_bytes());
        has(&told(&reply)[0], "sent before with other content");
    }
    assert_eq!(there(&server, "T"), [1, 3, 1, 2]);
    let kept: Vec<u8> = server.value("SELECT body FROM transaction_bodies ORDER BY id LIMIT 1");
    assert_eq!(kept, sale.to_string().into_bytes());
    // As a file of before knows it.
    let plain: String = hex(&digest(&kept));
    server.sql(&format!(
        "UPDATE transaction_bodies SET digest = x'{plain}' WHERE id = 1"
    ));
    assert_eq!(till.send(&sale), first);
}

#[test]
fn what_stands_in_the_address_is_no_reason_to_refuse_a_purchase() {
    let (_server, till) = Till::open();
    let reply = till.api.post("/tx/new?x=1&x=2", &till.sale("T", &["A"]));
    assert_eq!((reply.status, barcodes(&reply)), (201, vec!["A".into()]));
    assert_eq!(told(&reply), [": \\x\\ in the query string is not read"]);
}

#[test]
fn a_ticket_of_somebody_who_was_deleted_is_not_made_anew_without_a_word() {
    let (server, till) = Till::open();
    let first = till.send(&till.sale("T1", &["A", "B"]));
    let deleted = till.api.get("/delegate/barcode:A").id();
    till.api.delete(&format!("/delegate/id:{deleted}")).is(204);
    // Its own purchase knows what became of it.
    let again = till.send(&till.sale("T1", &["A", "B"]));
    assert_eq!(again, first);
    let other = till.send(&till.sale("T2", &["A", "C"]));
    assert_eq!(barcodes(&other), ["C"]);
    let told_of_other = told(&other);
    assert_eq!(told_of_other.len(), 1, "{told_of_other:?}");
    assert!(
        told_of_other[0].contains("items[0].delegates[0].barcode: purchase T1 sold this ticket")
            && told_of_other[0].contains(&format!("delegate {deleted} was deleted")),
        "{told_of_other:?}"
    );
    till.api.get("/delegate/barcode:A").refused(404, 1301, "");
    // What somebody else has by now is told as that; what no purchase sold is made.
    till.api.delegate(&json!({"barcode": "A"}));
    let taken = till.send(&till.sale("T3", &["A"]));
    assert!(!told(&taken)[0].contains("was deleted"), "{taken:?}");
    let free = till.api.delegate(&json!({"barcode": "D"}));
    till.api.delete(&format!("/delegate/id:{free}"));
    let sold = till.send(&till.sale("T4", &["D"]));
    assert_eq!((told(&sold), barcodes(&sold)), (vec![], vec!["D".into()]));
    // Nor is that of somebody who was deleted for good.
    let gone = till.api.get("/delegate/barcode:B").id();
    let crew = server.administrator();
    crew.erase(gone);
    let anew = till.send(&till.sale("T5", &["B"]));
    assert_eq!(barcodes(&anew), [] as [&str; 0]);
    assert!(told(&anew)[0].contains("deleted for good"), "{anew:?}");
    till.api.get("/delegate/barcode:B").refused(404, 1301, "");
}

#[test]
fn what_is_told_of_the_sample_of_the_reference_is_only_what_it_names_wrongly() {
    let (server, till) = Till::open();
    // The specification's two methods, handed over in cash and by card.
    let mut body = till.sale("T", &["A", "B"]);
    body["transactions"] = json!([
        {"paymentMethod": "cash", "amount": 5000, "change": 2000},
        {"paymentMethod": "card", "amount": 2000, "transactionId": "T1"},
    ]);
    assert_eq!(told(&till.send(&body)), [] as [&str; 0]);
    let kept: String = server.value(
        "SELECT group_concat(net) FROM (SELECT net FROM transaction_payments ORDER BY line)",
    );
    assert_eq!(kept, "3000,2000");
}

#[test]
fn a_letter_that_is_none_costs_no_ticket() {
    let (_server, till) = Till::open();
    for (n, cut) in [&b"\\ud83d"[..], b"\xfc"].into_iter().enumerate() {
        let (code, ticket) = (format!("CUT{n}"), format!("CUT{n}A"));
        let mut sale: Vec<u8> = Vec::new();
        for part in till.sale(&code, &[&ticket]).to_string().into_bytes() {
            if sale.is_empty() {
                sale.extend(b"{\"notes\":\"thanks ");
                sale.extend(cut);
                sale.extend(b"\",");
            } else {
                sale.push(part);
            }
        }
        let reply = reply_to(&till, sale);
        assert_eq!(barcodes(&reply), [ticket]);
        let told = told(&reply);
        let mut told = told.iter();
        assert!(told.any(|line| line.contains("it was read with such letters replaced")));
    }
}

#[test]
fn no_header_is_a_reason_to_refuse_a_purchase() {
    let (server, till) = Till::open();
    let long = "x".repeat(256);
    let send = |code: &str, headers: &[(&str, &str)], body: Option<Vec<u8>>| {
        let sale = till.sale(code, &[code]).to_string().into_bytes();
        let mut request = till.api.request(Method::POST, "/tx/new");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        reply(request.body(body.unwrap_or(sale)))
    };
    for (code, headers) in [
        ("A", &[("Idempotency-Key", &*long)][..]),
        ("B", &[("Idempotency-Key", "")]),
        ("C", &[("Idempotency-Key", "é")]),
        ("D", &[("Idempotency-Key", "1"), ("Idempotency-Key", "2")]),
        // It says so, and is not.
        ("E", &[("Content-Encoding", "gzip")]),
        ("F", &[("Content-Encoding", "no such thing")]),
        (
            "G",
            &[("Content-Encoding", "br"), ("Idempotency-Key", &long)],
        ),
    ] {
        let reply = send(code, headers, None);
        assert_eq!(reply.status, 201, "{headers:?}: {reply:?}");
        assert_eq!(barcodes(&reply), [code], "{headers:?}");
        let flaws = told(&reply);
        let names: std::collections::BTreeSet<_> = headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(flaws.len(), names.len(), "{flaws:?}");
        for name in names {
            assert!(flaws.iter().any(|flaw| flaw.contains(name)), "{flaws:?}");
        }
    }
    for (code, coding) in [("H", "identity"), ("I", "")] {
        let reply = send(code, &[("Content-Encoding", coding)], None);
        assert_eq!((told(&reply), reply.status), (vec![], 201), "{coding}");
    }
    // What is really compressed is kept as it came.
    let packed = vec![0x1f, 0x8b, 8, 0, 1, 2, 3];
    let reply = send("J", &[("Content-Encoding", "gzip")], Some(packed.clone()));
    assert_eq!((reply.status, barcodes(&reply).len()), (201, 0));
    assert!(told(&reply).iter().any(|flaw| flaw.contains("gzip")));
    let kept: Vec<u8> =
        server.value("SELECT body FROM transaction_bodies ORDER BY id DESC LIMIT 1");
    assert_eq!(kept, packed);
}
