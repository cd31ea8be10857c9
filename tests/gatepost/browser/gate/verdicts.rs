//! What a steward sees of a refusal: its kind at a glance, Next always at one place, and what may be done about an
//! unknown code.

use super::{
    people::{PHONE, is_for_everybody},
    scan, shows,
    venue::{Venue, is_offline, kept},
};
use crate::{
    browser::window::{Browser, View},
    faults::proxy::Network,
};
use serde_json::{Value, json};

const TABLET: View = View {
    width: 820,
    height: 1180,
    scheme: "light",
};

impl Venue {
    /// Sets the rules of the place, and nothing but them.
    fn rule(&self, access: &Value) {
        let path = format!("/device/id:{}", self.place);
        for access in [&Value::Null, access] {
            let change = json!({"available": true, "startAt": null, "data": {"Access": access}});
            self.api.patch(&path, &change).is(200);
        }
    }
}

/// The box of Next, and whether it is stronger than all else that may be pressed.
fn next_of(gate: &Browser) -> (Value, Value) {
    let script = "const box = (one) => { const { x, y, width, height } = one.getBoundingClientRect(); return [x, y, width, height]; };
        const next = document.getElementById('verdict-next');
        const others = [...document.querySelectorAll('#verdict .actions button')].filter((one) => one.checkVisibility());
        const isWeaker = others.every((one) => box(one)[3] < box(next)[3] && getComputedStyle(one).backgroundColor === 'rgba(0, 0, 0, 0)');
        return [box(next), isWeaker];";
    let both = gate.run(script, &[]);
    (both[0].clone(), both[1].clone())
}

/// Closes the verdict by a key.
#[track_caller]
fn press(gate: &Browser, key: &str) {
    gate.until(&format!("{key} closes the verdict"), || {
        gate.key(key, 0);
        gate.has("#verdict[hidden]")
    });
}

#[test]
fn each_refusal_has_its_kind_and_next_stays_where_it_is() {
    let venue = Venue::new(3, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    venue.allow(json!({}));
    gate.reload();
    venue.is_ready(&gate);
    scan(&gate, "T-1");
    shows(&gate, &["Welcome"]);
    gate.look(PHONE);
    let (phone, _) = next_of(&gate);
    gate.look(TABLET);
    let (tablet, _) = next_of(&gate);
    press(&gate, "Enter");
    let opening = json!({"startAt": 4_102_444_800_i64, "data": {"Access": {"opensBefore": 10}}});
    let path = format!("/device/id:{}", venue.place);
    let mut seen = Vec::new();
    for (why, access, words) in [
        (
            "used",
            json!({"entry": "single"}),
            ["Already used", "already used at Hall"],
        ),
        ("full", json!({"capacity": 1}), ["Full", "1 of 1 inside"]),
        (
            "type",
            json!({"types": ["Crew"]}),
            ["Wrong type", "without a type"],
        ),
        (
            "registration",
            json!({"ruleSet": "simple"}),
            ["Not registered", "not registered for Hall"],
        ),
        ("early", json!({}), ["Not yet", "opens at"]),
        ("closed", json!({}), ["Closed", "not available"]),
        ("unknown", json!({}), ["Unknown code", "NEW-77"]),
    ] {
        venue.rule(&access);
        match why {
            "early" => drop(venue.api.patch(&path, &opening)),
            "closed" => drop(venue.api.patch(&path, &json!({"available": false}))),
            _ => {}
        }
        let code = match why {
            "used" => "T-1",
            "unknown" => "NEW-77",
            _ => "T-2",
        };
        scan(&gate, code);
        // The server says at once that it is not the time; when it will be is known once the place is there.
        gate.until("the gate knows the place", || {
            shows(&gate, &["Stop"]);
            let is_known = why != "early"
                || gate.run(
                    "return document.getElementById('verdict').innerText.includes('Not yet')",
                    &[],
                ) == true;
            if !is_known {
                press(&gate, " ");
                scan(&gate, code);
            }
            is_known
        });
        shows(&gate, &["Stop", words[0], words[1]]);
        let script = "const verdict = document.getElementById('verdict');
            return [getComputedStyle(verdict).backgroundColor, verdict.querySelector('.symbol use').getAttribute('href')]";
        let look = gate.run(script, &[]);
        gate.look(PHONE);
        assert_eq!(next_of(&gate), (phone.clone(), json!(true)), "{why}");
        gate.look(TABLET);
        assert_eq!(next_of(&gate), (tablet.clone(), json!(true)), "{why}");
        is_for_everybody(&gate, why);
        assert!(!seen.contains(&look[1]), "{why}: {look}");
        seen.push(look[1].clone());
        press(&gate, if code == "T-2" { " " } else { "Enter" });
    }
}

#[test]
fn an_unknown_code_becomes_that_of_a_walk_in_or_of_a_search() {
    let venue = Venue::new(1, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    // Where nobody is registered, search alone is offered.
    scan(&gate, "NEW-1");
    shows(&gate, &["Unknown code", "NEW-1", "Search"]);
    assert!(gate.has("#verdict-walkin[hidden]"));
    venue.allow(json!({}));
    gate.reload();
    venue.is_ready(&gate);
    gate.until("walk-ins are allowed", || {
        gate.has("#open-walkin:not([hidden])")
    });
    let barcode = |last: &str| {
        let sql = format!("SELECT barcode FROM delegates WHERE last_name = '{last}'");
        venue.server.text(&sql)
    };
    let register = |first: &str, last: &str| {
        gate.tells("Ticket code");
        gate.fill_in("#walkin-first", first);
        gate.fill_in("#walkin-last", last);
        gate.press("Register");
        shows(&gate, &["Welcome", last, "code that was scanned"]);
        gate.click("#verdict-next");
    };
    scan(&gate, "NEW-77");
    shows(&gate, &["Unknown code", "NEW-77"]);
    gate.click("#verdict-search");
    is_for_everybody(&gate, "search for whoever has a code");
    gate.click("#search-walkin");
    is_for_everybody(&gate, "walk-in with a code");
    register("Grace", "Hopper");
    assert_eq!(barcode("Hopper"), "NEW-77");
    // Nobody is found: the walk-in still has the code, offline as online.
    gate.until("the queue is empty", || kept(&gate, "queue").is_empty());
    network.set(Network::Down);
    scan(&gate, "NEW-78");
    shows(&gate, &["Unknown code", "NEW-78"]);
    is_offline(&gate);
    gate.click("#verdict-search");
    gate.tells("Unknown code NEW-78");
    gate.fill_in("#search-text", "turing");
    gate.tells("No matches");
    gate.click("#search-walkin");
    register("Alan", "Turing");
    network.set(Network::Up);
    super::venue::hurry(&gate);
    gate.until("the queue is empty", || kept(&gate, "queue").is_empty());
    assert_eq!(barcode("Turing"), "NEW-78");
    scan(&gate, "NEW-78");
    shows(&gate, &["Let in", "Alan Turing", "Already inside"]);
}
