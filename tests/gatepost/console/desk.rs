//! The desk: scan or type, and everything that a steward may have to solve.

use super::{Crew, Page};
use crate::harness::{Caller, Server, has, lacks};
use gatepost::{
    domain::delegates::blocked,
    identity::ConsoleRole,
    types::{DelegateCode, DelegateId},
};
use reqwest::Method;
use serde_json::json;

/// A hall that anybody enters once, and a workshop for whoever is registered.
struct Venue {
    hall: String,
    workshop: String,
}

fn venue(gate: &Caller) -> Venue {
    let access = |rules| json!({"Access": rules});
    let hall =
        json!({"name": "Hall", "deviceType": "room", "data": access(json!({"entry": "single"}))});
    let workshop = json!({"name": "Workshop", "deviceType": "room", "data": access(json!({"ruleSet": "simple"}))});
    for (first, last, code) in [
        ("Ada", "Lovelace", "ADA-1"),
        ("Grace", "Hopper", "GRA-1"),
        ("Jürgen", "Müller", "MUE-1"),
        ("Beate", "Müller", "MUE-2"),
    ] {
        gate.delegate(&json!({"firstName": first, "lastName": last, "barcode": code, "delegateType": "Visitor"}));
    }
    Venue {
        hall: gate.device(&hall).to_string(),
        workshop: gate.device(&workshop).to_string(),
    }
}

impl Crew {
    fn at_desk(&self, what: &str, place: &str, fields: &[(&str, &str)]) -> Page {
        let fields: Vec<_> = [("place", place)].iter().chain(fields).copied().collect();
        self.post(&format!("/console/desk/{what}"), &fields)
    }

    /// Registers a walk-in; the desk with what it says then.
    fn walks_in(&self, place: &str, fields: &[(&str, &str)]) -> String {
        let desk = self.at_desk("walk-in", place, fields).taken();
        self.get(&desk).shown()
    }

    /// The last ten, without the verdict.
    fn last_ten(&self) -> String {
        let html = self.get("/console/desk?place=1").shown();
        html.split("Last ten").nth(1).expect("a list").to_owned()
    }
}

/// The value of the field of this name in the first form of this action.
fn value<'a>(html: &'a str, action: &str, name: &str) -> &'a str {
    let form = html.split(&format!("action=\"{action}\"")).nth(1);
    let field = form.and_then(|form| form.split(&format!("name=\"{name}\" value=\"")).nth(1));
    field
        .and_then(|rest| rest.split('"').next())
        .expect("a field")
}

#[test]
fn a_code_counts_at_the_desk_however_its_scanner_sends_it() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    server.settings(&json!({"scans": {"code": "https://tickets.example/c/(*)"}}));
    for (typed, name) in [
        ("]Q1ADA-1", "Ada Lovelace"),
        ("https://tickets.example/c/gra-1?x=1", "Grace Hopper"),
    ] {
        let html = crew
            .at_desk("check-in", &venue.hall, &[("q", typed)])
            .shown();
        assert!(html.contains("Checked in") && html.contains(name), "{html}");
    }
    // The console's search leads to the record, and the list has it.
    let ada =
        server.text("SELECT '/console/delegates/' || id FROM delegates WHERE barcode = 'ADA-1'");
    let found = "/console/find?q=%5DQ1ada-1&go=1";
    assert_eq!(crew.get(found).taken(), ada);
    has(crew.page("/console/delegates?q=%5DQ1ada-1"), "Lovelace");
    // Whoever comes with an unknown one gets the code alone.
    let panel = format!("/console/desk?place={}&walkin=1&q=%5DQ1NEW-5", venue.hall);
    let html = crew.get(&panel).shown();
    assert_eq!(value(&html, "/console/desk/walk-in", "code"), "NEW-5");
}

