//! What tills do to `/tx/new`: retries and revisions in any order, at once, and bodies of any size.

use super::transactions::{Till, barcodes, reply_to, told};
use crate::harness::{Reply, Server};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
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

fn revision(till: &Till<'_>, code: &str, tickets: &BTreeSet<usize>) -> Value {
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
    let server = Server::start();
    let till = Till::at(&server);
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
        server.value::<i64>("SELECT count(*) FROM delegates"),
        server.value::<i64>("SELECT count(DISTINCT barcode) FROM delegates")
    );
}

#[test]
fn revisions_that_come_at_once_make_each_ticket_once() {
    let server = Server::start();
    let till = Till::at(&server);
    let all: Vec<BTreeSet<usize>> = (1..32_usize)
        .map(|bits| (0..5).filter(|at| bits & (1 << at) != 0).collect())
        .collect();
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let sent: Vec<_> = all
            .iter()
            .map(|tickets| scope.spawn(|| till.send(&revision(&till, "T", tickets))))
            .collect();
        let answered = sent.into_iter().map(|one| one.join().expect("an answer"));
        answered.collect()
    });
    for (reply, tickets) in replies.iter().zip(&all) {
        let made: BTreeSet<String> = barcodes(reply).into_iter().collect();
        let own: BTreeSet<String> = ends("T", tickets).into_iter().collect();
        assert!(own.is_subset(&made), "{own:?} {made:?}");
    }
    assert_eq!(there(&server, "T"), [1, 31, 5, 10]);
}

#[test]
fn an_absurd_number_or_a_name_that_stands_twice_hides_nothing_else() {
    let server = Server::start();
    let till = Till::at(&server);
    let text = till
        .sale("T", &["A"])
        .to_string()
        .replacen("2500", &"9".repeat(40), 1)
        .replacen('{', "{\"notes\":\"first\",", 1);
    let reply = reply_to(&till, text.into_bytes());
    assert_eq!(barcodes(&reply), ["A"]);
    let told = told(&reply);
    for expected in ["stands twice", "totalAmount: must be a whole number"] {
        assert!(
            told.iter().any(|line| line.contains(expected)),
            "{expected}: {told:?}"
        );
    }
}

#[test]
fn whoever_paid_is_let_in_whatever_the_ticket_is_called() {
    let server = Server::start();
    let till = Till::at(&server);
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
    let server = Server::start();
    let till = Till::at(&server);
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
}

#[test]
fn what_is_told_of_the_sample_of_the_reference_is_only_what_it_names_wrongly() {
    let server = Server::start();
    let till = Till::at(&server);
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
    let server = Server::start();
    let till = Till::at(&server);
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
