//! App configuration in the console: settings of all apps, of a type and of a device; draft,
//! publishing, who has the version, and going back.

use super::{Crew, Page, access::field};
use crate::harness::{Agrees, Caller, Server, has, lacks, typed, words};
use gatepost::{identity::clients, types::DeviceId};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

const PAGE: &str = "/console/configuration";

/// What the form of all apps says in a fresh file.
fn built_in() -> Vec<(&'static str, &'static str)> {
    typed(
        "feature=check-in&feature=check-out&feature=delegate-search&feature=ping&\
         feature=ping-info&rank=event&rank=location, room&rank=session&rank=&allowRejected=no&\
         delegateType=&enableAt=&disableAt=",
    )
}

impl Crew {
    /// Which draft and which version a form of the configuration is made from.
    fn made_from(&self) -> (String, String) {
        let html = self.page(&format!("{PAGE}/edit"));
        let field = |name| field(&html, name).to_owned();
        (field("seen"), field("version"))
    }

    /// Saves settings; `scope` is the type or the code that they are for.
    fn configure(&self, scope: &[(&str, &str)], fields: &[(&str, &str)]) -> Page {
        let (seen, version) = self.made_from();
        self.configure_from(&seen, &version, scope, fields)
    }

    fn configure_from(
        &self,
        seen: &str,
        version: &str,
        scope: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Page {
        let mut all = vec![("seen", seen), ("version", version)];
        all.extend_from_slice(scope);
        all.extend_from_slice(fields);
        self.post(&format!("{PAGE}/edit"), &all)
    }

    fn publish(&self) -> Page {
        let (seen, version) = self.made_from();
        let made_from = [("seen", seen.as_str()), ("version", version.as_str())];
        self.post(&format!("{PAGE}/publish"), &made_from)
    }
}

/// An app on a device of its own: its caller and the device.
fn app(server: &Server, code: &str) -> (Caller, i64) {
    let device = server
        .caller_with_all()
        .device(&json!({"name": format!("Phone {code}"), "code": code, "deviceType": "regoapp"}));
    let (id, secret) = server.new_client(clients::NewClient {
        device: Some(DeviceId(device)),
        ..clients::NewClient::named(code)
    });
    (server.caller_of(&id, &secret), device)
}

/// What an app is answered that says it has this version.
fn pinged(app: &Caller, version: i64) -> Value {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a clock")
        .as_secs();
    let ping =
        json!({"localTime": now, "configVersion": version, "battery": 80, "network": "Venue"});
    app.made("/device/ping", &ping)
}

#[test]
fn every_parameter_is_shown_with_its_meaning() {
    let (_server, crew) = Server::with_operator();
    let page = crew.page(PAGE);
    has(
        &page,
        [
            "Features",
            "Ranks of places",
            "event › location or room › session",
            "Admit refused attendees",
            "Type of new attendees",
            "Works from",
            "Works until",
            "No app is connected yet",
            "it came with Gatepost",
        ],
    );
    let form = crew.page(&format!("{PAGE}/edit"));
    for feature in words("check-in check-out lead delegate-create delegate-search ping ping-info") {
        has(&form, &format!("name=\"feature\" value=\"{feature}\""));
    }
}

#[test]
fn a_draft_reaches_apps_when_it_is_published_and_not_before() {
    let (server, crew) = Server::with_operator();
    let (phone, device) = app(&server, "42");
    let first = pinged(&phone, 0);
    assert_eq!(first["configVersion"], 1);
    assert_eq!(first["settings"]["allowRejected"], false);
    assert_eq!(pinged(&phone, 1)["configConfirmed"], true);
    let page = crew.page(PAGE);
    has(
        &page,
        "<strong data-live=\"confirmed\">1</strong> of 1 confirmed version 1",
    );

    let mut form = built_in();
    form.retain(|(name, _)| !["allowRejected", "enableAt"].contains(name));
    form.extend([
        ("feature", "lead"),
        ("features", "own-thing"),
        ("allowRejected", "yes"),
        ("enableAt", "2026-11-21T09:00"),
        ("forced", "allowRejected"),
        ("locks", "uiMode"),
        ("key", "uiMode"),
        ("value", "dark"),
        ("key", "columns"),
        ("value", "3"),
        ("key", ""),
        ("value", ""),
    ]);
    crew.configure(&[], &form).taken();
    assert!(
        pinged(&phone, 1)["settings"].is_null(),
        "a draft is no more than that"
    );
    let page = crew.page(PAGE);
    has(
        &page,
        [
            "Publishing it as version 2 changes",
            "<del>no</del> → <ins>yes</ins>",
            "<del>at any time</del> → <ins>2026-11-21 09:00:00</ins>",
            "<del>not set</del> → <ins>dark</ins>",
        ],
    );

    crew.publish().taken();
    let page = crew.page(PAGE);
    has(
        &page,
        [
            "Version 2 is in force, published just now by operator@example.com",
            "<strong data-live=\"confirmed\">0</strong> of 1 confirmed version 2",
            "has version 1",
        ],
    );
    crew.sees(&format!("/console/devices/{device}"), "not confirmed");
    let second = pinged(&phone, 1);
    second.agrees(&json!({"configVersion": 2, "configConfirmed": false}));
    let settings = &second["settings"];
    settings.agrees(&json!({
            "availableFeatures": ["check-in", "check-out", "lead", "delegate-search", "ping", "ping-info", "own-thing"],
            "allowRejected": true, "enabledAt": "2026-11-21T09:00:00+00:00", "forced": ["allowRejected", "uiMode"],
            "uiMode": "dark", "columns": 3, "deviceHierarchy": [["event"], ["location", "room"], ["session"]],
        }));
    assert_eq!(pinged(&phone, 2)["configConfirmed"], true);
    let page = crew.page(&format!("/console/devices/{device}"));
    has(&page, "confirmed</span> version 2");
    has(&page, ["online", "80 %", "Venue"]);
}

#[test]
fn the_nearest_setting_reaches_the_app() {
    let (server, crew) = Server::with_operator();
    let (phone, device) = app(&server, "a:b/c");
    let (other, _) = app(&server, "7");
    let path = crew.get(&format!("{PAGE}/device/{device}")).taken();
    assert_eq!(path, format!("{PAGE}/edit?code=a%3Ab%2Fc"));
    let form = crew.page(&path);
    has(&form, ["Phone a:b/c", "Otherwise: none"]);
    let with = |fields: &[(&'static str, &'static str)]| {
        let mut form = built_in();
        form.retain(|(name, _)| fields.iter().all(|(other, _)| other != name));
        form.extend_from_slice(fields);
        form
    };
    // What is changed counts, with a tick and without.
    let of_type = with(&[("delegateType", "guest")]);
    crew.configure(&[("type", "regoapp")], &of_type).taken();
    let own = with(&typed(
        "set=delegateType&delegateType=vip&key=uiMode&value=dark",
    ));
    crew.configure(&[("code", "a:b/c")], &own).taken();
    crew.publish().taken();
    let (own, of_type) = (pinged(&phone, 1), pinged(&other, 1));
    own["settings"].agrees(&json!({"delegateType": "vip", "uiMode": "dark"}));
    assert_eq!(of_type["settings"]["delegateType"], "guest");
    assert_eq!(of_type["settings"]["uiMode"], Value::Null);
    assert_eq!(own["settings"]["allowRejected"], false);
    let draft: String = server.value("SELECT document FROM app_config");
    let draft: Value = serde_json::from_str(&draft).expect("JSON");
    assert_eq!(
        draft["byDevice"],
        json!({"a:b/c": {"delegateType": "vip", "uiMode": "dark"}}),
        "nothing but what differs"
    );
    let page = crew.page(&format!("/console/devices/{device}"));
    has(&page, "Its own settings");
    crew.configure(&[("code", "a:b/c")], &[("do", "remove")])
        .taken();
    crew.publish().taken();
    assert_eq!(pinged(&phone, 2)["settings"]["delegateType"], "guest");
    let page = crew.page(&format!("/console/devices/{device}"));
    has(&page, "Give it settings of its own");
}

#[test]
fn of_two_who_configure_at_once_the_second_is_told() {
    let (_server, crew) = Server::with_operator();
    let (seen, version) = crew.made_from();
    let with_kind = |kind: &'static str| {
        let mut form = built_in();
        form.retain(|(name, _)| *name != "delegateType");
        form.push(("delegateType", kind));
        form
    };
    crew.configure_from(&seen, &version, &[], &with_kind("first"))
        .taken();
    let told = crew.configure_from(&seen, &version, &[], &with_kind("second"));
    told.refused(422, "Somebody changed the configuration while you did");
    assert!(
        told.html.contains("value=\"second\""),
        "what was typed stays"
    );
    // A draft that changed is not published by whoever saw another one.
    let (of_first, _) = crew.made_from();
    crew.configure_from(&of_first, &version, &[], &with_kind("third"))
        .taken();
    crew.post(&format!("{PAGE}/publish"), &[("seen", &of_first)])
        .refused(409, "changed the draft meanwhile");
    crew.post(&format!("{PAGE}/discard"), &[("seen", &of_first)])
        .refused(409, "changed the draft meanwhile");
    crew.publish().taken();
    // Published meanwhile: the form of before is of another version.
    crew.configure_from("", &version, &[], &with_kind("fourth"))
        .refused(422, "Somebody changed the configuration");
    crew.publish().refused(409, "changed the draft meanwhile");
}

