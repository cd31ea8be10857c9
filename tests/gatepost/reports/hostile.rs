//! Hostile statements: each kind of harm over every table there is, and beside it something alike that
//! is allowed. Whatever they are, nothing is written, no secret is read, all of them end, and gates go
//! on meanwhile.

use crate::{
    faults::wire::PATIENCE,
    harness::{Server, words},
};
use gatepost::{
    db::sandbox::{QueryLimits, Sandbox},
    types::error::Result,
};
use rusqlite::types::{Value as Sql, ValueRef};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fmt::Write,
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// How long each may take here; on the server it is 30 s.
const MOST: Duration = Duration::from_millis(150);

/// What a kind of statement must come to.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    /// It is refused before it runs.
    Refused,
    /// It may run, but it fails or is stopped.
    Fails,
    /// It may well end by itself, with nothing secret.
    Ends,
}

struct Kind {
    name: String,
    end: End,
    /// With `{t}` for a table; without, it stands alone.
    hostile: Vec<String>,
    /// Something alike that is allowed.
    twin: String,
}

/// As long a text as there may be.
const LONG: &str = "hex(zeroblob(1000000))";

/// Every kind: those of the fixture, with statements that are too long to be written down.
fn kinds() -> Vec<Kind> {
    let text = include_str!("../../fixtures/hostile.sql")
        .replace("{endless}", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)")
        .replace("{hundreds}", "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n)")
        .replace("{long}", LONG);
    let kind = |part: &str| {
        let mut lines = part.lines().filter(|line| !line.is_empty());
        let (name, end) = lines
            .next()
            .and_then(|line| line.split_once(": "))
            .expect(part);
        let mut statements = lines.map(|line| line.replace("\\n", "\n"));
        let end = match end {
            "refused" => End::Refused,
            "fails" => End::Fails,
            _ => End::Ends,
        };
        let twin = statements.next().expect(part);
        Kind {
            name: name.to_owned(),
            end,
            hostile: long(name).into_iter().chain(statements).collect(),
            twin,
        }
    };
    text.split("\n== ").skip(1).map(kind).collect()
}

/// Statements of a kind that are made up.
fn long(name: &str) -> Vec<String> {
    // Each expression names the one before twice: compiled, they would be 2^40.
    let doubling = |uses: &str| {
        let each = |level: usize| {
            let before = format!("a{}", level - 1);
            format!(", a{level}(x) AS ({})", uses.replace('@', &before))
        };
        let all: String = (1..=40).map(each).collect();
        format!("WITH a0(x) AS (SELECT id FROM delegates){all} SELECT x FROM a40")
    };
    let nested = |columns: &str| {
        let innermost = "SELECT id AS x, 2 AS y FROM delegates".to_owned();
        (0..40).fold(innermost, |inner, _| {
            format!("SELECT {columns} FROM ({inner}) AS q")
        })
    };
    // As many values as a statement has room for, each as large as may be.
    let at_once = |count: usize, value: &str, rest: &str| {
        let nested = (0..count / 60).fold("1".to_owned(), |inner, _| {
            format!("max({}, {inner})", vec![value; 60].join(","))
        });
        format!("SELECT length({nested}){rest}")
    };
    let columns = (0..200)
        .map(|at| format!("x||{at} AS c{at}"))
        .collect::<Vec<_>>()
        .join(", ");
    let of_long = format!(" FROM (SELECT {LONG} AS x)");
    match name {
        "several statements" => vec![String::new()],
        "copies of copies" => vec![
            doubling("SELECT p.x FROM @ AS p, @ AS q"),
            doubling("SELECT (SELECT max(x) FROM @) + (SELECT min(x) FROM \"@\")"),
            doubling("SELECT x FROM '@' WHERE x IN [@]"),
            doubling("SELECT x FROM @/**/UNION ALL SELECT x FROM--\n`@`"),
            nested("x + x AS x"),
            nested("DISTINCT x || q.x AS \"x\""),
            nested("*, x || y AS x"),
            nested("coalesce([x], 'x', `x`) AS x"),
        ],
        "too much of a statement" => vec![
            format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000)),
            format!("SELECT 1{}", " + 1".repeat(4000)),
            format!("SELECT {}", vec!["1"; 300].join(", ")),
            vec!["SELECT 1"; 500].join(" UNION ALL "),
            format!("SELECT '{}'", "x".repeat(100_000)),
            format!("SELECT max({})", vec!["1"; 200].join(", ")),
            format!("SELECT {}1{}", "abs(".repeat(900), ")".repeat(900)),
        ],
        "values held all at once" => vec![
            at_once(9000, "x", &of_long),
            at_once(3600, "x||1", &of_long),
            at_once(780, LONG, ""),
            at_once(
                6000,
                "x",
                &format!(" FROM (SELECT {LONG} || id AS x FROM delegates)"),
            ),
            format!("SELECT {columns}{of_long}"),
        ],
        "texts that are compared for ever" => vec![
            format!("SELECT {LONG} LIKE '%{}1%'", "0%".repeat(90)),
            format!("SELECT {LONG} GLOB '*{}1*'", "0*".repeat(90)),
            format!("SELECT {LONG} LIKE '%{}%'", "0".repeat(5000)),
            format!(
                "SELECT count(*) FROM delegates WHERE {LONG} LIKE '%{}1%'",
                "0%".repeat(90)
            ),
        ],
        _ => vec![],
    }
}

