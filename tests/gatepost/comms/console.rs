//! Templates and gateways in the console and in the configuration document: what can be set, what
//! cannot, and that secrets go in and never out.

use super::{PASSWORD, Post};
use crate::{
    console::Crew,
    faults::process::{gatepost, until},
};
use gatepost::identity::ConsoleRole;
use serde_json::{Value, json};

const NEW: &str = "/console/messages/templates/new?type=email";

pub fn hidden(html: &str, name: &str) -> String {
    html.split(&format!("name=\"{name}\" value=\""))
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_else(|| panic!("no {name} in {html}"))
        .to_owned()
}

/// The page of a message is for a frame without rights.
#[track_caller]
fn is_shown_where_it_can_do_nothing(crew: &Crew, message: &str, html: &str) {
    let page = crew.request(reqwest::Method::GET, &format!("{message}/page"));
    let page = page.send().expect("an answer");
    let policy = page.headers()["content-security-policy"]
        .to_str()
        .expect("text");
    assert!(
        policy.starts_with("sandbox; default-src 'none'"),
        "{policy}"
    );
    assert_eq!(page.text().expect("text"), html);
}

#[test]
fn a_template_is_written_looked_at_tried_and_sent() {
    let post = Post::open();
    let crew = post.server.crew(ConsoleRole::Operator);
    let form = [
        ("type", "email"),
        ("slug", "hello"),
        ("subject", "Hello {{ delegate.firstName }}"),
        ("content", "You are of {{ delegate.company }}.\r\nSee you"),
        ("html", "<h1>{{ delegate.firstName }}</h1>"),
    ];
    let with = |more: &[(&'static str, &'static str)]| {
        let mut all = form.to_vec();
        all.extend_from_slice(more);
        all
    };
    let html = crew.post(NEW, &with(&[("do", "preview")])).shown();
    assert!(
        html.contains("Analytical Engines") && html.contains("invented"),
        "{html}"
    );
    let html = crew
        .post(
            NEW,
            &with(&[("do", "preview"), ("delegate", "barcode:ADA-1")]),
        )
        .shown();
    assert!(
        html.contains("Hello Ada") && html.contains("For Ada Lovelace"),
        "{html}"
    );
    crew.post(
        NEW,
        &with(&[("do", "preview"), ("delegate", "barcode:nobody")]),
    )
    .refused(422, "nobody");
    assert_eq!(post.count(), 0, "a look sends nothing");

    let led = crew.post(NEW, &with(&[("do", "save")])).taken();
    let id: i64 = led
        .rsplit('/')
        .next()
        .expect("an id")
        .parse()
        .expect("an id");
    let editor = crew.get(&led).shown();
    assert!(editor.contains("You are of"), "{editor}");
    crew.post(NEW, &with(&[("do", "save")]))
        .refused(422, "already");

    let test = crew
        .post(
            NEW,
            &with(&[
                ("do", "test"),
                ("address", "me@example.org"),
                ("delegate", "barcode:ADA-1"),
            ]),
        )
        .taken();
    let mails = post.mail.wait_for(1);
    assert_eq!(mails[0].to, "RCPT TO:<me@example.org>");
    until("it is shown as sent", || {
        crew.get(&test).shown().contains("tag good\">sent")
    });
    assert!(
        crew.get("/console/messages")
            .shown()
            .contains("me@example.org")
    );
    is_shown_where_it_can_do_nothing(&crew, &test, "<h1>Ada</h1>");
    crew.post(NEW, &with(&[("do", "test"), ("address", "me")]))
        .refused(422, "no e-mail address");

    let sent = with(&[("do", "send"), ("delegate", "barcode:ADA-1")]);
    crew.post(&led, &sent).taken();
    assert_eq!(post.mail.wait_for(2)[1].to, "RCPT TO:<ada@example.org>");
    let found = crew
        .get(&format!(
            "/console/messages?delegate={}&template=hello",
            post.ada
        ))
        .shown();
    assert!(
        found.contains("ada@example.org") && !found.contains("me@example.org"),
        "{found}"
    );

    // Two open it; the second is told, and nothing is overwritten.
    let seen = hidden(&editor, "version");
    let mut change = with(&[("do", "save")]);
    change.push(("version", seen.as_str()));
    change[3].1 = "Changed";
    crew.post(&led, &change).taken();
    change[3].1 = "Changed again";
    crew.post(&led, &change)
        .refused(422, "<dt>Text is now</dt><dd>Changed</dd>");
    crew.post(&format!("/console/messages/templates/{id}/remove"), &[])
        .refused(403, "needs the role");
}

