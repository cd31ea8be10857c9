use super::*;
use crate::domain::apps::Document;

fn settings(value: &Value) -> Settings {
    value.as_object().unwrap().clone()
}

/// The form of settings as a browser sends it.
fn form(is_all: bool, own: &Settings, base: &Settings, zone: &Zone) -> Fields {
    let place = |code: &str| Offer {
        id: 5,
        code: code.to_owned(),
        name: "Hall".to_owned(),
        kind: "room".to_owned(),
    };
    let places = [place("hall"), place("attic")];
    let words = Words {
        zone,
        places: &places,
    };
    let groups = groups(is_all, None, own, base, &words);
    Form {
        groups,
        ..Form::default()
    }
    .into_sent()
}

fn set(form: &mut Fields, name: &str, value: &str) {
    form.0.retain(|(known, _)| known != name);
    form.0.push((name.to_owned(), value.to_owned()));
}

#[test]
fn a_form_says_what_the_settings_said() {
    let zone = Zone::named("Europe/Berlin").unwrap();
    let base = Document::built_in().default;
    for own in [
        json!({}),
        json!({"enableAt": "2026-11-21T09:02:00+01:00", "disableAt": null}),
        json!({"availableFeatures": ["own-thing", "check-in"], "allowRejected": true, "delegateType": "vip"}),
        json!({"deviceHierarchy": [["organisation"], ["event"], ["session", "room"]], "forced": ["allowRejected", "uiMode"]}),
        json!({"place": "code:hall", "places": ["id:7", "code:hall", "code:attic"], "offlinePolicy": "hold"}),
        json!({"place": null, "places": [], "kiosk": true, "kioskLanguages": ["de", "en"], "kioskIdleSeconds": 60}),
        json!({"supervisorPin": {"salt": "00", "hash": "01"}, "walkInTypes": ["press", "Crew"], "kioskWalkIn": false}),
        json!({"uiMode": "dark", "n": 2, "digits": "2", "deep": {"a": [1, null]}, "quoted": "\"x", "empty": "", "spaced": " x "}),
    ] {
        let own = settings(&own);
        let sent = form(false, &own, &base, &zone);
        let read = typed_settings(&sent, false, None, &own, &base, &zone).unwrap();
        assert_eq!(read, own);
    }
    // What is not set is not there either in the settings of all apps.
    let sent = form(true, &base, &base, &zone);
    assert_eq!(
        typed_settings(&sent, true, None, &base, &base, &zone).unwrap(),
        base
    );
}

#[test]
fn what_was_changed_without_a_tick_counts_and_a_tick_that_went_takes_it_back() {
    let zone = Zone::default();
    let base = Document::built_in().default;
    let own = settings(&json!({"delegateType": "vip"}));
    let mut sent = form(false, &own, &base, &zone);
    set(&mut sent, "allowRejected", "yes");
    sent.0.retain(|(name, _)| name != "set");
    assert_eq!(
        typed_settings(&sent, false, None, &own, &base, &zone).unwrap(),
        settings(&json!({"allowRejected": true}))
    );
}

#[test]
fn a_pin_is_replaced_removed_and_never_shown() {
    let (base, zone) = (Document::built_in().default, Zone::default());
    let mut own = base.clone();
    own.insert("supervisorPin".to_owned(), json!("0815"));
    let saved = |name: &str, value: &str| {
        let mut sent = form(true, &own, &base, &zone);
        assert!(!sent.iter().any(|(_, value)| value.contains("0815")));
        set(&mut sent, name, value);
        typed_settings(&sent, true, None, &own, &base, &zone)
            .map(|read| read["supervisorPin"].clone())
    };
    // One of an earlier version goes on, as short as it is.
    assert!(pin::is_of(&saved("supervisorPin", "").unwrap(), "0815"));
    assert_eq!(saved("supervisorPin", "471100").unwrap(), json!("471100"));
    assert_eq!(saved("noSupervisorPin", "1").unwrap(), Value::Null);
    let cause = saved("supervisorPin", "47").unwrap_err().to_string();
    assert_eq!(cause, "supervisorPin: must have 6 to 8 digits");
}

#[test]
fn what_cannot_be_used_counts_as_not_set_and_goes() {
    let (base, zone) = (Document::built_in().default, Zone::default());
    let mut own = base.clone();
    for (name, value) in [
        ("place", json!(5)),
        ("offlinePolicy", json!("all")),
        ("places", json!("hall")),
    ] {
        own.insert(name.to_owned(), value);
    }
    let sent = form(true, &own, &base, &zone);
    assert_eq!(
        typed_settings(&sent, true, None, &own, &base, &zone).unwrap(),
        base
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let none = Settings::new();
    let (base, zone) = (Document::built_in().default, Zone::default());
    for (rows, message) in [
        (&[("", "x")][..], "rows: the setting \"x\" has no name"),
        (
            &[("uiMode", "a"), ("uiMode", "b")],
            "rows: the setting uiMode: stands twice",
        ),
        (&[("enabledAt", "x")], "stands twice"),
        (&[("uiMode", "{")], "uiMode: this is not valid JSON"),
        (
            &[("set", "enableAt"), ("enableAt", "tomorrow")],
            "enableAt: ",
        ),
    ] {
        let mut sent = form(false, &none, &base, &zone);
        for (name, value) in rows {
            match *name {
                "set" | "enableAt" => set(&mut sent, name, value),
                name => sent.0.extend([
                    ("key".to_owned(), name.to_owned()),
                    ("value".to_owned(), (*value).to_owned()),
                ]),
            }
        }
        let cause = typed_settings(&sent, false, None, &none, &base, &zone).unwrap_err();
        let cause = super::super::edit::beside_a_field(cause).to_string();
        assert!(cause.contains(message), "{cause}");
    }
}
