//! Badges come out: at check-ins, on request, once, and whatever happens to printers and server (contract §15).

mod ipp;
mod zebra;

use crate::console::settings::hidden;
use crate::{
    faults::process::until,
    harness::{Caller, Server},
};
use gatepost::{
    domain::{
        delegates::merge::merge,
        printing::{
            ByItself, NewPrinter,
            jobs::{self, Decision},
            printers,
        },
    },
    identity::{ConsoleRole, Role},
    types::DelegateId,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zebra::{Mood, Zebra};

/// A server that may call loopback, with a place, and somebody who comes.
struct Venue {
    server: Server,
    api: Caller,
    gate: i64,
}

impl Venue {
    fn start() -> Self {
        let server = Server::start();
        server.settings(&json!({"outgoing": {"allowLocal": true}}));
        let api = server.caller_with_all();
        let hall = api.device(&json!({"name": "Hall", "code": "hall", "deviceType": "room"}));
        let gate = api
            .device(&json!({"name": "Gate", "code": "gate", "deviceType": "room", "parent": hall}));
        Self { server, api, gate }
    }

    fn printer(&self, name: &str, zebra: &Zebra, change: impl FnOnce(&mut NewPrinter)) {
        let mut printer = NewPrinter {
            name: name.into(),
            address: zebra.address.to_string(),
            ..NewPrinter::default()
        };
        change(&mut printer);
        self.put(printer);
    }

    fn put(&self, printer: NewPrinter) {
        self.server.write(move |tx, ctx| {
            printer.check(ctx.settings.reach)?;
            printers::put(tx, ctx, None, &printer)
        });
    }

    fn person(&self, name: &str, kind: &str) -> i64 {
        self.api
            .delegate(&json!({"firstName": name, "lastName": "Byron", "delegateType": kind}))
    }

    fn check_in(&self, delegate: i64) {
        self.api.scan("check-in", delegate, self.gate).is(201);
    }

    fn print(&self, delegate: i64) -> i64 {
        let job = self
            .api
            .post("/badge/print", &json!({"delegate": delegate}));
        job.is(200);
        job.data()["id"].as_i64().expect("an id")
    }

    /// Waits until a job is in a state; its JSON.
    #[track_caller]
    fn is(&self, job: i64, state: &str) -> Value {
        let path = format!("/badge/job/{job}");
        until(&format!("job {job} is {state}"), || {
            self.api.read(&path)["state"] == state
        });
        self.api.read(&path)
    }

    fn decide(&self, job: i64, decision: Decision) {
        self.server
            .write(move |tx, ctx| jobs::decide(tx, ctx, job, decision));
    }

    /// The recorded prints.
    fn prints(&self) -> Value {
        let search = r#"{"==":["interactionType","print"]}"#;
        self.api.read(&format!("/interaction/list?search={search}"))
    }

    fn printed(&self) -> i64 {
        self.server
            .count("interactions WHERE interaction_type = 'print'")
    }
}

fn by_itself(when: ByItself) -> impl Fn(&mut NewPrinter) {
    move |printer| {
        printer.by_itself = when;
        printer.places = ["hall".to_owned()].into();
    }
}

#[test]
fn the_first_check_in_prints_a_badge_and_no_other_does() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::Ready));
    venue.printer("Entrance", &zebra, |printer| {
        by_itself(ByItself::First)(printer);
        printer.types = ["speaker".to_owned()].into();
    });
    let (ada, guest) = (venue.person("Ada", "Speaker"), venue.person("Max", "Guest"));
    venue.check_in(guest);
    venue.check_in(ada);
    let labels = zebra.wait_for(1);
    assert!(labels[0].starts_with("^XA^PW"), "{}", labels[0]);
    until("the print is recorded", || venue.printed() == 1);
    let recorded = venue.prints();
    assert_eq!(recorded[0]["firstDelegate"]["id"], ada);
    assert_eq!(recorded[0]["firstDevice"]["id"], venue.gate);
    assert_eq!(recorded[0]["data"]["Print"]["printer"], "Entrance");

    // She comes again, another speaker comes once: the queue is in order, so nothing of hers lies before that.
    venue.api.scan("check-out", ada, venue.gate).is(201);
    venue.check_in(ada);
    venue.check_in(venue.person("Eve", "Speaker"));
    zebra.wait_for(2);
    until("two prints are recorded", || venue.printed() == 2);
}

