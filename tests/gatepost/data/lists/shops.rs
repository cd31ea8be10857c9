//! Lists of ticket shops, and tickets that are not good any more.

use super::codes;
use crate::{
    data::Site,
    harness::{Agrees, has},
};
use serde_json::json;

const SHOP: &str = "Order code;Attendee name;Attendee name: Given name;Attendee name: Family name;Product;Secret;\
    Requires special attention;Comment;Checked in;Status\n\
    X1;Dr. Ida Ost;Ida;Ost;Regular;secret-1;Yes;ramp;2027-01-02 10:00;paid\n\
    X2;Ole Nord;Ole;Nord;Student;secret-2;No;;;canceled\n\
    X3;Una Süd;Una;Süd;Student;secret-3;No;;;paid\n";

#[test]
fn a_shops_list_is_known_and_mapped_in_one_step() {
    let site = Site::new();
    let list = site.file("shop.csv", SHOP);
    let told = site.told(&["import", "delegates", &list]);
    told.agrees(&json!({"rows": 3, "imported": 2, "leftOut": 1, "badRows": 0}));
    has(told["recognised"].to_string(), "a list of pretix");
    has(
        told["warnings"].to_string(),
        [
            "calls cancelled (1): left out",
            "1 row that \\\"Checked in\\\" calls checked in elsewhere",
        ],
    );
    told["leftOutRows"][0].agrees(&json!({"line": 3, "column": "Status"}));
    let found = site.exported("delegates");
    found[0].agrees(&json!({
        "barcode": "secret-1", "firstName": "Ida", "lastName": "Ost", "delegateType": "Regular",
    }));
    assert_eq!(codes(&site), "secret-1 secret-3");
    let notes = "SELECT group_concat(delegate_id || ' ' || level || ' ' || note) FROM gate_notes";
    assert_eq!(site.text(notes), "1 warning ramp");
    for (name, list) in [
        (
            "ti.to",
            "Ticket,Ticket First Name,Ticket Last Name,Void Status,Ticket Reference\nEarly,A,B,,R-1\nEarly,C,D,void,R-2\n",
        ),
        (
            "Eventbrite",
            "Order #,First Name,Surname,Ticket Type,Attendee #,Attendee Status,Barcode number\n\
            1,A,B,Day,7,Attending,R-1\n2,C,D,Day,8,Not Attending,R-2\n",
        ),
        (
            "Hi.Events",
            "Public ID,First Name,Last Name,Ticket Name,Is Checked In,Status\nR-1,A,B,Day,No,ACTIVE\nR-2,C,D,Day,No,CANCELLED\n",
        ),
        (
            "Odoo",
            "Attendee Name,Event Ticket,Barcode,Status,Attended Date\nA B,Day,R-1,Registered,\nC D,Day,R-2,Cancelled,\n",
        ),
    ] {
        let site = Site::new();
        let list = site.file("list.csv", list);
        let told = site.told(&["import", "delegates", &list]);
        told.agrees(&json!({"imported": 1, "leftOut": 1}));
        has(
            told["recognised"].to_string(),
            &format!("a list of {name};"),
        );
        site.exported("delegates")[0]
            .agrees(&json!({"barcode": "R-1", "firstName": "A", "lastName": "B"}));
        let kind = site.text("SELECT delegate_type FROM delegates");
        assert!(["Early", "Day"].contains(&kind.as_str()), "{name}: {kind}");
    }
}

#[test]
fn tickets_that_are_not_good_are_left_out_blocked_or_kept() {
    let list =
        "barcode,Name,Bestellstatus\nA,Ada Ost,bezahlt\nB,Bo West,storniert\nC,Cy Nord,erstattet\n";
    for (rule, imported, valid) in [("drop", 1, "A"), ("block", 3, "A"), ("keep", 3, "A B C")] {
        let site = Site::new();
        let list = site.file("list.csv", list);
        let rule = format!("Bestellstatus={rule}");
        let told = site.told(&["import", "delegates", &list, "--status", &rule]);
        told.agrees(&json!({"imported": imported}));
        has(
            told["warnings"].to_string(),
            "calls cancelled (1), refunded (1)",
        );
        assert_eq!(codes(&site), valid, "{rule}");
        let blocked =
            site.rows("blocked_codes WHERE reason LIKE '%cancelled' OR reason LIKE '%refunded'");
        assert_eq!(blocked, if rule.ends_with("block") { 2 } else { 0 });
        // Taken back, nothing of it is left.
        site.told(&["import", "--undo", "1"])
            .agrees(&json!({"left": 0}));
        assert_eq!(site.rows("delegates") + site.rows("blocked_codes"), 0);
    }
    let site = Site::new();
    let list = site.file("list.csv", list);
    let refused = site.refused(&["import", "delegates", &list, "--status", "Bestellung=keep"]);
    has(&refused, "--status: there is no column \"Bestellung\"");
    // A column that nobody knows by its header may be named.
    let other = site.file("other.csv", "barcode,Zustand\nA,ok\nB,storniert\n");
    let told = site.told(&["import", "delegates", &other, "--status", "Zustand=drop"]);
    told.agrees(&json!({"imported": 1, "leftOut": 1}));
}

#[test]
fn a_ticket_that_is_refunded_later_is_blocked_and_given_back_with_the_import() {
    let site = Site::new();
    site.import(
        "delegates",
        "first.csv",
        "externalId,barcode\nx1,A\nx2,B\n",
        &[],
    );
    let list = site.file(
        "second.csv",
        "externalId,barcode,Status,Comment\nx1,A,refunded,\nx2,B,paid,vip\n",
    );
    let key = [
        "import",
        "delegates",
        &list,
        "--key",
        "externalId",
        "--status",
        "Status=block",
    ];
    let key = [&key[..], &["--map", "Comment=note"]].concat();
    site.told(&key).agrees(&json!({"updated": 2}));
    assert_eq!(codes(&site), "B");
    assert_eq!(site.text("SELECT note FROM gate_notes"), "vip");
    // The same list once more changes nothing.
    site.told(&key)
        .agrees(&json!({"updated": 1, "leftOut": 1, "badRows": 0}));
    for import in ["3", "2"] {
        site.told(&["import", "--undo", import])
            .agrees(&json!({"left": 0}));
    }
    assert_eq!(codes(&site), "A B");
    assert_eq!(site.rows("blocked_codes") + site.rows("gate_notes"), 0);
}

#[test]
fn a_shops_list_is_history_of_those_who_came() {
    let site = Site::new();
    let list = site.file("shop.csv", SHOP);
    site.done(&["import", "delegates", &list]);
    let map = [
        "--map",
        "Secret=firstDelegate barcode",
        "--set",
        "interactionType=check-in",
    ];
    let told = site.told(&[&["import", "interactions", &list][..], &map].concat());
    told.agrees(&json!({"imported": 1, "leftOut": 2}));
    assert_eq!(site.rows("interactions WHERE first_delegate_id = 1"), 1);
}
