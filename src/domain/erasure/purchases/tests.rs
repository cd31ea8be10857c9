use super::*;
use serde_json::json;

fn blanked(body: &Value, tickets: &[&str], all: usize) -> Value {
    let person = Person::of_documents(&[json!({"firstName": "Ada", "lastName": "Müller",
        "email": "ada@example.com", "phone": "+49 30 555 0123", "barcode": "A-0001", "rfid": "R1"})]).unwrap();
    let tickets: BTreeSet<String> = tickets.iter().map(ToString::to_string).collect();
    let whose = Whose {
        person: &person,
        near: !tickets.is_empty(),
        alone: !tickets.is_empty() && tickets.len() == all,
        tickets: &tickets,
    };
    let bytes = whose.blanked(body.to_string().as_bytes());
    bytes.map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
}

fn group() -> Value {
    json!({
        "context": 1, "code": "A", "totalAmount": 5000, "notes": "two friends", "recordedBy": "Bo",
        "transactions": [{"paymentMethod": "card", "amount": 5000, "transactionId": "T1", "holder": "A. Mueller"}],
        "items": [{"code": "A0000", "product": 2, "quantity": 2, "description": "Day ticket", "totalAmount": 5000,
            "delegates": [
                {"product": 2, "description": "Day ticket", "barcode": "A-0001", "price": 2500,
                    "guest": {"name": "Ada M.", "wishes": ["window seat"]}},
                {"product": 2, "description": "Day ticket", "barcode": "B-0001", "guest": {"name": "Grace"}},
            ]}],
        "buyer": {"mail": "ADA@example.com", "street": "Elm Street 5", "mobile": 49_305_550_123_i64},
    })
}

#[test]
fn of_a_purchase_with_others_what_is_the_persons_goes_and_amounts_stay() {
    let mut expected = group();
    expected["items"][0]["delegates"][0]["barcode"] = json!(ERASED);
    expected["items"][0]["delegates"][0]["guest"] = json!({"name": ERASED, "wishes": [ERASED]});
    expected["buyer"]["mail"] = json!(ERASED);
    expected["buyer"]["mobile"] = json!(ERASED);
    assert_eq!(blanked(&group(), &["A-0001"], 2), expected);
}

#[test]
fn of_a_purchase_that_was_theirs_alone_every_text_of_its_own_goes() {
    let mut body = group();
    body["items"][0]["delegates"]
        .as_array_mut()
        .unwrap()
        .truncate(1);
    let blanked = blanked(&body, &["A-0001"], 1);
    assert_eq!(blanked["notes"], ERASED);
    assert_eq!(blanked["buyer"]["street"], ERASED);
    assert_eq!(blanked["transactions"][0]["holder"], ERASED);
    for kept in [
        "/code",
        "/totalAmount",
        "/recordedBy",
        "/transactions/0/paymentMethod",
        "/transactions/0/transactionId",
        "/items/0/code",
        "/items/0/description",
        "/items/0/delegates/0/price",
        "/items/0/delegates/0/product",
    ] {
        assert_eq!(blanked.pointer(kept), body.pointer(kept), "{kept}");
    }
}

#[test]
fn of_somebody_elses_purchase_only_what_names_the_person_goes() {
    let body = json!({"code": "ada@example.com", "notes": "for Ada Müller", "recordedBy": "Ada",
        "items": [{"description": "Mug, engraved ADA MÜLLER", "totalAmount": 900, "delegates": "none"}],
        "by mail": {"ada@example.com": ["Ada", {"deep": [["R1", "A-0001"]]}]}});
    assert_eq!(
        blanked(&body, &[], 0),
        json!({"code": "ada@example.com", "notes": ERASED, "recordedBy": "Ada",
            "items": [{"description": ERASED, "totalAmount": 900, "delegates": "none"}],
            "by mail": {"[erased] 0": ["Ada", {"deep": [["R1", ERASED]]}]}})
    );
    assert_eq!(
        blanked(&json!({"notes": "a mug", "items": [1, null]}), &[], 0),
        Value::Null
    );
}

#[test]
fn what_is_erased_once_stays_as_it_is() {
    let once = blanked(&group(), &["A-0001"], 2);
    assert_eq!(blanked(&once, &[], 1), Value::Null);
}
