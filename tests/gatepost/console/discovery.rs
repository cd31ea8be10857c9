//! Discovery in the console: the window, the QR code, and who is let in.

use super::{Crew, Server};
use crate::harness::{Reply, has, lacks, reply, whole};
use gatepost::{
    admin::Reach,
    domain::discovery::Place,
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
    let crew = server.operator();
    ask(&server, "42").refused(503, 1001, "");
    let html = crew.page(PAGE);
    has(&html, "Nobody yet");
    let opened = left(&server).expect("it is open");
    assert!(opened > Duration::from_secs(590));
    ask(&server, "42").is(201);
    // Neither the picture nor the stream is a load of the page.
    crew.page("/console/discovery/qr.svg");
    let mut stream = events(&crew, &html);
    stream.until("event: board");
    assert!(left(&server).is_some_and(|left| left < opened));
    // Closed, it is told so, and a refresh of what is shown then leaves it closed.
    let closed = crew.press("/console/discovery/close");
    assert_eq!(left(&server), None);
    stream.until("Discovery is closed");
    for _ in 0..2 {
        crew.sees(&closed, ["Discovery is closed", "Open for ten minutes"]);
        assert_eq!(left(&server), None);
    }
    ask(&server, "43").refused(503, 1001, "");
    crew.page(PAGE);
    assert!(left(&server).is_some());
    stream.until("Apps may ask");
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
    let crew = server.operator();
    let mut stream = events(&crew, &crew.page(PAGE));
    let id = ask(&server, "42").id();
    let told = stream.until("7789");
    has(&told, "GateApp/3.1 &#60;b&#62;");
    lacks(&told, "<b>");
    has(&told, "127.0.0.1");
    let form = [("delegateWrite", "on")];
    assert_eq!(crew.post(&format!("{PAGE}/{id}/add"), &form).taken(), PAGE);
    stream.until("not fetched yet");
    let given = ask(&server, "42").data().clone();
    let secret = given["clientSecret"].as_str().expect("a secret");
    stream.until("fetched</span> <span class=\"help\">shown for");
    let html = crew.page(PAGE);
    has(&html, ["Added. The app gets", "/console/devices/"]);
    assert!(!html.contains(secret) && !html.contains("secret of"));
    let app = server.caller_of(given["clientId"].as_str().expect("an id"), secret);
    app.delegate(&json!({"barcode": "A1"}));
    let device = DeviceId(given["deviceId"].as_i64().expect("an id"));
    assert!(server.app.last_seen.last(device).is_some());
    // Who comes too late is told.
    crew.press(&format!("{PAGE}/{id}/add"));
    crew.sees(PAGE, "somebody else decided");
    let actor: String =
        server.value("SELECT actor FROM audit WHERE record_type = 'device-request'");
    assert!(actor.starts_with("user:"), "{actor}");
}

#[test]
fn forms_that_a_script_sends_renew_the_board_alone() {
    let (server, crew) = Server::with_operator();
    server
        .caller_with_all()
        .device(&json!({"code": "hall", "name": "Great hall", "deviceType": "room"}));
    crew.page(PAGE);
    let post = |path: String| {
        let request = crew
            .request(Method::POST, &path)
            .header("HX-Request", "true");
        whole(request.header("X-CSRF-Token", &crew.csrf))
    };
    let hall = ask(&server, "hall").id();
    let refused = post(format!("{PAGE}/{hall}/add"));
    assert_eq!(refused.reply.status, 200);
    has(&refused.text, ["Great hall", "hx-swap-oob"]);
    lacks(&refused.text, "<html");
    // Without a script it is a page that tells.
    crew.post(&format!("{PAGE}/{hall}/add"), &[])
        .refused(409, "Great hall");
    has(&post(format!("{PAGE}/{hall}/dismiss")).text, "Dismissed.");
    assert_eq!(
        server.text("SELECT cleared_status FROM device_requests"),
        "dismissed"
    );
}

#[test]
fn credentials_that_were_missed_can_be_given_out_again() {
    let (server, crew) = Server::with_operator();
    crew.page(PAGE);
    let id = ask(&server, "42").id();
    crew.press(&format!("{PAGE}/{id}/add"));
    lacks(crew.page(PAGE), "Give out again");
    server.sql("UPDATE device_requests SET shown_until = 1, salt = NULL");
    crew.sees(PAGE, ["missed", "Give out again"]);
    crew.press(&format!("{PAGE}/{id}/again"));
    crew.sees(PAGE, "not fetched yet");
    assert!(ask(&server, "42").data()["clientSecret"].is_string());
    assert!(
        server.value::<Timestamp>("SELECT shown_until FROM device_requests") > Timestamp::now()
    );
}

#[test]
fn the_code_holds_an_address_that_a_phone_can_reach() {
    // Listening on loopback there is none.
    let alone = Server::start();
    let html = alone.operator().get(PAGE).shown();
    has(&html, "listens on this machine only");
    lacks(&html, ["qr.svg", "127.0.0.1"]);
    alone
        .crew_again()
        .get("/console/discovery/qr.svg")
        .refused(404, "no such address");
    let public = Server::start_with(Some("http://localhost:8080"));
    let html = public.operator().get(PAGE).shown();
    has(&html, "on a phone is the phone");
    lacks(&html, "qr.svg");
    let public = Server::start_with(Some("https://gate.example.org"));
    let crew = public.operator();
    let html = crew.page(PAGE);
    has(&html, "https://gate.example.org/api/v5/device-request/new");
    let picture = whole(crew.request(Method::GET, "/console/discovery/qr.svg"));
    assert_eq!(picture.header("content-type"), "image/svg+xml");
    assert!(picture.text.starts_with("<svg"));
    // Listening everywhere it holds this machine's own, one of several.
    let open = Server::start_reached(Reach {
        tls: false,
        lan: true,
    });
    let reached = || {
        open.console
            .discovery
            .places()
            .expect("this machine is on a network")
    };
    let crew = open.operator();
    // Other tests make networks and take them away: a look counts during which none came or went.
    let (places, html, chosen, other) = loop {
        let places = reached();
        let html = crew.page(PAGE);
        let chosen: Vec<String> = places
            .iter()
            .map(|place| crew.page(&format!("{PAGE}?at={}", place.host)))
            .collect();
        let other = crew.page(&format!("{PAGE}?at=10.66.66.66"));
        let uris = |places: &[Place]| places.iter().map(Place::request_uri).collect::<Vec<_>>();
        if uris(&reached()) == uris(&places) {
            break (places, html, chosen, other);
        }
    };
    for (place, chosen) in places.iter().zip(chosen) {
        assert!(html.contains(&place.host), "{} in {html}", place.host);
        assert!(chosen.contains(&place.request_uri()));
    }
    // One that is gone, or that somebody made up, is not taken.
    lacks(&other, "10.66.66.66:");
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
    let (server, viewer) = Server::with_viewer();
    viewer.get(PAGE).refused(403, "operator");
    viewer
        .get("/console/discovery/stream")
        .refused(403, "operator");
    assert_eq!(left(&server), None);
    let operator = server.operator();
    operator.page(PAGE);
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
