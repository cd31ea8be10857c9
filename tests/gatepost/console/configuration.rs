//! App configuration in the console: settings of all apps, of a type and of a device; draft,
//! publishing, who has the version, and going back.

use super::{Crew, Page};
use crate::harness::{Caller, Server};
use gatepost::{
    identity::{ConsoleRole, clients},
    types::DeviceId,
};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

const PAGE: &str = "/console/configuration";

/// What the form of all apps says in a fresh file.
fn built_in() -> Vec<(&'static str, &'static str)> {
    vec![
        ("feature", "check-in"),
        ("feature", "check-out"),
        ("feature", "delegate-search"),
        ("feature", "ping"),
        ("feature", "ping-info"),
        ("rank", "event"),
        ("rank", "location, room"),
        ("rank", "session, door"),
        ("rank", ""),
        ("allowRejected", "no"),
        ("delegateType", ""),
        ("enableAt", ""),
        ("disableAt", ""),
    ]
}

impl Crew {
    /// The draft and the version that a form of the configuration is begun on.
    pub fn current(&self) -> String {
        self.get(&format!("{PAGE}/edit")).version()
    }

    /// Saves settings; `scope` is the type or the code that they are for.
    fn configure(&self, scope: &[(&str, &str)], fields: &[(&str, &str)]) -> Page {
        let version = self.current();
        self.configure_from(&version, scope, fields)
    }

    fn configure_from(
        &self,
        version: &str,
        scope: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Page {
        let mut all = vec![("version", version)];
        all.extend_from_slice(scope);
        all.extend_from_slice(fields);
        self.post(&format!("{PAGE}/edit"), &all)
    }

    fn publish(&self) -> Page {
        let version = self.current();
        self.post(&format!("{PAGE}/publish"), &[("version", &version)])
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
    app.post("/device/ping", &ping).data().clone()
}

#[test]
fn every_parameter_is_shown_with_its_meaning() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let page = crew.get(PAGE).shown();
    for told in [
        "Features",
        "Ranks of places",
        "event › location or room › session",
        "Admit refused attendees",
        "Type of new attendees",
        "Works from",
        "Works until",
        "No app is connected yet",
        "it came with Gatepost",
    ] {
        assert!(page.contains(told), "no {told:?} in {page}");
    }
    let form = crew.get(&format!("{PAGE}/edit")).shown();
    for feature in [
        "check-in",
        "check-out",
        "lead",
        "delegate-create",
        "delegate-search",
        "ping",
        "ping-info",
    ] {
        assert!(form.contains(&format!("name=\"feature\" value=\"{feature}\"")));
    }
}

#[test]
fn the_form_of_a_task_leaves_the_other_settings_alone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let form = [
        built_in(),
        vec![
            ("walkInTypes", "press"),
            ("kioskIdleSeconds", "60"),
            ("key", "uiMode"),
            ("value", "dark"),
        ],
    ];
    crew.configure(&[], &form.concat()).taken();
    crew.publish().taken();
    let page = crew.get(&format!("{PAGE}/edit?task=kiosk")).shown();
    assert!(page.contains("name=\"kioskIdleSeconds\"") && !page.contains("name=\"walkInTypes\""));
    crew.configure(
        &[("task", "kiosk")],
        &[("kiosk", "yes"), ("kioskIdleSeconds", "90")],
    )
    .taken();
    crew.publish().taken();
    let (phone, _) = app(&server, "42");
    let settings = pinged(&phone, 0)["settings"].clone();
    for (name, value) in [
        ("kiosk", json!(true)),
        ("kioskIdleSeconds", json!(90)),
        ("walkInTypes", json!(["press"])),
        ("uiMode", json!("dark")),
        ("allowRejected", json!(false)),
    ] {
        assert_eq!(settings[name], value, "{name}");
    }
}

