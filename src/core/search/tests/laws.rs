//! Laws, on random data and random expressions: what is accepted runs; nothing that was sent stands
//! in the SQL; SQLite finds what the meaning says.

use super::{
    database,
    naive::{Row, holds},
    search,
};
use crate::{
    core::search::{Part, Search, compile::compile},
    domain::{delegates, interactions},
    types::Zone,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

const TEXTS: [(&str, &str); 6] = [
    ("firstName", "first_name"),
    ("lastName", "last_name"),
    ("email", "email"),
    ("company", "company"),
    ("rawFlags", "raw_flags"),
    ("barcode", "barcode"),
];
const TYPES: [&str; 3] = ["check-in", "lead", "join"];
const DEVICES: [i64; 3] = [1, 2, 3];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "Müller",
            "MÜLLERIN",
            "Ada",
            "ada lovelace",
            "Łódź",
            "O'Brien",
            "%_",
            "ΣΊΣΥΦΟΣ",
            "Иван",
            "x\"y\"z",
            "Kelvin",
            "ab"
        ])
        .prop_map(str::to_owned),
        "[a-cA-C]{1,6}",
    ]
}

/// A piece of a text that may well stand in one of [`text`]'s.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "müll", "LLER", "ada", "ód", "'b", "%", "_", "σίσυ", "иВа", "\"y\"", "kel", "b"
        ])
        .prop_map(str::to_owned),
        "[a-cA-C]{1,4}",
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![(-3i64..6).prop_map(Value::from), Just(json!(2.5))]
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        3 => number(),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn stored_data() -> impl Strategy<Value = Value> {
    let inner = prop_oneof![
        6 => anything(),
        1 => Just(json!(["a", 1])),
        1 => anything().prop_map(|value| json!({"deep": value})),
    ];
    let section =
        proptest::collection::btree_map(select(vec!["k", "with \"quotes\"", "ü"]), inner, 0..3);
    section.prop_map(|section| json!({"Data": section}))
}