#[test]
fn somebody_is_checked_in_by_code_and_by_name() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let html = crew
        .get(&format!("/console/desk?place={}", venue.hall))
        .shown();
    assert!(
        html.contains("Checking in at <strong>Hall</strong>"),
        "{html}"
    );
    for (typed, name) in [("ADA-1", "Ada Lovelace"), ("grace hop", "Grace Hopper")] {
        let html = crew
            .at_desk("check-in", &venue.hall, &[("q", typed)])
            .shown();
        assert!(html.contains("Checked in") && html.contains(name), "{html}");
        assert!(html.contains("class=\"verdict good\""), "{html}");
    }
    let inside = "SELECT inside FROM occupancy WHERE device_id = (SELECT id FROM devices WHERE name = 'Hall')";
    assert_eq!(server.value::<i64>(inside), 2);
    // Who is meant is asked where more than one may be.
    let html = crew
        .at_desk("check-in", &venue.hall, &[("q", "müller")])
        .shown();
    assert!(html.contains("2 people match"), "{html}");
    assert_eq!(server.value::<i64>(inside), 2);
    let beate = html
        .split("Beate")
        .next()
        .and_then(|before| before.rsplit("name=\"delegate\" value=\"").next());
    let beate = beate
        .and_then(|rest| rest.split('"').next())
        .expect("an option");
    let html = crew
        .at_desk(
            "check-in",
            &venue.hall,
            &[("q", "müller"), ("delegate", beate)],
        )
        .shown();
    assert!(
        html.contains("Beate Müller") && html.contains("Checked in"),
        "{html}"
    );
    let html = crew
        .at_desk("check-in", &venue.hall, &[("way", "out"), ("q", "MUE-2")])
        .shown();
    assert!(html.contains("Checked out"), "{html}");
    let ten = crew.last_ten();
    assert!(
        ten.find("Beate").expect("Beate") < ten.find("Ada").expect("Ada"),
        "{ten}"
    );
}

#[test]
fn a_refusal_names_its_rule_and_what_solves_it() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let refused = crew.at_desk("check-in", &venue.workshop, &[("q", "ADA-1")]);
    refused.refused(422, "Not registered for Workshop");
    for text in [
        "Registered attendees only",
        "at <a href=\"/console/devices/",
        "Register and check in",
        "Admit once",
    ] {
        assert!(refused.html.contains(text), "{text}: {}", refused.html);
    }
    let ada = value(&refused.html, "/console/desk/register", "delegate").to_owned();
    let html = crew
        .at_desk("register", &venue.workshop, &[("delegate", &ada)])
        .shown();
    assert!(html.contains("Registered and checked in"), "{html}");
    // Once in, a ticket does not enter again, unless somebody says why.
    crew.at_desk("check-in", &venue.hall, &[("q", "ADA-1")])
        .shown();
    let refused = crew.at_desk("check-in", &venue.hall, &[("q", "ADA-1")]);
    refused.refused(422, "Already used at Hall");
    assert!(
        refused.html.contains("One entry per ticket"),
        "{}",
        refused.html
    );
    crew.at_desk("admit", &venue.hall, &[("delegate", &ada)])
        .refused(400, "Reason");
    let html = crew
        .at_desk(
            "admit",
            &venue.hall,
            &[("delegate", &ada), ("reason", "Lost the wristband")],
        )
        .shown();
    assert!(html.contains("Admitted against the rules"), "{html}");
    let reason = "SELECT json_extract(data, '$.reason') FROM interactions WHERE interaction_type = 'check-in-override'";
    assert_eq!(server.value::<String>(reason), "Lost the wristband");
    let id: i64 = server.value("SELECT max(id) FROM interactions");
    let page = crew.get(&format!("/console/interactions/{id}")).shown();
    has(
        &page,
        [
            "Admitted in spite of",
            "lready used at Hall",
            "Lost the wristband",
        ],
    );
    for path in ["/console/interactions", "/console/delegates/1"] {
        has(crew.get(path).shown(), ["Reason: Lost the wristband"]);
    }
    let dashboard = crew.get("/console").shown();
    has(&dashboard, ["was admitted", "Lost the wristband"]);
    lacks(&dashboard, "check-in-override");
    assert!(
        crew.last_ten().contains("Already used at Hall")
            || crew.last_ten().contains("already used at Hall")
    );
}