#[test]
fn a_draft_reaches_apps_when_it_is_published_and_not_before() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let (phone, device) = app(&server, "42");
    let first = pinged(&phone, 0);
    assert_eq!(first["configVersion"], 1);
    assert_eq!(first["settings"]["allowRejected"], false);
    assert_eq!(pinged(&phone, 1)["configConfirmed"], true);
    let page = crew.get(PAGE).shown();
    assert!(page.contains("<strong data-live=\"confirmed\">1</strong> of 1 confirmed version 1"));

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
    let page = crew.get(PAGE).shown();
    for told in [
        "Publishing it as version 2 changes",
        "<del>no</del> → <ins>yes</ins>",
        "<del>at any time</del> → <ins>2026-11-21 09:00:00</ins>",
        "<del>not set</del> → <ins>dark</ins>",
    ] {
        assert!(page.contains(told), "no {told:?} in {page}");
    }

    crew.publish().taken();
    let page = crew.get(PAGE).shown();
    assert!(page.contains("Version 2 is in force, published just now by operator@example.com"));
    assert!(page.contains("<strong data-live=\"confirmed\">0</strong> of 1 confirmed version 2"));
    assert!(page.contains("has version 1"));
    assert!(
        crew.get(&format!("/console/devices/{device}"))
            .shown()
            .contains("not confirmed")
    );
    let second = pinged(&phone, 1);
    assert_eq!(second["configVersion"], 2);
    assert_eq!(second["configConfirmed"], false);
    let settings = &second["settings"];
    assert_eq!(
        settings["availableFeatures"],
        json!([
            "check-in",
            "check-out",
            "lead",
            "delegate-search",
            "ping",
            "ping-info",
            "own-thing"
        ])
    );
    assert_eq!(settings["allowRejected"], true);
    assert_eq!(settings["enabledAt"], "2026-11-21T09:00:00+00:00");
    assert_eq!(settings["forced"], json!(["allowRejected", "uiMode"]));
    assert_eq!(settings["uiMode"], "dark");
    assert_eq!(settings["columns"], 3);
    assert_eq!(
        settings["deviceHierarchy"],
        json!([["event"], ["location", "room"], ["session", "door"]])
    );
    assert_eq!(pinged(&phone, 2)["configConfirmed"], true);
    let page = crew.get(&format!("/console/devices/{device}")).shown();
    assert!(page.contains("confirmed</span> version 2"), "{page}");
    assert!(page.contains("online") && page.contains("80 %") && page.contains("Venue"));
}

#[test]
fn the_nearest_setting_reaches_the_app() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let (phone, device) = app(&server, "a:b/c");
    let (other, _) = app(&server, "7");
    let path = crew.get(&format!("{PAGE}/device/{device}")).taken();
    assert_eq!(path, format!("{PAGE}/edit?code=a%3Ab%2Fc"));
    // By task first, then as a form.
    let cards = crew.get(&path).shown();
    assert!(cards.contains("Phone a:b/c") && cards.contains("&#38;task=kiosk\""));
    let form = crew.get(&format!("{path}&task=all")).shown();
    assert!(form.contains("Phone a:b/c") && form.contains("Otherwise: none"));
    let with = |fields: &[(&'static str, &'static str)]| {
        let mut form = built_in();
        form.retain(|(name, _)| fields.iter().all(|(other, _)| other != name));
        form.extend_from_slice(fields);
        form
    };
    // What is changed counts, with a tick and without.
    let of_type = with(&[("delegateType", "guest")]);
    crew.configure(&[("type", "regoapp")], &of_type).taken();
    let own = with(&[
        ("set", "delegateType"),
        ("delegateType", "vip"),
        ("key", "uiMode"),
        ("value", "dark"),
    ]);
    crew.configure(&[("code", "a:b/c")], &own).taken();
    crew.publish().taken();
    let (own, of_type) = (pinged(&phone, 1), pinged(&other, 1));
    assert_eq!(own["settings"]["delegateType"], "vip");
    assert_eq!(own["settings"]["uiMode"], "dark");
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
    let page = crew.get(&format!("/console/devices/{device}")).shown();
    assert!(page.contains("Its own settings"));
    crew.configure(&[("code", "a:b/c")], &[("do", "remove")])
        .taken();
    crew.publish().taken();
    assert_eq!(pinged(&phone, 2)["settings"]["delegateType"], "guest");
    let page = crew.get(&format!("/console/devices/{device}")).shown();
    assert!(page.contains("Give it settings of its own"));
}