#[test]
fn a_badge_waits_for_labels_and_goes_elsewhere_where_it_can() {
    let (venue, empty) = (Venue::start(), Zebra::start(Mood::OutOfLabels));
    venue.printer("Left", &empty, |_| {});
    let job = venue.print(venue.person("Ada", ""));
    until("the reason is told", || {
        venue.api.read(&format!("/badge/job/{job}"))["why"] == "it is out of labels"
    });
    assert_eq!(empty.labels(), [""; 0]);
    empty.now(Mood::Ready);
    venue.is(job, "sent");
    assert_eq!(empty.labels().len(), 1);

    // With one to fall back on it need not wait.
    let other = Zebra::start(Mood::Silent);
    venue.printer("Right", &other, |printer| {
        printer.places = ["elsewhere".to_owned()].into();
    });
    let left = NewPrinter {
        name: "Left".into(),
        address: empty.address.to_string(),
        fallback: Some("Right".into()),
        ..NewPrinter::default()
    };
    venue
        .server
        .write(move |tx, ctx| printers::put(tx, ctx, Some("Left"), &left));
    empty.now(Mood::OutOfLabels);
    let job = venue.print(venue.person("Eve", ""));
    assert_eq!(venue.is(job, "sent")["printer"], "Right");
    assert_eq!((empty.labels().len(), other.labels().len()), (1, 1));
}

#[test]
fn what_may_have_been_printed_is_decided_by_a_person() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::BreaksOff));
    venue.printer("Entrance", &zebra, |_| {});
    let (first, second) = (
        venue.print(venue.person("Ada", "")),
        venue.print(venue.person("Eve", "")),
    );
    venue.is(first, "unknown");
    venue.is(second, "unknown");
    assert_eq!((venue.printed(), zebra.labels().len()), (0, 0));

    zebra.now(Mood::Ready);
    venue.decide(first, Decision::Printed);
    venue.is(first, "sent");
    assert_eq!((venue.printed(), zebra.labels().len()), (1, 0));
    let printer = venue.server.value("SELECT id FROM printers");
    venue.decide(second, Decision::Print(printer));
    venue.is(second, "failed");
    zebra.wait_for(1);
    until("it is recorded", || venue.printed() == 2);
}

#[test]
fn a_job_that_the_server_was_sending_when_it_ended_is_not_printed_twice() {
    let (mut venue, zebra) = (Venue::start(), Zebra::start(Mood::OutOfLabels));
    venue.printer("Entrance", &zebra, |_| {});
    let (sending, queued) = (
        venue.print(venue.person("Ada", "")),
        venue.print(venue.person("Eve", "")),
    );
    venue.server.restart_after(|server| {
        server.sql(&format!(
            "UPDATE print_jobs SET state = 'sending' WHERE id = {sending}"
        ));
        zebra.now(Mood::Ready);
    });
    venue.api = venue.server.caller_with_all();
    venue.is(queued, "sent");
    assert_eq!(
        venue.is(sending, "unknown")["why"],
        "the server ended while it was being sent"
    );
    assert_eq!(zebra.labels().len(), 1);
}

#[test]
fn a_printer_that_is_down_holds_up_nobody_and_no_other_printer() {
    let (venue, gone) = (Venue::start(), Zebra::start(Mood::Ready));
    let closed = {
        let listener = crate::loopback::listener();
        listener.local_addr().expect("an address")
    };
    venue.printer("Gone", &gone, |printer| {
        printer.address = closed.to_string();
        by_itself(ByItself::Each)(printer);
    });
    let zebra = Zebra::start(Mood::Ready);
    venue.printer("Other", &zebra, |_| {});
    for count in 0..20 {
        venue.check_in(venue.person(&format!("Guest {count}"), ""));
    }
    until("all wait", || {
        venue.server.count("print_jobs WHERE state = 'queued'") == 20
    });
    let body = json!({"delegate": venue.person("Ada", ""), "printer": "Other"});
    let job = venue.api.post("/badge/print", &body);
    venue.is(job.data()["id"].as_i64().expect("an id"), "sent");
}