#[test]
fn a_template_that_cannot_be_is_refused_with_its_line() {
    let post = Post::open();
    let crew = post.server.crew(ConsoleRole::Administrator);
    let good = [
        ("type", "email"),
        ("slug", "x"),
        ("subject", "S"),
        ("content", "C"),
        ("do", "save"),
    ];
    for (field, value, about) in [
        ("slug", "", "slug-error"),
        ("slug", "Has Space", "slug-error"),
        ("subject", "", "An e-mail needs one"),
        ("content", " ", "Must say something"),
        ("content", "a\n{{ delegate.", "Line 2"),
        ("content", "{{ nobody.knows }}", "nobody"),
        ("subject", "{{ delegate.fistName }}", "firstName"),
        (
            "html",
            "{{ delegate.firstInteractions }}",
            "firstInteractions",
        ),
        ("content", "{% include '/etc/passwd' %}", "Line 1"),
        ("html", "{% for %}", "html-error"),
    ] {
        let mut form = good.to_vec();
        form.retain(|(name, _)| *name != field);
        form.push((field, value));
        crew.post(NEW, &form).refused(422, about);
    }
    let id: i64 = post
        .server
        .value("SELECT id FROM message_templates WHERE slug = 'order-cleared'");
    crew.post(&format!("/console/messages/templates/{id}/remove"), &[])
        .refused(400, "Order is ready");
    let kept: i64 = post.server.value("SELECT count(*) FROM message_templates");
    assert_eq!(kept, 1);
}

#[test]
fn a_gateways_secret_goes_in_and_never_out() {
    let post = Post::open();
    let crew = post.server.crew(ConsoleRole::Administrator);
    let here = "/console/messages/gateways";
    let path = format!("{here}/email");
    let port = post.mail.port.to_string();
    let seen = crew.get(&path).version();
    let form = [
        ("version", seen.as_str()),
        ("kind", "smtp"),
        ("host", "127.0.0.1"),
        ("port", port.as_str()),
        ("security", "none"),
        ("user", "summit"),
        ("from", "Summit <summit@example.org>"),
        ("replyTo", "desk@example.org"),
    ];
    // The same place: the secret stays.
    crew.post(&path, &form).taken();
    let id = post.welcome();
    assert_eq!(
        post.flags(&json!({"email_id": id, "delegate_id": post.ada})),
        (false, true)
    );
    let mail = post.mail.wait_for(1).remove(0);
    assert!(
        mail.text.contains("Reply-To: desk@example.org"),
        "{}",
        mail.text
    );
    assert!(mail.auth.len() > "AUTH PLAIN ".len() + 8);
    // Another place: whoever says so has to know it.
    let seen = crew.get(&path).version();
    let mut elsewhere = form.to_vec();
    elsewhere[0].1 = &seen;
    elsewhere[2].1 = "203.0.113.7";
    crew.post(&path, &elsewhere)
        .refused(422, "ype the secret for the new destination");
    elsewhere.push(("secret", "another"));
    crew.post(&path, &elsewhere).taken();
    crew.post(&path, &elsewhere)
        .refused(422, "changed this while you did");
    for (field, value, about) in [
        ("host", "", "host-error"),
        ("host", "a b", "host-error"),
        ("port", "0", "port-error"),
        ("port", "65536", "port-error"),
        ("security", "some", "security-error"),
        ("from", "nobody", "from-error"),
        ("replyTo", "x", "replyTo-error"),
    ] {
        let mut wrong = form.to_vec();
        wrong.retain(|(name, _)| *name != field);
        wrong.push((field, value));
        let refused = crew.post(&path, &wrong);
        refused.refused(422, about);
    }
    for page in [
        here.to_owned(),
        path.clone(),
        format!("{here}/sms"),
        format!("{here}/push"),
        "/console/audit".into(),
        "/console/messages".into(),
    ] {
        let html = crew.get(&page).shown();
        assert!(
            !html.contains(PASSWORD) && !html.contains("another"),
            "{page}"
        );
    }
    let told: String = post
        .server
        .value("SELECT group_concat(coalesce(before, '') || coalesce(after, '')) FROM audit");
    assert!(
        !told.contains(PASSWORD) && !told.contains("another"),
        "{told}"
    );
    let exported = gatepost(&post.server.path(), &["config", "export"]);
    let exported = String::from_utf8(exported.stdout).expect("text");
    assert!(
        exported.contains("203.0.113.7") && !exported.contains("another"),
        "{exported}"
    );
    crew.post(&format!("{path}/remove"), &[]).taken();
    let left: i64 = post
        .server
        .value("SELECT count(*) FROM gateways WHERE channel = 'email'");
    assert_eq!(left, 0);
}

