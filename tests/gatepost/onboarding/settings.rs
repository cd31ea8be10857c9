//! What apps are to do: versions, confirmation, overrides, what an app may set by itself.

use super::{Server, ping};
use crate::faults::process::gatepost;
use crate::harness::{Agrees, cases, has};
use gatepost::{
    domain::apps::{Document, configuration},
    types::Zone,
};
use serde_json::{Value, json};

impl Server {
    /// Publishes a configuration; the version in force then.
    pub fn publish(&self, document: &Value) -> i64 {
        let document = Document::parse("appConfig", document, &Zone::default()).expect("it fits");
        self.write(move |tx, ctx| configuration::publish(tx, ctx, &document))
    }
}

#[test]
fn a_fresh_file_has_settings_that_a_gate_app_works_with() {
    let server = Server::start();
    let (app, _) = server.app_of("42");
    let reply = app.post("/device/ping", &ping(0));
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.body,
        json!({"data": {
            "name": "Gatepost",
            "settings": {
                "availableFeatures": ["check-in", "check-out", "delegate-search", "ping", "ping-info"],
                "deviceHierarchy": [["event"], ["location", "room"], ["session", "door"]],
                "allowRejected": false, "delegateType": null, "enableAt": null, "disableAt": null,
                "forced": [], "enabledAt": null, "disabledAt": null,
            },
            "configConfirmed": false, "configVersion": 1,
        }, "meta": []})
    );
    let confirmed = app.post("/device/ping", &ping(1));
    assert_eq!(
        confirmed.body,
        json!({"data": {"name": "Gatepost", "configConfirmed": true, "configVersion": 1}, "meta": []})
    );
}

#[test]
fn a_version_is_unconfirmed_until_the_app_names_it() {
    let server = Server::start();
    let (app, device) = server.app_of("42");
    let holder = || {
        let holders = server
            .app
            .store
            .look_up(configuration::holders)
            .expect("a list");
        holders
            .into_iter()
            .find(|holder| holder.device.0 == device)
            .expect("the device")
    };
    assert_eq!((holder().version, holder().confirmed_at), (None, None));
    app.post("/device/ping", &ping(1));
    let first = holder().confirmed_at.expect("it is confirmed");
    app.post("/device/ping", &ping(1));
    assert_eq!(holder().confirmed_at, Some(first));
    assert_eq!(
        server.publish(
            &json!({"default": {"allowRejected": true, "enabledAt": "2026-11-21 08:00:00"}})
        ),
        2
    );
    // The same again is no new version.
    assert_eq!(
        server.publish(&json!({"default": {"enableAt": 1_795_248_000, "allowRejected": true}})),
        2
    );
    assert_eq!(holder().confirmed_at, None);
    let data = app.made("/device/ping", &ping(1));
    data.agrees(&json!({"configConfirmed": false, "configVersion": 2}));
    assert_eq!(data["settings"]["allowRejected"], true);
    for spelling in ["enableAt", "enabledAt"] {
        assert_eq!(data["settings"][spelling], "2026-11-21T08:00:00+00:00");
    }
    // What the document leaves out is as in a fresh file.
    assert_eq!(data["settings"]["deviceHierarchy"][0], json!(["event"]));
    // A version that nobody published is none.
    app.post("/device/ping", &ping(7))
        .shows("configConfirmed", false);
    assert!(app.post("/device/ping", &ping(2)).data()["settings"].is_null());
    assert!(holder().confirmed_at.is_some());
}

