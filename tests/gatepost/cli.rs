//! The commands, by the real binary on a file of their own.

use crate::harness::Server;
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

/// A folder with a list in it.
fn with_list(list: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("list.csv"), list).expect("a list");
    folder
}

#[test]
fn the_sample_list_goes_in_by_its_headers_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/attendees.csv");
    done(&gatepost(folder.path(), &["import", "delegates", list]));
    let rows = std::fs::read_to_string(list)
        .expect("the sample")
        .lines()
        .count()
        - 1;
    assert_eq!(
        count(folder.path(), "SELECT count(*) FROM delegates"),
        i64::try_from(rows).expect("few")
    );
    let complete = "SELECT count(*) FROM delegates WHERE barcode IS NULL OR first_name IS NULL OR sources != '[\"import\"]'";
    assert_eq!(count(folder.path(), complete), 0);
    let audited = "SELECT count(*) FROM audit WHERE action = 'create' AND record_type = 'delegate'";
    assert_eq!(
        count(folder.path(), audited),
        i64::try_from(rows).expect("few")
    );
}

#[test]
fn bad_rows_are_told_by_line_and_nothing_is_written() {
    let folder = with_list("Barcode,First name\nA-1,Ada\nA-1,Bob\n,\nA-4,Dan,more\nA-5,Eve\n");
    let output = gatepost(folder.path(), &["import", "delegates", "list.csv"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout) + &text(&output.stderr);
    for line in ["line 3", "line 5"] {
        assert!(told.contains(line), "{line} is missing in {told}");
    }
    assert!(!told.contains("line 4"), "nothing stands in it: {told}");
    assert!(
        !folder.path().join("event.db").exists()
            || count(folder.path(), "SELECT count(*) FROM delegates") == 0
    );
    done(&gatepost(
        folder.path(),
        &["import", "delegates", "list.csv", "--skip-bad"],
    ));
    assert_eq!(count(folder.path(), "SELECT count(*) FROM delegates"), 2);
}

#[test]
fn whatever_comes_of_it_the_answer_in_json_is_one_document() {
    let folder = with_list("Barcode,First name\nA-1,Ada\nA-1,Bob\n");
    let told = |args: &[&str], code: i32| -> Value {
        let output = gatepost(folder.path(), &[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("one document")
    };
    let refused = told(&["import", "delegates", "list.csv"], 1);
    assert_eq!(refused["bad"][0]["line"], 3);
    assert_eq!(refused["imported"], 0);
    let error = refused["error"].as_str().expect("a sentence");
    assert!(error.contains("1 of 2 rows are bad"), "{error}");
    let taken = told(&["import", "delegates", "list.csv", "--skip-bad"], 0);
    assert_eq!((&taken["imported"], taken.get("error")), (&json!(1), None));
    told(&["import", "--resume", "99"], 1);

    told(&["user", "add", "ada@example.org"], 0);
    let removed = told(&["user", "remove", "ada@example.org"], 0);
    assert_eq!(removed["removed"]["email"], "ada@example.org");
    let again = told(&["user", "remove", "ada@example.org"], 1);
    assert!(again["error"].is_string());
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = with_list("Ticket code;E-mail\nA-1;ada@example.org\n");
    let told = done(&gatepost(
        folder.path(),
        &["import", "delegates", "list.csv", "--dry-run"],
    ));
    assert!(told.contains("barcode"), "{told}");
    assert!(!folder.path().join("event.db").exists());
}

#[test]
fn headers_are_mapped_and_unknown_columns_kept() {
    let folder = with_list("Nummer,Wer,Menü\nA-1,Ada,vegan\n");
    let map = [
        "import",
        "delegates",
        "list.csv",
        "--map",
        "Nummer=barcode",
        "--map",
        "Wer=firstName",
    ];
    done(&gatepost(folder.path(), &map));
    let kept = "SELECT count(*) FROM delegates WHERE barcode = 'A-1' AND first_name = 'Ada' AND data ->> '$.Data.Menü' = 'vegan'";
    assert_eq!(count(folder.path(), kept), 1);
    let unknown = gatepost(
        folder.path(),
        &["import", "delegates", "list.csv", "--map", "Nummer=barcod"],
    );
    assert_ne!(unknown.status.code(), Some(0));
    assert!(text(&unknown.stderr).contains("barcod"));
}

#[test]
fn the_same_list_goes_in_twice_only_when_that_is_said() {
    let folder = with_list("First name\nAda\nBob\n");
    let import = ["import", "delegates", "list.csv"];
    let people = || count(folder.path(), "SELECT count(*) FROM delegates");
    done(&gatepost(folder.path(), &import));
    let refused = gatepost(folder.path(), &import);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("--again"),
        "{}",
        text(&refused.stderr)
    );
    // Another name is the same list.
    let other = folder.path().join("other.csv");
    std::fs::copy(folder.path().join("list.csv"), other).expect("a copy");
    let renamed = gatepost(folder.path(), &["import", "delegates", "other.csv"]);
    assert_eq!((renamed.status.code(), people()), (Some(1), 2));
    done(&gatepost(
        folder.path(),
        &[&import[..], &["--again"]].concat(),
    ));
    assert_eq!(
        (
            people(),
            count(folder.path(), "SELECT count(*) FROM batches")
        ),
        (4, 2)
    );
}

#[test]
fn an_import_is_seen_by_a_server_on_the_file() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let device = caller.device(
        &json!({"name": "Hall", "code": "hall", "data": {"Access": {"ruleSet": "simple"}}}),
    );
    std::fs::write(server.folder.path().join("list.csv"), "Barcode\nA-1\n").expect("a list");
    let output = Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .arg("--db")
        .arg(server.path())
        .args(["import", "delegates"])
        .arg(server.folder.path().join("list.csv"))
        .args(["--join", "code:hall"])
        .output()
        .expect("the binary runs");
    done(&output);
    let entered = caller.interact(
        "check-in",
        &json!({"delegate": "barcode:A-1", "device": device}),
    );
    assert_eq!(entered.status, 201, "{entered:?}");
}

#[test]
fn the_demo_is_whole_and_the_same_each_time() {
    let content = || {
        let folder = tempfile::tempdir().expect("a folder");
        done(&gatepost(folder.path(), &["demo"]));
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
    assert_eq!(gate.get("/ping").status, 200);
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
    assert!(!done(&run(&["client", "list", "--json"], "")).contains(&text_of("clientSecret")));
}

#[test]
fn configuration_goes_out_and_in_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let apply = |document: &Value| {
        std::fs::write(folder.path().join("config.json"), document.to_string())
            .expect("a document");
        gatepost(folder.path(), &["config", "apply", "config.json"])
    };
    done(&apply(
        &json!({"settings": {"timeZone": "Europe/Berlin", "access": {"ruleSet": "simple"}}}),
    ));
    let bad = apply(&json!({"settings": {"name": "Summit", "timeZone": "Mars/Olympus"}}));
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stderr).contains("timeZone"));
    let kept: Value =
        serde_json::from_str(&done(&gatepost(folder.path(), &["config", "export"]))).expect("JSON");
    assert_eq!(
        kept["settings"],
        json!({"access": {"ruleSet": "simple"}, "timeZone": "Europe/Berlin"})
    );
    assert_ne!(apply(&json!({"setings": {}})).status.code(), Some(0));
}

