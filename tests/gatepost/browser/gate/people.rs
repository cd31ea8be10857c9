//! What stewards do for people beside scanning them: walk-ins, whole bookings, and lost badges.

use super::{
    scan, shows,
    venue::{Venue, hurry, is_offline, kept},
};
use crate::{
    browser::{
        examine::Examiner,
        pictures::Pictures,
        window::{Browser, View},
    },
    faults::proxy::Network,
};
use gatepost::domain::printing::{NewPrinter, printers};
use serde_json::{Value, json};

/// A phone held upright.
pub const PHONE: View = View {
    width: 390,
    height: 700,
    scheme: "light",
};

/// What keeps people out of a screen of the app.
#[track_caller]
pub fn is_for_everybody(gate: &Browser, screen: &str) {
    drop(gate.complaints());
    let faults = Examiner::installed().faults(gate, screen);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Registers somebody on the screen for it: the code that is shown, as it is on one line.
#[track_caller]
fn register(gate: &Browser, first: &str, last: &str) -> String {
    gate.click("#open-walkin");
    gate.fill_in("#walkin-first", first);
    gate.fill_in("#walkin-last", last);
    gate.press("Register");
    shows(gate, &["Welcome", first, last, "Registered"]);
    gate.look(PHONE);
    let script = "const badge = document.querySelector('#verdict .badge');
        const range = document.createRange();
        range.selectNodeContents(badge);
        const lines = new Set([...range.getClientRects()].map(({ top }) => top)).size;
        return [badge.innerText, lines, badge.scrollWidth <= badge.clientWidth]";
    let shown = gate.run(script, &[]);
    let text = shown[0].as_str().expect("a code");
    assert_eq!((&shown[1], &shown[2]), (&json!(1), &json!(true)), "{shown}");
    let groups: Vec<&str> = text.split(' ').collect();
    assert!(groups.iter().all(|group| group.len() <= 4), "{text}");
    groups.concat()
}

/// Closes the verdict.
fn close(gate: &Browser) {
    gate.click("#verdict-next");
}

#[test]
fn a_walk_in_is_registered_online_and_offline_and_undone() {
    let venue = Venue::new(1, json!({"ruleSet": "simple"}));
    let join = json!({"delegate": "barcode:T-1", "device": venue.place});
    venue.api.interact("join", &join).id();
    venue.allow(json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    let pictures = Pictures::wanted();
    let stored = |last: &str| -> Vec<String> {
        let kinds = venue.server.text(&format!(
            "SELECT coalesce(group_concat(interaction_type, ' '), '') FROM (
                 SELECT interaction_type FROM interactions JOIN delegates p ON p.id = first_delegate_id
                 WHERE p.last_name = '{last}' ORDER BY interactions.id)"
        ));
        kinds.split_whitespace().map(ToOwned::to_owned).collect()
    };
    let barcode = |last: &str| {
        let sql = format!("SELECT barcode FROM delegates WHERE last_name = '{last}'");
        venue.server.text(&sql)
    };

    gate.click("#open-walkin");
    gate.fill_in("#walkin-first", "Grace");
    is_for_everybody(&gate, "walk-in");
    gate.fill_in("#walkin-last", "Hopper");
    gate.run("document.activeElement.blur()", &[]);
    scan(&gate, "T-1");
    gate.tells("Scan ignored.");
    assert_eq!(venue.check_ins(), 0);
    gate.until("the note is gone", || gate.has("#toast:empty"));
    pictures.take_as(&gate, "walk-in", PHONE);
    gate.click("#walkin-cancel");
    let code = register(&gate, "Grace", "Hopper");
    pictures.take_as(&gate, "walk-in-code", PHONE);
    is_for_everybody(&gate, "verdict of a walk-in");
    assert_eq!(stored("Hopper"), ["join", "check-in"]);
    assert_eq!(barcode("Hopper"), code);
    close(&gate);
    // Typed as it is shown.
    gate.click("#open-type");
    let typed: Vec<_> = code.to_lowercase().chars().collect();
    let typed: Vec<String> = typed
        .chunks(4)
        .map(|group| group.iter().collect())
        .collect();
    gate.fill_in("#type-code", &typed.join(" "));
    gate.press("Check code");
    shows(&gate, &["Let in", "Grace Hopper", "Already inside"]);
    close(&gate);

    let undone = register(&gate, "Mistyped", "Nobody");
    gate.click("#verdict-undo");
    gate.tells("Undone: Mistyped Nobody");
    assert!(stored("Nobody").iter().all(|kind| kind == "join"));
    let gone = "delegates WHERE last_name = 'Nobody' AND deleted_at IS NOT NULL";
    assert_eq!(venue.server.count(gone), 1);
    scan(&gate, &undone);
    shows(&gate, &["Stop", "unknown code"]);
    close(&gate);

    gate.until("codes are reserved", || {
        kept(&gate, "meta").iter().any(|kept| {
            let codes = kept.as_array().map_or(&[][..], Vec::as_slice);
            codes.len() >= 20 && codes.iter().all(Value::is_string)
        })
    });
    network.set(Network::Down);
    let code = register(&gate, "Alan", "Turing");
    gate.tells("Decided by this gate");
    close(&gate);
    scan(&gate, &code);
    shows(&gate, &["Let in", "Alan Turing"]);
    close(&gate);
    // Undone before it left the device.
    register(&gate, "Also", "Offline");
    gate.click("#verdict-undo");
    gate.tells("Undone: Also Offline");
    is_offline(&gate);
    assert_eq!(kept(&gate, "queue").len(), 2);
    assert!(stored("Turing").is_empty());
    network.set(Network::Up);
    hurry(&gate);
    gate.until("all is stored", || stored("Turing").len() == 3);
    gate.until("the queue is empty", || kept(&gate, "queue").is_empty());
    assert_eq!(stored("Turing"), ["join", "check-in", "check-in"]);
    assert_eq!(barcode("Turing"), code);
    let walk_ins = venue.server.text(
        "SELECT group_concat(last_name) FROM (
             SELECT last_name FROM delegates WHERE deleted_at IS NULL AND barcode NOT LIKE 'T-%' ORDER BY id)",
    );
    assert_eq!(walk_ins, "Hopper,Turing");
    scan(&gate, &code);
    shows(&gate, &["Let in", "Alan Turing", "Already inside"]);
}

