//! Kinds that are refused before they run.

use super::{End::Refused, Kind, kind};

#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn kinds() -> Vec<Kind> {
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
            "copies of copies",
            Refused,
            &[],
            "WITH a AS (SELECT 1 AS x), b AS (SELECT p.x FROM a AS p, a AS q), c AS (SELECT p.x FROM b AS p, b AS q) SELECT y + y AS z FROM (SELECT x + x AS y FROM c) WHERE z > 0",
        ),
        kind(
            "too much of a statement",
            Refused,
            &[],
            "SELECT 1 + (2 + (3 + (4 + 5))) AS sum UNION SELECT 7",
        ),
    ];
    let mut more = |name: &str, statements: Vec<String>| {
        let kind = kinds.iter_mut().find(|kind| kind.name == name).expect(name);
        kind.hostile.extend(statements);
    };
    // Each expression names the one before twice: compiled, they would be 2^40.
    let doubling = |uses: &str| {
        let each = |level: usize| {
            let before = format!("a{}", level - 1);
            format!(", a{level}(x) AS ({})", uses.replace('@', &before))
        };
        let all: String = (1..=40).map(each).collect();
        format!("WITH a0(x) AS (SELECT id FROM delegates){all} SELECT x FROM a40")
    };
    let uses = [
        "SELECT p.x FROM @ AS p, @ AS q",
        "SELECT (SELECT max(x) FROM @) + (SELECT min(x) FROM \"@\")",
        "SELECT x FROM '@' WHERE x IN [@]",
        "SELECT x FROM @/**/UNION ALL SELECT x FROM--\n`@`",
    ];
    let nested = |columns: &str| {
        (0..40).fold(
            "SELECT id AS x, 2 AS y FROM delegates".to_owned(),
            |inner, _| format!("SELECT {columns} FROM ({inner}) AS q"),
        )
    };
    let columns = [
        "x + x AS x",
        "DISTINCT x || q.x AS \"x\"",
        "*, x || y AS x",
        "coalesce([x], 'x', `x`) AS x",
    ];
    more(
        "copies of copies",
        uses.into_iter()
            .map(doubling)
            .chain(columns.into_iter().map(nested))
            .collect(),
    );
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
    kinds
}
