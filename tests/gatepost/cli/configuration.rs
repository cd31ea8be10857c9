//! The configuration out and in, by `gatepost config`.

use crate::{
    data::Site,
    harness::{cases, has},
};
use serde_json::{Value, json};

#[test]
fn configuration_goes_out_and_in_whole_or_not_at_all() {
    let site = Site::new();
    let settings = json!({"access": {"ruleSet": "simple"}, "timeZone": "Europe/Berlin"});
    site.applied(&json!({"settings": settings}), &[]);
    let bad = json!({"settings": {"name": "Summit", "timeZone": "Mars/Olympus"}});
    has(site.apply_refused(&bad), "timeZone");
    assert_eq!(site.configuration()["settings"], settings);
    site.apply_refused(&json!({"setings": {}}));
}

#[test]
fn regions_go_out_and_in_and_a_bad_template_is_told_with_its_line() {
    let site = Site::new();
    let export = || site.configuration()["regions"].clone();
    let welcome = json!({
        "path": "/api/delegate-info", "content": "Hello {{ delegate.firstName }}", "tags": ["a"],
        "references": ["hall"], "publishedFrom": "2026-11-21T09:00:00+00:00", "publishedTo": null,
    });
    let hall = json!({"path": "/api/device-info/hall", "content": "{{ device.name }}"});
    site.applied(&json!({"regions": [welcome, hall]}), &[]);
    let both = export();
    assert_eq!(both[0], welcome);
    assert_eq!(both[1]["tags"], json!([]));
    // What it wrote, it takes back, and nothing has changed.
    let mut all = site.configuration();
    site.applied(&all, &["--prune"]);
    assert_eq!(export(), both);
    assert_eq!(site.rows("region_versions"), 2);
    let bad = json!({"path": "/api/delegate-info/b", "content": "a\n\n{{ delegate.x | shout }}"});
    let refused = site.apply(&json!({"regions": [hall, bad]}), &["--prune"]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr);
    has(&told, ["/api/delegate-info/b", "line 3"]);
    for (wrong, about) in cases::<(Value, &str)>(json!([
        [[{"path": "/x", "content": ""}], "path"],
        [[{"path": "/api/delegate-info"}], "content"],
        [[hall, hall], "stands twice"],
        [[{"path": "/api/delegate-info", "content": "", "tag": []}], "tag"],
        [[{"path": "/api/delegate-info", "content": "", "publishedTo": "soon"}], "publishedTo"],
    ])) {
        has(site.apply_refused(&json!({ "regions": wrong })), about);
    }
    assert_eq!(export(), both);
    all["regions"] = json!([hall]);
    site.applied(&all, &["--prune"]);
    assert_eq!(export().as_array().map(Vec::len), Some(1));
}

#[test]
fn the_supervisors_pin_stays_in_the_file() {
    let (office, venue) = (Site::new(), Site::new());
    let given = json!({"appConfig": {
        "default": {"supervisorPin": "471100", "place": "code:hall"}, "byDevice": {"42": {"kiosk": true}},
    }});
    office.applied(&given, &[]);
    let stored = |site: &Site| -> String {
        let sql = "SELECT document FROM app_config ORDER BY version DESC LIMIT 1";
        site.open()
            .query_row(sql, [], |row| row.get(0))
            .expect("a version")
    };
    let kept = stored(&office);
    assert!(kept.contains("hash") && !kept.contains("471100"), "{kept}");
    let audited: String = office
        .open()
        .query_row("SELECT group_concat(after) FROM audit", [], |row| {
            row.get(0)
        })
        .expect("the audit");
    assert!(
        !audited.contains("471100") && !audited.contains("hash"),
        "{audited}"
    );
    let exported = office.configuration();
    let told = exported["appConfig"].to_string();
    assert!(
        told.contains("supervisorPin") && !told.contains("hash"),
        "{told}"
    );
    // Neither what was exported nor the same document again makes a version.
    for (document, options) in [
        (&exported, [].as_slice()),
        (&exported, &["--prune"]),
        (&given, &[]),
    ] {
        office.applied(document, options);
        assert_eq!(
            (stored(&office), office.rows("app_config")),
            (kept.clone(), 1)
        );
    }
    // The rest goes along, and a PIN that is there stays.
    venue.applied(&exported, &[]);
    assert!(!stored(&venue).contains("supervisorPin") && stored(&venue).contains("code:hall"));
    office.applied(
        &json!({"appConfig": {"default": {"supervisorPin": null}}}),
        &[],
    );
    assert!(!stored(&office).contains("hash"));
    let wrong = json!({"appConfig": {"byDevice": {"42": {"supervisorPin": "12", "kiosk": 1}}}});
    has(office.apply_refused(&wrong), "appConfig.byDevice.42.");
}

#[test]
fn the_logo_goes_along_with_the_configuration() {
    let (office, venue) = (Site::new(), Site::new());
    let logo = "data:image/gif;base64,R0lGODlhAQABAA==";
    let document = json!({"settings": {"name": "Summit", "logo": logo}});
    office.applied(&document, &["--dry-run"]);
    assert_eq!(office.rows("logo"), 0);
    office.applied(&document, &[]);
    let whole = office.configuration();
    assert_eq!(whole["settings"], document["settings"]);
    venue.applied(&whole, &[]);
    assert_eq!(venue.configuration(), whole);
    // What is not named stays; what is no picture is named, and nothing is changed then.
    venue.applied(&json!({"settings": {"name": "Fair"}}), &[]);
    let large = format!("data:image/gif;base64,{}", "R0lG".repeat(200_000));
    for wrong in [
        json!(7),
        json!("logo.gif"),
        json!("data:image/png;base64,PHN2Zy8+"),
        json!(large),
    ] {
        let document = json!({"settings": {"name": "X", "logo": wrong}});
        has(venue.apply_refused(&document), "logo: ");
    }
    let kept = json!({"name": "Fair", "logo": logo});
    assert_eq!(venue.configuration()["settings"], kept);
    assert_eq!(venue.rows("audit WHERE record_type = 'logo'"), 1);
    venue.applied(&json!({"settings": {"logo": null}}), &[]);
    assert_eq!(venue.rows("logo"), 0);
    office.applied(&json!({"settings": {"name": "Y"}}), &["--prune"]);
    assert_eq!(office.rows("logo"), 0);
}