#[test]
fn regions_go_out_and_in_and_a_bad_template_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let apply = |document: &Value, options: &[&str]| {
        std::fs::write(folder.path().join("config.json"), document.to_string())
            .expect("a document");
        gatepost(
            folder.path(),
            &[&["config", "apply", "config.json"], options].concat(),
        )
    };
    let export = || -> Value {
        let text = done(&gatepost(folder.path(), &["config", "export"]));
        serde_json::from_str::<Value>(&text).expect("JSON")["regions"].clone()
    };
    let welcome = json!({
        "path": "/api/delegate-info", "content": "Hello {{ delegate.firstName }}", "tags": ["a"],
        "references": ["hall"], "publishedFrom": "2026-11-21T09:00:00+00:00", "publishedTo": null,
    });
    let hall = json!({"path": "/api/device-info/hall", "content": "{{ device.name }}"});
    done(&apply(&json!({"regions": [welcome, hall]}), &[]));
    let both = export();
    assert_eq!(both[0], welcome);
    assert_eq!(both[1]["tags"], json!([]));
    // What it wrote, it takes back, and nothing has changed.
    let text_of_all = done(&gatepost(folder.path(), &["config", "export"]));
    let mut all: Value = serde_json::from_str(&text_of_all).expect("JSON");
    done(&apply(&all, &["--prune"]));
    assert_eq!(export(), both);
    let audited = |folder: &std::path::Path| -> i64 {
        let connection = rusqlite::Connection::open(folder.join("event.db")).expect("the file");
        let sql = "SELECT count(*) FROM region_versions";
        connection.query_row(sql, [], |row| row.get(0)).expect(sql)
    };
    assert_eq!(audited(folder.path()), 2);
    let bad = json!({"path": "/api/delegate-info/b", "content": "a\n\n{{ delegate.x | shout }}"});
    let refused = apply(&json!({"regions": [hall, bad]}), &["--prune"]);
    assert_eq!(refused.status.code(), Some(1));
    let told = text(&refused.stderr);
    assert!(
        told.contains("/api/delegate-info/b") && told.contains("line 3"),
        "{told}"
    );
    for (wrong, about) in [
        (json!([{"path": "/x", "content": ""}]), "path"),
        (json!([{"path": "/api/delegate-info"}]), "content"),
        (json!([hall, hall]), "stands twice"),
        (
            json!([{"path": "/api/delegate-info", "content": "", "tag": []}]),
            "tag",
        ),
        (
            json!([{"path": "/api/delegate-info", "content": "", "publishedTo": "soon"}]),
            "publishedTo",
        ),
    ] {
        let refused = apply(&json!({ "regions": wrong }), &[]);
        assert_eq!(refused.status.code(), Some(1), "{wrong}");
        assert!(text(&refused.stderr).contains(about), "{refused:?}");
    }
    assert_eq!(export(), both);
    all["regions"] = json!([hall]);
    done(&apply(&all, &["--prune"]));
    assert_eq!(export().as_array().map(Vec::len), Some(1));
}

