//! Kinds that may run and never end, or take all there is.

use super::{
    End::{Ends, Fails},
    Kind, kind,
};

/// An endless list of numbers, to make others of.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
/// As long a text as there may be.
const LONG: &str = "hex(zeroblob(1000000))";

#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn kinds() -> Vec<Kind> {
    let endless = |rest: &str| format!("{ENDLESS} {rest}");
    let mut kinds = vec![
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
            "values held all at once",
            Fails,
            &[],
            "SELECT max(x, x || 1, max(x || 2, x || 3)) AS most FROM (SELECT hex(zeroblob(500000)) AS x)",
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
    // As many values as a statement has room for, each as large as may be.
    let at_once = |count: usize, value: &str, rest: &str| {
        let nested = (0..count / 60).fold("1".to_owned(), |inner, _| {
            format!("max({}, {inner})", vec![value; 60].join(","))
        });
        format!("SELECT length({nested}){rest}")
    };
    more(
        "values held all at once",
        vec![
            at_once(9000, "x", &format!(" FROM (SELECT {LONG} AS x)")),
            at_once(3600, "x||1", &format!(" FROM (SELECT {LONG} AS x)")),
            at_once(780, LONG, ""),
            at_once(
                6000,
                "x",
                &format!(" FROM (SELECT {LONG} || id AS x FROM delegates)"),
            ),
            format!(
                "SELECT {} FROM (SELECT {LONG} AS x)",
                (0..200)
                    .map(|at| format!("x||{at} AS c{at}"))
                    .collect::<Vec<_>>()
                    .join(", ")
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
