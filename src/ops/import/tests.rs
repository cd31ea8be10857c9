//! Property tests with random lists whose rows refer to each other and to stored records in every
//! direction: rows that pass the check are written as they say, and an undone import leaves no trace.

use super::{Job, Left, Source, Stop, What, batches::Options, job::Request, source::Reading, undo};
use crate::{
    core::Context,
    db::{Durability, Store},
    ops::background::Background,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};
use std::{fs, ops::ControlFlow, path::Path, sync::Arc};

const BARCODES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
const OTHER_CODES: [&str; 4] = ["v", "w", "x", "y"];

fn reference() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => select(&BARCODES[..]).prop_map(|code| json!(format!("barcode:{code}"))),
        3 => select(&OTHER_CODES[..]).prop_map(|code| json!(format!("externalId:{code}"))),
        1 => Just(Value::Null),
        1 => (1..9_i64).prop_map(|id| json!({"id": id})),
    ]
}

/// A row: a delegate with a barcode, and now and then something that is wrong.
fn row() -> impl Strategy<Value = Map<String, Value>> {
    let barcode = select(&BARCODES[..]).prop_map(Value::from);
    let other = prop_oneof![
        4 => select(&OTHER_CODES[..]).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!(7)),
    ];
    let parent = option::weighted(0.6, reference());
    let beside = option::weighted(0.3, reference());
    (barcode, option::weighted(0.4, other), parent, beside).prop_map(
        |(barcode, other, parent, beside)| {
            let mut row = Map::from_iter([("barcode".to_owned(), barcode)]);
            let more = [
                ("externalId", other),
                ("parent", parent),
                ("previous", beside),
            ];
            row.extend(
                more.into_iter()
                    .filter_map(|(name, value)| Some((name.to_owned(), value?))),
            );
            row
        },
    )
}

/// Imports rows over each other, without the bad ones; the batch's id.
fn import(store: &Store, folder: &Path, number: usize, rows: &[Map<String, Value>]) -> i64 {
    let path = folder.join(format!("{number}.json"));
    fs::write(&path, serde_json::to_string(rows).unwrap()).unwrap();
    let options = Options {
        key: Some("barcode".into()),
        skip_bad: true,
        ..Options::default()
    };
    let request = Request {
        what: What::Delegates,
        options,
        device: None,
        again: true,
    };
    let source = Source::open(&path, Reading::default()).unwrap();
    let ctx = Context::of_command("import", Arc::default());
    let job = Job::check(
        Some(store),
        source,
        ctx,
        request,
        &Background::unchanged(),
        |_| ControlFlow::Continue(()),
    )
    .unwrap();
    let (good, known) = (job.checked.good(), job.checked.known);
    let bad: Vec<_> = (0..rows.len())
        .filter(|row| job.checked.bad.contains(*row as u64))
        .collect();
    let done = job.run(store, Stop::default(), |_| {}).unwrap();
    assert_eq!(done.late.listed(), [], "{rows:#?}");
    assert_eq!(done.unlinked.listed(), [], "{rows:#?}");
    assert_eq!((done.created + done.updated, done.updated), (good, known));
    for (number, row) in rows.iter().enumerate() {
        if !bad.contains(&number) {
            assert_has(store, row);
        }
    }
    done.batch
}

/// Asserts that a row's references by barcodes and ids, which nothing changes, are as it says.
fn assert_has(store: &Store, row: &Map<String, Value>) {
    for property in ["parent", "previous", "owner"] {
        let Some(said) = row.get(property) else {
            continue;
        };
        let expected = match said.as_str() {
            Some(selector) => match selector.strip_prefix("barcode:") {
                Some(barcode) => json!(barcode),
                None => continue,
            },
            None => said.get("id").cloned().unwrap_or_default(),
        };
        let sql = format!(
            "SELECT other.barcode, other.id FROM delegates d LEFT JOIN delegates other
             ON other.id = d.{property}_id WHERE d.barcode = ?1"
        );
        let (barcode, id): (Option<String>, Option<i64>) = store
            .look_up(|connection| {
                let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                Ok(connection.query_row(&sql, [row["barcode"].as_str()], read)?)
            })
            .unwrap();
        let found = if expected.is_string() {
            json!(barcode)
        } else {
            json!(id)
        };
        assert_eq!(found, expected, "{property} of {row:?}");
    }
}

/// Takes an import back, unless nothing is left of it; what stays.
fn taken_back(store: &Store, batch: i64) -> Vec<Left> {
    let ctx = Context::of_command("import", Arc::default());
    match undo(store, ctx, batch, Stop::default(), |_| {}) {
        Ok(undone) => undone.listed,
        Err(cause) => {
            assert!(
                cause.to_string().contains("is taken back already"),
                "{cause:?}"
            );
            Vec::new()
        }
    }
}

/// Takes the references of a delegate away, without a word in the audit.
fn part(store: &Store, id: i64) {
    let sql =
        "UPDATE delegates SET parent_id = NULL, previous_id = NULL, owner_id = NULL WHERE id = ?1";
    store
        .write(move |tx| Ok(tx.execute(sql, [id])?))
        .wait()
        .unwrap();
}

/// All delegates, but for when they were changed.
fn dump(store: &Store) -> String {
    let sql = "SELECT group_concat(concat_ws(' ', id, barcode, coalesce(external_id, '-'),
               coalesce(parent_id, '-'), coalesce(previous_id, '-'), coalesce(owner_id, '-')), '; ' ORDER BY id) FROM delegates";
    let text: Option<String> = store
        .look_up(|connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
        .unwrap();
    text.unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_let_in_is_written_and_taken_back(lists in vec(vec(row(), 1..8), 1..5)) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        let mut before = Vec::new();
        for (number, rows) in lists.iter().enumerate() {
            let was = dump(&store);
            before.push((import(&store, folder.path(), number, rows), was));
        }
        for (batch, was) in before.into_iter().rev() {
            // Those who refer to each other in a circle are left, until somebody parts them.
            let left = taken_back(&store, batch);
            for one in &left {
                prop_assert!(one.reason.starts_with("is referred to by"), "{one}");
                part(&store, one.record);
            }
            prop_assert_eq!(taken_back(&store, batch), []);
            prop_assert_eq!(dump(&store), was);
        }
    }

    #[test]
    fn in_whatever_order_nothing_refers_to_what_is_gone(
        (lists, order) in (2..5_usize).prop_flat_map(|count| {
            let order = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
            (vec(vec(row(), 1..8), count), order)
        })
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        let imports = lists.iter().enumerate();
        let batches: Vec<_> = imports
            .map(|(number, rows)| import(&store, folder.path(), number, rows))
            .collect();
        for number in order {
            taken_back(&store, batches[number]);
            let dangling = store
                .look_up(|file| Ok(file.prepare("PRAGMA foreign_key_check")?.exists([])?));
            prop_assert!(!dangling.unwrap());
        }
    }
}