#[test]
fn every_preset_can_be_chosen_and_a_gateway_tried() {
    let post = Post::open();
    let crew = post.server.crew(ConsoleRole::Administrator);
    for (fill, about) in [
        ("twilio", "Account SID"),
        ("vonage", "API secret"),
        ("messagebird", "Access key"),
        ("seven", "API key"),
        ("own", "Address"),
    ] {
        let html = crew
            .get(&format!("/console/messages/gateways/sms?fill={fill}"))
            .shown();
        assert!(html.contains(about), "{fill}");
    }
    assert!(
        crew.get("/console/messages/gateways/push?fill=http")
            .shown()
            .contains("Method")
    );
    let path = "/console/messages/gateways/sms/test";
    crew.post(path, &[("address", "040")])
        .refused(422, "country code");
    let led = crew.post(path, &[("address", "+49 40 555555")]).taken();
    assert!(post.provider.wait_for(1)[0].body.contains("+4940555555"));
    until("it is shown as sent", || {
        crew.get(&led).shown().contains("tag good\">sent")
    });
    let form = [
        ("kind", "http"),
        ("method", "POST"),
        ("url", "https://{{ to }}.example.org/"),
        ("contentType", "application/json"),
        ("body", "{}"),
    ];
    crew.post("/console/messages/gateways/sms", &form)
        .refused(422, "host is fixed");
    let push = "/console/messages/gateways/push";
    let version = crew.get(push).version();
    let form = [
        ("version", version.as_str()),
        ("kind", "fcm"),
        ("secret", "hunter2"),
    ];
    crew.post(push, &form).refused(422, "secret-error");
}

#[test]
fn the_outbox_finds_a_person_by_name_and_address_whatever_their_letters() {
    let post = Post::open();
    let welcome = post.welcome();
    let other = post.server.caller_with_all().delegate(&json!({
        "firstName": "Zoë", "lastName": "ÖSTERREICHER", "email": "z_oe@example.org",
    }));
    for delegate in [post.ada, other] {
        let asked = json!({"email_id": welcome, "delegate_id": delegate});
        assert_eq!(post.flags(&asked), (false, true));
    }
    let crew = post.server.crew(ConsoleRole::Administrator);
    for (to, finds) in [
        ("österr", true),
        ("Z_OE@", true),
        ("zoë Ö", true),
        ("z%", false),
        ("z oe", false),
    ] {
        let to: String = form_urlencoded::byte_serialize(to.as_bytes()).collect();
        let page = crew.get(&format!("/console/messages?to={to}")).shown();
        assert_eq!(page.contains("z_oe@example.org"), finds, "{to}");
        assert!(!page.contains("ada@example.org"), "{to}");
    }
}