#[test]
fn an_unknown_code_is_refused_or_waits_for_its_import() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let refused = crew.at_desk("check-in", &venue.hall, &[("q", "NEW-77")]);
    refused.refused(422, "NEW-77");
    assert!(refused.html.contains("Walk-in") && refused.html.contains("wait for import"));
    let html = crew
        .at_desk("wait", &venue.hall, &[("code", "NEW-77")])
        .shown();
    assert!(html.contains("waiting for the import"), "{html}");
    let ten = crew.last_ten();
    has(&ten, ["let in, waiting for the import", "unknown code"]);
    assert_eq!(ten.matches("NEW-77").count(), 2, "{ten}");
    lacks(crew.get("/console/interactions").shown(), "scan:NEW");
    gate.delegate(&json!({"firstName": "Late", "barcode": "NEW-77"}));
    let stored = "SELECT count(*) FROM interactions i JOIN delegates p ON p.id = i.first_delegate_id WHERE p.barcode = 'NEW-77'";
    assert_eq!(server.value::<i64>(stored), 1);
    // Of a blocked code the last ten say what happened to it.
    let lost = gate.delegate(&json!({"firstName": "Lost", "barcode": "LOST-1"}));
    server.write(move |tx, ctx| {
        blocked::block(
            tx,
            ctx,
            DelegateId(lost),
            DelegateCode::Barcode,
            "lost",
            None,
        )
    });
    crew.at_desk("check-in", &venue.hall, &[("q", "LOST-1")])
        .refused(422, "blocked");
    has(crew.last_ten(), ["blocked"]);
    crew.at_desk("check-in", &venue.hall, &[("q", "nobody like that")])
        .refused(422, "Nobody matches");
    // A name is no code: no refusal is kept for it.
    assert_eq!(server.value::<i64>("SELECT count(*) FROM refusals"), 2);
}

#[test]
fn a_passage_is_taken_back_where_it_is_shown() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let html = crew
        .at_desk("check-in", &venue.hall, &[("q", "ADA-1")])
        .shown();
    let id = value(&html, "/console/desk/undo", "interaction").to_owned();
    let html = crew
        .at_desk("undo", &venue.hall, &[("interaction", &id)])
        .shown();
    assert!(
        html.contains("Check-in undone") && html.contains("Ada Lovelace"),
        "{html}"
    );
    assert!(crew.last_ten().contains("undone by"), "{}", crew.last_ten());
    assert_eq!(server.value::<i64>("SELECT count(*) FROM interactions"), 0);
    let html = crew
        .at_desk("undo", &venue.hall, &[("interaction", &id)])
        .shown();
    assert!(html.contains("taken back already"), "{html}");
    crew.at_desk("check-in", &venue.hall, &[("q", "ADA-1")])
        .shown();
}

/// An operator deletes nothing else by it: that is for administrators.
#[test]
fn the_undo_takes_back_nothing_of_others() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let crew = server.crew(ConsoleRole::Operator);
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:ADA-1", "device": venue.hall.parse::<i64>().expect("an id")}),
    );
    let other = server.crew(ConsoleRole::Administrator);
    other
        .at_desk("check-in", &venue.hall, &[("q", "GRA-1")])
        .shown();
    for id in ["1", "2"] {
        crew.at_desk("undo", &venue.hall, &[("interaction", id)])
            .refused(403, "only what you recorded");
    }
    assert_eq!(server.value::<i64>("SELECT count(*) FROM interactions"), 2);
}