const VIEWS: &str = "delegates devices events interactions presence refusals conflicts device_states device_pings \
                     transactions transaction_payments transaction_items transaction_delegates";

/// Every table of the file that is no view's.
fn secrets(server: &Server) -> Vec<String> {
    let all: String = server.value(
        "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    let tables = all.split(',').map(ToOwned::to_owned);
    tables
        .filter(|table| words(VIEWS).all(|view| view != table))
        .collect()
}

/// Each statement once for each table that it is about, some tables in turn: enough of each.
fn spread(kind: &Kind, secrets: &[String]) -> Vec<String> {
    let views: Vec<String> = words(VIEWS).map(ToOwned::to_owned).collect();
    let tables: Vec<String> = views.iter().chain(secrets).cloned().collect();
    let mut statements = Vec::new();
    for (at, hostile) in kind.hostile.iter().enumerate() {
        let (mark, among, most) = if hostile.contains("{t}") {
            ("{t}", &tables, 8)
        } else if hostile.contains("{s}") {
            ("{s}", &secrets.to_vec(), 12)
        } else if hostile.contains("{v}") {
            ("{v}", &views, 2)
        } else {
            statements.push(hostile.clone());
            continue;
        };
        for step in 0..most.min(among.len()) {
            let table = &among[(at * 5 + step * 3) % among.len()];
            statements.push(
                hostile
                    .replace(mark, table)
                    .replace("{s}", &secrets[at % secrets.len()]),
            );
        }
    }
    statements.sort();
    statements.dedup();
    statements
}

/// Runs a statement as a report would be; what it gives, as text, as far as 1 MiB.
fn run(server: &Server, sql: &str) -> (Result<String>, Duration) {
    let begun = Instant::now();
    let sandbox = Sandbox::open(&server.path()).expect("a sandbox");
    sandbox.hold(MOST, &QueryLimits::default()).expect("held");
    let mut given = String::new();
    let ran = sandbox.rows(
        sql,
        |_| Sql::Text("7".into()),
        |_| Ok(()),
        |row| {
            for value in row {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
                    given.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(1000)]));
                }
            }
            Ok(if given.len() > 1 << 20 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        },
    );
    (ran.map(|()| given), begun.elapsed())
}

/// Everything in the file but what check-ins write, as text.
fn content(server: &Server) -> BTreeMap<String, String> {
    let connection = rusqlite::Connection::open(server.path()).expect("the file");
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'delegates_search%'")
        .expect("tables");
    let rows = statement
        .query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .expect("tables");
    let mut content = BTreeMap::new();
    for row in rows {
        let (table, sql) = row.expect("a table");
        if table.starts_with("webhook")
            || ["interactions", "counters", "occupancy", "device_states"].contains(&&*table)
        {
            continue;
        }
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {table}"))
            .expect("rows");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("rows");
        let mut text = sql;
        while let Some(row) = rows.next().expect("a row") {
            for at in 0..columns {
                write!(text, "{:?}|", row.get_ref(at).expect("a value")).expect("a text");
            }
        }
        content.insert(table, text);
    }
    content
}

/// A venue with something in every table that is worth stealing; what must never be seen.
fn furnish(server: &Server) -> Vec<String> {
    let all = server.caller_with_all();
    for number in 0..50 {
        all.delegate(&json!({"barcode": format!("GUEST-{number}"), "delegateType": "guest"}));
    }
    all.device(&json!({"name": "Gate", "code": "gate"}));
    server.user("secret-user@example.org", &[], None);
    server.settings(&json!({"name": "SECRET-SETTING"}));
    server.sql(
        "INSERT INTO tls_certificate
             VALUES (1, x'00', CAST('SECRET-KEY' AS BLOB), '[]', 0, 0, x'00', CAST('SECRET-CA' AS BLOB), '[]', 0);
         INSERT INTO keys VALUES ('hashes', CAST('SECRET-ERASURE' AS BLOB));
         INSERT INTO console_sessions (hash, user_id, address, agent, created_at, seen_at, expires_at)
             VALUES (x'01', 1, 'SECRET-ADDRESS', 'x', 0, 0, 0);
         INSERT INTO second_factors VALUES (1, CAST('SECRET-FACTOR' AS BLOB), 0, '[\"SECRET-CODE\"]', 0);
         UPDATE clients SET name = 'SECRET-CLIENT';
         INSERT INTO delegates (public_id, first_name, sources, created_at, updated_at, deleted_at)
             VALUES ('gone', 'SECRET-DELETED', '[]', 0, 0, 1);",
    );
    let hash: String = server.value("SELECT password_hash FROM users");
    vec![
        "SECRET-".into(),
        "secret-user".into(),
        hash,
        "argon2".into(),
    ]
}

