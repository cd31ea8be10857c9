//! A backup takes the file's place: who was erased since is not in it.

use super::{Person, beside, gatepost, sample_person::fill, traces};
use crate::harness::{Caller, Server, has, lacks};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file whose server is stopped, from which a person was erased after a backup was made.
struct Site {
    folder: tempfile::TempDir,
    db: PathBuf,
    backup: PathBuf,
    person: Person,
}

impl Site {
    fn new() -> Self {
        let server = Server::start();
        let person = fill(&server, "huitzil");
        let backup = server.folder.path().join("backup.db");
        server.done(&["backup", "--output", backup.to_str().expect("a name")]);
        let myself = Caller::with_token(&server, &person.token);
        myself.delete("/delegate/myself").is(204);
        let since = server.caller_with_all();
        for at in 0..5 {
            since.delegate(&json!({"barcode": format!("since-{at}")}));
        }
        drop(since);
        drop(myself);
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("event.db");
        let copied = folder.path().join("backup.db");
        fs::copy(&backup, &copied).expect("a copy");
        let path = server.path();
        let live = folder.path().join("live.db");
        let made = gatepost(
            &path,
            &["backup", "--output", live.to_str().expect("a name")],
        );
        assert!(made.status.success(), "{made:?}");
        fs::rename(live, &db).expect("in place");
        Self {
            folder,
            db,
            backup: copied,
            person,
        }
    }

    fn restore(&self, more: &[&str]) -> (Option<i32>, Value, String) {
        let backup = self.backup.to_str().expect("a name");
        let output = gatepost(&self.db, &[&["restore", backup, "--json"], more].concat());
        let told = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let complained = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), told, complained)
    }

    fn value<T: rusqlite::types::FromSql>(&self, sql: &str) -> T {
        let connection = rusqlite::Connection::open(&self.db).expect("the file");
        connection.query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    /// What lies in the folder beside the file itself.
    fn others(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).expect("a folder");
        let names = names.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names
            .map(|name| name.into_string().expect("a name"))
            .collect();
        names.retain(|name| !["event.db", "event.db.lock", "backup.db"].contains(&name.as_str()));
        names.sort();
        names
    }
}