#[test]
fn a_gate_prints_at_its_own_places_by_its_own_printer() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::Ready));
    let ada = venue.person("Ada", "");
    let elsewhere = venue
        .api
        .device(&json!({"name": "Away", "code": "away", "deviceType": "room"}));
    let app = venue.api.device(
        &json!({"name": "Phone", "code": "phone", "deviceType": "app", "parent": venue.gate}),
    );
    let places = json!({"default": {"place": "code:gate", "places": ["code:gate"]}});
    venue.server.publish(&places);
    let of_gate = |device: i64| {
        let (id, secret) = venue
            .server
            .new_client(gatepost::identity::clients::NewClient {
                name: "Gate".into(),
                roles: [Role::Gate].into_iter().collect(),
                device: Some(gatepost::types::DeviceId(device)),
                ..Default::default()
            });
        (id.clone(), venue.server.caller_of(&id, &secret))
    };
    let ((id, gate), (_, other)) = (of_gate(app), of_gate(app));
    let print = |caller: &Caller, body: Value| caller.post("/badge/print", &body);
    print(&gate, json!({"delegate": ada})).refused(400, 1100, "no printer is for this place");
    venue.printer("Entrance", &zebra, |printer| printer.gates = [id].into());

    let job = print(
        &gate,
        json!({"delegate": ada, "device": venue.gate, "reason": "lost badge"}),
    );
    job.is(200);
    let path = format!("/badge/job/{}", job.data()["id"]);
    zebra.wait_for(1);
    until("the gate is told", || gate.read(&path)["state"] == "sent");
    other.get(&path).refused(404, 1103, "no such print job");
    print(&other, json!({"delegate": ada})).refused(400, 1100, "no printer is for this place");
    print(&gate, json!({"delegate": ada, "printer": "Entrance"})).refused(
        403,
        1202,
        "a gate prints",
    );
    print(&gate, json!({"delegate": ada, "device": elsewhere})).refused(403, 1202, "place");
    let recorded = venue.prints();
    assert_eq!(recorded[0]["data"]["Print"]["reason"], "lost badge");
    venue
        .api
        .post(
            "/badge/print",
            &json!({"delegate": ada, "printer": "Nowhere"}),
        )
        .invalid("there is no printer Nowhere");
}

#[test]
fn a_deleted_person_gets_no_badge_and_holds_up_no_other() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::OutOfLabels));
    venue.printer("Entrance", &zebra, |_| {});
    let (ada, eve) = (venue.person("Ada", ""), venue.person("Eve", ""));
    let (gone, kept) = (venue.print(ada), venue.print(eve));
    venue.api.delete(&format!("/delegate/id:{ada}")).is(204);
    zebra.now(Mood::Ready);
    venue.is(kept, "sent");
    venue.is(gone, "failed");
    assert_eq!(zebra.labels().len(), 1);
}

#[test]
fn a_badge_does_not_keep_a_walk_in_from_being_undone_and_moves_with_a_merge() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::Ready));
    venue.printer("Entrance", &zebra, |printer| {
        printer.by_itself = ByItself::First;
    });
    let crew = venue.server.crew(ConsoleRole::Operator);
    let (desk, place) = ("/console/desk", venue.gate.to_string());
    let panel = crew.get(&format!("{desk}?place={place}&walkin=1")).shown();
    let once = hidden(&panel, "/console/desk/walk-in", "once");
    let fields = [
        ("place", &*place),
        ("lastName", "Kessler"),
        ("once", &*once),
    ];
    assert_eq!(crew.post("/console/desk/walk-in", &fields).status, 303);
    zebra.wait_for(1);
    until("it is recorded", || venue.printed() == 1);
    let check_in = "SELECT max(id) FROM interactions WHERE interaction_type = 'check-in'";
    let check_in = venue.server.value::<i64>(check_in).to_string();
    let undo = [("place", &*place), ("interaction", &*check_in)];
    let told = crew.post("/console/desk/undo", &undo).shown();
    assert!(told.contains("Walk-in undone"), "{told}");

    let (ada, again) = (venue.person("Ada", ""), venue.person("Ada", ""));
    let job = venue.print(again);
    venue.is(job, "sent");
    venue.server.write(move |tx, ctx| {
        merge(
            tx,
            ctx,
            DelegateId(ada),
            DelegateId(again),
            &BTreeSet::new(),
        )
        .map(drop)
    });
    let of = format!("SELECT delegate_id FROM print_jobs WHERE id = {job}");
    assert_eq!(venue.server.value::<i64>(&of), ada);
}

