//! `/t/…`: tickets without sign-in, at addresses that nobody guesses (contract §15).

use crate::{
    browser::app::scan,
    harness::{Caller, Server, Whole, has, lacks, whole},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;

const OUTSIDE: &str = "https://gate.example.org";

/// A server that is reachable from outside, and an event.
fn start() -> (Server, Caller) {
    let server = Server::start_with(Some(OUTSIDE));
    let api = server.caller_with_all();
    server.settings(&json!({"publicUrlReachable": true, "timeZone": "Europe/Berlin"}));
    let site = api.device(&json!({"name": "Old, Town; Hall"}));
    api.device(&json!({
        "deviceType": "event", "name": "Summit", "startAt": "2026-11-21 09:00:00", "endAt": "2026-11-22 18:00:00", "parent": site,
    }));
    (server, api)
}

/// The path of an attendee's ticket, as the console shows it.
fn ticket(server: &Server, id: i64) -> String {
    let page = server
        .crew_once(ConsoleRole::Viewer)
        .get(&format!("/console/delegates/{id}"))
        .shown();
    let at = page
        .find(&format!("{OUTSIDE}/t/{id}-"))
        .expect("the ticket's address");
    let address = page[at..].split(['"', '<']).next().expect("an end");
    address.trim_start_matches(OUTSIDE).to_owned()
}

fn open(server: &Server, path: &str) -> Whole {
    whole(server.request(Method::GET, path))
}

/// The text of the page's QR code.
fn code(html: &str) -> Option<String> {
    let rest = html.split("data:image/png;base64,").nth(1)?;
    scan(&BASE64_STANDARD.decode(rest.split('"').next()?).ok()?)
}

#[track_caller]
fn is_gone(server: &Server, path: &str) {
    let page = open(server, path);
    assert_eq!(page.reply.status, 404, "{path}");
    has(&page.text, "This ticket is not valid any more.");
}

#[test]
fn a_ticket_shows_its_code_and_nothing_else_of_its_attendee() {
    let (server, api) = start();
    let ada = api.delegate(&json!({
        "firstName": "Ada", "lastName": "Lovelace", "company": "Engines", "email": "ada@example.org", "barcode": "ADA-1",
    }));
    let path = ticket(&server, ada);
    let page = open(&server, &path);
    assert_eq!(page.reply.status, 200);
    for told in [
        "Summit",
        "Ada Lovelace",
        "ADA-1",
        "Saturday, 21 November, 09:00 to Sunday, 22 November, 18:00",
        "Old, Town; Hall",
    ] {
        has(&page.text, told);
    }
    assert_eq!(code(&page.text).as_deref(), Some("ADA-1"));
    lacks(
        &page.text,
        ["Engines", "ada@example.org", "<script", "style=", "<form"],
    );
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'") && !policy.contains("script"),
        "{policy}"
    );
    assert_eq!(page.header("x-robots-tag"), "noindex");
    assert_eq!(page.header("cache-control"), "no-store");
    // Its style is beside it, wherever a proxy puts both.
    has(&page.text, "href=\"style.css?v=");
    assert_eq!(
        open(&server, "/t/style.css").header("content-type"),
        "text/css; charset=utf-8"
    );
}

#[test]
fn a_calendar_file_has_the_event() {
    let (server, api) = start();
    let path = ticket(&server, api.delegate(&json!({"firstName": "Ada"})));
    let page = open(&server, &path).text;
    let name = path.trim_start_matches("/t/");
    has(&page, &format!("href=\"{name}.ics\""));
    let file = open(&server, &format!("{path}.ics"));
    assert_eq!(file.header("content-type"), "text/calendar; charset=utf-8");
    assert!(
        file.header("content-disposition")
            .starts_with("attachment;")
    );
    let lines: Vec<&str> = file.text.split_terminator("\r\n").collect();
    assert!(
        lines
            .iter()
            .all(|line| line.len() <= 75 && !line.contains('\n'))
    );
    let has = |line: &str| assert!(lines.contains(&line), "{line} in {lines:?}");
    for line in [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "BEGIN:VEVENT",
        "DTSTART:20261121T080000Z",
        "DTEND:20261122T170000Z",
        "SUMMARY:Summit",
        "LOCATION:Old\\, Town\\; Hall",
        "END:VEVENT",
        "END:VCALENDAR",
    ] {
        has(line);
    }
    for name in ["UID:", "DTSTAMP:", "PRODID:"] {
        let count = lines.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!(count, 1, "{name}");
    }
    // Calendars are shared, the ticket is not.
    assert!(!file.text.contains(name));
}

