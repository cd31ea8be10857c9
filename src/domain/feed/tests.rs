//! The law of the feed: whoever applies it, from wherever and at whatever speed, has what the file has.

use super::*;
use crate::{
    core::{Context, changes, records::write},
    db::{Tx, in_transaction, migrate},
    domain::{
        delegates::{self, blocked, merge},
        devices, erasure,
        interactions::{draft::Draft, record, remove},
        sales,
    },
    identity::{Principal, roles::Roles},
    types::{ClientId, DelegateCode, DelegateId, DeviceId, Timestamp, Zone, error::Result},
};
use proptest::{collection::vec, prelude::*};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A step that can happen to a file; numbers choose among the records that there are.
#[derive(Debug, Clone)]
enum Step {
    Attendee(u8),
    Place(u8),
    Rename(u8, u8),
    Parent(u8, u8),
    Delete(u8),
    Restore(u8),
    DeletePlace(u8),
    RestorePlace(u8),
    ErasePlace(u8),
    Erase(u8),
    Merge(u8, u8),
    Block(u8),
    Unblock,
    Interaction(u8, u8, u8),
    Remove(u8),
    Purchase(u8, u8),
    /// Nothing of this is committed.
    Undone(u8),
    Reset,
    /// Old changes go.
    Prune,
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let one = || 0_u8..8;
    prop_oneof![
        4 => one().prop_map(Attendee),
        2 => one().prop_map(Place),
        3 => (one(), one()).prop_map(|(which, name)| Rename(which, name)),
        3 => (one(), one()).prop_map(|(which, parent)| Parent(which, parent)),
        2 => one().prop_map(Delete),
        2 => one().prop_map(Restore),
        1 => one().prop_map(DeletePlace),
        1 => one().prop_map(RestorePlace),
        1 => one().prop_map(ErasePlace),
        2 => one().prop_map(Erase),
        2 => (one(), one()).prop_map(|(kept, other)| Merge(kept, other)),
        2 => one().prop_map(Block),
        1 => Just(Unblock),
        5 => (one(), one(), one()).prop_map(|(kind, who, at)| Interaction(kind, who, at)),
        2 => one().prop_map(Remove),
        2 => (one(), one()).prop_map(|(code, note)| Purchase(code, note)),
        1 => one().prop_map(Undone),
        1 => Just(Reset),
        1 => Just(Prune),
    ]
}

/// Steps that take no row away again: one that is gone would prove nothing.
fn adding() -> impl Strategy<Value = Step> {
    use Step::*;
    let one = || 0_u8..8;
    prop_oneof![
        3 => one().prop_map(Attendee),
        1 => one().prop_map(Place),
        3 => (one(), one()).prop_map(|(which, name)| Rename(which, name)),
        1 => one().prop_map(Delete),
        1 => one().prop_map(DeletePlace),
        3 => (one(), one(), one()).prop_map(|(kind, who, at)| Interaction(kind, who, at)),
        1 => (one(), one()).prop_map(|(code, note)| Purchase(code, note)),
    ]
}

/// The file as it is now, in another file.
fn duplicate(file: &Connection, folder: &tempfile::TempDir) -> Connection {
    let path = folder.path().join("older.db");
    file.execute("VACUUM INTO ?1", [path.to_str()]).unwrap();
    let older = Connection::open(path).unwrap();
    older
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
        .unwrap();
    older
}

fn file() -> Connection {
    let file = Connection::open_in_memory().unwrap();
    migrate::create(&file).unwrap();
    file
}

fn pick(tx: &Tx<'_>, sql: &str, which: u8) -> Result<Option<i64>> {
    let mut statement = tx.prepare_cached(sql)?;
    let ids: Vec<i64> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((!ids.is_empty()).then(|| ids[usize::from(which) % ids.len()]))
}

const ALIVE: &str = "SELECT id FROM delegates WHERE deleted_at IS NULL ORDER BY id";
const DELETED: &str = "SELECT id FROM delegates WHERE deleted_at IS NOT NULL ORDER BY id";
/// Not those that were merged into another, whose properties that has now.
const ERASABLE: &str = "SELECT id FROM delegates WHERE id NOT IN
    (SELECT record_id FROM audit WHERE action = 'merge' AND after ->> '$.into' IS NOT NULL) ORDER BY id";