#[test]
fn a_version_of_before_is_taken_up_again() {
    let (server, crew) = Server::with_operator();
    let (phone, _) = app(&server, "42");
    for kind in ["one", "two"] {
        let mut form = built_in();
        form.retain(|(name, _)| *name != "delegateType");
        form.extend([("set", "delegateType"), ("delegateType", kind)]);
        crew.configure(&[("type", "regoapp")], &form).taken();
        crew.publish().taken();
    }
    assert_eq!(pinged(&phone, 0)["settings"]["delegateType"], "two");
    let versions = crew.page(&format!("{PAGE}/versions"));
    has(&versions, ["Version 2", "Version 3"]);
    let page = crew.page(&format!("{PAGE}/versions/2"));
    has(&page, ["<ins>one</ins>", "operator@example.com"]);
    crew.post(&format!("{PAGE}/versions/2/take"), &[("seen", "")])
        .taken();
    crew.post(&format!("{PAGE}/versions/3/take"), &[("seen", "")])
        .refused(409, "changed the draft meanwhile");
    crew.publish().taken();
    let answer = pinged(&phone, 3);
    assert_eq!(answer["configVersion"], 4);
    assert_eq!(answer["settings"]["delegateType"], "one");
    crew.get(&format!("{PAGE}/versions/99"))
        .refused(404, "no version 99");
}