#[test]
fn of_several_events_the_ticket_has_those_that_its_attendee_registered_for() {
    let (server, api) = start();
    let fair = api.device(&json!({"deviceType": "event", "name": "Fair"}));
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let path = ticket(&server, ada);
    lacks(&open(&server, &path).text, ["Summit", "Fair", ".ics"]);
    is_gone(&server, &format!("{path}.ics"));
    api.scan("join", ada, fair).is(201);
    let page = open(&server, &path).text;
    has(&page, "Fair");
    lacks(&page, ["Summit", ".ics"]);
}

#[test]
fn tokens_of_others_and_guesses_lead_nowhere() {
    let (server, api) = start();
    let [ada, grace] = ["Ada", "Grace"].map(|name| api.delegate(&json!({"firstName": name})));
    let path = ticket(&server, ada);
    let (_, signature) = path.rsplit_once('-').expect("a signature");
    assert_eq!(signature.len(), 32, "128 bits");
    let (first, rest) = signature.split_at(1);
    let turned = if first == "0" { "1" } else { "0" };
    for forged in [
        format!("/t/{grace}-{signature}"),
        format!("/t/{ada}-{turned}{rest}"),
        format!("/t/0{ada}-{signature}"),
        format!("/t/{ada}"),
        format!("/t/{ada}-"),
        format!("/t/0{rest}"),
        format!("/t/-{ada}-{signature}"),
        format!("/t/{ada}-{}", signature.to_uppercase()),
        format!("/t/{}", "9".repeat(5_000)),
        "/t/%00".into(),
    ] {
        is_gone(&server, &forged);
        is_gone(&server, &format!("{forged}.ics"));
    }
    assert_eq!(open(&server, &path).reply.status, 200);

    // Another file has another key.
    let (other, api) = start();
    let same = api.delegate(&json!({"firstName": "Ada"}));
    assert_eq!(same, ada);
    is_gone(&other, &path);
    assert_ne!(ticket(&other, same), path);
}

#[test]
fn deleted_and_erased_attendees_have_no_ticket() {
    let (server, api) = start();
    let ada = api.delegate(&json!({"firstName": "Xochitl"}));
    let path = ticket(&server, ada);
    api.delete(&format!("/delegate/id:{ada}")).is(204);
    is_gone(&server, &path);
    is_gone(&server, &format!("{path}.ics"));
    let crew = server.administrator();
    crew.post(&format!("/console/delegates/{ada}/restore"), &[])
        .taken();
    assert_eq!(open(&server, &path).reply.status, 200);
    crew.post(
        &format!("/console/delegates/{ada}/erase"),
        &[("confirm", &ada.to_string())],
    )
    .taken();
    is_gone(&server, &path);
    lacks(&open(&server, &path).text, ["Xochitl"]);
}

#[test]
fn a_blocked_code_is_told_and_no_other_stands_in_for_it() {
    let (server, api) = start();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "LOST-0001"}));
    let path = ticket(&server, ada);
    let crew = server.operator();
    let block = |new: &str| {
        let form = format!("/console/delegates/{ada}/badge/barcode");
        crew.post(
            &form,
            &[
                ("value", "LOST-0001"),
                ("reason", "reported lost"),
                ("new", new),
            ],
        )
        .taken();
    };
    block("");
    let page = open(&server, &path);
    assert_eq!(page.reply.status, 200);
    has(&page.text, "The code of this ticket was blocked");
    lacks(&page.text, ["data:image", "LOST-0001"]);
    api.patch(&format!("/delegate/id:{ada}"), &json!({"barcode": "NEW-1"}))
        .is(200);
    assert_eq!(code(&open(&server, &path).text).as_deref(), Some("NEW-1"));
}

#[test]
fn nothing_is_offered_unless_the_address_is_reachable_from_outside() {
    let (server, api) = start();
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let path = ticket(&server, ada);
    server.settings(&json!({"publicUrlReachable": null}));
    is_gone(&server, &path);
    let page = server
        .crew_once(ConsoleRole::Viewer)
        .get(&format!("/console/delegates/{ada}"))
        .shown();
    lacks(&page, ["/t/"]);
    // It can be tried before: the settings lead there, for a phone as a code.
    let settings = server.administrator().get("/console/settings").shown();
    let address = format!("{OUTSIDE}/t/try");
    has(&settings, &format!("href=\"{address}\""));
    has(
        settings.split("data:image/png").next().unwrap_or_default(),
        "Reachable from outside",
    );
    assert_eq!(code(&settings).as_deref(), Some(&*address));
    has(
        &open(&server, "/t/try").text,
        "This server is reachable from this device.",
    );
    // On again, the addresses that were sent are valid.
    server.settings(&json!({"publicUrlReachable": true}));
    assert_eq!(open(&server, &path).reply.status, 200);
}