#[test]
fn printers_and_reasons_have_their_limits() {
    let venue = Venue::start();
    let printer = |name: &str| NewPrinter {
        name: name.into(),
        address: "192.0.2.9".into(),
        ..NewPrinter::default()
    };
    let refused = |all: Vec<NewPrinter>| {
        venue.server.write(move |tx, ctx| {
            let saved = printers::save(tx, ctx, &all, true);
            Ok(saved.err().map(|cause| cause.to_string()))
        })
    };
    let many: Vec<_> = (0..50).map(|at| printer(&format!("P{at}"))).collect();
    let more = [many.clone(), vec![printer("One more")]].concat();
    assert_eq!(refused(many), None);
    assert!(
        refused(more)
            .expect("a reason")
            .contains("there can be 50 printers")
    );
    let lonely = NewPrinter {
        fallback: Some("Nobody".into()),
        ..printer("P0")
    };
    assert!(
        refused(vec![lonely])
            .expect("a reason")
            .contains("there is no printer Nobody")
    );
    let print = |letters: usize| {
        let reason = "x".repeat(letters);
        let body = json!({"delegate": venue.person("Ada", ""), "reason": reason});
        venue.api.post("/badge/print", &body)
    };
    print(200).is(200);
    print(201).invalid("reason");
    // With the others their destinations go.
    assert_eq!(refused(vec![printer("P0")]), None);
    assert_eq!(
        venue
            .server
            .count("outbox_destinations WHERE name LIKE 'printer:%'"),
        1
    );
}

#[test]
fn the_console_sets_up_a_printer_prints_and_decides() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::Ready));
    let crew = venue.server.crew(ConsoleRole::Administrator);
    let edit = "/console/settings/printers/edit";
    let form = crew.get(edit).shown();
    let address = zebra.address.to_string();
    let version = hidden(&form, edit, "version");
    let send = |press: &str, dpi: &str| {
        let fields = [
            ("version", &*version),
            ("name", "Entrance"),
            ("language", "zpl"),
            ("address", &*address),
            ("dpi", dpi),
            ("paper", "62"),
            ("places", "hall"),
            ("byItself", "never"),
            ("do", press),
        ];
        crew.post(edit, &fields)
    };
    let refused = send("", "250");
    assert_eq!(refused.status, 422);
    assert!(refused.html.contains("Must be 152, 203, 300 or 600"));
    assert!(
        send("test", "203")
            .shown()
            .contains("has taken the badge of Ada Lovelace")
    );
    assert_eq!(
        (zebra.labels().len(), venue.server.count("printers")),
        (1, 0)
    );
    assert_eq!(send("", "203").status, 303);
    let list = crew.get("/console/settings/printers").shown();
    assert!(
        list.contains("Entrance") && list.contains("ready"),
        "{list}"
    );

    // A scanner's Enter after a code that was sent by itself leaves the verdict where it is.
    let place = venue.gate.to_string();
    let nothing = crew.part("/console/desk/check-in", &[("q", ""), ("place", &*place)]);
    assert_eq!((nothing.status, nothing.html.as_str()), (204, ""));

    // At the desk of a place below, once somebody is checked in.
    let ada = venue.person("Ada", "");
    let (delegate, place) = (ada.to_string(), venue.gate.to_string());
    let fields = [("delegate", &*delegate), ("place", &*place)];
    let verdict = crew.post("/console/desk/check-in", &fields).shown();
    assert!(
        verdict.contains("Print badge") && !verdict.contains("by itself"),
        "{verdict}"
    );
    assert!(
        crew.post("/console/desk/print", &fields)
            .shown()
            .contains("Badge at Entrance")
    );
    zebra.wait_for(2);
    until("it is recorded", || venue.printed() == 1);

    // From her page, with the reason of another one.
    let asked = crew
        .get(&format!("/console/printing/new?delegate={ada}"))
        .shown();
    assert!(asked.contains("A badge was printed at"), "{asked}");
    zebra.now(Mood::BreaksOff);
    let fields = [
        ("delegate", &*delegate),
        ("printer", "Entrance"),
        ("reason", "lost badge"),
    ];
    assert_eq!(crew.post("/console/printing/print", &fields).status, 303);
    let state = "SELECT max(id) FROM print_jobs WHERE state = 'unknown'";
    until("nobody knows", || {
        venue.server.value::<Option<i64>>(state).is_some()
    });
    let dashboard = crew.get("/console").shown();
    assert!(
        dashboard.contains("may or may not have been printed"),
        "{dashboard}"
    );
    let queue = crew.get("/console/printing").shown();
    assert!(
        queue.contains("lost badge") && queue.contains("It was printed"),
        "{queue}"
    );
    let job: i64 = venue.server.value(state);
    let decide = format!("/console/printing/{job}/decide");
    assert_eq!(crew.post(&decide, &[("do", "printed")]).status, 303);
    assert_eq!(venue.is(job, "sent")["printer"], "Entrance");
    // Somebody else has decided meanwhile.
    assert_eq!(crew.post(&decide, &[("do", "printed")]).status, 400);
}