#[test]
fn what_does_not_fit_and_what_changes_nothing_make_no_draft() {
    let (_server, crew) = Server::with_operator();
    for (name, value, told) in [
        ("enableAt", "tomorrow", "Works from"),
        ("value", "{", "uiMode: this is not valid JSON"),
    ] {
        let mut form = built_in();
        form.retain(|(known, _)| *known != name);
        form.extend([("key", "uiMode"), (name, value)]);
        crew.configure(&[], &form).refused(422, told);
    }
    crew.configure(&[], &built_in()).taken();
    let page = crew.page(PAGE);
    has(&page, "Nothing differs from what is in force");
    lacks(&page, "Publish<");
    let mut form = built_in();
    form.push(("forced", "allowRejected"));
    crew.configure(&[], &form).taken();
    let (seen, _) = crew.made_from();
    crew.post(&format!("{PAGE}/discard"), &[("seen", &seen)])
        .taken();
    lacks(crew.page(PAGE), "Publish<");
}

#[test]
fn who_has_the_version_is_told_live() {
    let (server, crew) = Server::with_operator();
    let (phone, _) = app(&server, "42");
    let response = crew
        .request(reqwest::Method::GET, &format!("{PAGE}/stream"))
        .send()
        .expect("a stream");
    assert_eq!(response.status(), 200);
    let mut lines = BufReader::new(response).lines();
    let mut until = |text: &str| {
        let found = lines.by_ref().find(|line| {
            let line = line.as_ref().expect("a line");
            line.contains(text)
        });
        assert!(found.is_some(), "{text}");
    };
    until("0</strong> of 1 confirmed");
    pinged(&phone, 1);
    until("1</strong> of 1 confirmed");
}

