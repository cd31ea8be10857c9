//! Backups by hand and by the plan, with a clock that the test holds; what is damaged is told.

use super::settings::hidden;
use crate::harness::{Server, whole};
use gatepost::{
    core::{Context, settings},
    db::{Durability, Store},
    identity::{App, ConsoleRole},
    ops::backup::{
        ledger::{self, Entry, Purpose},
        run, schedule,
    },
    types::Timestamp,
};
use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const HERE: &str = "/console/settings/backups";
const MINUTE: i64 = 60_000;

fn newest(app: &App) -> Entry {
    let entries = app
        .store
        .look_up(|connection| ledger::newest(connection, 1));
    entries.expect("a list").pop().expect("a backup")
}

fn backups_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_backup_by_hand_is_listed_checked_taken_along_and_deleted() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server
        .caller_with_all()
        .delegate(&json!({"firstName": "Ada"}));
    assert!(crew.get(HERE).shown().contains("No backups yet"));
    crew.post(&format!("{HERE}/now"), &[]).taken();
    let entry = newest(&server.app);
    assert!(entry.is_sound(), "{entry:?}");
    assert_eq!(
        entry.path.parent(),
        Some(server.folder.path().join("backups").as_path())
    );
    let of = |what: &str| format!("{HERE}/{}/{what}", entry.id);
    let shown = crew.get(HERE).shown();
    assert!(shown.contains(&entry.file_name()) && shown.contains("sound"));
    // A second one in the same second has a name of its own.
    crew.post(&format!("{HERE}/now"), &[]).taken();
    assert_ne!(newest(&server.app).path, entry.path);
    let answer = crew
        .request(Method::GET, &of("file"))
        .send()
        .expect("an answer");
    let name = answer.headers()["content-disposition"]
        .to_str()
        .expect("text")
        .to_owned();
    assert!(name.contains(&entry.file_name()), "{name}");
    let bytes = answer.bytes().expect("a file");
    assert_eq!(bytes, std::fs::read(&entry.path).expect("the backup"));
    server
        .caller_with_all()
        .delegate(&json!({"firstName": "Bob"}));
    assert!(!crew.get(HERE).shown().contains("checked just now"));
    let checked = crew.post(&of("check"), &[]).shown();
    assert!(crew.get(HERE).shown().contains("checked just now"));
    assert!(
        checked
            .contains("<td>Delegates</td><td class=\"end num\">1</td><td class=\"end num\">2</td>"),
        "{checked}"
    );
    crew.post(&of("delete"), &[]).taken();
    assert!(!entry.path.exists());
    assert_eq!(crew.get(&of("file")).status, 404);
    assert_eq!(
        server.value::<i64>("SELECT count(*) FROM audit WHERE record_type = 'backup'"),
        3
    );
}

#[test]
fn a_download_is_checked_and_leaves_nothing_behind() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server
        .caller_with_all()
        .delegate(&json!({"firstName": "Ada"}));
    let without_lock = || -> Vec<_> {
        backups_in(server.folder.path())
            .into_iter()
            .filter(|path| !path.to_string_lossy().ends_with(".backup.lock"))
            .collect()
    };
    let before = without_lock();
    let form = [("csrf", crew.csrf.as_str())];
    let request = crew.request(Method::POST, &format!("{HERE}/download"));
    let bytes = request
        .form(&form)
        .send()
        .expect("an answer")
        .bytes()
        .expect("a file");
    let copy = server.folder.path().join("copy.db");
    std::fs::write(&copy, bytes).expect("written");
    let connection = Connection::open(&copy).expect("a file");
    let count = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect(sql)
    };
    assert_eq!(count("SELECT count(*) FROM delegates"), 1);
    drop(connection);
    std::fs::remove_file(&copy).expect("gone");
    assert_eq!(before, without_lock());
}

#[test]
fn a_damaged_copy_is_told() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let caller = server.caller_with_all();
    for n in 0..200 {
        caller.delegate(&json!({"firstName": format!("Person {n}"), "barcode": format!("B{n}")}));
    }
    crew.post(&format!("{HERE}/now"), &[]).taken();
    let entry = newest(&server.app);
    let check = || crew.post(&format!("{HERE}/{}/check", entry.id), &[]);
    let whole = std::fs::read(&entry.path).expect("the backup");
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::write(&entry.path, bytes).expect("damaged");
        let told = check();
        assert_eq!(told.status, 422, "{told:?}");
        // Whoever looks later sees it, too.
        let listed = crew.get(HERE).shown();
        assert!(listed.contains("damaged</span>") && listed.contains("checked just now"));
    };
    check().shown();
    damaged(&|bytes| bytes.truncate(bytes.len() / 2));
    damaged(&|bytes| bytes.truncate(50));
    damaged(&|bytes| bytes[..16].fill(0));
    damaged(&|bytes| {
        // Pages in the middle: the header and the schema are as they were.
        let middle = bytes.len() / 2;
        for byte in &mut bytes[middle..middle + 40_000] {
            *byte = !*byte;
        }
    });
    damaged(&|bytes| bytes[68..72].fill(7));
    std::fs::write(&entry.path, &whole).expect("as it was");
    check().shown();
    assert!(!crew.get(HERE).shown().contains("damaged</span>"));
    std::fs::remove_file(&entry.path).expect("gone");
    check().refused(422, "not there any more");
    let wrong = "SELECT count(*) FROM backups WHERE check_failure IS NOT NULL";
    assert_eq!(
        server.value::<i64>(wrong),
        0,
        "a stick that is not plugged in is not damaged"
    );
    assert!(crew.get(HERE).shown().contains("not there now"));
}

