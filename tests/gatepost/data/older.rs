//! Files that released versions made: they open, migrate, pass `check`, and keep what others rely on.

use super::Site;
use crate::faults::process::{Served, beside};
use flate2::read::GzDecoder;
use gatepost::db::migrate::{CURRENT, RELEASED};
use serde_json::{Value, json};
use std::{io::Read, path::PathBuf};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
}

/// A file of a schema version, as that version left it.
pub fn of_version(version: usize) -> Site {
    let site = Site::new();
    let packed = std::fs::read(folder().join(format!("schema-{version:02}.db.gz")));
    let mut content = Vec::new();
    GzDecoder::new(&*packed.expect("a file"))
        .read_to_end(&mut content)
        .expect("packed");
    std::fs::write(&site.db, content).expect("written");
    site
}

/// A file of the newest released schema, with one record of each kind.
pub(super) fn newest() -> Site {
    migrated(RELEASED)
}

fn migrated(version: usize) -> Site {
    let site = of_version(version);
    site.done(&["migrate"]);
    site
}

fn printed(site: &Site, args: &[&str]) -> Value {
    serde_json::from_str(&site.done(args)).expect("JSON")
}

#[test]
fn files_of_every_released_schema_migrate_and_pass_check() {
    for version in 1..=RELEASED {
        let site = of_version(version);
        let is_current = site.run(&["migrate", "--check"]).status.success();
        assert_eq!(
            is_current,
            usize::try_from(CURRENT) == Ok(version),
            "schema {version}"
        );
        site.done(&["migrate"]);
        let checked = printed(&site, &["check", "--json"]);
        assert_eq!(checked["findings"], json!([]), "schema {version}");
        let text = |sql: &str| site.text(sql);
        assert_eq!(
            text("SELECT group_concat(id || interaction_type, ' ') FROM interactions"),
            "1join 2check-in 3check-out 4check-in-override 5check-in 6lead 7uninvite 8survey",
            "schema {version}"
        );
        assert_eq!(
            text("SELECT data FROM interactions WHERE id = 2"),
            r#"{"gate":"B","photo":null}"#
        );
        assert_eq!(
            site.count("SELECT inside FROM occupancy WHERE device_id = 2"),
            2
        );
        assert_eq!(
            text("SELECT console_role FROM users WHERE id = 1"),
            "administrator",
            "schema {version}"
        );
        // No id is given twice, not even that of the one that was deleted.
        assert_eq!(
            site.count("SELECT seq FROM sqlite_sequence WHERE name = 'interactions'"),
            9,
            "schema {version}"
        );
        let found = printed(
            &site,
            &[
                "export",
                "delegates",
                "--format",
                "json",
                "--search",
                r#"{"*=":["lastName","łuk"]}"#,
            ],
        );
        assert_eq!(found[0]["barcode"], "T-1", "schema {version}: {found}");
    }
}

#[test]
fn certificates_webhooks_and_keys_stay_what_they_were() {
    for version in 1..=RELEASED {
        let site = migrated(version);
        let kept = |since: usize, sql: &str, value: &str| {
            if version >= since {
                assert_eq!(site.text(sql), value, "schema {version}");
            }
        };
        kept(
            3,
            "SELECT hex(certificate) || hex(private_key) || names || created_at || ' ' || expires_at FROM tls_certificate",
            r#"C0FFEE5EC2E7["nordlicht.local"]1000 99000000000000"#,
        );
        kept(
            4,
            "SELECT hex(key) FROM keys WHERE name = 'hashes'",
            "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
        );
        kept(
            8,
            "SELECT substr(hex(key), 1, 16) FROM keys WHERE name = 'messages'",
            "0123456789ABCDEF",
        );
        kept(
            11,
            "SELECT uid || ' ' || secret FROM webhooks WHERE id = 1",
            "whk-7f3a whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0",
        );
        kept(
            1,
            "SELECT hex(secret_hash) FROM clients WHERE client_id = 'gate-client'",
            "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
        );
    }
}

