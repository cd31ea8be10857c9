//! The commands, by the real binary on a file of their own.

mod configuration;
mod lists;

use crate::harness::{Server, has, words};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

/// Runs `gatepost --db <folder>/event.db ARGS`.
fn gatepost(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .arg("--db")
        .arg(folder.join("event.db"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The standard output of a command that must succeed.
fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn count(folder: &Path, sql: &str) -> i64 {
    let connection = rusqlite::Connection::open(folder.join("event.db")).expect("the file");
    connection.query_row(sql, [], |row| row.get(0)).expect(sql)
}

#[test]
fn the_demo_is_whole_and_the_same_each_time() {
    let content = || {
        let folder = tempfile::tempdir().expect("a folder");
        let told = done(&gatepost(
            folder.path(),
            &["demo", "--date", "2026-11-21", "--json"],
        ));
        let told: Value = serde_json::from_str(&told).expect("JSON");
        demo_stands_at_noon(folder.path(), &told);
        assert_eq!(
            count(folder.path(), "SELECT count(*) FROM delegates"),
            2_000
        );
        assert_eq!(
            count(folder.path(), "SELECT count(*) FROM interactions"),
            20_000
        );
        assert_eq!(
            count(
                folder.path(),
                "SELECT count(*) FROM devices WHERE device_type = 'session'"
            ),
            40
        );
        assert!(count(folder.path(), "SELECT count(*) FROM transactions") > 200);
        assert_eq!(
            count(
                folder.path(),
                "SELECT count(*) FROM inconsistencies WHERE settled_at IS NULL"
            ),
            4
        );
        let again = gatepost(folder.path(), &["demo"]);
        assert_eq!(
            again.status.code(),
            Some(1),
            "a file that is not empty is refused"
        );
        let connection =
            rusqlite::Connection::open(folder.path().join("event.db")).expect("the file");
        let sql = "SELECT group_concat(barcode || first_name || coalesce(data, '')) FROM (SELECT * FROM delegates ORDER BY id)
                   UNION ALL SELECT group_concat(interaction_type || recorded_at) FROM
                   (SELECT * FROM interactions WHERE interaction_type != 'connected' ORDER BY id)
                   UNION ALL SELECT group_concat(CAST(body AS TEXT)) FROM (SELECT * FROM transaction_bodies ORDER BY id)";
        let mut statement = connection.prepare(sql).expect(sql);
        let rows = statement
            .query_map([], |row| row.get::<_, String>(0))
            .expect(sql);
        rows.map(|row| row.expect("text")).collect::<Vec<_>>()
    };
    assert_eq!(content(), content());
}

/// The demo is of its date, with a crew and something to look at.
fn demo_stands_at_noon(folder: &Path, told: &Value) {
    assert_eq!(told["firstDay"], "2026-11-21");
    let noon = "SELECT unixepoch('2026-11-21 12:00:00') * 1000";
    let noon = count(folder, noon);
    assert!(count(folder, "SELECT max(recorded_at) FROM interactions") <= noon);
    let sessions = format!(
        "SELECT count(*) FROM devices WHERE device_type = 'session' AND start_at < {noon} AND end_at > {noon}"
    );
    assert!(count(folder, &sessions) > 0, "a session goes on");
    assert!(count(folder, "SELECT sum(inside) FROM occupancy") > 1_000);
    assert_eq!(
        told["conflicts"],
        count(folder, "SELECT count(*) FROM conflicts")
    );
    assert!(told["conflicts"].as_i64() > Some(0));
    let operator =
        "SELECT count(*) FROM users WHERE console_role = 'operator' AND password_hash IS NOT NULL";
    assert_eq!(count(folder, operator), 1);
    assert_eq!(count(folder, "SELECT count(*) FROM device_pings"), 1);
    let bound = "SELECT count(*) FROM clients WHERE device_id IS NOT NULL";
    assert_eq!(count(folder, bound), 1);
    assert!(told["gate"]["clientSecret"].is_string());
    let barcode = told["barcode"].as_str().expect("a barcode");
    done(&gatepost(folder, &["barcode", "check", barcode]));
}

#[test]
fn clients_and_users_are_kept_from_the_command_line() {
    let server = Server::start();
    let run = |args: &[&str], input: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gatepost"))
            .arg("--db")
            .arg(server.path())
            .args(args)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the binary runs");
        std::io::Write::write_all(
            &mut child.stdin.take().expect("its input"),
            input.as_bytes(),
        )
        .expect("written");
        child.wait_with_output().expect("it ends")
    };
    let made: Value = serde_json::from_str(&done(&run(
        &["client", "add", "Gate", "--gate", "--json"],
        "",
    )))
    .expect("JSON");
    let text_of = |name: &str| made[name].as_str().expect(name).to_owned();
    let gate = server.caller_of(&text_of("clientId"), &text_of("clientSecret"));
    gate.get("/ping").is(200);
    done(&run(
        &[
            "user",
            "add",
            "ada@example.org",
            "--password-stdin",
            "--role",
            "delegate-read",
        ],
        "correct horse\n",
    ));
    let token = server.token(&json!({"grant_type": "password", "client_id": made["clientId"],
        "client_secret": made["clientSecret"], "username": "ada@example.org", "password": "correct horse"}));
    assert!(token["refresh_token"].is_string());
    let short = run(
        &["user", "add", "bob@example.org", "--password-stdin"],
        "short\n",
    );
    assert_eq!(short.status.code(), Some(1));
    // Whoever works in the console needs a password that is hard to guess; others need not.
    let weak = |arguments: &[&str]| {
        let refused = run(arguments, "12345678\n");
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        has(text(&refused.stderr), "too easy to guess");
    };
    let add = ["user", "add", "bob@example.org", "--password-stdin"];
    weak(&[&add[..], &["--admin"]].concat());
    weak(&[&add[..], &["--console", "viewer"]].concat());
    done(&run(&add, "12345678\n"));
    let set = ["user", "set", "bob@example.org", "--password-stdin"];
    weak(&[&set[..], &["--console", "viewer"]].concat());
    // What an app's user signs in with was never checked: a promotion takes a new password.
    let promote = ["user", "set", "bob@example.org", "--console"];
    let refused = run(&[&promote[..], &["viewer"]].concat(), "");
    assert_eq!(refused.status.code(), Some(1));
    has(text(&refused.stderr), "--password-stdin");
    let promoted = [&set[..], &["--console", "viewer"]].concat();
    done(&run(&promoted, "correct horse battery\n"));
    done(&run(&[&promote[..], &["operator"]].concat(), ""));
    weak(&set);
    done(&run(&[&set[..], &["--no-console"]].concat(), "12345678\n"));
    assert!(!done(&run(&["client", "list", "--json"], "")).contains(&text_of("clientSecret")));
}

#[test]
fn barcodes_are_made_and_a_slip_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| gatepost(folder.path(), &[&["barcode"], args].concat());
    let made = done(&run(&["make", "tlh-26", "--sequence", "7", "--count", "3"]));
    let codes: Vec<&str> = made.lines().collect();
    assert_eq!(codes.len(), 3);
    for (code, sequence) in codes.iter().zip(7..) {
        assert!(code.starts_with("T1H26") && code.len() == 20, "{code}");
        let checked: Value =
            serde_json::from_str(&done(&run(&["check", code, "--json"]))).expect("JSON");
        let expected =
            json!({"barcode": code, "base": "T1H26", "sequence": sequence, "valid": true});
        assert_eq!(checked, expected);
    }
    let other = if codes[0].ends_with('0') { "1" } else { "0" };
    let slip = codes[0][..19].to_owned() + other;
    let told = run(&["check", &slip]);
    assert_eq!(told.status.code(), Some(1));
    assert!(text(&told.stdout).contains("check symbols"), "{told:?}");
    let told = run(&["check", &slip, "--json"]);
    assert_eq!(told.status.code(), Some(1));
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    assert_eq!(told["valid"], json!(false));
    let most = ["make", "A", "--sequence", "32767", "--json"];
    let made: Value = serde_json::from_str(&done(&run(&most))).expect("JSON");
    assert_eq!(made[0]["sequence"], json!(32767));
    let past = run(&["make", "A", "--sequence", "32767", "--count", "2"]);
    assert_eq!(past.status.code(), Some(1));
    assert_eq!(run(&["make", "A", "--count", "0"]).status.code(), Some(2));
    assert!(!folder.path().join("event.db").exists());
}

#[test]
fn whoever_closes_the_pipe_has_seen_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let command = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatepost"));
        command.arg("--db").arg(folder.path().join("event.db"));
        command.args(args);
        command
    };
    let made = command(&["client", "add", "gate"]).output();
    assert!(made.expect("it ends").status.success());
    for args in [&["openapi"][..], &["config", "export"], &["migrate"]] {
        let mut child = command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{args:?}: {output:?}"
        );
    }
}