#[test]
fn a_walk_in_is_registered_with_a_code_and_checked_in() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    gate.delegate(&json!({"firstName": "Ann", "delegateType": "Crew", "barcode": "ANN-1"}));
    let html = crew
        .get(&format!(
            "/console/desk?place={}&walkin=1&q=Marta+Kessler",
            venue.workshop
        ))
        .shown();
    assert!(
        html.contains("value=\"Marta\"") && html.contains("value=\"Kessler\""),
        "{html}"
    );
    // The commonest type is chosen, and a code that nobody has never opens the panel by Enter.
    assert!(html.contains("value=\"Visitor\" checked"), "{html}");
    let find = |typed: &str| {
        let path = format!("/console/desk/find?place={}&q={typed}", venue.workshop);
        crew.get(&path).shown()
    };
    assert!(find("Marta").contains("aria-selected=\"true\""));
    assert!(!find("NEW-77").contains("aria-selected=\"true\""));
    let similar = crew
        .get("/console/desk/duplicates?firstName=Ada&lastName=Lovelace")
        .shown();
    assert!(
        similar.contains("Looks like <strong>Ada Lovelace"),
        "{similar}"
    );
    let person = [
        ("firstName", "Marta"),
        ("lastName", "Kessler"),
        ("type", "Press"),
    ];
    let html = crew.walks_in(&venue.workshop, &person);
    assert!(
        html.contains("Registered and checked in") && html.contains("Marta Kessler"),
        "{html}"
    );
    let made = "SELECT count(*) FROM delegates WHERE last_name = 'Kessler' AND length(barcode) > 10 AND delegate_type = 'Press'";
    assert_eq!(server.value::<i64>(made), 1);
    crew.at_desk("walk-in", &venue.workshop, &[("company", "Nobody's")])
        .refused(422, "name");
    let taken = [("lastName", "Again"), ("code", "ADA-1")];
    crew.at_desk("walk-in", &venue.workshop, &taken)
        .refused(422, "ADA-1");
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 6);
}

/// A door that would let somebody in is not named for the refusal of its place.
#[test]
fn a_refusal_at_a_door_names_the_place_whose_rule_it_is() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let types = |types: &[&str]| json!({"Access": {"types": types}});
    let hall =
        gate.device(&json!({"name": "Hall", "deviceType": "room", "data": types(&["Crew"])}));
    let door = gate.device(&json!({
        "name": "North", "deviceType": "door", "parent": hall, "data": types(&["Visitor"]),
    }));
    gate.delegate(&json!({"barcode": "V-1", "delegateType": "visitor"}));
    let rule = format!("set at <a href=\"/console/devices/{hall}\">Hall</a>");
    crew.at_desk("check-in", &door.to_string(), &[("q", "V-1")])
        .refused(422, &rule);
}

/// A key that is held, or a page that is loaded anew, sells nothing twice.
#[test]
fn a_panel_that_is_sent_more_than_once_registers_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let venue = venue(&server.caller_with_all());
    let people = server.count("delegates");
    let panel = format!("/console/desk?place={}&walkin=1", venue.hall);
    let html = crew.get(&panel).shown();
    let once = value(&html, "/console/desk/walk-in", "once").to_owned();
    let person = [("lastName", "Kessler"), ("once", once.as_str())];
    let shown = crew.at_desk("walk-in", &venue.hall, &person).taken();
    for _ in 0..2 {
        assert_eq!(crew.at_desk("walk-in", &venue.hall, &person).taken(), shown);
        let html = crew.get(&shown).shown();
        assert!(
            html.contains("Registered and checked in") && html.contains("Ticket code"),
            "{html}"
        );
    }
    assert_eq!(server.count("delegates"), people + 1);
    // The next panel is another one.
    let html = crew.get(&panel).shown();
    let next = value(&html, "/console/desk/walk-in", "once").to_owned();
    assert_ne!(once, next);
    crew.walks_in(&venue.hall, &[("lastName", "Kessler"), ("once", &next)]);
    assert_eq!(server.count("delegates"), people + 2);
}

#[test]
fn the_whole_name_means_one_person_where_others_have_it_as_a_part_of_theirs() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let hall = gate
        .device(&json!({"name": "Hall", "deviceType": "room"}))
        .to_string();
    for (last, code) in [("Hansen", "A"), ("Johansen", "B")] {
        gate.delegate(&json!({"firstName": "Elin", "lastName": last, "barcode": code}));
    }
    server.has_indexed_everybody();
    let html = crew
        .at_desk("check-in", &hall, &[("q", "hansen elin")])
        .shown();
    assert!(
        html.contains("Checked in") && html.contains("Elin Hansen"),
        "{html}"
    );
    let html = crew.at_desk("check-in", &hall, &[("q", "hansen")]).shown();
    assert!(html.contains("2 people match"), "{html}");
}