#[test]
fn of_two_with_one_tag_in_two_cases_the_first_keeps_it() {
    let site = migrated(25);
    let tag_of = |id: i64| {
        site.text(&format!(
            "SELECT coalesce(uhf_id, data ->> '$.formerUhfId') || ' ' || (uhf_id IS NULL) FROM delegates WHERE id = {id}"
        ))
    };
    assert_eq!([tag_of(9001), tag_of(9002)], ["AB01 0", "ab01 1"]);
    // What else stood there stays.
    let kept = site.text("SELECT CAST(data ->> '$.Data.a' AS TEXT) FROM delegates WHERE id = 9002");
    assert_eq!(kept, "1");
}

/// What was called a door by chance stays a place of its own.
#[test]
fn devices_that_were_called_doors_are_entrances_and_listed() {
    let site = of_version(RELEASED);
    let file = rusqlite::Connection::open(&site.db).expect("a file");
    file.execute_batch(
        "INSERT INTO devices (id, parent_id, device_type, name, code, public_id, sources, created_at, updated_at) VALUES
             (9101, 1, 'door', 'North', 'd1', 'd1', '[]', 0, 0), (9102, 1, 'Door', 'South', 'd2', 'd2', '[]', 0, 0),
             (9103, NULL, 'door', 'Lone', 'd3', 'd3', '[]', 0, 0);
         INSERT INTO devices (id, parent_id, device_type, name, code, public_id, sources, created_at, updated_at, deleted_at)
             VALUES (9104, 1, 'door', 'Gone', 'd4', 'd4', '[]', 0, 0, 5);",
    )
    .expect("devices");
    drop(file);
    site.done(&["migrate"]);
    assert_eq!(
        site.text("SELECT group_concat(id || device_type, ' ') FROM devices WHERE id BETWEEN 9101 AND 9104"),
        "9101entrance 9102Door 9103door 9104entrance"
    );
    let notice =
        site.text("SELECT value -> '$[#-1]' ->> 'what' FROM settings WHERE name = 'notices'");
    assert!(
        notice.contains("changed for them: North. ") && notice.contains("\"door\""),
        "{notice}"
    );
    // Whoever follows the changes has the new type.
    assert_eq!(
        site.text("SELECT record_id || after FROM audit WHERE actor = 'upgrade'"),
        r#"9101{"deviceType":"entrance"}"#
    );
}

#[test]
fn schemas_with_references_are_written_out_or_named_at_the_start() {
    let site = of_version(RELEASED);
    let file = rusqlite::Connection::open(&site.db).expect("a file");
    file.execute_batch(
        r##"INSERT INTO sections (record_type, name, schema) VALUES
             ('delegate', 'Written', '{"properties":{"seat":{"$ref":"#/$defs/seat"}},"$defs":{"seat":{"pattern":"^[0-9]+$"}}}'),
             ('delegate', 'Tree', '{"required":["root"],"properties":{"next":{"$ref":"#"}}}')"##,
    )
    .expect("sections");
    drop(file);
    for _ in 0..2 {
        Served::start(&site.db).stop();
        let notices =
            site.text("SELECT group_concat(told.value ->> 'what') FROM settings AS s, json_each(s.value) AS told WHERE s.name = 'notices'");
        let about: Vec<_> = notices.matches("take anything").collect();
        assert_eq!(about.len(), 1, "{notices}");
        assert!(notices.contains(": Tree (delegate). "), "{notices}");
    }
    let log = std::fs::read_to_string(beside(&site.db, ".log")).expect("a log");
    assert!(log.contains(": Tree (delegate). "), "{log}");
    let sections = site.configuration()["sections"]["delegate"].clone();
    assert_eq!(
        sections["Written"],
        json!({"properties": {"seat": {"pattern": "^[0-9]+$"}}})
    );
    // The document can be applied again here; nowhere else.
    let document = json!({"sections": {"delegate": sections}});
    site.applied(&document, &[]);
    let refused = Site::new().apply_refused(&document);
    assert!(
        refused.contains("Tree: schema.properties.next.$ref"),
        "{refused}"
    );
    site.import("delegates", "tree.csv", "barcode,Tree.leaf\nNEW-1,1\n", &[]);
    let list = site.file("seat.csv", "barcode,Written.seat\nNEW-2,none\n");
    let refused = site.refused(&["import", "delegates", &list]);
    assert!(refused.contains("data.Written.seat"), "{refused}");
}
