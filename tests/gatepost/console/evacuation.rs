//! The evacuation list: everybody inside, ticked on any screen, and begun empty each time.

use super::Crew;
use crate::harness::{Caller, Server, has, lacks, whole};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;

fn fill(gate: &Caller) -> i64 {
    let hall = gate.device(&json!({"name": "Hall", "code": "hall"}));
    gate.device(&json!({"name": "Stage", "code": "stage", "parent": "code:hall"}));
    gate.device(&json!({"name": "Foyer", "code": "foyer"}));
    for (name, place) in [
        ("Ada", "hall"),
        ("Béa", "stage"),
        ("Cy", "foyer"),
        ("Dee", "hall"),
    ] {
        gate.delegate(&json!({"firstName": name, "barcode": name, "phone": "+49 170 5550100"}));
        let body =
            json!({"delegate": format!("barcode:{name}"), "device": format!("code:{place}")});
        gate.interact("check-in", &body);
    }
    gate.interact(
        "check-out",
        &json!({"delegate": "barcode:Dee", "device": "code:hall"}),
    );
    hall
}

impl Crew {
    fn evacuate(&self, place: &str) -> String {
        self.post("/console/evacuation", &[("place", place)])
            .taken()
    }
}

/// The names on the list, in their order.
fn names(html: &str) -> Vec<&str> {
    let rows = html.split("<tr id=\"person-").skip(1);
    rows.map(|row| {
        let after = row.split("class=\"name\"").nth(1).expect("a name");
        after.split(['>', '<']).nth(1).expect("a name")
    })
    .collect()
}

#[test]
fn everybody_inside_is_listed_and_ticked_once_for_all_screens() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let hall = fill(&gate).to_string();
    let (one, other) = (
        server.crew(ConsoleRole::Operator),
        server.crew_once(ConsoleRole::Operator),
    );
    let path = one.evacuate("");
    let html = one.get(&path).shown();
    assert_eq!(names(&html), ["Ada", "Béa", "Cy"]);
    assert!(
        html.contains("tel:+49 170 5550100") && html.contains("of 3 safe"),
        "{html}"
    );
    assert_eq!(one.evacuate(""), path, "the one that runs");
    has(
        one.get(&path).shown(),
        ["The evacuation of the whole venue is running since"],
    );
    let of_hall = one.evacuate(&hall);
    assert_eq!(names(&one.get(&of_hall).shown()), ["Ada", "Béa"]);
    // Who was ticked stays on the list when they leave by a gate; a tick is no check-out.
    let safe = [("delegate", "1"), ("safe", "1")];
    other.post(&format!("{path}/safe"), &safe).taken();
    other.post(&format!("{path}/safe"), &safe).taken();
    let inside = "SELECT inside FROM occupancy WHERE device_id = 0";
    assert_eq!(server.value::<i64>(inside), 3);
    gate.interact(
        "check-out",
        &json!({"delegate": "barcode:Ada", "device": "code:hall"}),
    );
    let html = one.get(&path).shown();
    assert!(
        html.contains("<strong>1</strong> <span>of 3 safe</span>"),
        "{html}"
    );
    assert!(html.contains("by operator@example.com"), "{html}");
    other
        .post(&format!("{path}/safe"), &[("delegate", "1"), ("safe", "0")])
        .taken();
    assert_eq!(names(&one.get(&path).shown()), ["Béa", "Cy"]);
    let csv = one.get(&format!("{path}/csv")).shown();
    assert!(
        csv.contains("Name,Phone,Company,Place,Since,Safe,By") && csv.contains("Béa"),
        "{csv}"
    );
    let by_place = one.get(&format!("{path}?by=place")).shown();
    assert_eq!(names(&by_place), ["Cy", "Béa"]);
    let headings: Vec<_> = (by_place.split("scope=\"rowgroup\">").skip(1))
        .map(|rest| rest.split("</th>").next().unwrap_or_default())
        .collect();
    assert_eq!(
        headings,
        [
            "<strong>Foyer</strong> · 0 of 1 safe",
            "<strong>Stage</strong> · 0 of 1 safe"
        ]
    );
    one.post(&format!("{path}/end"), &[]).taken();
    let next = one.evacuate("");
    assert_ne!(next, path);
    assert!(
        one.get(&next)
            .shown()
            .contains("<strong>0</strong> <span>of 2 safe</span>")
    );
}

