//! What `check` finds, what it says to do, and that it writes nothing; what `check --repair` mends.

use super::{
    evidence,
    ledger::Shape,
    load::Load,
    process::{Served, Site, beside, gatepost, told},
    start::{bad_files, contents, good_file},
};
use crate::harness::has;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{fs, path::Path};

/// What `check --json` prints, and whether its exit code agrees.
fn check(db: &Path, more: &[&str]) -> Value {
    let output = gatepost(db, &[&["check", "--json"], more].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let clean = printed["clean"].as_bool().expect("a verdict");
    assert_eq!(output.status.code(), Some(i32::from(!clean)), "{output:?}");
    assert_eq!(clean, printed["findings"] == json!([]), "{printed}");
    printed
}

/// A file with somebody in each state at two gates, and no server on it.
fn visited() -> Site {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let load = Load::start(
        served.address,
        &site,
        "x",
        &[(Shape::Batch, 120), (Shape::Single, 1)],
    );
    load.wait_for(12);
    load.finish();
    served.stop();
    site
}

#[test]
fn a_file_in_use_is_found_sound_and_gates_go_on() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let shapes = [(Shape::Single, 1), (Shape::Batch, 60)];
    let load = Load::start(served.address, &site, "x", &shapes);
    for round in 1..4 {
        load.wait_for(10 * round);
        assert_eq!(check(&site.db, &[])["findings"], json!([]));
    }
    load.finish();
    assert_eq!(check(&site.db, &[])["lastBackup"], Value::Null);
    let copy = site.folder.path().join("copy.db");
    told(
        &site.db,
        &[
            "backup",
            "--json",
            "--output",
            copy.to_str().expect("a name"),
        ],
    );
    assert!(check(&site.db, &[])["lastBackup"].is_string());
    // As a killed server leaves it.
    served.kill();
    let before = contents(site.folder.path());
    assert_eq!(check(&site.db, &[])["findings"], json!([]));
    assert!(contents(site.folder.path()) == before, "it wrote something");
    let missing = gatepost(&site.folder.path().join("missing.db"), &["check"]);
    assert_eq!(missing.status.code(), Some(1));
    has(String::from_utf8_lossy(&missing.stderr), "does not exist");
}

/// What is done to a file, what is found then, and what is said to do about it.
const DAMAGES: &[[&str; 3]] = &[
    [
        "UPDATE interactions SET effect = 1 WHERE interaction_type = 'check-in'",
        "interactions whose effect on presence is not that of their type",
        "--repair",
    ],
    [
        "UPDATE occupancy SET inside = inside + 2",
        "counts +2 inside",
        "--repair",
    ],
    [
        "DELETE FROM interactions WHERE interaction_type = 'check-in'",
        "against its check-ins and check-outs",
        "--repair",
    ],
    [
        "UPDATE delegates SET parent_id = 99 WHERE id = 3",
        "delegates: 1 references to delegates that do not exist, the first in row 3",
        "last backup",
    ],
    [
        "UPDATE interactions SET first_delegate_id = 4711 WHERE id = 5",
        "interactions: 1 references to delegates that do not exist, the first in row 5",
        "last backup",
    ],
    [
        "UPDATE devices SET data = '{' WHERE id = 2",
        "1 devices whose data is not a JSON object, the first with id 2",
        "PATCH /device/",
    ],
    [
        "UPDATE interactions SET data = 'x' WHERE id = 5",
        "1 rows of interactions whose data is not JSON, the first with id 5",
        "last backup",
    ],
    [
        "UPDATE interactions SET shared = '[[\"/a\", 99]]' WHERE id = 5",
        "shared value that does not exist",
        "last backup",
    ],
    [
        "UPDATE audit SET after = 'x'",
        "rows of audit whose after is not JSON",
        "last backup",
    ],
    [
        "INSERT INTO nonces VALUES (1, 'n', x'00', 1000000)",
        "1 nonces",
        "last backup",
    ],
    [
        "INSERT INTO idempotency_keys VALUES (9, 1, 'k', 'o', x'00', 0)",
        "1 idempotency keys",
        "7 days",
    ],
    [
        "UPDATE delegates SET first_name = CAST(x'41ff' AS TEXT) WHERE id = 2",
        "1 rows of delegates whose first_name is not UTF-8 text, the first with id 2",
        "last backup",
    ],
    [
        "INSERT INTO settings VALUES ('note', CAST(x'22ff22' AS TEXT))",
        "1 rows of settings whose value is not UTF-8 text",
        "last backup",
    ],
    [
        "DROP INDEX delegates_barcode",
        "index delegates_barcode is missing",
        "last backup",
    ],
    [
        "CREATE TRIGGER t AFTER INSERT ON audit BEGIN SELECT 1; END",
        "trigger t is none of ours",
        "last backup",
    ],
    [
        "INSERT INTO delegates_search (delegates_search) VALUES ('delete-all')",
        "differs from the texts of delegate",
        "stop the server and run `gatepost check --repair`",
    ],
    [
        "PRAGMA ignore_check_constraints = 1; UPDATE delegates SET sources = 'x' WHERE id = 1",
        "1 rows of delegates whose sources is not JSON",
        "last backup",
    ],
];

