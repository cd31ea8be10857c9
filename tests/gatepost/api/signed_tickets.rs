//! Signed tickets: switched on by a key, shown and sent in the place of codes, taken wherever a code is scanned, and ended by
//! blocking, deleting and retiring (handbook, *Signed tickets*). What a ticket is in every case, forgeries included, is in
//! `src/domain/gate/tickets.rs`.

use super::gate::Venue;
use crate::{
    browser::app::scan,
    harness::{Caller, Reply, Server, has, lacks, whole},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;
use std::{
    fs::File,
    process::{Command, Output},
};

const TICKETS: &str = "/console/settings/tickets";
const PASSPHRASE: &str = "correct horse battery";

fn make_key(server: &Server) {
    let crew = server.crew(ConsoleRole::Administrator);
    has(crew.get(TICKETS).shown(), "Tickets are not signed");
    let path = format!("{TICKETS}/key");
    let wrong = crew.post(&path, &[("firstDay", "soon")]);
    has(&wrong.html, "must be a day such as 2026-11-27");
    crew.post(&path, &[("firstDay", "2026-11-27")]);
    has(crew.get(TICKETS).shown(), ["Key 1 made.", "signs tickets"]);
}

/// The signed ticket of a barcode, as the command writes it.
fn signed(server: &Server, barcode: &str) -> String {
    let csv = server.done(&["ticket", "sign"]);
    let mut lines = csv.lines();
    let head = lines.next().expect("a head");
    assert_eq!(
        head.trim_start_matches('\u{feff}'),
        "barcode,firstName,lastName,email,delegateType,signedTicket"
    );
    let start = format!("{barcode},");
    let line = lines.find(|line| line.starts_with(&start)).expect("a row");
    let ticket = line.rsplit(',').next().expect("a ticket");
    assert_eq!(ticket.len(), 120, "{line}");
    ticket.to_owned()
}

fn check_in(all: &Caller, code: &str, place: i64) -> Reply {
    all.scan("check-in", format!("scan:{code}"), place)
}

/// A command on the file, with the passphrase as its input.
fn with_passphrase(server: &Server, passphrase: &str, arguments: &[&str]) -> Output {
    let input = server.file("passphrase", passphrase);
    Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .args(arguments)
        .args(["--passphrase-stdin", "--db"])
        .arg(server.path())
        .stdin(File::open(input).expect("the input"))
        .output()
        .expect("run")
}

#[test]
fn a_signed_ticket_is_taken_wherever_a_code_is_scanned() {
    let (server, all) = Server::with_api();
    let hall = all.device(&json!({"name": "Hall"}));
    let ada =
        all.delegate(&json!({"firstName": "Ada", "barcode": "ADA-1", "delegateType": "Press"}));
    make_key(&server);
    // Of an attendee who comes after the key as well.
    let bob = all.delegate(&json!({"firstName": "Bob", "barcode": "BOB-1"}));
    let (ticket, of_bob) = (signed(&server, "ADA-1"), signed(&server, "BOB-1"));
    for text in [
        ticket.clone(),
        ticket.to_lowercase(),
        format!("]Q1{ticket}\n"),
    ] {
        assert_eq!(
            check_in(&all, &text, hall).data()["firstDelegate"]["id"],
            ada,
            "{text:?}"
        );
    }
    all.get(&format!("/delegate/scan:{of_bob}"))
        .shows("id", bob);
    let batch = json!({"interactions": {"a": {
        "interactionType": "check-in", "delegate": format!("scan:{of_bob}"), "device": hall,
    }}});
    assert_eq!(
        all.post("/interaction/batch", &batch).list()[0]["status"],
        201
    );
    let crew = server.crew_once(ConsoleRole::Administrator);
    has(
        crew.get(&format!("/console/settings?scanned={ticket}"))
            .shown(),
        ">Ada</a>, by barcode",
    );
    assert_eq!(
        server.done(&["ticket", "check", &ticket]).trim(),
        format!("delegate {ada}, ADA-1")
    );
    // The codes that people have already stay valid.
    assert_eq!(check_in(&all, "ADA-1", hall).status, 201);

    let forged = format!(
        "{}{}",
        &ticket[..119],
        if ticket.ends_with('0') { '1' } else { '0' }
    );
    let refused = check_in(&all, &forged, hall);
    refused.refused(404, 1301, "not a genuine ticket");
    assert_eq!(refused.body["meta"]["error"]["reason"], "forged");
    check_in(&all, &ticket[1..], hall).refused(404, 1301, "unknown code");

    // A lost badge ends the ticket, and so does another barcode, or none.
    let lost = [
        ("value", "ADA-1"),
        ("reason", "reported lost"),
        ("new", "ADA-2"),
    ];
    crew.post(&format!("/console/delegates/{ada}/badge/barcode"), &lost);
    check_in(&all, &ticket, hall).refused(404, 1301, "this badge was reported lost");
    let newer = signed(&server, "ADA-2");
    assert_eq!(check_in(&all, &newer, hall).status, 201);
    all.delete(&format!("/delegate/id:{ada}")).is(204);
    let refused = check_in(&all, &newer, hall);
    refused.refused(404, 1301, "this ticket was cancelled");
    assert_eq!(refused.body["meta"]["error"]["reason"], "cancelled");
    all.patch(&format!("/delegate/id:{bob}"), &json!({"barcode": "BOB-2"}))
        .is(200);
    check_in(&all, &of_bob, hall).refused(404, 1301, "this ticket was cancelled");

    let of_bob = signed(&server, "BOB-2");
    crew.post(&format!("{TICKETS}/retire"), &[("kid", "1")]);
    let refused = check_in(&all, &of_bob, hall);
    refused.refused(404, 1301, "signed by key 1, which was retired");
    assert_eq!(refused.body["meta"]["error"]["reason"], "retired-key");
    assert_eq!(server.count("ticket_keys WHERE seed IS NOT NULL"), 0);
    let none = Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .args(["ticket", "sign", "--db"])
        .arg(server.path())
        .output()
        .expect("run");
    has(String::from_utf8_lossy(&none.stderr), "make a key first");
}

/// The text of the first QR code among pictures in addresses.
fn code(html: &str) -> Option<String> {
    let rest = html.split("data:image/png;base64,").nth(1)?;
    scan(&BASE64_STANDARD.decode(rest.split('"').next()?).ok()?)
}

#[test]
fn pages_badges_and_lists_have_signed_tickets_once_there_is_a_key() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let all = server.caller_with_all();
    server.settings(&json!({"publicUrlReachable": true}));
    let ada = all.delegate(&json!({"firstName": "Ada", "barcode": "ADA-1"}));
    all.delegate(&json!({"firstName": "Eve"}));
    let shown = server
        .viewer()
        .get(&format!("/console/delegates/{ada}"))
        .html;
    let at = shown
        .find(&format!("/t/{ada}-"))
        .expect("the ticket's address");
    let path = shown[at..]
        .split(['"', '<'])
        .next()
        .expect("an end")
        .to_owned();
    let page = || whole(server.request(Method::GET, &path)).text;
    let badge = || {
        let picture = all.request(Method::GET, &format!("/badge/id:{ada}?format=svg"));
        whole(picture).text
    };
    let (plain_page, plain_badge) = (page(), badge());
    assert_eq!(code(&plain_page).as_deref(), Some("ADA-1"));
    let csv = server.done(&["export", "delegates"]);
    lacks(&csv, "signedTicket");

    make_key(&server);
    let ticket = signed(&server, "ADA-1");
    assert_eq!(code(&page()).as_deref(), Some(&*ticket));
    // What people can type stays below it.
    has(page(), "<code>ADA-1</code>");
    assert!(badge().len() > plain_badge.len() + 1_000);
    let narrow = server.caller_seeing(&["firstName"]);
    let seen = whole(narrow.request(Method::GET, &format!("/badge/id:{ada}?format=svg"))).text;
    assert!(seen.len() < plain_badge.len());

    let csv = server.done(&["export", "delegates"]);
    has(&csv, [",signedTicket,", &*ticket]);
    let console = server
        .crew(ConsoleRole::Operator)
        .get("/console/delegates/export?format=csv")
        .html;
    has(&console, [",signedTicket,", &*ticket]);
    // Taken back, the column says nothing of its own.
    let other = Server::start();
    let list = other.file("list.csv", &csv);
    other.done(&["import", "delegates", &list]);
    assert_eq!(other.count("delegates WHERE data LIKE '%signed%'"), 0);
    assert_eq!(other.count("delegates WHERE barcode = 'ADA-1'"), 1);
    let json = server.done(&["export", "delegates", "--format", "json"]);
    let list = other.file("list.json", &json);
    other.done(&["import", "delegates", &list, "--key", "publicId"]);
}

