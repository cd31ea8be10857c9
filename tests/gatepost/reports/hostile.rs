//! Hostile statements: each kind of harm over every table there is, and beside it something alike that
//! is allowed. Whatever they are, nothing is written, no secret is read, all of them end, and gates go
//! on meanwhile.

use crate::harness::Server;
use gatepost::{
    error::Result,
    sandbox::{Leash, Sandbox},
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
/// What comes on top of it on a machine that does other things: one step cannot be interrupted.
const GRACE: Duration = Duration::from_secs(4);

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
    name: &'static str,
    end: End,
    /// With `{t}` for a table; without, it stands alone.
    hostile: Vec<String>,
    /// Something alike that is allowed.
    twin: &'static str,
}

fn kind(name: &'static str, end: End, hostile: &[&str], twin: &'static str) -> Kind {
    Kind {
        name,
        end,
        hostile: hostile.iter().map(|sql| (*sql).to_owned()).collect(),
        twin,
    }
}

/// An endless list of numbers, to make others of.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
/// As long a text as there may be.
const LONG: &str = "hex(zeroblob(1000000))";

#[expect(clippy::too_many_lines, reason = "a table")]
fn kinds() -> Vec<Kind> {
    use End::{Ends, Fails, Refused};
    let endless = |rest: &str| format!("{ENDLESS} {rest}");
    let mut kinds = vec![
        kind(
            "writing rows",
            Refused,
            &[
                "DELETE FROM {t}",
                "INSERT INTO {t} DEFAULT VALUES",
                "REPLACE INTO {t} DEFAULT VALUES RETURNING 1",
                "UPDATE {t} SET rowid = rowid RETURNING *",
                "WITH x AS (SELECT 1) DELETE FROM {t} RETURNING *",
            ],
            "SELECT 'DELETE FROM delegates' AS text, replace('INSERT', 'IN', 'DES') AS other",
        ),
        kind(
            "changing the schema",
            Refused,
            &[
                "DROP TABLE {t}",
                "DROP VIEW {t}",
                "ALTER TABLE {t} RENAME TO gone",
                "CREATE INDEX x ON {t} (id)",
                "CREATE TRIGGER x AFTER INSERT ON {t} BEGIN SELECT 1; END",
            ],
            "SELECT name AS \"table\" FROM devices",
        ),
        kind(
            "tables that hold secrets",
            Refused,
            &[
                "SELECT * FROM {s}",
                "SELECT count(*) FROM {s}",
                "SELECT rowid FROM {s} LIMIT 1",
                "SELECT (SELECT max(rowid) FROM {s}) FROM delegates",
                "SELECT id FROM delegates WHERE EXISTS (SELECT * FROM {s})",
                "SELECT * FROM delegates LEFT JOIN {s} ON 1",
                "SELECT id FROM delegates UNION ALL SELECT 1 FROM {s}",
                "SELECT * FROM \"{s}\"",
                "SELECT * FROM main.{s}",
                "SELECT * FROM file.{s}",
            ],
            "SELECT barcode FROM delegates UNION ALL SELECT code FROM devices",
        ),
        kind(
            "views under another's name",
            Refused,
            &[
                "WITH delegates AS (SELECT * FROM {s}) SELECT * FROM delegates",
                "WITH presence AS (SELECT * FROM {s}), devices AS (SELECT * FROM presence) SELECT * FROM devices",
                "SELECT * FROM (SELECT * FROM {s}) AS delegates",
                "WITH RECURSIVE events AS (SELECT * FROM {s} UNION SELECT * FROM events) SELECT * FROM events",
            ],
            "WITH delegates AS (SELECT name FROM devices) SELECT * FROM delegates",
        ),
        kind(
            "columns that views leave out",
            Refused,
            &[
                "SELECT deleted_at FROM delegates",
                "SELECT client_id FROM interactions",
                "SELECT user_id FROM transactions",
                "WITH presence AS (SELECT in_at FROM presence) SELECT * FROM presence",
                "WITH device_states AS (SELECT local_settings FROM device_states) SELECT * FROM device_states",
                "SELECT rowid FROM delegates",
                "SELECT oid, _rowid_ FROM interactions",
                "SELECT ping FROM device_pings",
            ],
            "SELECT count(*) AS people, min(created_at) AS first FROM delegates",
        ),
        kind(
            "tables of the schema",
            Refused,
            &[
                "SELECT * FROM sqlite_schema WHERE name = '{t}'",
                "SELECT sql FROM sqlite_master WHERE tbl_name = '{t}'",
                "SELECT sql FROM temp.sqlite_schema WHERE name = '{t}'",
                "SELECT * FROM sqlite_temp_master",
                "SELECT * FROM sqlite_sequence WHERE name = '{t}'",
                "SELECT * FROM sqlite_stat1",
                "SELECT * FROM dbstat",
                "SELECT * FROM main.sqlite_schema",
            ],
            "SELECT 'sqlite_schema' AS name",
        ),
        kind(
            "pragmas",
            Refused,
            &[
                "PRAGMA table_info({t})",
                "SELECT * FROM pragma_table_info('{t}')",
                "SELECT * FROM pragma_index_list('{t}')",
                "PRAGMA writable_schema = 1",
                "PRAGMA query_only = 0",
                "PRAGMA journal_mode = DELETE",
                "PRAGMA database_list",
                "SELECT file FROM pragma_database_list",
                "SELECT * FROM pragma_function_list",
                "PRAGMA temp_store_directory = '/'",
                "PRAGMA hard_heap_limit = 1",
                "PRAGMA key = 'x'",
            ],
            "SELECT 'table_info' AS pragma",
        ),
        kind(
            "other files",
            Refused,
            &[
                "ATTACH ':memory:' AS x",
                "ATTACH '/etc/passwd' AS {t}",
                "DETACH main",
                "VACUUM",
                "VACUUM INTO '/tmp/gatepost-{t}.db'",
                "SELECT load_extension('/tmp/{t}.so')",
                "SELECT readfile('/etc/passwd')",
                "SELECT writefile('/tmp/gatepost-{t}', 'x')",
                "SELECT edit('x')",
                "SELECT fts3_tokenizer('simple')",
                "SELECT * FROM fsdir('/')",
                "CREATE VIRTUAL TABLE x USING csv(filename = '/etc/passwd')",
                "CREATE VIRTUAL TABLE x USING fts5vocab({t}, row)",
            ],
            "SELECT '/etc/passwd' AS path, 'ATTACH' AS word",
        ),
        kind(
            "several statements",
            Refused,
            &[
                "SELECT 1; DELETE FROM {t}",
                "SELECT id FROM delegates; SELECT * FROM {s}",
                "SELECT 1;; PRAGMA query_only = 0; DELETE FROM {t}",
                ";",
                "",
            ],
            "SELECT 1 AS one;",
        ),
        kind(
            "comments that swallow",
            Refused,
            &[
                "SELECT 1 -- \n; DELETE FROM {t}",
                "SELECT 1 /* ; */ ; DROP TABLE {t} /*",
                "/* SELECT 1 */ DELETE FROM {t}",
                "-- SELECT 1\nSELECT * FROM {s}",
                "SELECT '/*' ; DELETE FROM {t} -- */",
            ],
            "SELECT /* of all */ id -- ; DELETE FROM delegates\nFROM delegates /* the end",
        ),
        kind(
            "tables of one's own",
            Refused,
            &[
                "CREATE TABLE mine (a)",
                "CREATE TEMP TABLE {t} AS SELECT 1",
                "CREATE TEMP VIEW {t} AS SELECT 1",
                "CREATE TEMP TRIGGER x INSTEAD OF DELETE ON {t} BEGIN SELECT 1; END",
                "CREATE VIEW IF NOT EXISTS mine AS SELECT * FROM {s}",
            ],
            "WITH mine(a) AS (VALUES (1), (2)) SELECT a FROM mine",
        ),
        kind(
            "transactions and upkeep",
            Refused,
            &[
                "BEGIN IMMEDIATE",
                "SAVEPOINT x",
                "RELEASE x",
                "ROLLBACK",
                "COMMIT",
                "REINDEX {t}",
                "ANALYZE {t}",
                "EXPLAIN SELECT * FROM delegates",
                "EXPLAIN QUERY PLAN SELECT * FROM delegates",
            ],
            "SELECT 'BEGIN' AS word",
        ),
        kind(
            "parameters of other kinds",
            Refused,
            &[
                "SELECT ?",
                "SELECT ?7",
                "SELECT @id",
                "SELECT $id",
                "SELECT :id, ?",
            ],
            "SELECT :id AS id, :id || 'x' AS other",
        ),
        kind(
            "functions that nobody needs",
            Refused,
            &[
                "SELECT sqlite_version()",
                "SELECT sqlite_source_id()",
                "SELECT sqlite_compileoption_get(1)",
                "SELECT last_insert_rowid()",
                "SELECT changes()",
                "SELECT json_patch('{}', '{}')",
                "SELECT json_pretty('[]')",
                "SELECT jsonb('[]')",
                "SELECT rtreecheck('{t}')",
                "SELECT statement_value('x', 'any', 1)",
                "SELECT sqlite_log(1, 'x')",
                "SELECT text_contains('a', 'b')",
                "SELECT 'a' MATCH 'b'",
                "SELECT 'a' REGEXP '(a+)+$'",
            ],
            "SELECT upper(substr(coalesce(name, code), 1, 3)) AS short FROM devices",
        ),
        kind(
            "too much of a statement",
            Refused,
            &[],
            "SELECT 1 + (2 + (3 + (4 + 5))) AS sum UNION SELECT 7",
        ),
        kind(
            "endless recursion",
            Fails,
            &[],
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT max(i) AS i FROM n",
        ),
        kind(
            "joins of everything with everything",
            Fails,
            &[],
            "SELECT count(*) AS count FROM devices AS a, devices AS b",
        ),
        kind(
            "huge values",
            Fails,
            &[
                "SELECT zeroblob(2000000000)",
                "SELECT randomblob(2000000000)",
                "SELECT hex(zeroblob(2000000))",
                "SELECT printf('%2000000000d', 1)",
                "SELECT format('%.*c', 2000000000, 'x')",
                "SELECT printf('%s%s', hex(zeroblob(900000)), hex(zeroblob(900000)))",
                "SELECT replace(hex(zeroblob(900000)), '0', hex(zeroblob(900000)))",
                "SELECT concat(hex(zeroblob(900000)), hex(zeroblob(900000)))",
                "SELECT hex(zeroblob(900000)) || hex(zeroblob(900000))",
                "SELECT quote(zeroblob(1500000))",
                "SELECT char(1) || zeroblob(3000000)",
            ],
            "SELECT length(hex(zeroblob(10000))) AS length, printf('%08d', 7) AS padded",
        ),
        kind(
            "texts that are compared for ever",
            Ends,
            &[],
            "SELECT id FROM delegates WHERE barcode LIKE 'GUEST-%' AND instr(barcode, '1') > 0 AND trim(barcode, 'G') GLOB 'U*'",
        ),
        kind(
            "JSON without an end",
            Ends,
            &[],
            "SELECT json_group_array(json_object('id', id)) AS list, json_extract('{\"a\": [1]}', '$.a[0]') AS one FROM delegates",
        ),
        kind(
            "lists that are gathered for ever",
            Fails,
            &[],
            "SELECT group_concat(barcode, ', ') AS all_of_them FROM (SELECT barcode FROM delegates LIMIT 5)",
        ),
        kind(
            "windows over everything",
            Fails,
            &[],
            "SELECT id, row_number() OVER (ORDER BY id) AS place, lag(id) OVER (ORDER BY id) AS before FROM delegates",
        ),
        kind(
            "sorting without an end",
            Fails,
            &[],
            "SELECT DISTINCT delegate_type FROM delegates ORDER BY delegate_type DESC LIMIT 10",
        ),
    ];
    let mut more = |name: &str, statements: Vec<String>| {
        let kind = kinds.iter_mut().find(|kind| kind.name == name).expect(name);
        kind.hostile.extend(statements);
    };
    more(
        "too much of a statement",
        vec![
            format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000)),
            format!("SELECT 1{}", " + 1".repeat(4000)),
            format!("SELECT {}", vec!["1"; 300].join(", ")),
            vec!["SELECT 1"; 500].join(" UNION ALL "),
            format!("SELECT '{}'", "x".repeat(100_000)),
            format!("SELECT max({})", vec!["1"; 200].join(", ")),
            format!("SELECT {}1{}", "abs(".repeat(900), ")".repeat(900)),
        ],
    );
    more(
        "endless recursion",
        vec![
            endless("SELECT count(*) FROM n"),
            endless("SELECT count(*) FROM n LEFT JOIN {v} ON 1"),
            endless("SELECT i FROM n WHERE i < 0"),
            endless("SELECT max(i) FROM n WHERE i IN (SELECT i FROM n)"),
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT count(*) FROM n".into(),
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i FROM n) SELECT count(*) FROM n LEFT JOIN {v} ON 1".into(),
        ],
    );
    let hundred = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n)";
    more(
        "joins of everything with everything",
        vec![
            format!(
                "SELECT count(*) FROM {hundred} a, {hundred} b, {hundred} c, {hundred} d, {hundred} e"
            ),
            format!(
                "SELECT count(*) FROM {hundred} a, {hundred} b, {hundred} c, {hundred} d LEFT JOIN {{v}} ON 1"
            ),
            format!(
                "SELECT a.i FROM {hundred} a, {hundred} b, {hundred} c, {hundred} d WHERE a.i + b.i + c.i + d.i < 0"
            ),
        ],
    );
    more(
        "texts that are compared for ever",
        vec![
            format!("SELECT {LONG} LIKE '%{}1%'", "0%".repeat(90)),
            format!("SELECT {LONG} GLOB '*{}1*'", "0*".repeat(90)),
            format!("SELECT {LONG} LIKE '%{}%'", "0".repeat(5000)),
            format!("SELECT {LONG} LIKE {LONG}"),
            format!("SELECT instr({LONG}, hex(zeroblob(500000)) || '1')"),
            format!("SELECT length(replace({LONG}, hex(zeroblob(500000)) || '1', 'x'))"),
            format!("SELECT length(trim({LONG}, hex(randomblob(900000))))"),
            format!(
                "SELECT count(*) FROM {hundred} WHERE {LONG} LIKE '%{}1%'",
                "0%".repeat(90)
            ),
            format!(
                "SELECT count(*) FROM {hundred}, {{v}} WHERE instr({LONG}, hex(zeroblob(500000)) || '1')"
            ),
        ],
    );
    more(
        "JSON without an end",
        vec![
            "SELECT json(replace(hex(zeroblob(500000)), '0', '['))".into(),
            "SELECT json_valid(replace(hex(zeroblob(400000)), '0', '{\"a\":'))".into(),
            format!("SELECT json_extract('{{}}', '$' || replace({LONG}, '00', '.a'))"),
            "SELECT count(*) FROM json_tree('[' || rtrim(replace(hex(zeroblob(400000)), '0', '1,'), ',') || ']')".into(),
            "SELECT count(*) FROM json_each('[' || rtrim(replace(hex(zeroblob(100000)), '0', '1,'), ',') || ']') a, json_each('[' || rtrim(replace(hex(zeroblob(100000)), '0', '1,'), ',') || ']') b".into(),
            endless(&format!("SELECT json_group_array({LONG}) FROM n")),
            endless("SELECT json_group_object('k' || i, hex(zeroblob(100000))) FROM n"),
            endless("SELECT length(json_group_array(i)) FROM n, {v}"),
        ],
    );
    more(
        "lists that are gathered for ever",
        vec![
            endless("SELECT group_concat(i) FROM n"),
            endless(&format!("SELECT group_concat({LONG}) FROM n")),
            endless("SELECT string_agg(i, hex(zeroblob(1000))) FROM n LEFT JOIN {v} ON 1"),
            endless("SELECT count(DISTINCT i) FROM n"),
            endless("SELECT group_concat(DISTINCT i) FROM n"),
        ],
    );
    more(
        "windows over everything",
        vec![
            endless(
                "SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM n",
            ),
            endless("SELECT rank() OVER (ORDER BY i DESC) FROM n"),
            endless("SELECT ntile(7) OVER () FROM n LEFT JOIN {v} ON 1"),
            format!(
                "SELECT max(x) FROM (SELECT group_concat(a.i) OVER (ORDER BY b.i ROWS BETWEEN 50000 PRECEDING AND 50000 FOLLOWING) x FROM {hundred} a, {hundred} b, {hundred} c)"
            ),
        ],
    );
    more(
        "sorting without an end",
        vec![
            endless("SELECT i FROM n ORDER BY i DESC"),
            endless("SELECT DISTINCT i FROM n ORDER BY -i"),
            endless("SELECT i % 7, count(*) FROM n GROUP BY 1"),
            endless("SELECT i FROM n EXCEPT SELECT 1"),
            endless("SELECT hex(randomblob(1000)) AS x FROM n LEFT JOIN {v} ON 1 ORDER BY x"),
        ],
    );
    kinds
}

