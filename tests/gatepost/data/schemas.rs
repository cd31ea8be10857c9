//! Sections with a schema in lists, and in the configuration document.

use super::Site;
use crate::harness::{cases, has};
use serde_json::{Value, json};

#[test]
fn a_row_that_does_not_fit_is_a_bad_row() {
    let site = Site::new();
    let schema = json!({"properties": {"meal": {"enum": ["vegan", "none"]}}, "required": ["meal"]});
    site.applied(
        &json!({"sections": {"delegate": {"Catering": schema}}}),
        &[],
    );
    let list = site.file(
        "list.csv",
        "barcode,Catering.meal,Catering.table\nA,vegan,1\nB,fish,2\nC,,3\nD,,\n",
    );
    let told = site.refused(&["import", "delegates", &list]);
    assert!(
        told.contains("data.Catering.meal") && told.contains('3'),
        "{told}"
    );
    assert_eq!(site.rows("delegates"), 0);
    site.run(&["import", "delegates", &list, "--skip-bad"]);
    assert_eq!(
        site.text("SELECT group_concat(barcode) FROM delegates"),
        "A,D"
    );
    // A row that changes a record is held against what the record will be.
    let change = site.file("change.csv", "barcode,Catering.meal\nA,meat\n");
    let told = site.refused(&["import", "delegates", &change, "--key", "barcode"]);
    has(&told, "data.Catering.meal");
}

/// One of each thing that an administrator sets up, with every key that it can have.
const CONFIGURATION: &str = include_str!("../../fixtures/configuration.json");

#[test]
fn the_configuration_document_stays() {
    let whole: Value = serde_json::from_str(CONFIGURATION).expect("JSON");
    let sites = [(); 2].map(|()| {
        let site = Site::new();
        site.import(
            "devices",
            "hall.csv",
            "name,code,deviceType\nHall,hall,room\n",
            &[],
        );
        site
    });
    let [site, other] = &sites;
    site.applied(&whole, &["--prune", "--dry-run"]);
    assert_eq!(site.rows("sections"), 0);
    site.applied(&whole, &["--prune"]);
    let out = site.configuration();
    for (key, value) in whole.as_object().expect("an object") {
        assert_eq!(&out[key], value, "{key}");
    }
    assert_eq!(out, whole);
    other.applied(&out, &["--prune"]);
    assert_eq!(other.configuration(), out);
    // The same document again changes nothing, and the audit log has no entry for it.
    let audited = other.rows("audit");
    other.applied(&out, &[]);
    assert_eq!(other.rows("audit"), audited);
}

#[test]
fn what_a_document_does_not_name_is_left_unless_pruned() {
    let site = Site::new();
    let first = json!({
        "settings": {"name": "A", "publicUrl": "https://a.example"},
        "sections": {"delegate": {"One": {}, "Two": {}}},
    });
    site.applied(&first, &[]);
    site.applied(&json!({"sections": {"delegate": {"Three": {}}}}), &[]);
    let names = |site: &Site| {
        let out = site.configuration();
        let sections = out["sections"]["delegate"].as_object().expect("sections");
        sections.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(&site), ["One", "Three", "Two"]);
    site.applied(&json!({"sections": {"delegate": {"Two": null}}}), &[]);
    assert_eq!(names(&site), ["One", "Three"]);
    site.applied(
        &json!({"settings": {"name": "B"}, "sections": {"delegate": {"One": {"type": "object"}}}}),
        &["--prune"],
    );
    assert_eq!(names(&site), ["One"]);
    assert_eq!(site.configuration()["settings"], json!({"name": "B"}));
}

#[test]
fn a_document_is_applied_whole_or_not_at_all() {
    let site = Site::new();
    site.applied(&json!({"settings": {"name": "A"}}), &[]);
    for (part, about) in cases::<(Value, &str)>(json!([
        [{"sections": {"delegate": {"X": {"type": "nonsense"}}}}, "sections: delegate: X"],
        [{"sections": {"event": {}}}, "sections"],
        [{"sections": {"device": {"Access": {}}}}, "Access"],
        [{"sections": {"delegate": {"X": 3}}}, "JSON object"],
        [{"sections": {"delegate": {"X": {"$ref": "https://example.com/x"}}}}, "X"],
        [{"statements": [{"name": "s", "type": "delegate", "sql": "DELETE FROM delegates"}]}, "statements: s"],
        [{"statements": [{"name": "s"}]}, "statements[0]"],
        [{"sektions": {}}, "sektions"],
    ])) {
        let mut document = part;
        document["settings"] = json!({"name": "B"});
        has(site.apply_refused(&document), about);
    }
    for (setting, about) in cases::<(Value, &str)>(json!([
        [{"publicUrl": "gate"}, "publicUrl"],
        [{"corsOrigins": ["x"]}, "corsOrigins"],
        [{"backups": {"everyMinutes": 0, "keep": 1}}, "backups.everyMinutes"],
        [{"backups": {"everyMinutes": 5, "keep": 1, "folder": "here"}}, "backups.folder"],
        [{"backups": {"keep": 1}}, "everyMinutes"],
        [{"outgoing": {"allowLocal": "yes"}}, "outgoing"],
        [{"outgoing": {"allow": true}}, "outgoing"],
        [{"doorsOpenedAt": 1}, "doorsOpenedAt"],
    ])) {
        has(site.apply_refused(&json!({"settings": setting})), about);
    }
    assert_eq!(site.configuration()["settings"], json!({"name": "A"}));
}

#[test]
fn a_long_list_is_validated_row_by_row() {
    use std::fmt::Write;

    let site = Site::new();
    let schema = json!({"properties": {"seat": {"pattern": "^[0-9]+$"}}});
    site.applied(&json!({"sections": {"delegate": {"Place": schema}}}), &[]);
    let mut list = String::from("barcode,Place.seat\n");
    for number in 0..350 {
        let seat = if number == 200 { "none" } else { "" };
        let _ = writeln!(list, "A{number},{seat}{number}");
    }
    let list = site.file("list.csv", list);
    let told = site.refused(&["import", "delegates", &list]);
    has(&told, "data.Place.seat");
    site.run(&["import", "delegates", &list, "--skip-bad"]);
    assert_eq!(site.rows("delegates"), 349);
    let seats = "SELECT count(DISTINCT json_extract(data, '$.Place.seat')) FROM delegates";
    assert_eq!(site.count(seats), 349);
}
