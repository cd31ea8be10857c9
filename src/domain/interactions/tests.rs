//! The cost of a scan on the writer: no statement is prepared twice, and none goes through what the same
//! person did at the same place before.

use super::{
    answers,
    draft::{BatchInput, Draft},
    presence::REPEAT_MAX,
    record::{self, Outcome},
    remove,
};
use crate::{
    core::{
        Context,
        idempotency::{self, Key},
        records::Selection,
    },
    db::{Durability, Priority, Store, connection::steps_of, in_transaction, migrate},
    domain::delegates,
    types::{ClientId, DelegateSelector, DeviceSelector, Timestamp, Zone, error::Result},
    web::batch::write_all,
};
use rusqlite::{
    Connection, StatementStatus,
    trace::{TraceEvent, TraceEventCodes},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// A place within a hall, as strict as rules go, with a person who may enter, and one with a note.
const VENUE: &str = r#"
    INSERT INTO clients (id, client_id, secret_hash, name, roles, scopes, created_at)
        VALUES (1, 'c', x'00', 'c', '[]', '[]', 0);
    INSERT INTO delegates (id, public_id, barcode, sources, created_at, updated_at)
        VALUES (1, 'a', 'A', '[]', 0, 0), (2, 'b', 'B', '[]', 0, 0);
    INSERT INTO gate_notes (delegate_id, level, note, actor, updated_at)
        VALUES (2, 'info', 'x', 'x', 0);
    INSERT INTO devices (id, parent_id, code, public_id, sources, data, created_at, updated_at)
        VALUES (8, NULL, 'HALL', 'h', '[]', '{"Access": {"capacity": 9}}', 0, 0),
               (9, 8, 'DOOR', 'd', '[]', '{"Access": {"ruleSet": "simple", "entry": "single", "capacity": 9}}', 0, 0);
    INSERT INTO interactions (interaction_type, first_delegate_id, first_device_id, recorded_at, created_at, effect)
        VALUES ('join', 1, 8, 0, 0, 2), ('join', 2, 8, 0, 0, 2);"#;

fn context() -> Context {
    Context {
        client: Some(ClientId(1)),
        ..Context::of_command("api", std::sync::Arc::default())
    }
}

fn draft(kind: &str, code: &str) -> Draft {
    Draft {
        kind: kind.to_owned(),
        delegates: [
            Some(DelegateSelector::parse(&format!("barcode:{code}")).unwrap()),
            None,
            None,
        ],
        devices: [
            Some(DeviceSelector::parse("code:DOOR").unwrap()),
            None,
            None,
        ],
        ..Draft::default()
    }
}

/// The runs and re-preparations of each statement that ended since it was watched.
static RAN: Mutex<BTreeMap<String, (u32, i32)>> = Mutex::new(BTreeMap::new());

fn watch(connection: &Connection) {
    let note = |event: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = event {
            let mut ran = RAN.lock().unwrap_or_else(PoisonError::into_inner);
            let (times, anew) = ran.entry(statement.sql().into_owned()).or_default();
            *times += 1;
            *anew = statement.get_status(StatementStatus::RePrepare).max(*anew);
        }
    };
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(note));
}

/// Watches so many connections for look-ups: those that are in use are not given again.
fn watch_readers(store: &Store, count: u32) -> Result<()> {
    store.look_up(|connection| {
        watch(connection);
        match count {
            0 | 1 => Ok(()),
            more => watch_readers(store, more - 1),
        }
    })
}