const VIEWS: [&str; 13] = [
    "delegates",
    "devices",
    "events",
    "interactions",
    "presence",
    "refusals",
    "conflicts",
    "device_states",
    "device_pings",
    "transactions",
    "transaction_payments",
    "transaction_items",
    "transaction_delegates",
];

/// Every table of the file that is no view's.
fn secrets(server: &Server) -> Vec<String> {
    let all: String = server.value(
        "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    let tables = all.split(',').map(ToOwned::to_owned);
    tables
        .filter(|table| !VIEWS.contains(&table.as_str()))
        .collect()
}

/// Each statement once for each table that it is about, some tables in turn: enough of each.
fn spread(kind: &Kind, secrets: &[String]) -> Vec<String> {
    let views: Vec<String> = VIEWS.iter().map(|view| (*view).to_owned()).collect();
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
    sandbox.hold(MOST, &Leash::default()).expect("held");
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
        if table.ends_with("cursor")
            || table.starts_with("webhook")
            || ["interactions", "presence", "occupancy", "device_states"].contains(&&*table)
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
        "INSERT INTO tls_certificate VALUES (1, x'00', CAST('SECRET-KEY' AS BLOB), '[]', 0, 0);
         INSERT INTO erasure_key VALUES (1, CAST('SECRET-ERASURE' AS BLOB));
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
                let begun = Instant::now();
                let body = json!({"delegate": delegate, "device": device});
                assert_eq!(all.interact("check-in", &body).status, 201);
                assert!(
                    begun.elapsed() < Duration::from_secs(5),
                    "{:?}",
                    begun.elapsed()
                );
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
            check_ins > 50,
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
    if took > MOST + GRACE {
        return fault(&format!("took {took:?}"));
    }
    match (ended, kind.end) {
        (Ok(given), _) if unseen.iter().any(|secret| given.contains(secret)) => {
            fault(&format!("gave {given}"))
        }
        (Ok(given), End::Refused | End::Fails) => fault(&format!("gave {given:.100}")),
        (Err(cause), _) if unseen.iter().any(|secret| cause.message.contains(secret)) => {
            fault(&format!("told {cause}"))
        }
        // Before it ran it is told by the query, after that by the report.
        (Err(cause), End::Refused) if !cause.message.starts_with("query") => {
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
        let (ended, _) = run(&server, kind.twin);
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
            super::report(kind.twin)
                .check(&server.path())
                .expect(kind.twin);
        }
    }
}