#[test]
fn a_desk_at_a_place_that_was_deleted_says_so() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let desk = format!("/console/desk?place={}", venue.hall);
    assert!(
        crew.get(&desk)
            .shown()
            .contains("Checking in at <strong>Hall")
    );
    gate.delete(&format!("/device/id:{}", venue.hall)).is(204);
    crew.at_desk("check-in", &venue.hall, &[("q", "ADA-1")])
        .refused(400, "This place was deleted; choose another one");
    let html = crew.get(&desk).shown();
    assert!(html.contains("Choose the place"));
    // The others stand there to be chosen.
    let another = r#"<ul class="rows"><li><a class="name" href="/console/desk?place="#;
    assert!(html.contains(another), "{html}");
}

/// Sums are right and nothing is deleted: the refund is a purchase of its own.
#[test]
fn a_walk_in_pays_and_is_refunded_when_it_is_undone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let ticket =
        gate.device(&json!({"name": "Day ticket", "code": "day", "deviceType": "product"}));
    server.settings(&json!({"walkIn": {"currency": "EUR", "types": [
        {"type": "Day guest", "product": "code:day", "cents": 4550},
    ]}}));
    let panel = format!("/console/desk?place={}&walkin=1", venue.workshop);
    let html = crew.get(&panel).shown();
    assert!(
        html.contains("45.50 EUR") && html.contains("Invoice"),
        "{html}"
    );
    let person = |method: &'static str| {
        [
            ("lastName", "Kessler"),
            ("type", "day guest"),
            ("method", method),
        ]
    };
    // Nobody says by mistake how it was paid.
    let payment = html.split("Paid by").nth(1).expect("a choice");
    lacks(payment.split("</fieldset>").next().expect("it"), "checked");
    for sent in [&person("")[..], &person("cash")[..2]] {
        let again = crew.at_desk("walk-in", &venue.workshop, sent);
        again.refused(422, "Choose how it was paid: cash, card or invoice.");
        has(&again.html, ["data-wrong"]);
    }
    crew.at_desk("walk-in", &venue.workshop, &person("cheque"))
        .refused(422, "Method: must be one of cash, card, invoice");
    assert_eq!(server.count("transactions"), 0);
    let html = crew.walks_in(&venue.workshop, &person("card"));
    assert!(html.contains("Paid 45.50 EUR, card"), "{html}");
    let bought = "SELECT count(*) FROM delegates p JOIN transaction_delegates d ON d.delegate_id = p.id
        WHERE p.last_name = 'Kessler' AND p.barcode = d.barcode AND p.delegate_type = 'day guest'
            AND (SELECT count(*) FROM interactions i WHERE i.first_delegate_id = p.id AND i.first_device_id = ";
    assert_eq!(server.value::<i64>(&format!("{bought}{ticket}) = 1")), 1);
    assert_eq!(server.count("inconsistencies"), 0);
    let id = value(&html, "/console/desk/undo", "interaction").to_owned();
    let undo = [("interaction", id.as_str())];
    let html = crew.at_desk("undo", &venue.workshop, &undo).shown();
    assert!(
        html.contains("Walk-in undone") && html.contains("Give back 45.50 EUR to the card."),
        "{html}"
    );
    let told = crew.at_desk("undo", &venue.workshop, &undo).shown();
    assert!(told.contains("taken back already"), "{told}");
    let gone = "SELECT count(*) FROM delegates WHERE last_name = 'Kessler' AND deleted_at IS NULL";
    assert_eq!(server.value::<i64>(gone), 0);
    let paid = "SELECT group_concat(method || ' ' || net, ', ') FROM transaction_payments";
    assert_eq!(server.text(paid), "card 4550, card -4550");
    assert_eq!(server.count("inconsistencies"), 0);
    let receipt = crew.get("/console/sales/1").shown();
    assert!(
        receipt.contains("href=\"/console/sales/2\">refunded"),
        "{receipt}"
    );
    // Whoever was somewhere since stays.
    let html = crew.walks_in(&venue.workshop, &person("cash"));
    let id = value(&html, "/console/desk/undo", "interaction").to_owned();
    let guest: i64 = server.value("SELECT max(id) FROM delegates");
    gate.scan("check-in", guest, venue.hall.parse::<i64>().expect("an id"))
        .is(201);
    let html = crew
        .at_desk("undo", &venue.workshop, &[("interaction", id.as_str())])
        .shown();
    assert!(html.contains("Check-in undone"), "{html}");
    assert_eq!(
        (server.value::<i64>(gone), server.count("transactions")),
        (1, 3)
    );
}