/// Each kind of damage is told with what to do, and none of it is touched.
#[test]
fn every_damage_is_told_with_what_to_do_about_it() {
    let site = visited();
    let good = fs::read(&site.db).expect("the file");
    for [damage, found, advice] in DAMAGES {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("gatepost.db");
        fs::write(&db, &good).expect("written");
        let file = Connection::open(&db).expect("the file");
        file.execute_batch(&format!("PRAGMA foreign_keys = 0; {damage}"))
            .expect(damage);
        file.close().expect("closed");
        let before = contents(folder.path());
        let findings = check(&db, &[])["findings"].clone();
        let first = &findings[0];
        assert!(
            first["what"]
                .as_str()
                .is_some_and(|what| what.contains(found)),
            "{damage}: {findings}"
        );
        assert!(
            first["advice"]
                .as_str()
                .is_some_and(|told| told.contains(advice)),
            "{damage}: {findings}"
        );
        assert!(
            contents(folder.path()) == before,
            "{damage}: it wrote something"
        );
        // For people the same words.
        let shown = String::from_utf8(gatepost(&db, &["check"]).stdout).expect("text");
        assert!(shown.contains(found) && shown.contains(advice), "{shown}");
    }
    // The control: as it was, it is clean.
    assert_eq!(check(&site.db, &[])["findings"], json!([]));
}

#[test]
fn a_damaged_or_foreign_file_is_told_and_left_as_it_is() {
    let (_site, good) = good_file();
    for bad in bad_files(&good) {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("gatepost.db");
        fs::write(&db, &bad.bytes).expect("written");
        let before = contents(folder.path());
        for more in [&[][..], &["--repair"]] {
            let printed = check(&db, more);
            let what = printed["findings"][0]["what"].as_str().unwrap_or_default();
            assert!(what.contains(bad.told), "{}: {printed}", bad.what);
            let advice = printed["findings"][0]["advice"]
                .as_str()
                .unwrap_or_default();
            let another = what.contains("another application") || what.contains("newer gatepost");
            assert_eq!(
                advice.contains("last backup"),
                !another,
                "{}: {printed}",
                bad.what
            );
            assert!(
                contents(folder.path()) == before,
                "{}: it wrote something",
                bad.what
            );
        }
    }
    // An index that lies about its table: the pages are whole, and no record is lost.
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    fs::write(&db, &good).expect("written");
    let file = Connection::open(&db).expect("the file");
    file.execute_batch(
        "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, '(barcode)', '(rfid)') WHERE name = 'delegates_barcode'",
    )
    .expect("damage");
    file.close().expect("closed");
    let printed = check(&db, &[]);
    assert!(
        printed["findings"][0]["advice"]
            .as_str()
            .is_some_and(|told| told.contains("REINDEX")),
        "{printed}"
    );
    // A partial index that knows rows which the table does not have, as in a mixture of two moments.
    let db = folder.path().join("mixture.db");
    fs::write(&db, &good).expect("written");
    for step in [
        "UPDATE delegates SET owner_id = id WHERE id = (SELECT min(id) FROM delegates)",
        "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'delegates_owner';
         DELETE FROM sqlite_schema WHERE name = 'delegates_owner'",
        "UPDATE delegates SET owner_id = NULL",
        "INSERT INTO sqlite_schema SELECT * FROM kept",
        "DROP TABLE kept",
    ] {
        let file = Connection::open(&db).expect("the file");
        file.execute_batch(&format!("PRAGMA writable_schema = 1; {step}"))
            .expect(step);
    }
    let printed = check(&db, &[]);
    let first = &printed["findings"][0];
    assert!(
        first["what"]
            .to_string()
            .contains("entries in index delegates_owner")
            && first["advice"].to_string().contains("may be lost"),
        "{printed}"
    );
}