const PLACES: &str = "SELECT id FROM devices WHERE deleted_at IS NULL ORDER BY id";
const DELETED_PLACES: &str = "SELECT id FROM devices WHERE deleted_at IS NOT NULL ORDER BY id";
const KINDS: [&str; 4] = ["check-in", "join", "lead", "connect"];

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Does what a step says. What is refused has changed nothing, and is none of the feed's business.
fn take(file: &Connection, now: i64, step: &Step, secrets: &mut BTreeSet<String>) {
    let ctx = Context::of_command("admin", Arc::default());
    let done: Result<()> =
        in_transaction(file, Timestamp(now), |tx| apply(tx, &ctx, step, secrets));
    if let (Err(cause), false) = (&done, matches!(step, Step::Undone(_))) {
        assert!(
            !matches!(cause.kind, crate::types::error::Kind::Defect),
            "{step:?}: {cause}"
        );
    }
}

#[expect(clippy::too_many_lines, reason = "an arm a step")]
fn apply(tx: &Tx<'_>, ctx: &Context, step: &Step, secrets: &mut BTreeSet<String>) -> Result<()> {
    let (people, rooms) = (&delegates::RESOURCE, &devices::RESOURCE);
    let patch = |id: i64, body: Value| write::patch(tx, ctx, people, id, object(body)).map(drop);
    match *step {
        Step::Attendee(number) => {
            let body = json!({"lastName": format!("Name-{number}-{}.", tx.now().0),
                "barcode": format!("B{number}-{}", tx.now().0)});
            write::create(tx, ctx, people, object(body)).map(drop)
        }
        Step::Place(number) => {
            let body = json!({"name": format!("Room {number}"),
                "deviceType": if number == 0 { "event" } else { "room" }});
            write::create(tx, ctx, rooms, object(body)).map(drop)
        }
        Step::Rename(which, name) => match pick(tx, ALIVE, which)? {
            Some(id) => patch(id, json!({"firstName": format!("First {name}")})),
            None => Ok(()),
        },
        Step::Parent(which, parent) => match (pick(tx, ALIVE, which)?, pick(tx, ALIVE, parent)?) {
            (Some(id), Some(parent)) => patch(id, json!({"parent": parent})),
            _ => Ok(()),
        },
        Step::Delete(which) => match pick(tx, ALIVE, which)? {
            Some(id) => write::delete(tx, ctx, people, id),
            None => Ok(()),
        },
        Step::Restore(which) => match pick(tx, DELETED, which)? {
            Some(id) => blocked::restore(tx, ctx, id),
            None => Ok(()),
        },
        Step::DeletePlace(which) => match pick(tx, PLACES, which)? {
            Some(id) => write::delete(tx, ctx, rooms, id),
            None => Ok(()),
        },
        Step::RestorePlace(which) => match pick(tx, DELETED_PLACES, which)? {
            Some(id) => devices::deleted::restore(tx, ctx, DeviceId(id)),
            None => Ok(()),
        },
        Step::ErasePlace(which) => match pick(tx, DELETED_PLACES, which)? {
            Some(id) => devices::deleted::erase(tx, ctx, DeviceId(id)),
            None => Ok(()),
        },
        Step::Erase(which) => match pick(tx, ERASABLE, which)? {
            Some(id) => {
                let name: Option<String> = tx.query_row(
                    "SELECT last_name FROM delegates WHERE id = ?1",
                    [id],
                    |row| row.get(0),
                )?;
                secrets.extend(name);
                let alive = tx.query_row(
                    "SELECT deleted_at IS NULL FROM delegates WHERE id = ?1",
                    [id],
                    |row| row.get(0),
                )?;
                if alive {
                    write::delete(tx, ctx, people, id)?;
                }
                erasure::at_once(tx, id)
            }
            None => Ok(()),
        },
        Step::Merge(kept, other) => match (pick(tx, ALIVE, kept)?, pick(tx, ALIVE, other)?) {
            (Some(kept), Some(other)) => merge::merge(
                tx,
                ctx,
                DelegateId(kept),
                DelegateId(other),
                &BTreeSet::new(),
            )
            .map(drop),
            _ => Ok(()),
        },
        Step::Block(which) => match pick(tx, ALIVE, which)? {
            Some(id) => {
                let code = DelegateCode::Barcode;
                let reason = blocked::REASONS[0];
                blocked::block(tx, ctx, DelegateId(id), code, reason, None).map(drop)
            }
            None => Ok(()),
        },
        Step::Unblock => {
            let found = tx.query_row("SELECT value FROM blocked_codes LIMIT 1", [], |row| {
                row.get::<_, String>(0)
            });
            match found {
                Ok(value) => blocked::unblock(tx, ctx, "barcode", &value, true).map(drop),
                Err(_) => Ok(()),
            }
        }
        Step::Interaction(kind, who, at) => {
            let (Some(one), Some(two)) = (pick(tx, ALIVE, who)?, pick(tx, ALIVE, at)?) else {
                return Ok(());
            };
            let kind = KINDS[usize::from(kind) % KINDS.len()];
            let mut body = json!({"interactionType": kind, "delegate": one});
            if kind == "connect" {
                body["secondDelegate"] = json!(two);
            } else if let Some(place) = pick(tx, PLACES, at)? {
                body["device"] = json!(place);
            }
            let draft = Draft::of_past(object(body), &Zone::default())?;
            record::record(tx, ctx, &draft).map(drop)
        }
        Step::Remove(which) => match pick(tx, "SELECT id FROM interactions ORDER BY id", which)? {
            Some(id) => remove::remove(tx, ctx, id),
            None => Ok(()),
        },
        Step::Purchase(code, note) => {
            let body = json!({"code": format!("T{code}"), "totalAmount": 100, "notes": format!("note {note}"),
                "items": [{"quantity": 1, "totalAmount": 100,
                    "delegates": [{"barcode": format!("T{code}-{note}"), "description": "Day"}]}]});
            let body = body.to_string().into_bytes();
            let sale = sales::Sale::read(&body);
            let received = sales::receive(tx, ctx, &body, &sale)?;
            while sales::tickets(tx, ctx, received, &sale)? {}
            Ok(())
        }
        Step::Undone(number) => {
            apply(tx, ctx, &Step::Attendee(number), secrets)?;
            apply(tx, ctx, &Step::Interaction(number, number, number), secrets)?;
            Err(crate::types::error::Error::unavailable("undone"))
        }
        Step::Reset => changes::reset(tx),
        Step::Prune => changes::prune(tx, Timestamp(tx.now().0 - 12), 100).map(drop),
    }
}

