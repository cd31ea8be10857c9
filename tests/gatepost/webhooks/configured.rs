//! Webhooks in the configuration document (contract §10).

use crate::data::Site;
use crate::harness::{cases, has, lacks};
use serde_json::{Value, json};

fn exported(site: &Site) -> Value {
    site.configuration()["webhooks"].clone()
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[test]
fn webhooks_go_round_and_their_secrets_stay_where_they_are() {
    let site = Site::new();
    let crm = json!({
        "name": "CRM", "url": "https://crm.example.org/in", "interactions": ["check-in", "lead"],
        "changes": ["delegate.*"], "devices": ["hall", "not-there-yet"], "active": false,
    });
    let chat = json!({"name": "Chat", "url": "http://192.168.1.9/x", "interactions": ["*"], "changes": [], "active": true});
    let with_secret = {
        let mut crm = crm.clone();
        crm["secret"] = json!(SECRET);
        crm
    };
    site.applied(&json!({"webhooks": [with_secret, chat]}), &["--dry-run"]);
    assert_eq!(site.rows("webhooks"), 0);
    site.applied(&json!({"webhooks": [with_secret, chat]}), &[]);
    let out = exported(&site);
    assert_eq!(out, json!([crm, chat]));
    lacks(out.to_string(), "whsec");
    let secrets = "SELECT group_concat(secret) FROM webhooks";
    let before = site.text(secrets);
    assert!(before.contains(SECRET));
    // Again: nothing changes, and nothing is audited.
    let count = site.rows("audit");
    site.applied(&json!({"webhooks": out}), &[]);
    site.applied(&json!({"webhooks": [with_secret]}), &[]);
    assert_eq!(site.rows("audit"), count);
    assert_eq!(site.text(secrets), before);
    let mut moved = crm.clone();
    moved["url"] = json!("https://other.example.org/");
    moved["active"] = json!(true);
    site.applied(&json!({"webhooks": [moved]}), &[]);
    assert_eq!(exported(&site), json!([moved, chat]));
    assert_eq!(site.text(secrets), before);
    site.applied(&json!({"settings": {"name": "X"}}), &[]);
    assert_eq!(
        exported(&site),
        json!([moved, chat]),
        "absent is left alone"
    );
    // Pruned by a document that names everything else.
    let mut whole = site.configuration();
    whole["webhooks"] = json!([moved]);
    site.applied(&whole, &["--prune"]);
    assert_eq!(exported(&site), json!([moved]));
    whole
        .as_object_mut()
        .expect("a document")
        .remove("webhooks");
    site.applied(&whole, &["--prune"]);
    assert_eq!(exported(&site), json!([]));
    for table in ["webhooks", "webhook_states", "webhook_held"] {
        assert_eq!(site.rows(table), 0);
    }
}

#[test]
fn one_wrong_webhook_changes_nothing() {
    let site = Site::new();
    let fine = json!({"name": "A", "url": "https://a.example/", "interactions": ["*"]});
    site.applied(&json!({}), &[]);
    for (wrong, about) in cases::<(Value, &str)>(json!([
        [{"name": "B"}, "url"],
        [{"name": "B", "url": "x", "interactions": ["*"]}, "webhooks: B: url"],
        [{"name": "B", "url": "http://127.0.0.1/", "interactions": ["*"]}, "allowLocal"],
        [{"name": "B", "url": "http://169.254.169.254/", "interactions": ["*"]}, "cloud"],
        [{"name": "B", "url": "https://b.example/"}, "nothing would be sent"],
        [{"name": "B", "url": "https://b.example/", "changes": ["user.created"]}, "changes"],
        [{"name": "B", "url": "https://b.example/", "interactions": ["*"], "secret": "12345"}, "secret"],
        [{"name": "B", "url": "https://b.example/", "interactions": ["*"], "more": 1}, "more"],
        [{"name": "A", "url": "https://b.example/", "interactions": ["*"]}, "stands twice"],
    ])) {
        let document = json!({"settings": {"name": "New"}, "webhooks": [fine, wrong]});
        let told = site.apply_refused(&document);
        has(&told, about);
        lacks(&told, "12345");
        assert_eq!(
            (site.rows("webhooks"), site.rows("settings")),
            (0, 0),
            "{about}"
        );
    }
    // The same document may allow what it needs.
    let local = json!({
        "settings": {"outgoing": {"allowLocal": true}},
        "webhooks": [{"name": "B", "url": "http://127.0.0.1/", "interactions": ["*"]}],
    });
    site.applied(&local, &[]);
}