#[test]
fn a_gate_gets_what_it_verifies_by_and_no_private_key() {
    let Venue {
        server, all, gate, ..
    } = Venue::new();
    let ada =
        all.delegate(&json!({"firstName": "Ada", "barcode": "ADA-1", "delegateType": "Press"}));
    assert_eq!(gate.get("/gate").data().get("tickets"), None);
    make_key(&server);
    let tickets = || gate.get("/gate").data()["tickets"].clone();
    let told = tickets();
    assert_eq!(told["keys"][0]["kid"], 1);
    assert_eq!(
        told["keys"][0]["publicKey"].as_str().map(str::len),
        Some(64)
    );
    let days = told["keys"][0]["days"].as_array().expect("days");
    assert_eq!((days.len(), &days[0]), (17, &json!(1_795_752_000_000_i64)));
    let types: Vec<_> = told["types"].as_object().expect("types").values().collect();
    assert_eq!(types, [&json!("Press")]);
    assert_eq!(told["cancelled"], json!([]));
    all.delete(&format!("/delegate/id:{ada}")).is(204);
    assert_eq!(tickets()["cancelled"].as_array().map(Vec::len), Some(1));
    server.sql(&format!(
        "UPDATE delegates SET deleted_at = NULL WHERE id = {ada}"
    ));
    server.done(&["ticket", "key", "new"]);
    server.done(&["ticket", "key", "retire", "1"]);
    let told = tickets();
    assert_eq!(
        (&told["keys"][1], &told["cancelled"]),
        (&json!({"kid": 1, "retired": true}), &json!([]))
    );

    let seed: Vec<u8> = server.value("SELECT seed FROM ticket_keys WHERE kid = 2");
    let forms = [
        data_encoding::HEXLOWER.encode(&seed),
        BASE64_STANDARD.encode(&seed),
    ];
    let crew = server.crew_once(ConsoleRole::Administrator);
    for text in [
        told.to_string(),
        server.done(&["config", "export"]),
        server.done(&["ticket", "key", "list", "--json"]),
        crew.get(TICKETS).html,
        crew.get("/console/audit").html,
    ] {
        lacks(&text, [&*forms[0], &*forms[1]]);
    }
}