#[test]
fn overrides_are_for_a_type_and_for_a_device() {
    let server = Server::start();
    let (one, _) = server.app_of("1");
    let (other, device) = server.app_of("2");
    server.publish(&json!({
        "default": {"uiMode": "light", "forced": ["uiMode"]},
        "byType": {"regoapp": {"delegateType": "walk-in"}, "mobileapp": {"uiMode": "never"}},
        "byDevice": {"2": {"uiMode": "dark", "disabledAt": 0, "forced": []}},
    }));
    let settings =
        |app: &crate::harness::Caller| app.made("/device/ping", &ping(0))["settings"].clone();
    assert_eq!(settings(&one)["uiMode"], "light");
    assert_eq!(settings(&other)["uiMode"], "dark");
    assert_eq!(settings(&other)["disableAt"], "1970-01-01T00:00:00+00:00");
    assert_eq!(settings(&one)["disableAt"], json!(null));
    for app in [&one, &other] {
        assert_eq!(settings(app)["delegateType"], "walk-in");
    }
    // Its type is what it is now; what is set for it alone follows it.
    let all = server.caller_with_all();
    all.patch(
        &format!("/device/id:{device}"),
        &json!({"code": "3", "deviceType": "mobileapp"}),
    )
    .data();
    assert_eq!(settings(&other)["uiMode"], "dark");
    assert_eq!(settings(&other)["delegateType"], json!(null));
    // And local settings by what is forced for it.
    one.put("/device-config", &json!({"value": {"uiMode": "dark"}}))
        .invalid("value.uiMode");
}

#[test]
fn an_app_keeps_what_it_sets_by_itself() {
    let server = Server::start();
    let (app, device) = server.app_of("42");
    let room = server.caller_with_all().device(&json!({"name": "Hall"}));
    let put = |value: Value| app.put("/device-config", &json!({"value": value}));
    let first =
        json!({"mode": "check-in", "ownDevice": room, "uiMode": "dark", "allowRejected": true});
    let kept = put(first.clone());
    assert_eq!(kept.data(), &json!({"value": first}));
    assert_eq!(kept.body["meta"], json!({}));
    // What is unchanged is not sent again.
    put(json!({"mode": "check-out", "uiMode": null, "sound": {"volume": 3}})).data();
    put(json!({"sound": {"bell": true}})).data();
    let stored: String = server.value(&format!(
        "SELECT local_settings FROM device_states WHERE device_id = {device}"
    ));
    assert_eq!(
        serde_json::from_str::<Value>(&stored).expect("JSON"),
        json!({"mode": "check-out", "ownDevice": room, "allowRejected": true, "sound": {"bell": true}})
    );
    server.publish(&json!({"default": {"forced": ["allowRejected", "uiMode"]}}));
    for (value, named) in cases::<(Value, &str)>(json!([
        [{"allowRejected": false}, "value.allowRejected: is forced"],
        [{"mode": "x", "uiMode": "dark"}, "value.uiMode: is forced"],
        [{"uiMode": null}, "value.uiMode: is forced"],
        [{"enableAt": null}, "value.enableAt"],
        [{"enabledAt": 0}, "value.enabledAt"],
        [{"disableAt": 0}, "value.disableAt"],
        [{"disabledAt": 0}, "value.disabledAt"],
        [{"deviceHierarchy": []}, "value.deviceHierarchy"],
        [{"forced": []}, "value.forced"],
        [{"mode": 1}, "value.mode"],
        [{"ownDevice": 999_999}, "value.ownDevice"],
        [{"ownDevice": "42"}, "value.ownDevice"],
        [{"availableFeatures": "lead"}, "value.availableFeatures"],
    ])) {
        put(value).invalid(named);
    }
    for body in cases::<Value>(json!([{}, {"value": []}, {"value": {}, "more": 1}])) {
        app.put("/device-config", &body).invalid("");
    }
    let after: String = server.value(&format!(
        "SELECT local_settings FROM device_states WHERE device_id = {device}"
    ));
    assert_eq!(stored, after);
}