#[test]
fn viewers_stay_outside() {
    let (_server, viewer) = Server::with_viewer();
    viewer.get(PAGE).refused(403, "needs the role operator");
    viewer
        .post(&format!("{PAGE}/publish"), &[("seen", "")])
        .refused(403, "needs the role operator");
}

#[test]
fn what_is_set_for_a_device_follows_its_code() {
    let (server, crew) = Server::with_operator();
    let (phone, device) = app(&server, "42");
    let (other, _) = app(&server, "43");
    let set = |code: &str, mode: &'static str| {
        let mut form = built_in();
        form.extend_from_slice(&[("key", "uiMode"), ("value", mode)]);
        crew.configure(&[("code", code)], &form).taken();
    };
    set("42", "dark");
    set("44", "of nobody");
    crew.publish().taken();
    set("42", "darker");
    let mode = |app: &Caller| pinged(app, 0)["settings"]["uiMode"].clone();
    assert_eq!(mode(&phone), "dark");
    let before = pinged(&phone, 0);
    // By a program, to a code that has a quote and for which something is prepared already.
    let all = server.caller_with_all();
    for code in ["a\"b'c\\d", "44", "Gerät 7"] {
        all.patch(&format!("/device/id:{device}"), &json!({"code": code}))
            .data();
        assert_eq!(pinged(&phone, 0), before, "{code}");
        assert!(mode(&other).is_null(), "{code}");
    }
    let path = "/console/configuration/edit?type=&code=Ger%C3%A4t+7";
    assert!(crew.page(path).contains("darker"), "the draft, too");
    crew.publish().taken();
    assert_eq!(mode(&phone), "darker");
    // Whoever gets the code next begins anew.
    let next = all.device(&json!({"code": "42", "deviceType": "regoapp"}));
    let bound = clients::NewClient {
        device: Some(DeviceId(next)),
        ..clients::NewClient::named("next")
    };
    let (id, secret) = server.new_client(bound);
    assert!(mode(&server.caller_of(&id, &secret)).is_null());
}

#[test]
fn who_is_shut_out_is_not_waited_for() {
    let (server, crew) = Server::with_operator();
    let (phone, _) = app(&server, "42");
    let (lost, device) = app(&server, "43");
    pinged(&lost, 0);
    pinged(&phone, 1);
    let page = crew.page(PAGE);
    has(&page, "1</strong> of 2 confirmed");
    let client: i64 = server.value("SELECT id FROM clients WHERE name = '43'");
    let revoke = format!("/console/devices/{device}/clients/{client}/revoke");
    crew.press(&revoke);
    crew.sees(PAGE, "1</strong> of 1 confirmed");
}

#[test]
fn who_changed_what_of_the_draft_is_told_in_the_audit() {
    let (server, crew) = Server::with_operator();
    let all = [("type", ""), ("code", "")];
    let mut fields = built_in();
    fields.retain(|(name, _)| *name != "delegateType");
    fields.push(("delegateType", "press"));
    crew.configure(&all, &fields).taken();
    let told = "SELECT group_concat(actor || ' ' || action || ' '
            || coalesce(json_extract(before, '$.default.delegateType'), 'none') || '>'
            || coalesce(json_extract(after, '$.default.delegateType'), 'none'), ', ')
        FROM (SELECT * FROM audit WHERE record_type = 'app-config-draft' ORDER BY id)";
    let told = || server.text(told);
    assert_eq!(told(), "user:1 update none>press");
    let (seen, _) = crew.made_from();
    crew.post(&format!("{PAGE}/discard"), &[("seen", &seen)])
        .taken();
    assert_eq!(
        told(),
        "user:1 update none>press, user:1 discard press>none"
    );
    crew.configure(&all, &fields).taken();
    crew.publish().taken();
    // Publishing tells of itself.
    assert_eq!(told().matches("discard").count(), 1);
    let page = crew.page("/console/audit");
    has(
        &page,
        ["discarded", "app config draft", "published", "press"],
    );
}
