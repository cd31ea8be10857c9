use super::*;
use crate::db::{migrate, search_index};
use proptest::prelude::*;
use rusqlite::params;
use serde_json::Value;

fn file() -> Connection {
    let file = Connection::open_in_memory().unwrap();
    migrate::create(&file).unwrap();
    file
}

fn add(
    file: &Connection,
    first: &str,
    last: &str,
    company: &str,
    email: &str,
    phone: &str,
    barcode: &str,
) -> i64 {
    file.prepare_cached(
        "INSERT INTO delegates (public_id, first_name, last_name, company, email, phone, barcode, sources, created_at, updated_at)
         VALUES (hex(randomblob(8)), ?1, ?2, ?3, ?4, ?5, ?6, '[]', 0, 0)",
    )
    .unwrap()
    .execute(params![first, last, company, email, phone, barcode])
    .unwrap();
    file.last_insert_rowid()
}

fn index(file: &Connection) {
    search_index::settle(file, usize::MAX).unwrap();
}

/// The people of `tests/gate/names.csv` among invented ones, as the gate's own test has them.
fn among_others() -> Connection {
    let file = file();
    let others: Value =
        serde_json::from_str(include_str!("../../../../tests/gate/others.json")).unwrap();
    let names = |of: &str| -> Vec<String> { serde_json::from_value(others[of].clone()).unwrap() };
    let companies = names("company");
    let mut number = 0;
    for first in names("first") {
        for last in names("last") {
            let company = &companies[number % companies.len()];
            let email = format!("{first}.{last}{number}@example.org").to_lowercase();
            add(
                &file,
                &first,
                &last,
                company,
                &email,
                &format!("+44 20 7946 {number:04}"),
                &format!("OTHER-{number}"),
            );
            number += 1;
        }
    }
    let mut people =
        csv::Reader::from_reader(include_str!("../../../../tests/gate/names.csv").as_bytes());
    for row in people.records() {
        let row = row.unwrap();
        add(&file, &row[0], &row[1], &row[2], &row[3], &row[4], &row[5]);
    }
    index(&file);
    file
}

fn barcodes(file: &Connection, people: &People, most: usize) -> Vec<String> {
    let code = |id: &i64| {
        let sql = "SELECT barcode FROM delegates WHERE id = ?1";
        file.query_row(sql, [id], |row| row.get(0)).unwrap()
    };
    find(file, people, most)
        .unwrap()
        .ids
        .iter()
        .map(code)
        .collect()
}

fn first(file: &Connection, typed: &str) -> String {
    let found = barcodes(file, &People::new(typed), 8);
    found.into_iter().next().unwrap_or_default()
}

#[test]
fn names_are_found_first_however_they_are_typed() {
    let file = among_others();
    let lines = include_str!("../../../../tests/gate/names.tsv")
        .lines()
        .skip(1);
    let wrong: Vec<String> = lines
        .filter_map(|line| line.split_once('\t'))
        .filter(|(typed, code)| first(&file, typed) != *code)
        .map(|(typed, code)| format!("{typed}: {} for {code}", first(&file, typed)))
        .collect();
    assert!(wrong.len() <= 2, "{wrong:#?}");
}

#[test]
fn addresses_codes_and_phone_numbers_are_found_by_their_parts() {
    let file = among_others();
    for (typed, code) in [
        ("NAME-07", "NAME-07"),
        ("name-07", "NAME-07"),
        ("guest33@names.example", "NAME-33"),
        ("guest33@nam", "NAME-33"),
        ("est33", "NAME-33"),
        ("+49 30 5550014", "NAME-14"),
        ("0049305550014", "NAME-14"),
        ("030 5550014", "NAME-14"),
        ("+49 (0)30/555-0014", "NAME-14"),
        ("5550014", "NAME-14"),
        ("50014", "NAME-14"),
        ("Boğaz", "NAME-13"),
        ("weiss & soehne", "NAME-03"),
    ] {
        assert_eq!(first(&file, typed), code, "{typed}");
    }
}

