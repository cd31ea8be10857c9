use super::*;
use serde_json::json;

fn sound() -> Value {
    json!({
        "context": 1, "code": "TLH26", "totalAmount": 5000, "createdAt": 1_790_000_000,
        "recordedBy": "Ada",
        "transactions": [
            {"paymentMethod": "cash", "amount": 3000, "change": 0},
            {"paymentMethod": "card", "amount": 2000, "transactionId": "T1"},
        ],
        "items": [
            {"code": "TLH260000", "product": 2, "quantity": 2, "unitAmount": 2000, "totalAmount": 4000,
             "delegates": [{"product": 2, "barcode": "A"}, {"product": 2, "barcode": "B"}]},
            {"code": "TLH260001", "product": 3, "quantity": 1, "unitAmount": 1200, "totalAmount": 1000,
             "discountAmount": 200},
        ],
    })
}

fn found(body: &Value) -> Vec<String> {
    let sale = Sale::read(body.to_string().as_bytes());
    let line = |found: &Inconsistency| format!("{}: {}", found.path, found.message);
    sale.inconsistencies.iter().map(line).collect()
}

#[test]
fn a_sound_purchase_is_read_whole() {
    let sale = Sale::read(sound().to_string().as_bytes());
    assert_eq!(sale.inconsistencies, []);
    assert_eq!((sale.code.as_str(), sale.context), ("TLH26", Some(1)));
    assert_eq!((sale.payments.len(), sale.items.len()), (2, 2));
    let tickets: Vec<_> = sale
        .tickets
        .iter()
        .map(|ticket| ticket.barcode.as_str())
        .collect();
    assert_eq!(tickets, ["A", "B"]);
}

#[test]
fn each_slip_is_listed_where_it_is() {
    let cases: &[(&str, Value, &str)] = &[
        (
            "/totalAmount",
            json!(4999),
            "transactions: they add up to 5000",
        ),
        (
            "/totalAmount",
            json!("5000"),
            "totalAmount: must be a whole number",
        ),
        (
            "/totalAmount",
            json!(50.5),
            "totalAmount: must be a whole number",
        ),
        ("/context", json!(null), "context: is missing"),
        ("/code", json!(7), "code: must be a text"),
        (
            "/createdAt",
            json!(i64::MAX),
            "createdAt: must be a Unix timestamp",
        ),
        ("/transactions", json!({}), "transactions: must be a list"),
        (
            "/transactions/0",
            json!(1),
            "transactions[0]: must be an object",
        ),
        (
            "/transactions/0/paymentMethod",
            json!("iou"),
            "transactions[0].paymentMethod: must be cash or card",
        ),
        (
            "/transactions/1/amount",
            json!(-2000),
            "transactions[1].amount: must not be negative",
        ),
        (
            "/items/0/quantity",
            json!(0),
            "items[0].quantity: must be greater than zero",
        ),
        (
            "/items/0/quantity",
            json!(3),
            "items[0].delegates: 2 tickets do not go into 3 units",
        ),
        (
            "/items/0/unitAmount",
            json!(1999),
            "items[0].totalAmount: 4000 is not 2 × 1999",
        ),
        (
            "/items/0/code",
            json!("X"),
            "items[0].code: must be the purchase code and 4 digits",
        ),
        (
            "/items/1/code",
            json!("TLH260000"),
            "items[1].code: another item of this purchase has it",
        ),
        (
            "/items/1/code",
            json!("TLH260002"),
            "items: there is no item with counter 0001",
        ),
        (
            "/items/0/delegates/1/barcode",
            json!("A"),
            "items[0].delegates[1].barcode: another ticket",
        ),
        (
            "/items/0/delegates/1/barcode",
            json!(null),
            "items[0].delegates[1].barcode: is missing",
        ),
    ];
    for (pointer, value, expected) in cases {
        let mut body = sound();
        *body.pointer_mut(pointer).unwrap() = value.clone();
        let found = found(&body);
        assert!(
            found.iter().any(|line| line.starts_with(expected)),
            "{pointer}: {found:?}"
        );
    }
    let mut body = sound();
    body["transactions"][1]["change"] = json!(5);
    body["transactions"][1]["amount"] = json!(2005);
    assert_eq!(
        found(&body),
        ["transactions[1].change: a card gives no change"]
    );
}

#[test]
fn what_was_handed_over_may_be_sent_or_what_was_kept() {
    let mut body = sound();
    body["transactions"][0]["amount"] = json!(5000);
    body["transactions"][0]["change"] = json!(2000);
    assert_eq!(found(&body), [] as [&str; 0]);
}

#[test]
fn a_body_that_is_nothing_still_has_a_code() {
    for body in ["", "{", "[]", "\u{0}", "{\"code\": \"\"}"] {
        let sale = Sale::read(body.as_bytes());
        assert_eq!(sale.code.len(), 64, "{body}");
        assert!(!sale.inconsistencies.is_empty());
    }
    let huge = format!("{{\"totalAmount\": {}}}", "9".repeat(40));
    assert!(!Sale::read(huge.as_bytes()).inconsistencies.is_empty());
}