#[test]
fn nothing_but_a_backup_of_ours_is_ever_deleted_or_overwritten() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let foreign = server.folder.path().join("thesis.txt");
    std::fs::write(&foreign, "years of work").expect("written");
    let list = |path: &Path| {
        let ctx_path = path.to_owned();
        let id = server
            .app
            .store
            .write(move |tx| {
                let id = ledger::begin(tx, Purpose::Manual, &ctx_path, tx.now())?;
                tx.execute(
                    "UPDATE backups SET finished_at = 1, bytes = 1 WHERE id = ?1",
                    [id],
                )?;
                Ok(id)
            })
            .wait();
        id.expect("listed")
    };
    let delete = |id: i64| crew.post(&format!("{HERE}/{id}/delete"), &[]);
    delete(list(&foreign)).refused(422, "no backup of Gatepost");
    delete(list(&server.path())).refused(422, "database file itself");
    delete(list(server.folder.path())).refused(422, "no backup of Gatepost");
    assert!(foreign.exists() && server.path().exists());
    let now = |folder: &str| crew.post(&format!("{HERE}/now"), &[("folder", folder)]);
    now("backups").refused(422, "whole path");
    now(&foreign.to_string_lossy()).refused(422, "a file, not a folder");
    now(&server.folder.path().join("stick").to_string_lossy()).refused(422, "plugged in");
    assert_eq!(
        std::fs::read_to_string(&foreign).expect("text"),
        "years of work"
    );
    let failed = newest(&server.app);
    assert!(failed.failure.is_some());
    delete(failed.id).taken();
}

/// A file without a server, so that nobody but the test looks at the clock.
fn alone(plan: &Value) -> (tempfile::TempDir, App) {
    let folder = tempfile::tempdir().expect("a folder");
    let store =
        Store::open(&folder.path().join("gatepost.db"), Durability::Normal).expect("a store");
    let app = App::new(store, None);
    set_plan(&app, plan);
    (folder, app)
}

fn set_plan(app: &App, plan: &Value) {
    let ctx = Context::of_command("admin", app.settings());
    let changes = [("backups".to_owned(), plan.clone())].into_iter().collect();
    app.store
        .write(move |tx| settings::save(tx, &ctx, &changes))
        .wait()
        .expect("a plan");
}

#[test]
fn the_plan_makes_backups_and_keeps_the_newest() {
    let (folder, app) = alone(&json!({"everyMinutes": 30, "keep": 3}));
    let own = folder.path().join("backups");
    let at = |minute: i64| {
        schedule::tick(
            &app.store,
            &app.settings(),
            Timestamp((30_000_000 + minute) * MINUTE),
        )
    };
    for (minute, made) in [
        (0, true),
        (0, false),
        (29, false),
        (30, true),
        (60, true),
        (89, false),
        // The server was off for a day, or the clock was put forward: one, not fifty.
        (1500, true),
        (1501, false),
        (1529, false),
        (1530, true),
        // The clock was put back by an hour: one at once, then by the new time.
        (1470, true),
        (1471, false),
        (1500, true),
    ] {
        assert_eq!(at(minute).expect("a backup"), made, "{minute}");
        assert!(!own.exists() || backups_in(&own).len() <= 3);
    }
    let kept = app
        .store
        .look_up(|connection| ledger::newest(connection, 10))
        .expect("a list");
    assert_eq!(kept.len(), 3);
    let mut listed: Vec<_> = kept.iter().map(|entry| entry.path.clone()).collect();
    listed.sort();
    assert_eq!(listed, backups_in(&own));
    assert!(kept.iter().all(Entry::is_sound));
    // Another start remembers when the last one was.
    let path = app.store.path().to_owned();
    drop(app);
    let app = App::new(
        Store::open(&path, Durability::Normal).expect("a store"),
        None,
    );
    let at = |minute: i64| {
        schedule::tick(
            &app.store,
            &app.settings(),
            Timestamp((30_000_000 + minute) * MINUTE),
        )
    };
    assert!(!at(1529).expect("a look") && at(1530).expect("a backup"));
}

