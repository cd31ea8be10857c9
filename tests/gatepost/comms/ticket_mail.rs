//! Tickets in e-mails: the address of their page, and their QR code as a part of the mail.

use super::Post;
use crate::{
    browser::app::scan,
    harness::{has, lacks},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use gatepost::{domain::messages::templates::Entry, identity::ConsoleRole};
use reqwest::Method;
use serde_json::json;

/// The header and the body of each part of a mail, parts of parts included.
fn parts(mail: &str) -> Vec<(String, String)> {
    let boundaries = mail.split("boundary=\"").skip(1);
    let boundaries: Vec<String> = boundaries
        .map(|rest| format!("--{}", rest.split('"').next().expect("an end")))
        .collect();
    let mut parts = vec![String::new()];
    for line in mail.lines() {
        if boundaries.iter().any(|boundary| line.starts_with(boundary)) {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    let split = |part: &String| {
        part.split_once("\n\n")
            .map(|(head, body)| (head.to_owned(), body.to_owned()))
    };
    parts.iter().filter_map(split).collect()
}

/// The id and the text of the QR code of a mail's picture.
fn picture(mail: &str) -> Option<(String, String)> {
    let parts = parts(mail);
    let (head, body) = parts.iter().find(|(head, _)| head.contains("image/png"))?;
    assert!(head.contains("Content-Disposition: inline"), "{head}");
    let id = head.split("Content-ID: <").nth(1)?.split('>').next()?;
    let png = BASE64_STANDARD
        .decode(body.split_whitespace().collect::<String>())
        .ok()?;
    Some((id.to_owned(), scan(&png)?))
}

/// Lines are folded on the wire (quoted-printable).
fn unfolded(mail: &str) -> String {
    mail.replace("=\r\n", "").replace("=3D", "=")
}

fn sent(post: &Post, entry: &Entry) -> String {
    let id = post.template(&serde_json::to_value(entry).expect("JSON"));
    assert_eq!(
        post.flags(&json!({"email_id": id, "delegate_id": post.ada})),
        (false, true)
    );
    post.mail.wait_for(1).remove(0).text
}

#[test]
fn a_mail_holds_the_picture_of_its_ticket() {
    let post = Post::open_at(Some("https://gate.example.org"));
    post.server.settings(&json!({"publicUrlReachable": true}));
    let mail = sent(&post, &Entry::your_ticket());
    has(&mail, "multipart/related");
    let (id, code) = picture(&mail).expect("a picture");
    assert_eq!(code, "ADA-1");
    let told = unfolded(&mail);
    has(&told, &format!("src=\"cid:{id}\""));
    let link = "href=\"https:&#x2f;&#x2f;gate.example.org&#x2f;t&#x2f;";
    has(&told, [link, "\r\nhttps://gate.example.org/t/"]);
    let at = told.find("/t/").expect("an address");
    let path = told[at..].split_whitespace().next().expect("an end");
    let page = crate::harness::whole(post.server.request(Method::GET, path));
    has(&page.text, "Ada Lovelace");
    // The console shows what was sent, with the picture.
    let crew = post.server.crew(ConsoleRole::Operator);
    let page = crew.get("/console/messages/1/page");
    has(&page.html, "src=\"data:image/png;base64,");
}

#[test]
fn without_pages_for_attendees_the_mail_has_the_picture_alone() {
    let post = Post::open_at(Some("https://gate.example.org"));
    let mail = sent(&post, &Entry::your_ticket());
    assert_eq!(picture(&mail).expect("a picture").1, "ADA-1");
    lacks(&mail, ["/t/"]);
    has(&mail, "Tell this code at the entrance: ADA-1");
}

#[test]
fn where_tickets_are_signed_the_picture_has_the_signed_one() {
    let post = Post::open();
    post.server.done(&["ticket", "key", "new"]);
    let mail = sent(&post, &Entry::your_ticket());
    let ticket = picture(&mail).expect("a picture").1;
    let found = post.server.done(&["ticket", "check", &ticket]);
    assert_eq!(
        (ticket.len(), found.trim()),
        (120, &*format!("delegate {}, ADA-1", post.ada))
    );
    has(&mail, "Tell this code at the entrance: ADA-1");
}

#[test]
fn a_mail_without_the_code_stays_as_it_was() {
    let post = Post::open();
    let entry: Entry = serde_json::from_value(json!({
        "type": "email", "slug": "plain", "subject": "Hello", "content": "Hello {{ ticketQr }}{{ ticketUrl }}.", "html": "<p>Hello</p>",
    }))
    .expect("an entry");
    let mail = sent(&post, &entry);
    has(&mail, "Hello .");
    lacks(&mail, ["multipart/related", "image/png", "cid:"]);
}

#[test]
fn the_sample_is_tried_with_its_picture() {
    const NEW: &str = "/console/messages/templates/new?type=email&sample=ticket";
    let post = Post::open_at(Some("https://gate.example.org"));
    post.server.settings(&json!({"publicUrlReachable": true}));
    let crew = post.server.crew(ConsoleRole::Operator);
    has(
        crew.get("/console/messages/templates").shown(),
        "sample=ticket",
    );
    let form = crew.get(NEW).shown();
    has(&form, "value=\"your-ticket\"");
    let entry = Entry::your_ticket();
    let press = |button: &str, attendee: &str| {
        let html = entry.html.as_deref().unwrap_or_default();
        let subject = entry.subject.as_deref().unwrap_or_default();
        let fields = [
            ("type", "email"),
            ("slug", "your-ticket"),
            ("subject", subject),
            ("content", &*entry.content),
            ("html", html),
            ("delegate", attendee),
            ("do", button),
        ];
        crew.post("/console/messages/templates/new?type=email", &fields)
            .html
    };
    let shown = press("preview", "barcode:ADA-1");
    let picture = shown
        .split("src=\"data:image/png;base64,")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let png = BASE64_STANDARD
        .decode(picture.expect("a picture"))
        .expect("base 64");
    assert_eq!(scan(&png).as_deref(), Some("ADA-1"));
    has(press("page", ""), "src=\"data:image/png;base64,");
    // Nobody gets the ticket of somebody else by looking.
    has(press("preview", ""), "https://gate.example.org/t/try");
}