async fn scan(store: &Store, kind: &str, code: &str, nonce: Option<&str>) -> u16 {
    let ctx = context();
    let mut draft = draft(kind, code);
    draft.nonce = nonce.map(|nonce| (nonce.to_owned(), [0; 16]));
    let key = Key::of(&ctx, nonce.map(str::to_owned), "POST /x", || Ok([0; 16])).unwrap();
    let recorded = store.write_repeatable(Priority::Interactive, move |tx| {
        let render = |outcome: record::Recorded| super::answers::render_one(&outcome, &ctx);
        let work = || record::record(tx, &ctx, &draft);
        idempotency::once(tx, key.as_ref(), work, render).map(|once| once.rendered(render).status)
    });
    recorded.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_prepares_no_statement_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
    let venue = store.write(|tx| Ok(tx.execute_batch(VENUE)?));
    venue.await.unwrap();
    let watching = store.write(|tx| {
        watch(tx);
        Ok(())
    });
    watching.await.unwrap();
    watch_readers(&store, 4).unwrap();
    for round in 0..3 {
        for code in ["A", "B"] {
            let nonce = format!("{round}-{code}");
            for (kind, nonce, status) in [
                ("check-in", None, 201),
                ("check-in", None, 412),
                ("check-in-override", None, 201),
                ("check-out", Some(nonce.as_str()), 201),
                ("check-out", Some(nonce.as_str()), 201),
                ("lead", None, 201),
            ] {
                assert_eq!(scan(&store, kind, code, nonce).await, status, "{kind}");
            }
        }
        let items: serde_json::Map<String, Value> = ["in", "out"]
            .into_iter()
            .map(|way| {
                let kind = format!("check-{way}");
                let item = json!({"interactionType": kind, "delegate": 1, "device": 9, "nonce": format!("{round}{way}")});
                (way.to_owned(), item)
            })
            .collect();
        let input: BatchInput =
            serde_json::from_str(&json!({"interactions": items}).to_string()).unwrap();
        let ctx = context();
        let batch = answers::read_batch(input, &ctx).unwrap();
        let answers = write_all(&store, ctx, batch, None).await.unwrap();
        assert_eq!(answers.matches(":201,").count(), 2, "{answers}");
        let looked_up = store.look_up(|connection| {
            let id = delegates::find(connection, &DelegateSelector::parse("barcode:A")?)?;
            let ctx = context();
            record::test(connection, &ctx, &draft("check-in", "A"), Timestamp::now())?;
            Selection::all(&delegates::RESOURCE).one(connection, "id", &id, &Zone::default())
        });
        assert!(looked_up.unwrap().unwrap().contains("check-out"));
    }
    let ran = RAN.lock().unwrap();
    let most = ran.values().map(|(times, _)| *times).max();
    assert!(ran.len() > 20 && most > Some(20), "{ran:#?}");
    let anew: Vec<_> = ran.iter().filter(|(_, (_, anew))| *anew > 0).collect();
    assert!(anew.is_empty(), "{anew:#?}");
}

/// Steps of a scan at a place where the same person did the same so often before.
fn steps_after(kind: &str, scans_before: i64, access: &Value) -> u64 {
    let file = Connection::open_in_memory().unwrap();
    migrate::create(&file).unwrap();
    file.execute_batch(VENUE).unwrap();
    file.execute(
        "UPDATE devices SET data = ?1 WHERE id = 9",
        [json!({"Access": access}).to_string()],
    )
    .unwrap();
    // In, out, and what has no effect there; the last is a check-out, of the same moment.
    let before = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 * 3)
        INSERT INTO interactions (interaction_type, first_delegate_id, first_device_id, recorded_at, created_at, effect)
        SELECT 'x', 1, 9, n / 9, n / 9, iif(n % 3 = 2, NULL, n % 3 = 0) FROM n";
    file.execute(before, [scans_before]).unwrap();
    let ctx = context();
    let now = Timestamp(1_600_000_000_000);
    steps_of(&file, || {
        in_transaction(&file, now, |tx| {
            let recorded = record::record(tx, &ctx, &draft(kind, "A"))?;
            let Outcome::Created(made) = recorded.outcome else {
                panic!("{kind} at {access}: {:?}", recorded.outcome);
            };
            if kind == "check-in" {
                assert_eq!(recorded.repeat.map(|repeat| repeat.count), Some(REPEAT_MAX));
            }
            remove::remove(tx, &ctx, made.id.unwrap().0)
        })
        .unwrap();
    })
}

#[test]
fn a_scan_costs_the_same_however_often_the_person_was_there() {
    for kind in ["check-in", "check-in-override", "check-out", "join", "lead"] {
        for access in [
            json!({}),
            json!({"ruleSet": "simple", "entry": "single", "capacity": 5}),
        ] {
            if kind == "check-out" && access["entry"] == "single" {
                // They are out: it would be refused.
                continue;
            }
            let [few, many] = [200, 4_000].map(|scans| steps_after(kind, scans, &access));
            assert!(many <= few + few / 20, "{kind} {access}: {few}, {many}");
        }
    }
}