#[test]
fn settings_of_gates_are_chosen_by_name_and_the_pin_is_never_shown() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let all = server.caller_with_all();
    for (name, code) in [("Great Hall", "hall"), ("Attic", "attic")] {
        all.device(&json!({"name": name, "code": code, "deviceType": "room"}));
    }
    let (_, phone) = app(&server, "42");
    let form = crew.page(&format!("{PAGE}/edit"));
    for told in [
        "<option value=\"code:hall\">Great Hall (room)",
        "name=\"places\" value=\"code:attic\"",
        "Registered attendees only",
        "German",
        "name=\"supervisorPin\" type=\"password\"",
    ] {
        assert!(form.contains(told), "no {told:?} in {form}");
    }
    // An app is no place.
    let shown = ["Phone 42", "Remove the PIN"].map(|told| form.contains(told));
    assert_eq!(shown, [false, false], "{phone}");
    let with = |fields: &[(&'static str, &'static str)]| {
        let mut form = built_in();
        form.extend_from_slice(fields);
        form
    };
    for (field, wrong, about) in [
        ("supervisorPin", "12", "Must have 6 to 8 digits."),
        (
            "kioskIdleSeconds",
            "5",
            "Must be a whole number from 10 to 600.",
        ),
        ("place", "hall", "Must name a place"),
    ] {
        crew.configure(&[], &with(&[(field, wrong)]))
            .refused(422, about);
    }
    let chosen = [
        ("place", "code:hall"),
        ("places", "code:hall"),
        ("places", "code:attic"),
        ("offlinePolicy", "hold"),
        ("supervisorPin", "471100"),
        ("kiosk", "yes"),
        ("kioskLanguages", "de"),
        ("kioskLanguages", "da"),
        ("kioskIdleSeconds", "60"),
        ("walkInTypes", "Visitor, Press"),
    ];
    crew.configure(&[], &with(&chosen)).taken();
    let page = crew.page(PAGE);
    for told in [
        "<del>not set</del> → <ins>Great Hall</ins>",
        "<ins>Attic, Great Hall</ins>",
        "<ins>Nobody until the server answers</ins>",
        "<ins>set</ins>",
        "<ins>German, Danish</ins>",
        "<ins>Visitor, Press</ins>",
    ] {
        assert!(page.contains(told), "no {told:?} in {page}");
    }
    crew.publish().taken();
    let document =
        || server.value::<String>("SELECT document FROM app_config ORDER BY version DESC LIMIT 1");
    let first = document();
    assert!(
        first.contains("hash") && !first.contains("471100"),
        "{first}"
    );
    // Saved again as it is, nothing changes; nor is the PIN anywhere to be seen.
    let mut again = with(&chosen);
    again.retain(|(name, _)| *name != "supervisorPin");
    crew.configure(&[], &again).taken();
    assert_eq!(server.count("app_config_draft"), 0);
    let kept: Value = serde_json::from_str(&first).expect("JSON");
    let hash = kept["default"]["supervisorPin"]["hash"]
        .as_str()
        .expect("a hash");
    for path in [
        PAGE,
        &format!("{PAGE}/edit"),
        &format!("{PAGE}/versions/2"),
        "/console/audit",
    ] {
        let page = crew.page(path);
        assert!(
            !page.contains("471100") && !page.contains(hash),
            "{path}: {page}"
        );
    }
    // Another one, and none.
    again.push(("supervisorPin", "081500"));
    crew.configure(&[], &again).taken();
    assert!(
        crew.page(PAGE)
            .contains("<del>set</del> → <ins>set anew</ins>")
    );
    again.pop();
    again.push(("noSupervisorPin", "1"));
    crew.configure(&[], &again).taken();
    crew.publish().taken();
    assert!(!document().contains("hash"), "{}", document());
}

#[test]
fn of_two_who_configure_at_once_the_second_is_told() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let version = crew.current();
    let with_kind = |kind: &'static str| {
        let mut form = built_in();
        form.retain(|(name, _)| *name != "delegateType");
        form.push(("delegateType", kind));
        form
    };
    crew.configure_from(&version, &[], &with_kind("first"))
        .taken();
    let told = crew.configure_from(&version, &[], &with_kind("second"));
    told.refused(422, "operator@example.com changed this while you did");
    assert!(
        told.html.contains("value=\"second\""),
        "what was typed stays"
    );
    // A draft that changed is not published by whoever saw another one.
    let of_first = crew.current();
    crew.configure_from(&of_first, &[], &with_kind("third"))
        .taken();
    crew.post(&format!("{PAGE}/publish"), &[("version", &of_first)])
        .refused(409, "changed the draft meanwhile");
    crew.post(&format!("{PAGE}/discard"), &[("version", &of_first)])
        .refused(409, "changed the draft meanwhile");
    crew.publish().taken();
    // Published meanwhile: the form of before is of another version.
    crew.configure_from(&version, &[], &with_kind("fourth"))
        .refused(422, "changed this while you did");
    crew.publish().refused(400, "no draft to publish");
}