#[test]
fn a_command_with_nothing_to_do_in_a_fresh_file_makes_none() {
    let folder = tempfile::tempdir().expect("a folder");
    for args in [
        &["client", "list"][..],
        &["client", "revoke", "x"],
        &["user", "list"],
        &["config", "export"],
        &["export", "delegates"],
        &["import", "--list"],
        &["migrate"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_gatepost"))
            .arg("--db")
            .arg(folder.path().join("mistyped.db"))
            .args(args)
            .output()
            .expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            told.contains("mistyped.db does not exist"),
            "{args:?}: {told}"
        );
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "{args:?} made something");
    }
}

#[test]
fn usage_errors_exit_with_2_and_every_command_has_an_example() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        gatepost(folder.path(), &["serve", "--nope"]).status.code(),
        Some(2)
    );
    let commands = "serve, migrate, import, import delegates, import devices, import interactions, export, \
                    config export, config apply, client add, client list, client revoke, client rotate, user add, \
                    user list, user set, user remove, backup, restore, compact, check, barcode make, barcode check, \
                    openapi, completions, demo";
    for command in commands.split(", ") {
        let arguments: Vec<&str> = words(command).chain(["--help"]).collect();
        let help = done(&gatepost(folder.path(), &arguments));
        assert!(help.contains("Example"), "{command:?} has no example");
    }
    let document: Value =
        serde_json::from_str(&done(&gatepost(folder.path(), &["openapi"]))).expect("JSON");
    assert_eq!(document["openapi"], "3.0.0");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = done(&gatepost(folder.path(), &["completions", shell]));
        assert!(script.contains("--resume"), "{shell}: {script}");
    }
}