#[test]
fn the_badges_of_a_list_are_printed() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::Ready));
    venue.printer("Entrance", &zebra, |_| ());
    let (crew, viewer) = (venue.server.operator(), venue.server.viewer());
    for (name, kind) in [("Ada", "Press"), ("Bea", "Guest"), ("Cem", "Press")] {
        venue.person(name, kind);
    }
    let list = "/console/delegates?type=Press";
    let print = "/console/delegates/print?type=Press";
    let link = "/console/delegates/print?";
    assert!(crew.get(list).shown().contains(link));
    assert!(!viewer.get(list).shown().contains(link));
    assert_eq!(viewer.get(print).status, 403);
    let asked = crew.get(print).shown();
    assert!(
        asked.contains("the list shows: 2.") && asked.contains("At the printer Entrance"),
        "{asked}"
    );
    for how in ["a4", "pdf"] {
        let drawn = crew.post(print, &[("to", how)]);
        assert_eq!(drawn.status, 200);
        assert!(drawn.html.starts_with("%PDF-"));
    }
    let printer: i64 = venue.server.value("SELECT id FROM printers");
    assert_eq!(
        crew.post(print, &[("to", &*printer.to_string())]).status,
        303
    );
    zebra.wait_for(2);
    until("both are recorded", || venue.printed() == 2);
    for how in ["", "99"] {
        assert_ne!(crew.post(print, &[("to", how)]).status, 303, "{how}");
    }
    assert_eq!(venue.server.count("print_jobs"), 2);
    // A printer takes 500 at once.
    venue.server.sql(
        "INSERT INTO delegates (public_id, sources, created_at, updated_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 498)
         SELECT 'many-' || i, '[]', 1, 1 FROM n",
    );
    let all = "/console/delegates/print";
    let refused = crew.post(all, &[("to", &*printer.to_string())]);
    assert!(refused.html.contains("500 badges at once"), "{refused:?}");
    assert_eq!(venue.server.count("print_jobs"), 2);
    venue
        .server
        .sql("DELETE FROM delegates WHERE public_id = 'many-1'");
    assert_eq!(crew.post(all, &[("to", &*printer.to_string())]).status, 303);
    assert_eq!(venue.server.count("print_jobs"), 502);
}

#[test]
fn the_desk_says_what_becomes_of_a_badge() {
    let (venue, zebra) = (Venue::start(), Zebra::start(Mood::Ready));
    venue.printer("Entrance", &zebra, by_itself(ByItself::First));
    let crew = venue.server.operator();
    let (ada, bea) = (venue.person("Ada", ""), venue.person("李", ""));
    let place = venue.gate.to_string();
    let press = |path: &str, who: i64| {
        let who = who.to_string();
        let fields = [("delegate", &*who), ("place", &*place)];
        crew.post(path, &fields).shown()
    };
    let verdict = press("/console/desk/check-in", ada);
    assert!(
        verdict.contains("The badge comes out at Entrance by itself")
            && verdict.contains("Print another"),
        "{verdict}"
    );
    zebra.wait_for(1);
    // The second check-in prints nothing.
    let verdict = press("/console/desk/check-in", ada);
    assert!(!verdict.contains("by itself"), "{verdict}");
    // Letters that no font has are told, though the badge was printed.
    press("/console/desk/print", bea);
    zebra.wait_for(2);
    let why = "SELECT max(why) FROM print_jobs WHERE state = 'sent'";
    until("it is told", || {
        let told: Option<String> = venue.server.value(why);
        told.is_some_and(|told| told.contains("no font has 李"))
    });
    // What waits at a printer that does not work is told at once.
    zebra.now(Mood::OutOfLabels);
    press("/console/desk/print", ada);
    until("the printer is known not to work", || {
        press("/console/desk/print", bea).contains("The printer does not work now")
    });
}
