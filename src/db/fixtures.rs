//! Files of released schema versions, as tests/fixtures has them. `rows.sql` there says what they hold.

use super::migrate::{RELEASED, schema_of, up_to};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use rusqlite::Connection;
use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

fn fixture(version: usize) -> PathBuf {
    Path::new(FOLDER).join(format!("schema-{version:02}.db.gz"))
}

#[test]
fn there_is_a_file_of_every_released_schema() {
    for version in 1..=RELEASED {
        assert!(
            fixture(version).exists(),
            "no file of schema {version}; add what is new to rows.sql and run `cargo test --lib write_fixtures -- --ignored`"
        );
    }
    assert!(
        !fixture(RELEASED + 1).exists(),
        "RELEASED of migrate.rs is behind tests/fixtures"
    );
}

#[test]
fn steps_of_released_schemas_stay() {
    for version in 1..=RELEASED {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let mut content = Vec::new();
        GzDecoder::new(&*std::fs::read(fixture(version)).unwrap())
            .read_to_end(&mut content)
            .unwrap();
        std::fs::write(&path, content).unwrap();
        let released = Connection::open(&path).unwrap();
        let mut migrated = Connection::open_in_memory().unwrap();
        up_to(&mut migrated, version);
        assert_eq!(
            schema_of(&migrated).unwrap(),
            schema_of(&released).unwrap(),
            "schema {version} is released: leave its step as it was, and add a step"
        );
    }
}

/// Writes those that there are not; what is there stays as it was made.
#[test]
#[ignore = "writes tests/fixtures, once a schema version is released"]
fn write_fixtures() {
    let rows = std::fs::read_to_string(Path::new(FOLDER).join("rows.sql")).unwrap();
    for version in (1..=RELEASED).filter(|version| !fixture(*version).exists()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let mut file = Connection::open(&path).unwrap();
        file.pragma_update(None, "page_size", 2048).unwrap();
        file.pragma_update(None, "application_id", super::APPLICATION_ID)
            .unwrap();
        for step in 1..=version {
            up_to(&mut file, step);
            for part in rows.split("-- version ").skip(1) {
                let (number, sql) = part.split_once('\n').unwrap();
                if number.trim() == step.to_string() {
                    file.execute_batch(sql)
                        .unwrap_or_else(|cause| panic!("version {step}: {cause}"));
                }
            }
        }
        file.execute_batch("VACUUM").unwrap();
        file.close().unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::write(fixture(version), packed.finish().unwrap()).unwrap();
    }
}