#[test]
fn bookings_are_checked_in_together_and_lost_badges_are_replaced() {
    let venue = Venue::new(1, json!({}));
    venue.allow(json!({}));
    let add = |code: &str, first: &str, last: &str, parent: Option<i64>| {
        let mut body = json!({
            "barcode": code, "firstName": first, "lastName": last, "delegateType": "Speaker",
        });
        if let Some(parent) = parent {
            body["parent"] = json!(parent);
        }
        venue.api.delegate(&body)
    };
    for (booking, last) in [("A", "Curie"), ("B", "Noether")] {
        let parent = add(&format!("{booking}-1"), "Marie", last, None);
        add(&format!("{booking}-2"), "Irene", last, Some(parent));
        add(&format!("{booking}-3"), "Eve", last, Some(parent));
    }
    add("L-1", "Ada", "Lovelace", None);
    venue.server.write(|tx, ctx| {
        let printer = NewPrinter {
            name: "Entrance".into(),
            address: "192.0.2.9".into(),
            ..NewPrinter::default()
        };
        printers::put(tx, ctx, None, &printer)
    });
    let network = venue.network();
    let gate = venue.gate(&network);
    let pictures = Pictures::wanted();
    // Who is checked in of a booking, each by a nonce of their own.
    let inside = |booking: &str| {
        venue.server.text(&format!(
            "SELECT coalesce(group_concat(first_name), '') FROM (
                 SELECT p.first_name FROM interactions i JOIN delegates p ON p.id = i.first_delegate_id
                 JOIN nonces n ON n.interaction_id = i.id
                 WHERE p.barcode LIKE '{booking}-%' AND i.interaction_type = 'check-in' ORDER BY p.id)"
        ))
    };

    // Found by name: all three at once.
    gate.click("#open-search");
    gate.fill_in("#search-text", "curie");
    gate.press("Whole booking (3)");
    is_for_everybody(&gate, "booking");
    pictures.take_as(&gate, "booking", PHONE);
    gate.press("Check in 3");
    gate.tells("Checked in: 3 of 3");
    is_for_everybody(&gate, "booking, checked in");
    assert_eq!(inside("A"), "Marie,Irene,Eve");
    // Back closes it, as the button would.
    gate.run("history.back()", &[]);
    gate.until("it is closed", || !gate.has("dialog[open]"));

    // Scanned: one is inside by then, and one comes later.
    scan(&gate, "B-1");
    shows(&gate, &["Welcome", "Marie Noether"]);
    gate.click("#verdict-booking");
    gate.click("#booking-list li:nth-child(3) input");
    gate.press("Check in 1");
    gate.tells("Checked in: 1 of 1");
    assert_eq!(inside("B"), "Marie,Irene");
    gate.click("#booking-close");

    // Without the feature nobody could choose the direction again.
    gate.press("Out");
    venue.allow(json!({"availableFeatures": ["check-in", "delegate-search"]}));
    gate.tells("this gate checks in");
    assert!(gate.has("#modes[hidden] input[value=in]:checked"));
    scan(&gate, "L-1");
    shows(&gate, &["Welcome", "Ada Lovelace"]);
    pictures.take_as(&gate, "verdict", PHONE);
    // The verdict goes by itself: nothing is waited for in between.
    gate.click("#verdict-print");
    gate.click("#verdict-badge");
    gate.until("a badge is queued", || {
        venue.server.count("print_jobs") == 1
    });
    // The old ticket is still in view; then the new badge is scanned.
    gate.run("document.activeElement.blur()", &[]);
    scan(&gate, "L-1");
    gate.tells("The person already has this code.");
    scan(&gate, "NEW-4711");
    is_for_everybody(&gate, "lost badge");
    gate.fill_in("#badge-pin", "471101");
    gate.click("#badge-form button:not([type])");
    gate.tells("The PIN is wrong.");
    assert_eq!(venue.server.count("blocked_codes"), 0);
    gate.fill_in("#badge-pin", "471100");
    gate.click("#badge-form button:not([type])");
    shows(&gate, &["Badge replaced", "NEW-4711", "no longer works"]);
    scan(&gate, "L-1");
    shows(&gate, &["Stop", "reported lost"]);
    scan(&gate, "NEW-4711");
    shows(&gate, &["Let in", "Ada Lovelace", "Already inside"]);
    let blocked = "SELECT group_concat(value || ' ' || reason) FROM blocked_codes";
    assert_eq!(venue.server.text(blocked), "L-1 reported lost");
    let code = "SELECT barcode FROM delegates WHERE last_name = 'Lovelace'";
    assert_eq!(venue.server.text(code), "NEW-4711");
    // Offline, the gate refuses the old one as well. The new code was in the answer, the feed tells of the block.
    gate.until("the list has both codes", || {
        let has = |store: &str, pointer: &str, code: &str| {
            let rows = kept(&gate, store);
            rows.iter()
                .any(|row| row.pointer(pointer) == Some(&json!(code)))
        };
        has("people", "/codes/0", "NEW-4711") && has("blocked", "/code", "L-1")
    });
    network.set(Network::Down);
    scan(&gate, "L-1");
    shows(&gate, &["Stop", "blocked: reported lost"]);
    scan(&gate, "NEW-4711");
    shows(&gate, &["Let in", "Ada Lovelace"]);
}
