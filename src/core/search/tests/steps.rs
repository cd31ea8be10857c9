//! A page costs what it shows, however many rows match or do not.

use super::{database, search};
use crate::{
    core::search::{Part, Search},
    db::{connection::steps_of, search_index},
    domain::{
        delegates::{People, people},
        interactions,
    },
    types::Zone,
};

/// More rows than a page may look at.
const ROWS: i64 = 30_000;
/// Steps of SQLite's machine for a page of 50; going through all rows takes some 200,000.
const STEPS_MAX: u64 = 20_000;
/// Steps of SQLite's machine for a search of words.
const WORDS_STEPS_MAX: u64 = 200_000;

fn page(connection: &rusqlite::Connection, search: &Search, part: Part) -> usize {
    let mut found = Vec::new();
    let steps = steps_of(connection, || {
        found = search.part(connection, part, 51).unwrap();
    });
    assert!(steps < STEPS_MAX, "{search:?}: {steps}");
    found.len()
}

#[test]
fn a_page_of_delegates_stops_once_it_is_full() {
    let connection = database();
    connection
        .execute_batch(&format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO delegates (public_id, first_name, last_name, email, company, sources, created_at, updated_at)
             SELECT 'p' || i, 'Maria', iif(i < {ROWS} - 60, 'Sommer', 'Xu'), 'guest' || i || '@example.org',
                 'Cobalt GmbH', '[]', 0, 0 FROM n"
        ))
        .unwrap();
    search_index::settle(&connection, usize::MAX).unwrap();
    // Attendees who are found by words have a bound of their own.
    for text in [
        "xu",
        "zz",
        "m x",
        "gmb",
        "maria cobalt",
        "org gmbh",
        "maria xyz",
    ] {
        let mut found = Vec::new();
        let steps = steps_of(&connection, || {
            found = people::find(&connection, &People::new(text), 51)
                .unwrap()
                .ids;
        });
        assert!(steps < WORDS_STEPS_MAX, "{text}: {steps}");
        assert_eq!(
            found.len(),
            if ["zz", "m x", "maria xyz"].contains(&text) {
                0
            } else {
                51
            },
            "{text}"
        );
    }
    for text in [
        r#"{"*=":["company","bal"]}"#,
        r#"{"==":["company","Cobalt GmbH"]}"#,
        r#"{"or":[{"*=":["company","gmb"]},{"*=":["email","org"]}]}"#,
        r#"{"*=":["lastName","om"]}"#,
        r#"{"and":[{"*=":["company","gmb"]},{"!=":["firstName","Ada"]}]}"#,
    ] {
        let search = search(text).unwrap();
        assert_eq!(page(&connection, &search, Part::After(0)), 51, "{text}");
    }
}

#[test]
fn rows_that_the_index_lacks_are_found_as_others_are() {
    let connection = database();
    connection
        .execute_batch(
            "INSERT INTO delegates (public_id, company, sources, created_at, updated_at)
             VALUES ('a', 'Cobalt', '[]', 0, 0), ('b', 'Basalt', '[]', 0, 0)",
        )
        .unwrap();
    search_index::settle(&connection, usize::MAX).unwrap();
    connection
        .execute(
            "UPDATE delegates SET company = 'Nickel' WHERE public_id = 'a'",
            [],
        )
        .unwrap();
    let found = |text: &str| {
        let asked = search(text).unwrap();
        (
            asked.part(&connection, Part::After(0), 51).unwrap(),
            asked.count(&connection, 51).unwrap(),
        )
    };
    for (text, ids) in [
        (r#"{"*=":["company","icke"]}"#, vec![1]),
        (r#"{"==":["company","Nickel"]}"#, vec![1]),
        (r#"{"not":{"*=":["company","icke"]}}"#, vec![2]),
        (r#"{"*=":["company","coba"]}"#, vec![]),
        (r#"{"*=":["company","asal"]}"#, vec![2]),
    ] {
        let count = ids.len() as u64;
        assert_eq!(found(text), (ids, count), "{text}");
    }
    let named = |name| {
        people::find(&connection, &People::new(name), 51)
            .unwrap()
            .ids
    };
    assert_eq!(named("nickel"), [1]);
    assert_eq!(named("cobalt"), [0; 0]);
    assert_eq!(named("basalt"), [2]);
}

#[test]
fn a_page_of_interactions_of_a_type_or_time_stops_once_it_is_full() {
    let connection = database();
    // A second each; the last hundred are of a type of their own.
    connection
        .execute_batch(&format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO interactions (interaction_type, recorded_at, created_at)
             SELECT iif(i <= {ROWS} - 100, 'check-in', 'lead'), i * 1000, 0 FROM n"
        ))
        .unwrap();
    for text in [
        r#"{"==":["interactionType","lead"]}"#,
        r#"{"in":["interactionType",["lead","check-in"]]}"#,
        r#"{">=":["recordedAt",29900]}"#,
        r#"{"and":[{">=":["recordedAt",20000]},{"<":["recordedAt",28000]}]}"#,
        r#"{">=":["recordedAt",1]}"#,
        r#"{"<=":["recordedAt",29999]}"#,
        r#"{"and":[{">=":["recordedAt",29000]},{"==":["interactionType","lead"]}]}"#,
    ] {
        let search =
            Search::parse(&interactions::list::SEARCHED, text, &Zone::default(), None).unwrap();
        assert_eq!(page(&connection, &search, Part::After(0)), 51, "{text}");
        assert_eq!(
            page(&connection, &search, Part::Before(ROWS + 1)),
            51,
            "{text}"
        );
    }
}