prop_compose! {
    fn row()(
        texts in vec(option::of(text()), TEXTS.len()),
        parent in option::of(1i64..4),
        created_at in (0i64..4, 0i64..1000),
        data in stored_data(),
        interactions in vec(
            (select(TYPES.to_vec()), 0usize..3, vec(option::of(select(DEVICES.to_vec())), 3)), 0..4),
        messages in vec((select(vec!["email", "sms"]), select(vec!["a", "b"])), 0..2),
        batches in vec(option::of(select(DEVICES.to_vec())), 0..2),
    ) -> Row {
        let mut properties: Map<String, Value> = TEXTS.iter().zip(texts)
            .map(|((name, _), text)| ((*name).to_owned(), text.map_or(Value::Null, Value::from)))
            .collect();
        properties.insert("parent".into(), parent.map_or(Value::Null, Value::from));
        properties.insert("createdAt".into(), (created_at.0 * 1000 + created_at.1).into());
        Row {
            properties,
            data,
            interactions: interactions.into_iter()
                .map(|(kind, place, devices)| (kind.to_owned(), place, [devices[0], devices[1], devices[2]]))
                .collect(),
            messages: messages.into_iter().map(|(channel, slug)| (channel.into(), slug.into())).collect(),
            batches,
        }
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    let order = select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let equality = select(vec!["==", "!="]);
    let name = || select(TEXTS.to_vec()).prop_map(|(name, _)| name);
    let seconds = || 0i64..5;
    let count = (order.clone(), 0..3).prop_map(|(op, count)| format!("{op} {count}"));
    let devices = proptest::collection::btree_map(
        select(vec!["firstDevice", "secondDevice", "thirdDevice"]),
        vec(select(DEVICES.to_vec()), 0..3),
        0..2,
    );
    let path = select(vec![
        "Data.k",
        "Data.with \"quotes\"",
        "Data.ü",
        "Data.k.deep",
        "None.k",
    ]);
    prop_oneof![
        (order.clone(), name(), text()).prop_map(|(op, name, text)| json!({op: [name, text]})),
        (equality.clone(), name()).prop_map(|(op, name)| json!({op: [name, null]})),
        (name(), part()).prop_map(|(name, part)| json!({"*=": [name, part]})),
        (name(), vec(option::of(text()), 0..4))
            .prop_map(|(name, texts)| json!({"in": [name, texts]})),
        (order.clone(), seconds()).prop_map(|(op, at)| json!({op: ["createdAt", at]})),
        vec(seconds(), 0..3).prop_map(|times| json!({"in": ["createdAt", times]})),
        (order.clone(), 1i64..4).prop_map(|(op, id)| json!({op: ["parent", id]})),
        vec(option::of(1i64..4), 0..3).prop_map(|ids| json!({"in": ["parent", ids]})),
        (
            select(vec!["fi", "si", "ti"]),
            select(vec!["*", "check-in", "lead"]),
            devices,
            count
        )
            .prop_map(|(operator, kind, devices, count)| json!({operator: [kind, devices, count]})),
        (
            path.clone(),
            order,
            prop_oneof![text().prop_map(Value::from), number()]
        )
            .prop_map(|(path, op, value)| json!({"ud": [path, op, value]})),
        (path.clone(), equality, anything())
            .prop_map(|(path, op, value)| json!({"ud": [path, op, value]})),
        (path.clone(), part()).prop_map(|(path, part)| json!({"ud": [path, "*=", part]})),
        (path, vec(anything(), 0..4))
            .prop_map(|(path, values)| json!({"ud": [path, "in", values]})),
        (
            select(vec!["email", "sms"]),
            option::of(select(vec!["a", "b"]))
        )
            .prop_map(|(channel, slug)| {
                slug.map_or_else(
                    || json!({"comms": [channel]}),
                    |slug| json!({"comms": [channel, slug]}),
                )
            }),
        option::of(select(DEVICES.to_vec())).prop_map(|device| device
            .map_or_else(|| json!({"batch": []}), |device| json!({"batch": [device]}))),
    ]
}

fn expression() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|parts| json!({"and": parts})),
            vec(inner.clone(), 0..3).prop_map(|parts| json!({"or": parts})),
            inner.prop_map(|part| json!({"not": part})),
        ]
    })
}

/// A delegate who is deleted.
const GONE: i64 = 1000;