#[test]
fn spellings_find_each_other_and_come_after_what_was_typed() {
    let file = file();
    for (number, last) in [
        "Mueller", "Müller", "Muller", "Mullerin", "Muehler", "Miller",
    ]
    .iter()
    .enumerate()
    {
        add(&file, "Jo", last, "", "", "", &format!("{number}"));
    }
    index(&file);
    for (typed, found) in [
        ("muller", ["1", "2", "3", "0"]),
        ("mueller", ["0", "1", "2", "3"]),
        ("Müller", ["1", "2", "3", "0"]),
    ] {
        assert_eq!(barcodes(&file, &People::new(typed), 4), found, "{typed}");
    }
    assert_eq!(first(&file, "milller"), "5");
}

#[test]
fn what_a_client_does_not_see_finds_nobody() {
    let file = file();
    add(
        &file,
        "Ada",
        "Lovelace",
        "Analytical",
        "ada@example.org",
        "+44 20 1234567",
        "A-1",
    );
    index(&file);
    let visible = ["firstName".to_owned(), "email".to_owned()];
    for (typed, is_found) in [
        ("ada", true),
        ("ada@example.org", true),
        ("lovelace", false),
        ("ada lovelace", false),
        ("analytical", false),
        ("A-1", false),
        ("1234567", false),
    ] {
        let people = People::new(typed).seen_by(Some(&visible));
        assert_eq!(!barcodes(&file, &people, 8).is_empty(), is_found, "{typed}");
        assert_eq!(first(&file, typed), "A-1", "{typed}");
    }
    assert!(barcodes(&file, &People::new("ada").seen_by(Some(&[])), 8).is_empty());
}

#[test]
fn gates_want_three_letters_or_a_whole_name() {
    let file = file();
    add(&file, "Bo", "Xu", "Lotus", "bo@example.org", "", "B-1");
    add(&file, "明", "李", "Harbour", "", "", "B-2");
    add(&file, "Xuan", "Bond", "Xu", "", "", "B-3");
    index(&file);
    let found = |typed: &str| barcodes(&file, &People::new(typed).at_gate().unwrap(), 8).join(" ");
    for (typed, codes) in [
        ("xu", "B-1"),
        ("李", "B-2"),
        ("lot", "B-1"),
        ("B-1", "B-1"),
        ("xua", "B-3"),
        ("bo@example.org", ""),
    ] {
        assert_eq!(found(typed), codes, "{typed}");
    }
    for short in ["", "x", "- x"] {
        assert!(People::new(short).at_gate().is_err(), "{short}");
    }
    let contact = People::new("bo@example.org").by_contact();
    assert_eq!(barcodes(&file, &contact, 1), ["B-1"]);
}

#[test]
fn who_was_deleted_is_found_among_the_deleted_only() {
    let file = file();
    let id = add(&file, "Ada", "Lovelace", "", "", "", "A-1");
    index(&file);
    file.execute("UPDATE delegates SET deleted_at = 1 WHERE id = ?1", [id])
        .unwrap();
    for typed in ["lovelace", "A-1"] {
        assert!(barcodes(&file, &People::new(typed), 8).is_empty());
    }
    assert_eq!(
        barcodes(&file, &People::new("lovelace").deleted(true), 8),
        ["A-1"]
    );
    file.execute("DELETE FROM delegates", []).unwrap();
    index(&file);
    let kept: i64 = file
        .query_row(
            "SELECT count(*) FROM delegates_search WHERE delegates_search MATCH 'lov'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(kept, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn everybody_is_found_by_their_own_folded_name(
        names in prop::collection::vec(("\\PC{1,12}|[A-Za-zÀ-ɏͰ-ӿḀ-ỿ' -]{2,14}|[一-俿]{1,3}", "[A-Za-zÀ-ɏͰ-ӿ’-]{2,14}"), 1..6)
    ) {
        let file = file();
        for (number, (first, last)) in names.iter().enumerate() {
            add(&file, first, last, "", "", "", &format!("#{number}"));
        }
        index(&file);
        for (number, (first, last)) in names.iter().enumerate() {
            for typed in [format!("{first} {last}"), format!("{last}, {first}"), fold::fold(&format!("{last} {first}"))] {
                let people = People::new(&typed);
                if people.is_long_enough() && people.words.len() < WORDS_MAX {
                    let found = barcodes(&file, &people, 8);
                    prop_assert!(found.contains(&format!("#{number}")), "{typed}: {found:?}");
                }
            }
        }
    }
}