fn is_sound(db: &Path) {
    let checked = gatepost(db, &["check"]);
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn who_was_erased_since_the_backup_is_erased_from_it_again() {
    let site = Site::new();
    assert_eq!(
        traces(&site.backup, &site.person),
        site.person.words,
        "the backup has all of it"
    );
    let highest: i64 = site.value("SELECT max(id) FROM delegates");
    let (code, told, complained) = site.restore(&[]);
    assert_eq!((code, &*complained), (Some(0), ""), "{told}");
    assert_eq!(traces(&site.db, &site.person), Vec::<String>::new());
    assert_eq!(told["notAskedWhoWasErased"], json!([]));
    // The user, and the delegate; the record that was merged into that one goes along.
    assert_eq!(told["erasedAgain"], 2);
    is_sound(&site.db);
    assert_eq!(
        site.value::<i64>("SELECT count(*) FROM delegates WHERE barcode LIKE 'since-%'"),
        0
    );
    let noted: String =
        site.value("SELECT after FROM audit WHERE action = 'restore' AND record_type = 'file'");
    has(&noted, "backup.db");
    // What was there is there still, whole, and says so itself.
    let aside = PathBuf::from(told["putAside"].as_str().expect("a file"));
    is_sound(&aside);
    assert_eq!(
        site.others(),
        [aside
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")]
    );
    // An id that was given since is not given again.
    let store =
        gatepost::db::Store::open(&site.db, gatepost::db::Durability::Normal).expect("a store");
    let given = store.write(|tx| {
        tx.execute("INSERT INTO delegates (public_id, sources, created_at, updated_at) VALUES ('p', '[]', 1, 1)", [])?;
        Ok(tx.last_insert_rowid())
    }).wait();
    assert!(given.expect("an id") > highest);
    drop(store);
    // What it knows it hands on: the same backup once more, by way of the file it became.
    // As often as wanted, also within one second: each file that was in place is kept.
    for _ in 0..3 {
        let (code, told, complained) = site.restore(&[]);
        assert_eq!((code, &*complained), (Some(0), ""), "{told}");
        assert_eq!(told["erasedAgain"], 2);
        assert_eq!(traces(&site.db, &site.person), Vec::<String>::new());
    }
    assert_eq!(site.others().len(), 4);
}

#[test]
fn a_file_that_cannot_be_read_any_more_is_replaced_and_it_is_said_what_that_means() {
    let site = Site::new();
    fs::write(&site.db, vec![7; 100_000]).expect("damaged");
    let (code, told, complained) = site.restore(&[]);
    assert_eq!(code, Some(0), "{told}");
    has(&complained, "may be in it again");
    assert_eq!(told["erasedAgain"], 0);
    is_sound(&site.db);
    let aside = told["putAside"].as_str().expect("a file");
    assert_eq!(fs::read(aside).expect("the old file"), vec![7; 100_000]);
}

#[test]
fn one_that_was_moved_out_of_the_way_tells_who_was_erased() {
    let site = Site::new();
    let old = site.folder.path().join("old.db");
    fs::rename(&site.db, &old).expect("moved");
    let (code, told, _) = site.restore(&[]);
    assert_eq!(
        (code, &told["erasedAgain"], &told["putAside"]),
        (Some(0), &json!(0), &Value::Null)
    );
    assert_eq!(traces(&site.db, &site.person), site.person.words);
    let (code, told, complained) = site.restore(&["--erased-in", old.to_str().expect("a name")]);
    assert_eq!(
        (code, &told["erasedAgain"]),
        (Some(0), &json!(2)),
        "{complained}"
    );
    assert_eq!(traces(&site.db, &site.person), Vec::<String>::new());
}

#[test]
fn a_backup_that_is_put_in_place_by_hand_is_noticed() {
    let site = Site::new();
    fs::copy(&site.backup, &site.db).expect("by hand");
    let told = |args: &[&str]| String::from_utf8(gatepost(&site.db, args).stderr).expect("text");
    has(told(&["user", "list"]), "put here by hand");
    assert!(
        !told(&["user", "list"]).contains("put here by hand"),
        "once is enough"
    );
    let noted: String =
        site.value("SELECT after FROM audit WHERE action = 'restore' AND record_type = 'file'");
    assert_eq!(noted, r#"{"byHand":true}"#);
    let (code, ..) = site.restore(&[]);
    assert_eq!(code, Some(0));
    lacks(told(&["user", "list"]), "put here by hand");
}

#[test]
fn what_cannot_be_restored_leaves_the_file_as_it_was() {
    let site = Site::new();
    let before = fs::read(&site.db).expect("the file");
    let unchanged = |about: &str, args: &[&str]| {
        let output = gatepost(&site.db, &[&["restore"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{about}: {output:?}");
        let complained = String::from_utf8(output.stderr).expect("text");
        assert!(complained.contains(about), "no {about:?} in {complained}");
        assert!(fs::read(&site.db).expect("the file") == before, "{about}");
        let left = site.others();
        assert!(
            !left
                .iter()
                .any(|name| name.contains("restoring") || name.contains("before-restore")),
            "{left:?}"
        );
    };
    let own = site.db.to_str().expect("a name");
    unchanged("is the database file itself", &[own]);
    unchanged(
        "there is no backup there",
        &[site.folder.path().join("none.db").to_str().expect("a name")],
    );
    let broken = site.folder.path().join("broken.db");
    let mut bytes = fs::read(&site.backup).expect("the backup");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xAA);
    fs::write(&broken, &bytes).expect("broken");
    unchanged("", &[broken.to_str().expect("a name")]);
    bytes.truncate(middle);
    fs::write(&broken, &bytes).expect("cut off");
    unchanged("cut off", &[broken.to_str().expect("a name")]);
    fs::write(&broken, "no database").expect("foreign");
    unchanged("", &[broken.to_str().expect("a name")]);
    let backup = site.backup.to_str().expect("a name");
    unchanged("does not exist", &[backup, "--erased-in", "/nowhere.db"]);

    // Nor while it is in use: by a server, or by anything else.
    let lock = gatepost::db::ServeLock::take(&site.db).expect("the lock");
    unchanged("another `gatepost serve` runs", &[backup]);
    drop(lock);
    let store =
        gatepost::db::Store::open(&site.db, gatepost::db::Durability::Normal).expect("a store");
    store.look_up(|_| Ok(())).expect("a look");
    let output = gatepost(&site.db, &["restore", backup]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("another program has it open"),
        "{output:?}"
    );
    drop(store);
    assert!(!beside(&site.db, ".restoring").exists());
}