#[test]
fn of_two_drafts_from_one_the_second_is_told() {
    let server = Server::start();
    let store = &server.app.store;
    let draft = |ui: &str| {
        Document::parse(
            "appConfig",
            &json!({"default": {"uiMode": ui}}),
            &Zone::default(),
        )
        .expect("it fits")
    };
    let save = |ui: &str, seen| {
        let (ctx, document) = (server.context(), draft(ui));
        store
            .write(move |tx| configuration::save_draft(tx, &ctx, &document, seen))
            .wait()
            .expect("it is read")
    };
    let first = save("light", None);
    assert!(first.is_some());
    assert_eq!(save("other", None), None);
    let second = save("dark", first);
    assert!(second > first);
    assert_eq!(save("other", first), None);
    let kept = store
        .look_up(configuration::draft)
        .expect("readable")
        .expect("a draft");
    assert_eq!(
        (kept.document, Some(kept.updated_at)),
        (draft("dark"), second)
    );
    // Nothing of it is in force before it is published; what another publishes leaves it as it is.
    assert_eq!(store.look_up(configuration::version).expect("a version"), 1);
    assert_eq!(server.publish(&json!({"default": {"uiMode": "dark"}})), 2);
    let kept = store.look_up(configuration::draft).expect("readable");
    assert_eq!(kept.map(|draft| draft.updated_at), second);
    let told: String = server.value("SELECT actor || ' ' || action || ' ' || record_id || ' ' || after FROM audit WHERE record_type = 'app-config'");
    assert!(
        told.starts_with("cli publish 2 ") && told.contains("dark"),
        "{told}"
    );
}

#[test]
fn the_logo_is_at_an_address_that_needs_no_token() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let (app, _) = server.app_of("42");
    let picture = |path: &str| crate::harness::whole(server.request(reqwest::Method::GET, path));
    assert_eq!(picture("/logo").reply.status, 404);
    assert!(app.post("/device/ping", &ping(1)).data()["logo"].is_null());
    server.sql("INSERT INTO logo VALUES (1, 'image/png', x'89504E47', 77)");
    server.settings(&json!({"name": "Nordlicht"}));
    let data = app.made("/device/ping", &ping(1));
    data.agrees(&json!({"logo": "https://gate.example.org/logo?v=77", "name": "Nordlicht"}));
    let shown = picture("/logo?v=77");
    assert_eq!(shown.reply.status, 200);
    assert_eq!(shown.header("content-type"), "image/png");
}

#[test]
fn what_apps_are_to_do_goes_out_and_in_with_the_configuration() {
    let server = Server::start();
    let (app, _) = server.app_of("42");
    let exported = || -> Value {
        let text = server.done(&["config", "export"]);
        serde_json::from_str::<Value>(&text).expect("JSON")["appConfig"].clone()
    };
    let apply = |document: &Value, options: &[&str]| {
        let file = server.file("c.json", &document.to_string());
        gatepost(
            &server.path(),
            &[&["config", "apply", &file], options].concat(),
        )
    };
    let version = || {
        server
            .app
            .store
            .look_up(configuration::version)
            .expect("a version")
    };
    let fresh = exported();
    assert_eq!(fresh["default"]["allowRejected"], false);
    // What is in force already is no new version.
    assert!(apply(&json!({"appConfig": fresh}), &[]).status.success());
    assert!(apply(&json!({"settings": {}}), &[]).status.success());
    assert_eq!(version(), 1);
    let document = json!({
        "settings": {"timeZone": "Europe/Berlin"},
        "appConfig": {
            "default": {"uiMode": "dark", "enableAt": "2026-11-21 09:00:00"},
            "byDevice": {"42": {"allowRejected": true}},
        },
    });
    assert!(apply(&document, &["--dry-run"]).status.success());
    assert_eq!(version(), 1);
    assert!(apply(&document, &[]).status.success());
    assert_eq!(version(), 2);
    let data = app.made("/device/ping", &ping(1));
    assert_eq!(data["configVersion"], 2);
    data["settings"].agrees(&json!({"uiMode": "dark", "allowRejected": true}));
    assert_eq!(
        data["settings"]["enableAt"], "2026-11-21T09:00:00+01:00",
        "in the zone that the same document set"
    );
    // What is wrong is named, and nothing of the document is in force then.
    let wrong = json!({"settings": {"name": "X"}, "appConfig": {"byType": {"regoapp": {"forced": "uiMode"}}}});
    let refused = apply(&wrong, &[]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr);
    has(&told, "appConfig.byType.regoapp.forced");
    assert_eq!((version(), server.app.settings().name()), (2, "Gatepost"));
    // Without --prune what is not named stays.
    apply(&json!({"appConfig": {"default": {"uiMode": "light"}}}), &[]);
    assert_eq!(exported()["byDevice"]["42"]["allowRejected"], true);
    apply(&json!({}), &["--prune"]);
    assert_eq!((version(), exported()), (4, fresh));
}
