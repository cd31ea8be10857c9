use super::*;
use crate::db::migrate;

/// 20,000 changes, one a second, of ten records by three actors, with a gap.
fn filled() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    migrate::create(&connection).unwrap();
    connection
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
             INSERT INTO audit (id, at, actor, action, record_type, record_id, after)
             SELECT i, 1000 * i, CASE i % 3 WHEN 0 THEN 'cli' WHEN 1 THEN 'user:1' ELSE 'import:a.csv' END,
                 'create', iif(i % 2, 'device', 'delegate'), i % 10, '{\"n\":' || i || '}' FROM n;
             DELETE FROM audit WHERE id BETWEEN 5000 AND 9000;",
        )
        .unwrap();
    connection
}

/// Every id that a filter finds, page by page, the newest first.
fn paged(connection: &Connection, filter: &Filter, limit: usize) -> Vec<i64> {
    let (mut below, mut found) = (None, Vec::new());
    loop {
        let page = page(connection, filter, below, limit).unwrap();
        assert!(page.entries.len() <= limit);
        found.extend(page.entries.iter().map(|entry| entry.id));
        below = page.below;
        if below.is_none() {
            return found;
        }
    }
}

fn walked(connection: &Connection, filter: Filter, limit: usize) -> Vec<i64> {
    let mut walk = Walk::begin(connection, filter).unwrap();
    let mut found = Vec::new();
    while let Some(entries) = walk.next(connection, limit).unwrap() {
        assert!(entries.len() <= limit);
        found.extend(entries.iter().map(|entry| entry.id));
    }
    found
}

#[test]
fn pages_and_walks_find_what_one_statement_finds() {
    let connection = filled();
    let at = |seconds: i64| Some(Timestamp(1000 * seconds));
    let who = |name: &str| Actors {
        names: vec![name.to_owned()],
        imports: false,
    };
    for (filter, condition) in [
        (Filter::default(), "1"),
        (
            Filter {
                who: Some(who("cli")),
                ..Filter::default()
            },
            "actor = 'cli'",
        ),
        (
            Filter {
                who: Some(Actors {
                    names: vec![],
                    imports: true,
                }),
                ..Filter::default()
            },
            "actor = 'import:a.csv'",
        ),
        (
            Filter {
                record_type: Some("device".into()),
                record_id: Some(3),
                ..Filter::default()
            },
            "record_type = 'device' AND record_id = 3",
        ),
        (
            Filter {
                record_type: Some("delegate".into()),
                from: at(4990),
                to: at(9010),
                ..Filter::default()
            },
            "record_type = 'delegate' AND at >= 4990000 AND at < 9010000",
        ),
        (
            Filter {
                record_id: Some(4),
                to: at(100),
                ..Filter::default()
            },
            "record_id = 4 AND at < 100000",
        ),
        (
            Filter {
                who: Some(Actors::default()),
                ..Filter::default()
            },
            "0",
        ),
        (
            Filter {
                from: at(6000),
                to: at(7000),
                ..Filter::default()
            },
            "0",
        ),
        (
            Filter {
                from: at(50_000),
                ..Filter::default()
            },
            "0",
        ),
        (
            Filter {
                action: Some("delete".into()),
                ..Filter::default()
            },
            "0",
        ),
    ] {
        let sql = format!("SELECT id FROM audit WHERE {condition} ORDER BY id");
        let mut expected: Vec<i64> = connection
            .prepare(&sql)
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert_eq!(
            walked(&connection, filter.clone(), 700),
            expected,
            "{filter:?}"
        );
        expected.reverse();
        assert_eq!(paged(&connection, &filter, 300), expected, "{filter:?}");
    }
}

#[test]
fn a_clock_that_was_set_back_a_little_hides_nothing() {
    let connection = filled();
    connection
        .execute_batch("UPDATE audit SET at = at - 60000 WHERE id BETWEEN 12000 AND 12200")
        .unwrap();
    let filter = Filter {
        from: Some(Timestamp(11_950_000)),
        to: Some(Timestamp(12_010_000)),
        ..Filter::default()
    };
    let expected: i64 = connection
        .query_row(
            "SELECT count(*) FROM audit WHERE at >= 11950000 AND at < 12010000",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(
        i64::try_from(paged(&connection, &filter, 500).len()),
        Ok(expected)
    );
}

#[test]
fn no_statement_walks_the_whole_table_or_sorts() {
    let connection = filled();
    let of_record = Filter {
        record_type: Some("device".into()),
        record_id: Some(3),
        ..Filter::default()
    };
    let by_type = Filter {
        record_id: None,
        ..of_record.clone()
    };
    let of_record_plan =
        "USING INDEX audit_record (record_type=? AND record_id=? AND rowid>? AND rowid<?)";
    let plan_of_others = "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
    for (filter, expected) in [
        (of_record, of_record_plan),
        (by_type, plan_of_others),
        (Filter::default(), plan_of_others),
    ] {
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let explained = format!("EXPLAIN QUERY PLAN {}", sql(&filter, order, 51));
            let mut statement = connection.prepare(&explained).unwrap();
            // Unbound, parameters are NULL: the plan is made without them.
            let plan: Vec<String> = statement
                .raw_query()
                .mapped(|row| row.get(3))
                .collect::<rusqlite::Result<_>>()
                .unwrap();
            let plan = plan.join(" ");
            assert!(
                plan.contains(expected) && !plan.contains("TEMP B-TREE"),
                "{plan}"
            );
        }
    }
}