#[test]
fn who_was_admitted_by_an_unknown_code_is_on_the_list() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let hall = fill(&gate);
    let crew = server.crew(ConsoleRole::Operator);
    let scan = |kind: &str| {
        let scan = json!({"delegate": "barcode:SMT-1", "device": "code:stage", "admitted": true});
        gate.interact(kind, &scan);
    };
    scan("check-in");
    let path = crew.evacuate("");
    let html = crew.get(&path).shown();
    has(&html, ["of 4 safe", "Unknown code SMT-1"]);
    let csv = crew.get(&format!("{path}/csv")).shown();
    has(&csv, ["Unknown code SMT-1,,,Stage,"]);
    let place = format!("/console/devices/{hall}");
    for path in [place.clone(), format!("{place}/inside")] {
        has(crew.get(&path).shown(), ["1 more without a name"]);
    }
    let listed = format!("/gate/evacuation?place={hall}&only=safe");
    assert_eq!(gate.get(&listed).body["meta"]["unnamed"], 1);
    scan("check-out");
    lacks(crew.get(&path).shown(), "SMT-1");
}

#[test]
fn a_screen_that_still_shows_an_evacuation_as_running_is_loaded_anew() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let path = crew.evacuate("");
    let renewed = || {
        let request = crew
            .request(Method::GET, &path)
            .header("HX-Request", "true");
        whole(request).header("hx-refresh").to_owned()
    };
    assert_eq!(renewed(), "");
    crew.press(&format!("{path}/end"));
    assert_eq!(renewed(), "true");
}

#[test]
fn a_viewer_looks_on_and_nobody_erased_stays() {
    let server = Server::start();
    let gate = server.caller_with_all();
    fill(&gate);
    let crew = server.crew(ConsoleRole::Administrator);
    let viewer = server.crew(ConsoleRole::Viewer);
    let path = crew.evacuate("");
    assert!(!viewer.get(&path).shown().contains("as safe"));
    viewer
        .post("/console/evacuation", &[])
        .refused(403, "operator");
    crew.post(&format!("{path}/safe"), &[("delegate", "1"), ("safe", "1")])
        .taken();
    crew.press(&format!("{path}/end"));
    crew.post("/console/delegates/1/erase", &[("confirm", "1")])
        .is(303);
    assert_eq!(server.count("evacuation_safe"), 0);
    assert_eq!(server.count("evacuation_inside"), 2);
}

#[test]
fn the_list_stays_as_it_was_at_the_end() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let hall = fill(&gate);
    let crew = server.crew(ConsoleRole::Operator);
    let (all, of_hall) = (crew.evacuate(""), crew.evacuate(&hall.to_string()));
    let csv = |path: &str| crew.get(&format!("{path}/csv")).shown();
    crew.post(&format!("{all}/safe"), &[("delegate", "1"), ("safe", "1")])
        .taken();
    let before = csv(&all);
    for path in [&all, &of_hall] {
        crew.press(&format!("{path}/end"));
    }
    // What happens later is no part of it, nor is a second end.
    for (name, place) in [("Ada", "hall"), ("Béa", "stage"), ("Cy", "foyer")] {
        let body =
            json!({"delegate": format!("barcode:{name}"), "device": format!("code:{place}")});
        gate.interact("check-out", &body);
    }
    crew.press(&format!("{all}/end"));
    let html = crew.get(&all).shown();
    assert_eq!(names(&html), ["Ada", "Béa", "Cy"]);
    assert!(
        html.contains("<strong>1</strong> <span>of 3 safe</span>"),
        "{html}"
    );
    assert_eq!(csv(&all), before);
    let html = crew.get(&of_hall).shown();
    assert_eq!(names(&html), ["Ada", "Béa"]);
    assert!(
        html.contains("<strong>0</strong> <span>of 2 safe</span>"),
        "{html}"
    );
    // It is found again.
    assert!(html.contains(&format!("href=\"{all}\"")), "{html}");
    crew.sees("/console", &*format!("href=\"{of_hall}\""));
}

#[test]
fn a_place_that_is_not_there_is_not_evacuated() {
    let (server, gate) = Server::with_api();
    let crew = server.operator();
    let gone = gate.device(&json!({"name": "Hall"}));
    gate.delete(&format!("/device/id:{gone}"));
    for place in ["4711", &gone.to_string()] {
        crew.post("/console/evacuation", &[("place", place)])
            .refused(404, "There is no device");
    }
    assert_eq!(server.count("evacuations"), 0);
}
