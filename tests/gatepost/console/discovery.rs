//! Discovery in the console: the window, the QR code, and who is let in.

use super::{Crew, Server};
use crate::harness::{Reply, reply, whole};
use gatepost::{
    admin::Reach,
    domain::discovery::Place,
    identity::ConsoleRole,
    types::{DeviceId, Timestamp},
};
use reqwest::Method;
use serde_json::json;
use std::{
    io::Read,
    time::{Duration, Instant},
};

const PAGE: &str = "/console/discovery";

fn ask(server: &Server, code: &str) -> Reply {
    let body = json!({"code": code, "secret": format!("secret of {code}")});
    reply(
        server
            .request(Method::POST, "/api/v5/device-request/new")
            .header("User-Agent", "GateApp/3.1 <b>")
            .json(&body),
    )
}

fn left(server: &Server) -> Option<Duration> {
    server.console.discovery.window.left(Instant::now())
}

#[test]
fn opening_the_page_lets_apps_ask_and_its_stream_does_not() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let crew = server.crew(ConsoleRole::Operator);
    ask(&server, "42").refused(503, 1001, "");
    let html = crew.get(PAGE).shown();
    assert!(html.contains("No requests yet"), "{html}");
    let opened = left(&server).expect("it is open");
    assert!(opened > Duration::from_secs(590));
    assert_eq!(ask(&server, "42").status, 201);
    // Neither the picture nor the stream is a load of the page.
    crew.get("/console/discovery/qr.svg").shown();
    let mut stream = events(&crew, &html);
    stream.until("event: board");
    assert!(left(&server).is_some_and(|left| left < opened));
    // Closed, it is told so, and a refresh of what is shown then leaves it closed.
    let closed = crew.post("/console/discovery/close", &[]).taken();
    assert_eq!(left(&server), None);
    stream.until("Discovery is closed");
    for _ in 0..2 {
        let html = crew.get(&closed).shown();
        assert!(html.contains("Discovery is closed") && html.contains("Open for ten minutes"));
        assert_eq!(left(&server), None);
    }
    ask(&server, "43").refused(503, 1001, "");
    crew.get(PAGE).shown();
    assert!(left(&server).is_some());
    stream.until("Requests accepted");
}

/// The stream that a page connects to.
struct Events(Box<dyn Read>, String);

fn events(crew: &Crew, html: &str) -> Events {
    let path = html
        .split("sse-connect=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a stream")
        .replace("&#38;", "&")
        .replace("&amp;", "&");
    let response = crew.request(Method::GET, &path).send().expect("a stream");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Events(Box::new(response), String::new())
}

impl Events {
    /// Reads on until the stream tells this; what it told until then.
    #[track_caller]
    fn until(&mut self, told: &str) -> String {
        let mut bytes = [0; 4096];
        while !self.1.contains(told) {
            let read = self.0.read(&mut bytes).expect("the stream goes on");
            assert!(read > 0, "no {told:?} in {:?}", self.1);
            self.1.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        std::mem::take(&mut self.1)
    }
}

#[test]
fn a_request_appears_is_added_and_the_app_gets_in() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let crew = server.crew(ConsoleRole::Operator);
    let mut stream = events(&crew, &crew.get(PAGE).shown());
    let id = ask(&server, "42").id();
    let told = stream.until("7789");
    assert!(
        told.contains("GateApp/3.1 &#60;b&#62;") && !told.contains("<b>"),
        "{told}"
    );
    assert!(told.contains("127.0.0.1"));
    let form = [("delegateWrite", "on")];
    assert_eq!(crew.post(&format!("{PAGE}/{id}/add"), &form).taken(), PAGE);
    stream.until("not fetched yet");
    let given = ask(&server, "42").data().clone();
    let secret = given["clientSecret"].as_str().expect("a secret");
    stream.until("fetched</span> <span class=\"help\">shown for");
    let html = crew.get(PAGE).shown();
    assert!(html.contains("Added. The app gets") && html.contains("/console/devices/"));
    assert!(!html.contains(secret) && !html.contains("secret of"));
    let app = server.caller_of(given["clientId"].as_str().expect("an id"), secret);
    app.delegate(&json!({"barcode": "A1"}));
    let device = DeviceId(given["deviceId"].as_i64().expect("an id"));
    assert!(server.app.last_seen.last(device).is_some());
    // Who comes too late is told.
    crew.post(&format!("{PAGE}/{id}/add"), &[]).taken();
    assert!(crew.get(PAGE).shown().contains("somebody else decided"));
    let actor: String =
        server.value("SELECT actor FROM audit WHERE record_type = 'device-request'");
    assert!(actor.starts_with("user:"), "{actor}");
}

