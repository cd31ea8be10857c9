//! What is measured on must be what an event makes; the server's own check says whether it is.

use gatepost::ops::check;
use std::process::Command;

#[test]
fn the_load_generator_makes_a_sound_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("load.db");
    let made = Command::new(env!("CARGO_BIN_EXE_load"))
        .args([
            "prepare",
            "--delegates",
            "300",
            "--sessions",
            "5",
            "--interactions",
            "900",
            "--db",
        ])
        .arg(&db)
        .output()
        .expect("load");
    assert!(made.status.success(), "{made:?}");
    let report = check::look(&db, &mut |_| {}).expect("a report");
    let findings: Vec<_> = report.findings.iter().map(|one| &one.what).collect();
    assert!(findings.is_empty(), "{findings:?}");
    let file = rusqlite::Connection::open(&db).expect("the file");
    let count = |what: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {what}");
        file.query_row(&sql, [], |row| row.get(0)).expect("a count")
    };
    assert_eq!((count("delegates"), count("interactions")), (300, 1200));
}