fn view() -> View {
    let roles: Roles = [
        Role::DelegateRead,
        Role::DeviceRead,
        Role::InteractionRead,
        Role::TxWrite,
    ]
    .into_iter()
    .collect();
    let caller = Principal {
        client: ClientId(1),
        client_name: "copy".to_owned(),
        device: None,
        user: None,
        delegate: None,
        roles,
        scopes: Vec::new(),
        visible_properties: None,
        expires_at: Timestamp(i64::MAX),
    };
    View::new(&caller, None, None, Zone::default()).unwrap()
}

type Records = BTreeMap<(&'static str, i64), String>;

/// The records that the file has.
fn truth(file: &Connection, view: &View) -> Records {
    let mut records = Records::new();
    for known in RecordType::ALL {
        for id in view.ids(file, known, 0, 10_000).unwrap() {
            let json = view.record(file, known, id).unwrap().unwrap();
            records.insert((known.name(), id), json);
        }
    }
    records
}

/// A copy that somebody keeps by the feed.
#[derive(Default)]
struct Copy {
    since: Option<Cursor>,
    records: Records,
}

impl Copy {
    /// Applies a page of the feed; whether there is more.
    fn go_on(
        &mut self,
        file: &Connection,
        view: &View,
        limit: usize,
        secrets: &BTreeSet<String>,
    ) -> bool {
        let here = Cursor {
            file: *b"the file",
            generation: changes::generation(file).unwrap(),
            view: view.fingerprint(),
            place: Place::Changes(changes::Position::default()),
            stamp: changes::Stamp::of(file).unwrap(),
        };
        let found = match page(file, view, here, self.since, limit) {
            Ok(found) => found,
            Err(cause) => {
                assert_eq!(cause.kind, crate::types::error::Kind::CursorGone);
                *self = Self::default();
                return true;
            }
        };
        for item in &found.items {
            match (&item.record, &item.action) {
                (None, _) => self.records.clear(),
                (Some((known, id)), Action::Upsert(json)) => {
                    assert!(
                        secrets.iter().all(|secret| !json.contains(secret)),
                        "{json}"
                    );
                    self.records.insert((known.name(), *id), json.clone());
                }
                (Some((known, id)), _) => drop(self.records.remove(&(known.name(), *id))),
            }
            // Whoever stops here goes on from here.
            self.since = Some(Cursor::parse(&item.cursor.encoded()).unwrap());
        }
        self.since = Some(found.cursor);
        found.more
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_copy_at_any_speed_equals_the_file(
        steps in vec((step(), 0_u8..3), 1..60),
        limits in (1_usize..5, 1_usize..40),
    ) {
        let (file, view) = (file(), view());
        let (mut quick, mut slow) = (Copy::default(), Copy::default());
        let mut secrets = BTreeSet::new();
        for (number, (step, pages)) in steps.iter().enumerate() {
            take(&file, i64::try_from(number).unwrap() * 3 + 1, step, &mut secrets);
            for _ in 0..*pages {
                quick.go_on(&file, &view, limits.0, &secrets);
            }
            if number % 9 == 0 {
                slow.go_on(&file, &view, limits.1, &secrets);
            }
        }
        let truth = truth(&file, &view);
        for (copy, limit) in [(&mut quick, limits.0), (&mut slow, limits.1)] {
            while copy.go_on(&file, &view, limit, &secrets) {}
            prop_assert_eq!(&copy.records, &truth);
        }
    }

    #[test]
    fn a_copy_equals_a_file_that_was_put_back(
        steps in (vec(step(), 0..20), vec((step(), 0_u8..3), 1..20), vec((adding(), 0_u8..2), 0..40)),
        limits in (1_usize..5, 1_usize..40),
    ) {
        let (folder, view) = (tempfile::tempdir().unwrap(), view());
        let (begun, lost, since) = steps;
        let (mut secrets, mut now) = (BTreeSet::new(), 0);
        let mut later = || { now += 3; now };
        let mut copies = [(Copy::default(), limits.0), (Copy::default(), limits.1)];
        let first = file();
        for step in &begun {
            take(&first, later(), step, &mut secrets);
            copies[0].0.go_on(&first, &view, limits.0, &secrets);
        }
        let older = duplicate(&first, &folder);
        // Who was erased by then alone is there again.
        let mut erased = secrets.clone();
        for (file, steps, secrets) in [(&first, &lost, &mut secrets), (&older, &since, &mut erased)] {
            for (step, pages) in steps {
                take(file, later(), step, secrets);
                for _ in 0..*pages {
                    for (copy, limit) in &mut copies {
                        copy.go_on(file, &view, *limit, secrets);
                    }
                }
            }
        }
        let truth = truth(&older, &view);
        for (copy, limit) in &mut copies {
            while copy.go_on(&older, &view, *limit, &erased) {}
            prop_assert_eq!(&copy.records, &truth);
        }
    }
}

#[test]
fn a_copy_of_changes_that_were_pruned_notices_a_file_that_was_put_back() {
    let (folder, view, none) = (tempfile::tempdir().unwrap(), view(), BTreeSet::new());
    let (first, mut copy) = (file(), Copy::default());
    take(&first, 1, &Step::Attendee(1), &mut BTreeSet::new());
    let older = duplicate(&first, &folder);
    for (step, now) in [(Step::Erase(0), 4), (Step::Prune, 100)] {
        take(&first, now, &step, &mut BTreeSet::new());
    }
    while copy.go_on(&first, &view, 10, &none) {}
    for number in 0..4 {
        let now = 103 + i64::from(number);
        take(&older, now, &Step::Attendee(number), &mut BTreeSet::new());
    }
    while copy.go_on(&older, &view, 10, &none) {}
    assert_eq!(copy.records, truth(&older, &view));
}

#[test]
fn every_change_comes_in_order_and_says_what_happened() {
    let (file, view) = (file(), view());
    let mut copy = Copy::default();
    let none = BTreeSet::new();
    while copy.go_on(&file, &view, 10, &none) {}
    let steps = [
        Step::Attendee(1),
        Step::Rename(0, 1),
        Step::Delete(0),
        Step::Restore(0),
        Step::Erase(0),
    ];
    let mut kinds = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        take(
            &file,
            i64::try_from(number).unwrap() * 3 + 1,
            step,
            &mut BTreeSet::new(),
        );
        let here = copy.since.unwrap();
        let found = page(&file, &view, here, Some(here), 10).unwrap();
        kinds.extend(found.items.iter().map(|item| item.kind));
        copy.since = Some(found.cursor);
    }
    assert_eq!(
        kinds,
        ["created", "updated", "deleted", "restored", "erased"]
    );
}