/// An office that sells tickets, and a venue with its keys whose list is older.
fn office_and_venue() -> (Server, String, Venue) {
    let (office, all) = Server::with_api();
    all.delegate(&json!({"firstName": "Late", "barcode": "LATE-1", "delegateType": "Press"}));
    make_key(&office);
    let venue = Venue::new();
    let sealed = office.path().with_extension("keys");
    let sealed = sealed.to_str().expect("a name");
    let export = ["ticket", "key", "export", "--output", sealed];
    let short = with_passphrase(&office, "short", &export);
    has(
        String::from_utf8_lossy(&short.stderr),
        "at least 12 characters",
    );
    assert!(
        with_passphrase(&office, PASSPHRASE, &export)
            .status
            .success()
    );
    let import = ["ticket", "key", "import", sealed];
    let wrong = with_passphrase(&venue.server, "correct horse batterx", &import);
    has(String::from_utf8_lossy(&wrong.stderr), "wrong passphrase");
    assert_eq!(venue.server.count("ticket_keys"), 0);
    assert!(
        with_passphrase(&venue.server, PASSPHRASE, &import)
            .status
            .success()
    );
    let ticket = signed(&office, "LATE-1");
    (office, ticket, venue)
}

#[test]
fn a_genuine_ticket_that_a_gate_admitted_is_recorded_once_its_attendee_is_in_the_list() {
    let (_office, ticket, venue) = office_and_venue();
    let Venue {
        server, all, hall, ..
    } = venue;
    let refused = check_in(&all, &ticket.to_lowercase(), hall);
    refused.refused(404, 1301, "a genuine ticket, but not in the list");
    assert_eq!(refused.body["meta"]["error"]["reason"], "unlisted");
    let admitted = json!({
        "delegate": format!("scan:{}", ticket.to_lowercase()), "device": hall, "admitted": true, "nonce": "n-1",
    });
    let kept = all.interact("check-in", &admitted);
    assert_eq!(
        (kept.status, &kept.body["meta"]["unknown"]),
        (201, &json!(true))
    );
    // Somebody else who comes into the list changes nothing.
    all.delegate(&json!({"firstName": "Other", "barcode": "LATE-2"}));
    assert_eq!(server.count("interactions"), 0);
    let late = all.delegate(&json!({"firstName": "Late", "barcode": "LATE-1"}));
    assert_eq!(
        server.count(&format!(
            "interactions WHERE first_delegate_id = {late} AND admitted"
        )),
        1
    );
    assert_eq!(server.count("refusals WHERE admitted"), 0);
    assert_eq!(
        check_in(&all, &ticket, hall).data()["firstDelegate"]["id"],
        late
    );

    // Erasing takes what the ticket left along, and the ticket stays cancelled.
    all.delete(&format!("/delegate/id:{late}")).is(204);
    check_in(&all, &ticket, hall).refused(404, 1301, "this ticket was cancelled");
    let left = "refusals WHERE delegate = 'scan:' || ";
    let left = format!("{left}'{ticket}'");
    assert_eq!(server.count(&left), 1);
    let crew = server.crew_once(ConsoleRole::Administrator);
    let confirm = late.to_string();
    crew.post(
        &format!("/console/delegates/{late}/erase"),
        &[("confirm", &*confirm)],
    );
    assert_eq!(server.count(&format!("delegates WHERE id = {late}")), 0);
    assert_eq!(server.count(&left), 0);
    check_in(&all, &ticket, hall).refused(404, 1301, "this ticket was cancelled");
}
