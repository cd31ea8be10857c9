//! The commands, by the real binary on a file of their own.

mod configuration;
mod lists;
mod readers;

use crate::{
    data::Site,
    harness::{Server, has, words},
};
use gatepost::identity::Role;
use serde_json::{Value, json};
use std::process::{Command, Output};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The standard output of a command that must succeed.
fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_demo_is_whole_and_the_same_each_time() {
    let content = || {
        let site = Site::new();
        let told = site.told(&["demo", "--date", "2026-11-21"]);
        demo_stands_at_noon(&site, &told);
        for (rows, count) in [
            ("delegates", 2_000),
            ("interactions", 20_000),
            ("devices WHERE device_type = 'session'", 40),
            ("inconsistencies WHERE settled_at IS NULL", 4),
        ] {
            assert_eq!(site.rows(rows), count, "{rows}");
        }
        assert!(site.rows("transactions") > 200);
        // A file that is not empty is refused.
        site.refused(&["demo"]);
        let connection = site.open();
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
fn demo_stands_at_noon(site: &Site, told: &Value) {
    assert_eq!(told["firstDay"], "2026-11-21");
    let noon = "SELECT unixepoch('2026-11-21 12:00:00') * 1000";
    let noon = site.count(noon);
    assert!(site.count("SELECT max(recorded_at) FROM interactions") <= noon);
    let sessions = format!(
        "SELECT count(*) FROM devices WHERE device_type = 'session' AND start_at < {noon} AND end_at > {noon}"
    );
    assert!(site.count(&sessions) > 0, "a session goes on");
    assert!(site.count("SELECT sum(inside) FROM occupancy") > 1_000);
    let late = "interactions WHERE created_at - moment > 60000 AND admitted = 0";
    assert_eq!(site.rows(late), 0, "what came in later");
    assert_eq!(told["conflicts"], site.rows("conflicts"));
    assert!(told["conflicts"].as_i64() > Some(0));
    let operator =
        "SELECT count(*) FROM users WHERE console_role = 'operator' AND password_hash IS NOT NULL";
    assert_eq!(site.count(operator), 1);
    assert_eq!(site.rows("device_pings"), 1);
    let bound = "SELECT count(*) FROM clients WHERE device_id IS NOT NULL";
    assert_eq!(site.count(bound), 1);
    assert!(told["gate"]["clientSecret"].is_string());
    let barcode = told["barcode"].as_str().expect("a barcode");
    site.done(&["barcode", "check", barcode]);
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
    gate.get("/gate").is(200);
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
    let site = Site::new();
    let run = |args: &[&str]| site.run(&[&["barcode"], args].concat());
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
    assert!(!site.db.exists());
}

#[test]
fn whoever_closes_the_pipe_has_seen_enough() {
    let site = Site::new();
    site.done(&["client", "add", "gate"]);
    for args in [&["openapi"][..], &["config", "export"], &["migrate"]] {
        let mut child = site.start(args);
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
    let site = Site::new();
    let commands = "client list, client revoke x, user list, config export, export delegates, import --list, migrate";
    for command in commands.split(", ") {
        let told = site.refused(&words(command).collect::<Vec<_>>());
        has(&told, "event.db does not exist");
        let left = std::fs::read_dir(site.folder.path())
            .expect("a folder")
            .count();
        assert_eq!(left, 0, "{command} made something");
    }
}

#[test]
fn usage_errors_exit_with_2_and_every_command_has_an_example() {
    let site = Site::new();
    assert_eq!(site.run(&["serve", "--nope"]).status.code(), Some(2));
    let commands = "serve, migrate, import, import delegates, import devices, import interactions, export, \
                    config export, config apply, client add, client list, client revoke, client rotate, user add, \
                    user list, user set, user remove, backup, restore, compact, check, barcode make, barcode check, \
                    openapi, completions, demo";
    for command in commands.split(", ") {
        let arguments: Vec<&str> = words(command).chain(["--help"]).collect();
        let help = site.done(&arguments);
        assert!(help.contains("Example"), "{command:?} has no example");
    }
    for command in ["client add", "client change", "user add", "user set"] {
        let arguments: Vec<&str> = words(command).chain(["--help"]).collect();
        let help = site.done(&arguments);
        for role in Role::ALL {
            let short = role.name().trim_start_matches("ROLE_OAUTH2_");
            has(&help, &short.to_lowercase().replace('_', "-"));
        }
    }
    let document: Value = serde_json::from_str(&site.done(&["openapi"])).expect("JSON");
    assert_eq!(document["openapi"], "3.0.0");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = site.done(&["completions", shell]);
        assert!(script.contains("--resume"), "{shell}: {script}");
    }
}
