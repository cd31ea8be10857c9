//! The configuration out and in, by `gatepost config`.

use super::{count, done, gatepost, text};
use crate::harness::{cases, has};
use serde_json::{Value, json};
use std::path::Path;
#[test]
fn configuration_goes_out_and_in_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let apply = |document: &Value| {
        std::fs::write(folder.path().join("config.json"), document.to_string())
            .expect("a document");
        gatepost(folder.path(), &["config", "apply", "config.json"])
    };
    done(&apply(
        &json!({"settings": {"timeZone": "Europe/Berlin", "access": {"ruleSet": "simple"}}}),
    ));
    let bad = apply(&json!({"settings": {"name": "Summit", "timeZone": "Mars/Olympus"}}));
    assert_eq!(bad.status.code(), Some(1));
    has(text(&bad.stderr), "timeZone");
    let kept: Value =
        serde_json::from_str(&done(&gatepost(folder.path(), &["config", "export"]))).expect("JSON");
    assert_eq!(
        kept["settings"],
        json!({"access": {"ruleSet": "simple"}, "timeZone": "Europe/Berlin"})
    );
    assert_ne!(apply(&json!({"setings": {}})).status.code(), Some(0));
}

#[test]
fn regions_go_out_and_in_and_a_bad_template_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let apply = |document: &Value, options: &[&str]| {
        std::fs::write(folder.path().join("config.json"), document.to_string())
            .expect("a document");
        gatepost(
            folder.path(),
            &[&["config", "apply", "config.json"], options].concat(),
        )
    };
    let export = || -> Value {
        let text = done(&gatepost(folder.path(), &["config", "export"]));
        serde_json::from_str::<Value>(&text).expect("JSON")["regions"].clone()
    };
    let welcome = json!({
        "path": "/api/delegate-info", "content": "Hello {{ delegate.firstName }}", "tags": ["a"],
        "references": ["hall"], "publishedFrom": "2026-11-21T09:00:00+00:00", "publishedTo": null,
    });
    let hall = json!({"path": "/api/device-info/hall", "content": "{{ device.name }}"});
    done(&apply(&json!({"regions": [welcome, hall]}), &[]));
    let both = export();
    assert_eq!(both[0], welcome);
    assert_eq!(both[1]["tags"], json!([]));
    // What it wrote, it takes back, and nothing has changed.
    let text_of_all = done(&gatepost(folder.path(), &["config", "export"]));
    let mut all: Value = serde_json::from_str(&text_of_all).expect("JSON");
    done(&apply(&all, &["--prune"]));
    assert_eq!(export(), both);
    let audited = |folder: &std::path::Path| -> i64 {
        let connection = rusqlite::Connection::open(folder.join("event.db")).expect("the file");
        let sql = "SELECT count(*) FROM region_versions";
        connection.query_row(sql, [], |row| row.get(0)).expect(sql)
    };
    assert_eq!(audited(folder.path()), 2);
    let bad = json!({"path": "/api/delegate-info/b", "content": "a\n\n{{ delegate.x | shout }}"});
    let refused = apply(&json!({"regions": [hall, bad]}), &["--prune"]);
    assert_eq!(refused.status.code(), Some(1));
    has(text(&refused.stderr), ["/api/delegate-info/b", "line 3"]);
    for (wrong, about) in cases::<(Value, &str)>(json!([
        [[{"path": "/x", "content": ""}], "path"],
        [[{"path": "/api/delegate-info"}], "content"],
        [[hall, hall], "stands twice"],
        [[{"path": "/api/delegate-info", "content": "", "tag": []}], "tag"],
        [[{"path": "/api/delegate-info", "content": "", "publishedTo": "soon"}], "publishedTo"],
    ])) {
        let refused = apply(&json!({ "regions": wrong }), &[]);
        assert_eq!(refused.status.code(), Some(1), "{wrong}");
        assert!(text(&refused.stderr).contains(about), "{refused:?}");
    }
    assert_eq!(export(), both);
    all["regions"] = json!([hall]);
    done(&apply(&all, &["--prune"]));
    assert_eq!(export().as_array().map(Vec::len), Some(1));
}

#[test]
fn the_logo_goes_along_with_the_configuration() {
    let [office, venue] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let apply = |folder: &Path, document: &Value, options: &[&str]| {
        std::fs::write(folder.join("config.json"), document.to_string()).expect("a document");
        let arguments = [&["config", "apply", "config.json"], options].concat();
        gatepost(folder, &arguments)
    };
    let exported = |folder: &Path| -> Value {
        serde_json::from_str(&done(&gatepost(folder, &["config", "export"]))).expect("JSON")
    };
    let stored = |folder: &Path| count(folder, "SELECT count(*) FROM logo");
    let logo = "data:image/gif;base64,R0lGODlhAQABAA==";
    let document = json!({"settings": {"name": "Summit", "logo": logo}});
    done(&apply(office.path(), &document, &["--dry-run"]));
    assert_eq!(stored(office.path()), 0);
    done(&apply(office.path(), &document, &[]));
    let whole = exported(office.path());
    assert_eq!(whole["settings"], document["settings"]);
    done(&apply(venue.path(), &whole, &[]));
    assert_eq!(exported(venue.path()), whole);
    // What is not named stays; what is no picture is named, and nothing is changed then.
    done(&apply(
        venue.path(),
        &json!({"settings": {"name": "Fair"}}),
        &[],
    ));
    for wrong in [
        json!(7),
        json!("logo.gif"),
        json!("data:image/png;base64,PHN2Zy8+"),
        json!(format!("data:image/gif;base64,{}", "R0lG".repeat(200_000))),
    ] {
        let document = json!({"settings": {"name": "X", "logo": wrong}});
        let refused = apply(venue.path(), &document, &[]);
        assert_eq!(refused.status.code(), Some(1));
        has(text(&refused.stderr), "logo: ");
    }
    assert_eq!(
        exported(venue.path())["settings"],
        json!({"name": "Fair", "logo": logo})
    );
    let told = "SELECT count(*) FROM audit WHERE record_type = 'logo'";
    assert_eq!(count(venue.path(), told), 1);
    done(&apply(
        venue.path(),
        &json!({"settings": {"logo": null}}),
        &[],
    ));
    assert_eq!(stored(venue.path()), 0);
    done(&apply(
        office.path(),
        &json!({"settings": {"name": "Y"}}),
        &["--prune"],
    ));
    assert_eq!(stored(office.path()), 0);
}