#[test]
fn the_logo_goes_along_with_the_configuration() {
    let [office, venue] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let apply = |folder: &Path, document: &Value, options: &[&str]| {
        std::fs::write(folder.join("config.json"), document.to_string()).expect("a document");
        let arguments = [&["config", "apply", "config.json"], options].concat();
        gatepost(folder, &arguments)
    };
    let exported = |folder: &Path| -> Value {
        serde_json::from_str(&done(&gatepost(folder, &["config", "export"]))).expect("JSON")
    };
    let stored = |folder: &Path| count(folder, "SELECT count(*) FROM logo");
    let logo = "data:image/gif;base64,R0lGODlhAQABAA==";
    let document = json!({"settings": {"name": "Summit", "logo": logo}});
    done(&apply(office.path(), &document, &["--dry-run"]));
    assert_eq!(stored(office.path()), 0);
    done(&apply(office.path(), &document, &[]));
    let whole = exported(office.path());
    assert_eq!(whole["settings"], document["settings"]);
    done(&apply(venue.path(), &whole, &[]));
    assert_eq!(exported(venue.path()), whole);
    // What is not named stays; what is no picture is named, and nothing is changed then.
    done(&apply(
        venue.path(),
        &json!({"settings": {"name": "Fair"}}),
        &[],
    ));
    for wrong in [
        json!(7),
        json!("logo.gif"),
        json!("data:image/png;base64,PHN2Zy8+"),
        json!(format!("data:image/gif;base64,{}", "R0lG".repeat(200_000))),
    ] {
        let document = json!({"settings": {"name": "X", "logo": wrong}});
        let refused = apply(venue.path(), &document, &[]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            text(&refused.stderr).contains("logo: "),
            "{}",
            text(&refused.stderr)
        );
    }
    assert_eq!(
        exported(venue.path())["settings"],
        json!({"name": "Fair", "logo": logo})
    );
    let told = "SELECT count(*) FROM audit WHERE record_type = 'logo'";
    assert_eq!(count(venue.path(), told), 1);
    done(&apply(
        venue.path(),
        &json!({"settings": {"logo": null}}),
        &[],
    ));
    assert_eq!(stored(venue.path()), 0);
    done(&apply(
        office.path(),
        &json!({"settings": {"name": "Y"}}),
        &["--prune"],
    ));
    assert_eq!(stored(office.path()), 0);
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
    for command in [&["openapi"][..], &["config", "export"], &["migrate"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gatepost"))
            .arg("--db")
            .arg(folder.path().join("event.db"))
            .args(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{command:?}: {output:?}"
        );
    }
}

#[test]
fn usage_errors_exit_with_2_and_every_command_has_an_example() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        gatepost(folder.path(), &["serve", "--nope"]).status.code(),
        Some(2)
    );
    for command in [
        &["serve"][..],
        &["migrate"],
        &["import"],
        &["import", "delegates"],
        &["import", "devices"],
        &["import", "interactions"],
        &["export"],
        &["config", "export"],
        &["config", "apply"],
        &["client", "add"],
        &["client", "list"],
        &["client", "revoke"],
        &["client", "rotate"],
        &["user", "add"],
        &["user", "list"],
        &["user", "set"],
        &["user", "remove"],
        &["backup"],
        &["restore"],
        &["check"],
        &["barcode", "make"],
        &["barcode", "check"],
        &["openapi"],
        &["demo"],
    ] {
        let help = done(&gatepost(folder.path(), &[command, &["--help"]].concat()));
        assert!(help.contains("Example"), "{command:?} has no example");
    }
    let document: Value =
        serde_json::from_str(&done(&gatepost(folder.path(), &["openapi"]))).expect("JSON");
    assert_eq!(document["openapi"], "3.0.0");
}