fn store(connection: &Connection, rows: &[Row]) {
    connection.execute_batch("BEGIN").unwrap();
    for id in DEVICES {
        connection
            .execute(
                "INSERT INTO devices (id, code, public_id, sources, created_at, updated_at) VALUES (?1, ?1, ?1, '[]', 0, 0)",
                [id],
            )
            .unwrap();
    }
    // Who was deleted is never found.
    connection
        .execute(
            "INSERT INTO delegates (id, public_id, first_name, sources, created_at, updated_at, deleted_at)
             VALUES (?1, 'gone', 'ada', '[]', 0, 0, 0)",
            [GONE],
        )
        .unwrap();
    let mut batches = std::collections::BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let id = i64::try_from(at).unwrap() + 1;
        // A barcode is unique: the second who would have it has none.
        let text = |name: &str| row.properties[name].as_str().map(str::to_owned);
        connection
            .execute(
                "INSERT INTO delegates (id, public_id, first_name, last_name, email, company, raw_flags, barcode,
                                        sources, data, created_at, updated_at)
                 VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, '[]', ?8, ?9, 0)",
                params![
                    id, text("firstName"), text("lastName"), text("email"), text("company"), text("rawFlags"),
                    text("barcode"), row.data.to_string(), row.properties["createdAt"].as_i64(),
                ],
            )
            .unwrap();
        for (kind, place, devices) in &row.interactions {
            let own = ["first", "second", "third"][*place];
            connection
                .execute(
                    &format!(
                        "INSERT INTO interactions (interaction_type, {own}_delegate_id, first_device_id,
                                second_device_id, third_device_id, recorded_at, created_at)
                         VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)"
                    ),
                    params![kind, id, devices[0], devices[1], devices[2]],
                )
                .unwrap();
        }
        for (channel, template) in &row.messages {
            connection
                .execute(
                    "INSERT INTO messages (delegate_id, channel, template, state, created_at) VALUES (?1, ?2, ?3, 'sent', 0),
                     (?1, 'email', 'never-sent', 'failed', 0)",
                    params![id, channel, template],
                )
                .unwrap();
        }
        for device in &row.batches {
            let next = i64::try_from(batches.len()).unwrap() + 1;
            let batch = *batches.entry(*device).or_insert(next);
            connection
                .execute(
                    "INSERT OR IGNORE INTO batches (id, kind, device_id, file_name, file_sha256, options, total, actor, created_at)
                     VALUES (?1, 'delegates', ?2, 'x.csv', x'', '{}', 1, 'test', 0)",
                    params![batch, device],
                )
                .unwrap();
            connection
                .execute(
                    "INSERT OR IGNORE INTO batch_rows (batch_id, line, record_id) VALUES (?1, ?2, ?2)",
                    params![batch, id],
                )
                .unwrap();
        }
    }
    // Parents once everybody is there; who is deleted is nobody's.
    for (at, row) in rows.iter().enumerate() {
        let no_more = (at % 2 == 0).then_some(GONE);
        if let Some(parent) = row.properties["parent"].as_i64().or(no_more) {
            connection
                .execute(
                    "UPDATE delegates SET parent_id = ?2 WHERE id = ?1",
                    params![at + 1, parent],
                )
                .unwrap();
        }
    }
    connection.execute_batch("COMMIT").unwrap();
    crate::db::search_index::settle(connection, usize::MAX).unwrap();
}

/// Rows that can be stored: codes unique, parents among them.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    vec(row(), 0..20).prop_map(|mut rows| {
        let mut taken = std::collections::HashSet::new();
        let count = i64::try_from(rows.len()).unwrap();
        for row in &mut rows {
            let barcode = row.properties["barcode"].clone();
            if !taken.insert(barcode) {
                row.properties["barcode"] = Value::Null;
            }
            if row.properties["parent"]
                .as_i64()
                .is_some_and(|parent| parent > count)
            {
                row.properties["parent"] = Value::Null;
            }
        }
        rows
    })
}

