//! Certificates by e-mail: each theirs as a PDF, once.

use super::Post;
use crate::harness::{has, lacks};
use base64::{Engine, prelude::BASE64_STANDARD};
use gatepost::{domain::messages::templates::Entry, identity::ConsoleRole};
use serde_json::json;

const MAIL: &str = "/console/reports/certificates/mail";

#[test]
fn each_gets_their_certificate_once() {
    let post = Post::open_at(Some("https://gate.example.org"));
    post.server.settings(&json!({"publicUrlReachable": true}));
    let (api, crew) = (
        post.server.caller_with_all(),
        post.server.crew(ConsoleRole::Operator),
    );
    let at = |time: &str| format!("2025-11-21T{time}:00Z");
    let talk = api.device(&json!({"name": "Talk", "deviceType": "session", "startAt": at("10:00"), "endAt": at("12:00")}));
    let bea = api.delegate(&json!({"firstName": "Bea"}));
    let cem = api.delegate(&json!({"firstName": "Cem", "email": "cem@example.org"}));
    for (who, to) in [(post.ada, "12:00"), (bea, "12:00"), (cem, "10:30")] {
        for (kind, time) in [("check-in", "10:00"), ("check-out", to)] {
            let body = json!({"delegate": who, "device": talk, "recordedAt": at(time)});
            api.interact(kind, &body).is(201);
        }
    }
    let page = format!("/console/reports/certificates?place={talk}&percent=80");
    has(crew.get(&page).shown(), "make the e-mail");
    has(
        crew.get("/console/messages/templates/new?type=email&sample=certificate")
            .shown(),
        "certificate.event",
    );
    let entry = Entry::your_certificate();
    let template = post.template(&serde_json::to_value(&entry).expect("JSON"));
    let welcome = post.welcome();
    let shown = crew.get(&page).shown();
    has(&shown, "your-certificate");
    lacks(&shown, ["welcome"]);

    let send = |template: i64, percent: &str| {
        let (place, template) = (talk.to_string(), template.to_string());
        let fields = [
            ("place", place.as_str()),
            ("percent", percent),
            ("template", template.as_str()),
        ];
        crew.post(MAIL, &fields)
    };
    assert_ne!(
        send(welcome, "80").status,
        303,
        "it speaks of no certificate"
    );
    assert_eq!(send(template, "80").status, 303);
    has(
        crew.get(&page).shown(),
        "Outbox: 1. Without an e-mail address: 1.",
    );
    let mail = post.mail.wait_for(1).remove(0).text;
    let told = mail.replace("=\r\n", "").replace("=3D", "=");
    has(
        &told,
        [
            "Your certificate for Talk",
            "Talk (21 November 2025)",
            "https://gate.example.org/t/c",
        ],
    );
    let (_, part) = mail.split_once("certificate.pdf").expect("a part");
    let (_, body) = part.split_once("\r\n\r\n").expect("a body");
    let body: String = body
        .split("--")
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let pdf = BASE64_STANDARD.decode(body).expect("base64");
    assert!(pdf.starts_with(b"%PDF-"), "{} bytes", pdf.len());

    // Whoever has one gets none once more; who earns one meanwhile does.
    assert_eq!(send(template, "20").status, 303);
    has(
        crew.get(&page).shown(),
        "Outbox: 1. Attendees who got one before: 1. Without an e-mail address: 1.",
    );
    let mails = post.mail.wait_for(2);
    has(&mails[1].text, "cem@example.org");
    assert_eq!(
        post.server
            .count("messages WHERE origin LIKE 'certificate:%'"),
        2
    );
}

#[test]
fn nothing_is_sent_without_a_mail_server() {
    let (server, api) = crate::harness::Server::with_api();
    let at = |time: &str| format!("2025-11-21T{time}:00Z");
    let talk = api.device(&json!({"name": "Talk", "deviceType": "session", "startAt": at("10:00"), "endAt": at("12:00")}));
    let ada = api.delegate(&json!({"firstName": "Ada", "email": "ada@example.org"}));
    let body = json!({"delegate": ada, "device": talk, "recordedAt": at("10:00")});
    api.interact("check-in", &body).is(201);
    let crew = server.crew(ConsoleRole::Operator);
    let page = crew
        .get(&format!(
            "/console/reports/certificates?place={talk}&percent=80"
        ))
        .shown();
    has(&page, "set the mail server up first");
    lacks(&page, [MAIL]);
}