#[test]
fn forms_that_a_script_sends_renew_the_board_alone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    server
        .caller_with_all()
        .device(&json!({"code": "hall", "name": "Great hall", "deviceType": "room"}));
    crew.get(PAGE).shown();
    let post = |path: String| {
        let request = crew
            .request(Method::POST, &path)
            .header("HX-Request", "true");
        whole(request.header("X-CSRF-Token", &crew.csrf))
    };
    let hall = ask(&server, "hall").id();
    let refused = post(format!("{PAGE}/{hall}/add"));
    assert_eq!(refused.reply.status, 200);
    assert!(refused.text.contains("Great hall") && refused.text.contains("hx-swap-oob"));
    assert!(!refused.text.contains("<html"));
    // Without a script it is a page that tells.
    crew.post(&format!("{PAGE}/{hall}/add"), &[])
        .refused(409, "Great hall");
    assert!(
        post(format!("{PAGE}/{hall}/dismiss"))
            .text
            .contains("Dismissed.")
    );
    assert_eq!(
        server.value::<String>("SELECT cleared_status FROM device_requests"),
        "dismissed"
    );
}

#[test]
fn credentials_that_were_missed_can_be_given_out_again() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    crew.get(PAGE).shown();
    let id = ask(&server, "42").id();
    crew.post(&format!("{PAGE}/{id}/add"), &[]).taken();
    assert!(!crew.get(PAGE).shown().contains("Give out again"));
    server.sql("UPDATE device_requests SET shown_until = 1, salt = NULL");
    let html = crew.get(PAGE).shown();
    assert!(html.contains("missed") && html.contains("Give out again"));
    crew.post(&format!("{PAGE}/{id}/again"), &[]).taken();
    assert!(crew.get(PAGE).shown().contains("not fetched yet"));
    assert!(ask(&server, "42").data()["clientSecret"].is_string());
    assert!(
        server.value::<Timestamp>("SELECT shown_until FROM device_requests") > Timestamp::now()
    );
}

#[test]
fn the_code_holds_an_address_that_a_phone_can_reach() {
    // Listening on loopback there is none.
    let alone = Server::start();
    let html = alone.crew(ConsoleRole::Operator).get(PAGE).shown();
    assert!(html.contains("listens on this machine only"), "{html}");
    assert!(!html.contains("qr.svg") && !html.contains("127.0.0.1"));
    alone
        .crew_again()
        .get("/console/discovery/qr.svg")
        .refused(404, "no such address");
    let public = Server::start_with(Some("http://localhost:8080"));
    let html = public.crew(ConsoleRole::Operator).get(PAGE).shown();
    assert!(html.contains("on a phone is the phone") && !html.contains("qr.svg"));
    let public = Server::start_with(Some("https://gate.example.org"));
    let crew = public.crew(ConsoleRole::Operator);
    let html = crew.get(PAGE).shown();
    assert!(html.contains("https://gate.example.org/api/v5/device-request/new"));
    let picture = whole(crew.request(Method::GET, "/console/discovery/qr.svg"));
    assert_eq!(picture.header("content-type"), "image/svg+xml");
    assert!(picture.text.starts_with("<svg"));
    // Listening everywhere it holds this machine's own, one of several.
    let open = Server::start_reached(Reach {
        lan: true,
        own_ca: true,
        ..Reach::default()
    });
    let reached = || {
        open.console
            .discovery
            .places()
            .expect("this machine is on a network")
    };
    let crew = open.crew(ConsoleRole::Operator);
    // Other tests make networks and take them away: a look counts during which none came or went.
    let (places, html, chosen, other) = loop {
        let places = reached();
        let html = crew.get(PAGE).shown();
        let chosen: Vec<String> = places
            .iter()
            .map(|place| crew.get(&format!("{PAGE}?at={}", place.host)).shown())
            .collect();
        let other = crew.get(&format!("{PAGE}?at=10.66.66.66")).shown();
        let uris = |places: &[Place]| places.iter().map(Place::request_uri).collect::<Vec<_>>();
        if uris(&reached()) == uris(&places) {
            break (places, html, chosen, other);
        }
    };
    for (place, chosen) in places.iter().zip(chosen) {
        assert!(html.contains(&place.host), "{} in {html}", place.host);
        assert!(chosen.contains(&place.request_uri()));
        assert!(chosen.contains(&format!(
            "<a href=\"/gate/trust\">{}</a>",
            place.trust_uri()
        )));
    }
    // One that is gone, or that somebody made up, is not taken.
    assert!(!other.contains("10.66.66.66:"), "{other}");
    assert!(other.contains(&places[0].request_uri()));
}

impl Server {
    /// The operator that signed in before.
    fn crew_again(&self) -> Crew {
        Crew::sign_in(self, "operator@example.com")
    }
}

#[test]
fn only_operators_let_apps_in() {
    let server = Server::start();
    let viewer = server.crew(ConsoleRole::Viewer);
    viewer.get(PAGE).refused(403, "operator");
    viewer
        .get("/console/discovery/stream")
        .refused(403, "operator");
    assert_eq!(left(&server), None);
    let operator = server.crew(ConsoleRole::Operator);
    operator.get(PAGE).shown();
    let id = ask(&server, "42").id();
    for action in ["add", "dismiss", "again"] {
        viewer
            .post(&format!("{PAGE}/{id}/{action}"), &[])
            .refused(403, "operator");
    }
    viewer
        .post("/console/discovery/close", &[])
        .refused(403, "operator");
    assert!(left(&server).is_some());
    assert_eq!(
        server.value::<Option<String>>("SELECT cleared_status FROM device_requests"),
        None
    );
}