/// Each part of what matches is the same, whatever leads to it.
fn parts_agree(
    search: &Search,
    connection: &Connection,
    matching: &[i64],
) -> Result<(), TestCaseError> {
    for (offset, limit) in [(0, 2), (1, 3), (3, 100), (50, 1)] {
        let slice = search
            .slice(connection, offset as u64, limit as u64)
            .unwrap();
        let wanted: Vec<i64> = matching.iter().copied().skip(offset).take(limit).collect();
        prop_assert_eq!(slice, wanted);
    }
    for id in [0, 3, 9, 1000] {
        let after: Vec<i64> = matching
            .iter()
            .copied()
            .filter(|found| *found > id)
            .take(2)
            .collect();
        prop_assert_eq!(search.part(connection, Part::After(id), 2).unwrap(), after);
        let mut before: Vec<i64> = matching
            .iter()
            .rev()
            .copied()
            .filter(|found| *found < id)
            .take(2)
            .collect();
        before.reverse();
        prop_assert_eq!(
            search.part(connection, Part::Before(id), 2).unwrap(),
            before
        );
    }
    for most in [0, 2, 1000] {
        let count = search.count(connection, most).unwrap();
        prop_assert_eq!(count, most.min(matching.len() as u64));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Interactions lie in stretches of ten minutes, in whichever order they came.
    #[test]
    fn interactions_of_a_type_or_time_are_all_found(
        rows in vec((select(TYPES.to_vec()), -5i64..30), 0..60),
        ranges in vec((option::of(-6i64..31), option::of(-6i64..31), option::of(vec(select(TYPES.to_vec()), 0..3))), 30),
    ) {
        let connection = database();
        for (kind, at) in &rows {
            let sql = "INSERT INTO interactions (interaction_type, recorded_at, created_at) VALUES (?1, ?2, 0)";
            connection.execute(sql, params![kind, at * 200_000]).unwrap();
        }
        for (from, to, kinds) in &ranges {
            let mut parts: Vec<Value> = Vec::new();
            parts.extend(from.map(|from| json!({">=": ["recordedAt", from * 200]})));
            parts.extend(to.map(|to| json!({"<": ["recordedAt", to * 200]})));
            parts.extend(kinds.as_ref().map(|kinds| match kinds.as_slice() {
                [kind] => json!({"==": ["interactionType", kind]}),
                kinds => json!({"in": ["interactionType", kinds]}),
            }));
            let text = json!({"and": parts}).to_string();
            let search = Search::parse(&interactions::list::SEARCHED, &text, &Zone::default(), None).unwrap();
            let meant: Vec<i64> = (1..).zip(&rows).filter(|(_, (kind, at))| {
                from.is_none_or(|from| *at >= from) && to.is_none_or(|to| *at < to)
                    && kinds.as_ref().is_none_or(|kinds| kinds.contains(kind))
            }).map(|(id, _)| id).collect();
            prop_assert_eq!(&search.page(&connection, None, 0, 1000).unwrap().ids, &meant, "{}", text);
            parts_agree(&search, &connection, &meant)?;
        }
    }

    #[test]
    fn sqlite_finds_what_the_meaning_says(rows in rows(), expressions in vec(expression(), 40)) {
        let connection = database();
        store(&connection, &rows);
        for expr in &expressions {
            let found = search(&expr.to_string()).unwrap().page(&connection, None, 0, 1000).unwrap();
            let meant: Vec<i64> = (1..).zip(&rows).filter(|(_, row)| holds(expr, row)).map(|(id, _)| id).collect();
            prop_assert_eq!(&found.ids, &meant, "{}", expr);
            prop_assert_eq!(found.total, meant.len() as u64);
            parts_agree(&search(&expr.to_string()).unwrap(), &connection, &meant)?;
        }
    }

    #[test]
    fn nothing_that_was_sent_stands_in_the_sql(expr in expression(), marker in "[g-z]{12}") {
        // Every text in the expression but its operators and names becomes one that is easy to find.
        fn mark(value: &mut Value, marker: &str) {
            match value {
                Value::String(text) => *text = marker.to_owned(),
                Value::Array(values) => values.iter_mut().for_each(|value| mark(value, marker)),
                Value::Number(_) => *value = json!(987_654_321),
                _ => {}
            }
        }
        fn mark_operands(expr: &mut Value, marker: &str) {
            let (operator, operand) = expr.as_object_mut().unwrap().iter_mut().next().unwrap();
            match operator.as_str() {
                "and" | "or" => operand.as_array_mut().unwrap().iter_mut().for_each(|part| mark_operands(part, marker)),
                "not" => mark_operands(operand, marker),
                "fi" | "si" | "ti" => mark(&mut operand[0], marker),
                "ud" => {
                    operand[0] = format!("Data.{marker}").into();
                    mark(&mut operand[2], marker);
                }
                "comms" => if let Some(slug) = operand.get_mut(1) { mark(slug, marker) },
                "batch" => mark(operand, marker),
                _ => mark(&mut operand[1], marker),
            }
        }
        let mut expr = expr;
        mark_operands(&mut expr, &marker);
        if let Ok(search) = search(&expr.to_string()) {
            let sql = compile(&delegates::SEARCHED, &search.expr).sql;
            prop_assert!(!sql.contains(&marker) && !sql.contains("987654321"), "{}", sql);
            search.page(&database(), None, 0, 1).unwrap();
        }
    }

    #[test]
    fn any_json_is_refused_or_runs(text in "[\\[\\]{}\":,a-z=<>*0-9 ]{0,40}") {
        if let Ok(search) = search(&text) {
            search.page(&database(), None, 0, 1).unwrap();
        }
    }
}