#[test]
fn a_walk_in_that_is_undone_takes_its_attendee_along_unless_more_happened() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let crew = server.crew(ConsoleRole::Operator);
    let people: i64 = server.value("SELECT count(*) FROM delegates WHERE deleted_at IS NULL");
    let left =
        || server.value::<i64>("SELECT count(*) FROM delegates WHERE deleted_at IS NULL") - people;
    let last = || {
        server
            .value::<i64>("SELECT max(id) FROM interactions WHERE interaction_type = 'check-in'")
            .to_string()
    };
    let walk_in = |name: &str| {
        let person = [("firstName", name), ("lastName", "Kessler")];
        crew.walks_in(&venue.hall, &person);
    };
    walk_in("Marta");
    assert_eq!(left(), 1);
    let html = crew
        .at_desk("undo", &venue.hall, &[("interaction", &last())])
        .shown();
    assert!(
        html.contains("Walk-in undone") && html.contains("Marta Kessler"),
        "{html}"
    );
    assert_eq!(left(), 0);
    // Somebody who was sent elsewhere since stays.
    walk_in("Nora");
    let id: i64 = server.value("SELECT max(id) FROM delegates");
    let check_in = last();
    gate.interact(
        "lead",
        &json!({"delegate": id, "device": venue.hall.parse::<i64>().expect("an id")}),
    );
    let html = crew
        .at_desk("undo", &venue.hall, &[("interaction", &check_in)])
        .shown();
    assert!(html.contains("Check-in undone"), "{html}");
    assert_eq!(left(), 1);
}

#[test]
fn the_undo_takes_back_what_one_button_recorded() {
    let (server, gate) = Server::with_api();
    let crew = server.operator();
    let venue = venue(&gate);
    let register = || {
        let html = crew
            .at_desk("register", &venue.workshop, &[("delegate", "1")])
            .shown();
        value(&html, "/console/desk/undo", "interaction").to_owned()
    };
    let id = register();
    let undone = crew
        .at_desk("undo", &venue.workshop, &[("interaction", &id)])
        .shown();
    has(
        &undone,
        [
            "Check-in undone",
            "The registration for this place is undone",
        ],
    );
    assert_eq!(crew.last_ten().matches("undone by").count(), 1);
    assert_eq!(server.count("interactions"), 0);
    crew.at_desk("check-in", &venue.workshop, &[("q", "ADA-1")])
        .refused(422, "Not registered for Workshop");
    // Not where somebody went on with it.
    let id = register();
    crew.at_desk(
        "check-in",
        &venue.workshop,
        &[("way", "out"), ("q", "ADA-1")],
    )
    .shown();
    let undone = crew
        .at_desk("undo", &venue.workshop, &[("interaction", &id)])
        .shown();
    has(&undone, "The registration for this place stays");
    assert_eq!(server.count("interactions"), 2);
}

#[test]
fn the_desk_is_for_operators_and_remembers_its_place() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let venue = venue(&gate);
    let viewer = server.crew(ConsoleRole::Viewer);
    viewer.get("/console/desk").refused(403, "operator");
    let crew = server.crew(ConsoleRole::Operator);
    let path = format!("/console/desk?place={}", venue.workshop);
    let response = crew.request(Method::GET, &path).send().expect("an answer");
    let cookies = response.headers().get_all("set-cookie").iter();
    let cookies: Vec<_> = cookies
        .map(|cookie| cookie.to_str().expect("text").to_owned())
        .collect();
    let desk = cookies
        .iter()
        .find(|cookie| cookie.starts_with("desk="))
        .expect("a cookie");
    assert!(
        desk.contains("HttpOnly") && desk.contains("Path=/console/desk"),
        "{desk}"
    );
    // A place that is gone is asked for again.
    let html = crew.get("/console/desk?place=99999").shown();
    assert!(html.contains("Choose the place"), "{html}");
}