#[test]
fn switches_are_kept_and_told() {
    let post = Post::open();
    let crew = post.server.crew(ConsoleRole::Administrator);
    let here = "/console/messages/gateways";
    let seen = crew.get(here).version();
    let switches = format!("{here}/switches");
    crew.post(
        &switches,
        &[("version", &seen), ("email", "1"), ("countryCode", "+49")],
    )
    .taken();
    let kept: String = post
        .server
        .value("SELECT value FROM settings WHERE name = 'communications'");
    assert_eq!(
        serde_json::from_str::<Value>(&kept).expect("JSON"),
        json!({"enabled": false, "email": true, "sms": false, "push": false, "countryCode": "+49"})
    );
    assert!(
        crew.get("/console/messages")
            .shown()
            .contains("switched off")
    );
    crew.post(&switches, &[("version", &seen), ("enabled", "1")])
        .refused(422, "changed this while you did");
    let seen = crew.get(here).version();
    crew.post(&switches, &[("version", &seen), ("countryCode", "49")])
        .refused(422, "such as +49");
    let viewer = {
        post.server
            .console_user("v@example.com", ConsoleRole::Viewer);
        Crew::sign_in(&post.server, "v@example.com")
    };
    viewer.get(here).refused(403, "needs the role");
}

#[test]
fn the_configuration_goes_round_without_secrets() {
    let post = Post::open();
    post.welcome();
    let exported = |db: &std::path::Path| -> Value {
        let output = gatepost(db, &["config", "export"]);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let apply = |db: &std::path::Path, document: &Value, options: &[&str]| {
        let file = db.with_file_name("round.json");
        std::fs::write(&file, document.to_string()).expect("a file");
        let file = file.to_str().expect("a name");
        gatepost(db, &[&["config", "apply", file], options].concat())
    };
    let whole = exported(&post.server.path());
    assert_eq!(whole["templates"].as_array().map(Vec::len), Some(2));
    assert_eq!(whole["gateways"]["email"]["kind"], "smtp");
    assert_eq!(whole["automations"][0]["name"], "Order is ready");
    assert!(!whole.to_string().contains(PASSWORD));
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("venue.db");
    let applied = apply(&other, &whole, &[]);
    assert!(applied.status.success(), "{applied:?}");
    assert_eq!(exported(&other), whole);
    let audits = || post.server.value::<i64>("SELECT count(*) FROM audit");
    let before = audits();
    assert!(apply(&post.server.path(), &whole, &[]).status.success());
    assert_eq!(audits(), before, "nothing differs");
    // What is in place keeps its secret.
    let mut moved = whole.clone();
    moved["gateways"]["email"]["from"] = json!("desk@example.org");
    assert!(apply(&post.server.path(), &moved, &[]).status.success());
    let kept: String = post
        .server
        .value("SELECT secret FROM gateways WHERE channel = 'email'");
    assert_eq!(kept, PASSWORD);
    moved["gateways"]["sms"]["secret"] = json!("new");
    assert!(apply(&post.server.path(), &moved, &[]).status.success());
    let kept: String = post
        .server
        .value("SELECT secret FROM gateways WHERE channel = 'sms'");
    assert_eq!(kept, "new");
    for (change, about) in [
        (
            json!({"templates": [{"slug": "x", "type": "letter", "content": "y"}]}),
            "templates[0].type",
        ),
        (
            json!({"templates": [{"slug": "x", "type": "sms", "content": "{{"}]}),
            "templates[0].content",
        ),
        (
            json!({"templates": [{"slug": "x", "type": "sms"}]}),
            "templates[0]",
        ),
        (json!({"gateways": {"fax": {}}}), "gateways.fax"),
        (
            json!({"gateways": {"sms": {"kind": "smtp"}}}),
            "gateways.sms",
        ),
        (
            json!({"gateways": {"email": {"kind": "http", "url": "https://x.example.org"}}}),
            "gateways.email",
        ),
        (
            json!({"automations": [{"name": "x", "interactionType": "check-in", "type": "sms", "template": "none"}]}),
            "none",
        ),
        (
            json!({"settings": {"communications": {"fax": true}}}),
            "communications",
        ),
    ] {
        let refused = apply(&post.server.path(), &change, &[]);
        assert!(!refused.status.success(), "{change}");
        let told = String::from_utf8(refused.stderr).expect("text");
        assert!(told.contains(about), "no {about} in {told}");
    }
    assert!(apply(&other, &json!({}), &["--prune"]).status.success());
    let empty = exported(&other);
    assert_eq!(
        (
            &empty["templates"],
            &empty["gateways"],
            &empty["automations"]
        ),
        (&json!([]), &json!({}), &json!([]))
    );
}