#[test]
fn five_hundred_hostile_statements_do_no_harm() {
    let server = Server::start();
    let unseen = furnish(&server);
    let secrets = secrets(&server);
    let kinds = kinds();
    assert!(kinds.len() >= 15, "{} kinds", kinds.len());
    let all = server.caller_with_all();
    let (delegate, device) = (all.delegate(&json!({})), all.device(&json!({})));
    let before = content(&server);
    let over = AtomicBool::new(false);
    let mut count = 0;
    std::thread::scope(|scope| {
        let gate = scope.spawn(|| {
            let mut check_ins = 0;
            while !over.load(Relaxed) {
                let body = json!({"delegate": delegate, "device": device});
                all.interact("check-in", &body).is(201);
                check_ins += 1;
            }
            check_ins
        });
        let faults: Vec<String> = kinds
            .iter()
            .flat_map(|kind| {
                let statements = spread(kind, &secrets);
                assert!(statements.len() >= 3, "{}: {}", kind.name, statements.len());
                count += statements.len();
                let judged = statements
                    .into_iter()
                    .filter_map(|sql| judge(&server, kind, &sql, &unseen));
                judged.collect::<Vec<_>>()
            })
            .collect();
        over.store(true, Relaxed);
        let check_ins = gate.join().expect("check-ins");
        assert!(
            faults.is_empty(),
            "{} faults:\n{}",
            faults.len(),
            faults.join("\n")
        );
        assert!(count >= 500, "{count} statements");
        assert!(
            check_ins > 0,
            "{check_ins} check-ins beside {count} statements"
        );
    });
    let after = content(&server);
    for (table, was) in &before {
        assert!(after[table] == *was, "{table} is another");
    }
    let checked: String = server.value("PRAGMA integrity_check");
    assert_eq!(checked, "ok");
    assert!(!std::path::Path::new("/tmp/gatepost-delegates.db").exists());
}

/// What is wrong with what a hostile statement came to, if anything.
fn judge(server: &Server, kind: &Kind, sql: &str, unseen: &[String]) -> Option<String> {
    let (ended, took) = run(server, sql);
    let shown: String = sql.chars().take(160).collect();
    let fault = |what: &str| Some(format!("{}: {what}: {shown}", kind.name));
    // One step cannot be interrupted; what would not end takes hours.
    if took > MOST + PATIENCE {
        return fault(&format!("took {took:?}"));
    }
    match (ended, kind.end) {
        (Ok(given), _) if unseen.iter().any(|secret| given.contains(secret)) => {
            fault(&format!("gave {given}"))
        }
        (Ok(given), End::Refused | End::Fails) => fault(&format!("gave {given:.100}")),
        (Err(cause), _)
            if unseen
                .iter()
                .any(|secret| cause.to_string().contains(secret)) =>
        {
            fault(&format!("told {cause}"))
        }
        // Before it ran it is told by the query, after that by the report.
        (Err(cause), End::Refused) if !cause.to_string().starts_with("query") => {
            fault(&format!("was not refused but failed: {cause}"))
        }
        _ => None,
    }
}

#[test]
fn something_alike_is_allowed_of_each_kind() {
    let server = Server::start();
    furnish(&server);
    for kind in kinds() {
        let (ended, _) = run(&server, &kind.twin);
        assert!(ended.is_ok(), "{}: {:?}", kind.name, ended.err());
    }
}

#[test]
fn what_is_refused_cannot_be_saved_either() {
    let server = Server::start();
    let secrets = secrets(&server);
    for kind in kinds() {
        if kind.end != End::Refused || kind.name == "parameters of other kinds" {
            continue;
        }
        for sql in spread(&kind, &secrets).iter().take(3) {
            let refused = super::report(sql).check(&server.path());
            assert!(refused.is_err(), "{}: {sql}", kind.name);
        }
        if !kind.twin.contains(':') {
            let twin = super::report(&kind.twin).check(&server.path());
            twin.expect(&kind.twin);
        }
    }
}