#[test]
fn counts_of_those_inside_are_mended_beside_gates_that_go_on() {
    let site = visited();
    let damage = "UPDATE occupancy SET inside = inside + device_id;
                  UPDATE interactions SET effect = NULL WHERE id % 2 = 0";
    let file = Connection::open(&site.db).expect("the file");
    file.execute_batch(damage).expect(damage);
    file.close().expect("closed");
    let served = Served::start(&site.db);
    let load = Load::start(
        served.address,
        &site,
        "y",
        &[(Shape::Single, 1), (Shape::Single, 1)],
    );
    load.wait_for(5);
    let printed = check(&site.db, &["--repair"]);
    load.finish();
    assert_eq!(printed["findings"], json!([]));
    assert!(
        printed["mended"]["occupancies"]
            .as_i64()
            .is_some_and(|count| count > 0),
        "{printed}"
    );
    assert_ne!(printed["mended"]["effects"], 0);
    served.stop();
    let file = Connection::open(&site.db).expect("the file");
    assert_eq!(evidence::troubles(&file), Vec::<String>::new());
    file.close().expect("closed");

    // Beside something worse nothing is mended: what it follows from may be gone.
    let file = Connection::open(&site.db).expect("the file");
    file.execute_batch("PRAGMA foreign_keys = 0; UPDATE delegates SET parent_id = 99 WHERE id = 3; UPDATE occupancy SET inside = 0")
        .expect("damage");
    file.close().expect("closed");
    assert!(!beside(&site.db, "-wal").exists());
    let before = contents(site.folder.path());
    let found = check(&site.db, &["--repair"]);
    let advice = |at: usize| found["findings"][at]["advice"].as_str().unwrap_or_default();
    assert!(advice(0).contains("no command mends this"), "{found}");
    assert!(advice(1).contains("once nothing worse is named"), "{found}");
    assert!(contents(site.folder.path()) == before, "it wrote something");
}

#[test]
fn a_damaged_index_for_searching_stops_nobody() {
    let site = visited();
    let damage = || {
        let file = Connection::open(&site.db).expect("the file");
        let sql = "DELETE FROM delegates_search_data
                   WHERE id = (SELECT max(id) FROM delegates_search_data)";
        file.execute_batch(sql).expect("damage");
    };
    damage();
    let found = check(&site.db, &[]);
    let advice = found["findings"][0]["advice"].as_str().unwrap_or_default();
    assert!(advice.contains("gatepost check --repair"), "{found}");
    // Nobody is written whom searches would not find; everything else goes on.
    let list = site.folder.path().join("list.csv");
    std::fs::write(&list, "barcode\nnew\n").expect("a list");
    let list = list.to_str().expect("a name");
    let refused = gatepost(&site.db, &["import", "delegates", list]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    has(&told, "no record is lost");
    for command in [&["client", "list"][..], &["export", "delegates"]] {
        let output = gatepost(&site.db, command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    let mended = check(&site.db, &["--repair"]);
    assert_eq!(
        (&mended["findings"], &mended["mended"]["searchIndex"]),
        (&json!([]), &json!(true))
    );
    // The server mends it by itself before it lets anybody in.
    damage();
    Served::start(&site.db).stop();
    assert_eq!(check(&site.db, &[])["findings"], json!([]));
}

#[test]
fn the_index_for_searching_is_mended_without_a_server() {
    let site = visited();
    let file = Connection::open(&site.db).expect("the file");
    file.execute_batch("INSERT INTO delegates_search (delegates_search) VALUES ('delete-all')")
        .expect("damage");
    file.close().expect("closed");
    let served = Served::start(&site.db);
    let refused = gatepost(&site.db, &["check", "--repair"]);
    assert_eq!(refused.status.code(), Some(1));
    served.stop();
    assert_eq!(
        check(&site.db, &[])["findings"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(check(&site.db, &["--repair"])["findings"], json!([]));
    let file = Connection::open(&site.db).expect("the file");
    let barcode: String = file
        .query_row(
            "SELECT barcode FROM delegates WHERE length(barcode) >= 3",
            [],
            |row| row.get(0),
        )
        .expect("a barcode");
    let indexed = gatepost::db::search_index::indexed("barcode", &barcode);
    let query = format!("barcode : \"{}\"", &indexed[..3]);
    let found: i64 = file
        .query_row(
            "SELECT count(*) FROM delegates_search WHERE delegates_search MATCH ?1",
            [query],
            |row| row.get(0),
        )
        .expect("a search");
    assert!(found > 0);
}