#[test]
fn a_missing_stick_is_told_once_and_tried_again() {
    let stick = tempfile::tempdir().expect("a folder");
    let place = stick.path().join("stick");
    let (_folder, app) = alone(&json!({"everyMinutes": 60, "keep": 2, "folder": place}));
    let at = |minute: i64| {
        schedule::tick(
            &app.store,
            &app.settings(),
            Timestamp((30_000_000 + minute) * MINUTE),
        )
    };
    assert!(at(0).expect_err("no stick").message.contains("plugged in"));
    assert!(!at(4).expect("a look"), "not at every tick");
    at(5).expect_err("no stick still");
    at(10).expect_err("no stick still");
    let all = app
        .store
        .look_up(|connection| ledger::newest(connection, 10))
        .expect("a list");
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(
        all[0]
            .failure
            .as_deref()
            .is_some_and(|why| why.contains("plugged in"))
    );
    std::fs::create_dir(&place).expect("plugged in");
    assert!(at(15).expect("a backup"));
    assert_eq!(backups_in(&place).len(), 1);
    // Nothing of another purpose or folder is thinned out.
    let ctx = Context::of_command("admin", app.settings());
    let by_hand = run::into_folder(&app.store, &ctx, Purpose::Manual, &place, Timestamp(1));
    let by_hand = by_hand.expect("a backup").path;
    for minute in [75, 135, 195] {
        assert!(at(minute).expect("a backup"));
    }
    let kept = backups_in(&place);
    assert!(kept.len() == 3 && kept.contains(&by_hand), "{kept:?}");
}

#[test]
fn trouble_with_the_plan_is_shown_where_people_look() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let stick = server.folder.path().join("stick");
    let form = |folder: &str, action: &str| {
        let seen = hidden(
            &crew.get(HERE).shown(),
            "/console/settings/backups/plan",
            "version",
        );
        let fields = [
            ("version", seen.as_str()),
            ("on", "on"),
            ("everyMinutes", "2"),
            ("unit", "hours"),
            ("keep", "5"),
            ("folder", folder),
            ("do", action),
        ];
        crew.post(&format!("{HERE}/plan"), &fields)
    };
    let place = stick.to_string_lossy().into_owned();
    form(&place, "save").refused(422, "plugged in");
    form("stick", "save").refused(422, "whole path");
    std::fs::create_dir(&stick).expect("plugged in");
    assert!(form(&place, "look").shown().contains("can be written to"));
    assert!(server.app.settings().backups.is_none());
    form(&place, "save").taken();
    let plan = server.app.settings().backups.clone().expect("a plan");
    assert_eq!(
        (plan.every_minutes, plan.keep, plan.folder),
        (120, 5, Some(stick))
    );
    assert!(crew.get(HERE).shown().contains(&place));
    // As the schedule would have found it, with the stick gone.
    server
        .app
        .store
        .write(|tx| {
            let id = ledger::begin(
                tx,
                Purpose::Scheduled,
                Path::new("/media/x/gatepost.db"),
                tx.now(),
            )?;
            ledger::failed(tx, id, "this folder is not there", tx.now())
        })
        .wait()
        .expect("written");
    assert!(crew.get(HERE).shown().contains("could not be made"));
    assert!(
        crew.get("/console")
            .shown()
            .contains("this folder is not there")
    );
}

#[test]
fn what_a_killed_server_began_is_ended_by_the_next() {
    let (folder, app) = alone(&Value::Null);
    let path = folder.path().join("gatepost-1.db");
    let half = folder.path().join("gatepost-1.db.part");
    std::fs::write(&half, "half").expect("written");
    let of_entry = path.clone();
    app.store
        .write(move |tx| ledger::begin(tx, Purpose::Manual, &of_entry, tx.now()))
        .wait()
        .expect("begun");
    assert_eq!(newest(&app).finished_at, None);
    run::end_interrupted(&app.store, Timestamp::now()).expect("ended");
    assert!(
        newest(&app)
            .failure
            .is_some_and(|why| why.contains("stopped"))
    );
    assert!(!half.exists());
}

#[test]
fn a_backup_in_the_serving_process_leaves_its_locks_alone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    crew.post(&format!("{HERE}/now"), &[]).taken();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gatepost"));
        let output = command.arg("--db").arg(server.path()).args(args).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    // Another process that closes the file takes its log away, unless our lock tells it not to; what
    // is written then would be in no file at all.
    let log = server.folder.path().join("gatepost.db-wal");
    run(&["user", "list"]);
    assert!(log.exists());
    server
        .caller_with_all()
        .delegate(&json!({"firstName": "Ada"}));
    assert!(run(&["export", "delegates"]).contains("Ada"));
}

#[test]
fn the_list_renews_itself_while_a_backup_is_made() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let part = || {
        let request = crew.request(Method::GET, &format!("{HERE}/list"));
        whole(request.header("HX-Request", "true")).text
    };
    assert!(!part().contains("hx-get"));
    let id = server
        .app
        .store
        .write(|tx| ledger::begin(tx, Purpose::Manual, Path::new("/x/y.db"), tx.now()))
        .wait()
        .expect("begun");
    assert!(part().contains("hx-get") && part().contains("in progress"));
    crew.post(&format!("{HERE}/{id}/delete"), &[])
        .refused(422, "not finished");
}