#[test]
fn a_version_of_before_is_taken_up_again() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let (phone, _) = app(&server, "42");
    for kind in ["one", "two"] {
        let mut form = built_in();
        form.retain(|(name, _)| *name != "delegateType");
        form.extend([("set", "delegateType"), ("delegateType", kind)]);
        crew.configure(&[("type", "regoapp")], &form).taken();
        crew.publish().taken();
    }
    assert_eq!(pinged(&phone, 0)["settings"]["delegateType"], "two");
    let versions = crew.get(&format!("{PAGE}/versions")).shown();
    assert!(versions.contains("Version 2") && versions.contains("Version 3"));
    let page = crew.get(&format!("{PAGE}/versions/2")).shown();
    assert!(page.contains("<ins>one</ins>") && page.contains("operator@example.com"));
    let version = crew.current();
    let taken = [("version", version.as_str())];
    crew.post(&format!("{PAGE}/versions/2/take"), &taken)
        .taken();
    crew.post(&format!("{PAGE}/versions/3/take"), &taken)
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
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    for (name, value, told) in [
        ("enableAt", "tomorrow", "id=\"enableAt-error\""),
        ("value", "{", "uiMode: this is not valid JSON"),
    ] {
        let mut form = built_in();
        form.retain(|(known, _)| *known != name);
        form.extend([("key", "uiMode"), (name, value)]);
        crew.configure(&[], &form).refused(422, told);
    }
    crew.configure(&[], &built_in()).taken();
    let page = crew.get(PAGE).shown();
    assert!(page.contains("Nothing differs from what is in force") && !page.contains("Publish<"));
    let mut form = built_in();
    form.push(("forced", "allowRejected"));
    crew.configure(&[], &form).taken();
    let version = crew.current();
    crew.post(&format!("{PAGE}/discard"), &[("version", &version)])
        .taken();
    assert!(!crew.get(PAGE).shown().contains("Publish<"));
}

#[test]
fn who_has_the_version_is_told_live() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
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
    let server = Server::start();
    let viewer = server.crew(ConsoleRole::Viewer);
    viewer.get(PAGE).refused(403, "needs the role operator");
    viewer
        .post(&format!("{PAGE}/publish"), &[("version", "")])
        .refused(403, "needs the role operator");
}

#[test]
fn what_is_set_for_a_device_follows_its_code() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
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
    assert!(crew.get(path).shown().contains("darker"), "the draft, too");
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
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let (phone, _) = app(&server, "42");
    let (lost, device) = app(&server, "43");
    pinged(&lost, 0);
    pinged(&phone, 1);
    let page = crew.get(PAGE).shown();
    assert!(page.contains("1</strong> of 2 confirmed"), "{page}");
    let client: i64 = server.value("SELECT id FROM clients WHERE name = '43'");
    let revoke = format!("/console/devices/{device}/clients/{client}/revoke");
    crew.post(&revoke, &[]).taken();
    let page = crew.get(PAGE).shown();
    assert!(page.contains("1</strong> of 1 confirmed"), "{page}");
}

#[test]
fn who_changed_what_of_the_draft_is_told_in_the_audit() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let all = [("type", ""), ("code", "")];
    let mut fields = built_in();
    fields.retain(|(name, _)| *name != "delegateType");
    fields.push(("delegateType", "press"));
    crew.configure(&all, &fields).taken();
    let told = "SELECT group_concat(actor || ' ' || action || ' '
            || coalesce(json_extract(before, '$.default.delegateType'), 'none') || '>'
            || coalesce(json_extract(after, '$.default.delegateType'), 'none'), ', ')
        FROM (SELECT * FROM audit WHERE record_type = 'app-config-draft' ORDER BY id)";
    let told = || server.value::<String>(told);
    assert_eq!(told(), "user:1 update none>press");
    let version = crew.current();
    crew.post(&format!("{PAGE}/discard"), &[("version", &version)])
        .taken();
    assert_eq!(
        told(),
        "user:1 update none>press, user:1 discard press>none"
    );
    crew.configure(&all, &fields).taken();
    crew.publish().taken();
    // Publishing tells of itself.
    assert_eq!(told().matches("discard").count(), 1);
    let page = crew.get("/console/audit").shown();
    for words in ["discarded", "app config draft", "published", "press"] {
        assert!(page.contains(words), "no {words} in {page}");
    }
}
