//! Tables of cases: what is refused and where, what compiles to what, what the index finds.

use super::{database, search};
use crate::{
    core::search::{Search, compile::compile},
    domain::{delegates, interactions},
    types::{Zone, text::fold},
};

#[rustfmt::skip]
const FAULTS: &[(&str, &str)] = &[
        ("", "search: "),
        ("{", "search: "),
        ("null", "search: must be an object with one operator"),
        ("[]", "search: must be an object with one operator"),
        ("{}", "search: must be an object with one operator"),
        (
            r#"{"==":["id",1],"!=":["id",2]}"#,
            "search: must be an object with one",
        ),
        (
            r#"{"~":["id",1]}"#,
            r#""~": there is no such operator; there are == !="#,
        ),
        (r#"{"==":["id"]}"#, r#""==": must be [field, value]"#),
        (r#"{"==":"id"}"#, r#""==": must be [field, value]"#),
        (
            r#"{"==":["nom","x"]}"#,
            r#""=="[0]: "nom" is no field of a delegate; there are id parent"#,
        ),
        (r#"{"==":["data","x"]}"#, r#""=="[0]: "data" is no field"#),
        (r#"{"==":[1,"x"]}"#, r#""=="[0]: 1 is no field"#),
        (
            r#"{"==":["id","x"]}"#,
            r#""=="[1]: must be a whole number or null"#,
        ),
        (
            r#"{"==":["id",1.5]}"#,
            r#""=="[1]: must be a whole number or null"#,
        ),
        (
            r#"{"==":["email",1]}"#,
            r#""=="[1]: must be a text or null"#,
        ),
        (r#"{"<":["email",null]}"#, r#""<"[1]: has no order"#),
        (
            r#"{">=":["createdAt","soon"]}"#,
            r#"">="[1]: must be yyyy-mm-dd hh:mm:ss"#,
        ),
        (r#"{"*=":["id","1"]}"#, r#""*="[1]: *= searches texts only"#),
        (
            r#"{"*=":["email",""]}"#,
            r#""*="[1]: must be a text to search for"#,
        ),
        (r#"{"in":["id",1]}"#, "in[1]: must be a list of values"),
        (
            r#"{"in":["id",[1,"x"]]}"#,
            "in[1][1]: must be a whole number or null",
        ),
        (
            r#"{"and":{"==":["id",1]}}"#,
            "and: must be a list of expressions",
        ),
        (
            r#"{"and":[{"==":["id",1]},{">=":["createdAt",true]}]}"#,
            r#"and[1].">="[1]: must be yyyy-mm-dd"#,
        ),
        (
            r#"{"not":[{"or":[]},{"or":[]}]}"#,
            "not: takes one expression",
        ),
        (
            r#"{"or":[{"not":{"xx":1}}]}"#,
            "or[0].not.xx: there is no such operator",
        ),
        (r#"{"fi":[]}"#, "fi: must be [interaction type"),
        (r#"{"fi":[7]}"#, "fi[0]: must be an interaction type"),
        (
            r#"{"fi":["lead",[]]}"#,
            "fi[1]: must be an object with firstDevice",
        ),
        (
            r#"{"fi":["lead",{"firstDelegate":[1]}]}"#,
            r#"fi[1]: "firstDelegate" is no filter"#,
        ),
        (
            r#"{"si":["lead",{"firstDevice":1}]}"#,
            "si[1]: firstDevice: must be a list",
        ),
        (
            r#"{"ti":["lead",{},"many"]}"#,
            "ti[2]: must be a comparison such as",
        ),
        (
            r#"{"ti":["lead",{},"=> 1"]}"#,
            "ti[2]: must be a comparison such as",
        ),
        (
            r#"{"ud":["Data","==",1]}"#,
            "ud[0]: must be a section and a key",
        ),
        (
            r#"{"ud":["Data.","==",1]}"#,
            "ud[0]: must be a section and a key",
        ),
        (
            r#"{"ud":[["Data",""],"==",1]}"#,
            "ud[0]: must be a section and a key",
        ),
        (
            r#"{"ud":[["Data"],"==",1]}"#,
            "ud[0]: must be a section and a key",
        ),
        (r#"{"ud":["Data.x","~",1]}"#, "ud[1]: must be one of"),
        (r#"{"ud":["Data.x",">",true]}"#, "ud[2]: has no order"),
        (
            r#"{"ud":["Data.x","==",{}]}"#,
            "ud[2]: must be a text, a number",
        ),
        (r#"{"st":[1,"==",1]}"#, "st[0]: must be a statement's name"),
        (r#"{"comms":["letter","x"]}"#, "comms: must be"),
        (
            r#"{"comms":["sms",1]}"#,
            "comms[1]: must be a template's slug",
        ),
        (r#"{"batch":["x"]}"#, "batch: must be [device id] or []"),
        (r#"{"batch":5}"#, "batch: must be [device id] or []"),
    (
        r#"{"==":["id",1],"==":["id",2]}"#,
        "search: \"==\" stands twice",
    ),
    (
        r#"{"fi":["check-in",{"firstDevice":[1],"firstDevice":[2]}]}"#,
        "search: \"firstDevice\" stands twice",
    ),
];

#[test]
fn a_fault_is_told_with_its_path() {
    for (text, fault) in FAULTS {
        let cause = search(text).unwrap_err();
        assert_eq!(cause.kind.code(), 1102, "{text}");
        assert!(cause.to_string().starts_with(fault), "{text}: {cause}");
    }
}

#[test]
fn limits_hold() {
    let nested = |depth: usize| {
        let inner = r#"{"==":["id",1]}"#.to_owned();
        (1..depth).fold(inner, |inner, _| format!(r#"{{"not":{inner}}}"#))
    };
    search(&nested(16)).unwrap();
    assert!(
        search(&nested(17))
            .unwrap_err()
            .to_string()
            .contains("at most 16 deep")
    );

    // What joins terms is none.
    for term in [r#"{"==":["id",1]}"#, r#"{"not":{"or":[{"and":[]}]}}"#] {
        let terms = |count: usize| format!(r#"{{"or":[{}]}}"#, vec![term; count].join(","));
        let connection = database();
        let found = search(&terms(256)).unwrap();
        found.page(&connection, None, 0, 1).unwrap();
        let refused = search(&terms(257)).unwrap_err().to_string();
        assert!(refused.contains("at most 256 terms"), "{refused}");
    }

    let values = |count: usize| format!(r#"{{"in":["id",[{}]]}}"#, vec!["1"; count].join(","));
    let connection = database();
    search(&values(10_000))
        .unwrap()
        .page(&connection, None, 0, 1)
        .unwrap();
    assert!(
        search(&values(10_001))
            .unwrap_err()
            .to_string()
            .contains("at most 10000 values")
    );
}

#[test]
fn what_a_client_does_not_see_it_cannot_search() {
    let visible = ["barcode".to_owned()];
    let search = |text| Search::parse(&delegates::SEARCHED, text, &Zone::default(), Some(&visible));
    search(r#"{"==":["barcode","A"]}"#).unwrap();
    search(r#"{"==":["id",1]}"#).unwrap();
    for text in [
        r#"{"==":["email","a@b"]}"#,
        r#"{"fi":["lead"]}"#,
        r#"{"ud":["Data.x","==",1]}"#,
        r#"{"st":["x","==",1]}"#,
        r#"{"comms":["sms"]}"#,
        r#"{"batch":[]}"#,
    ] {
        assert_eq!(search(text).unwrap_err().kind.code(), 1102, "{text}");
    }
}

#[test]
fn interactions_have_no_interactions() {
    let subject = &interactions::list::SEARCHED;
    for text in [
        r#"{"fi":["lead"]}"#,
        r#"{"st":["x","==",1]}"#,
        r#"{"comms":["sms"]}"#,
        r#"{"batch":[]}"#,
    ] {
        assert!(
            Search::parse(subject, text, &Zone::default(), None).is_err(),
            "{text}"
        );
    }
    Search::parse(
        subject,
        r#"{"ud":["Data.x","==",1]}"#,
        &Zone::default(),
        None,
    )
    .unwrap();
}

#[test]
fn values_become_parameters() {
    let compiled = |text: &str| {
        let condition = compile(&delegates::SEARCHED, &search(text).unwrap().expr);
        let sql = condition
            .sql
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        format!("{sql} {:?}", condition.parameters)
    };
    insta::assert_snapshot!(compiled(r#"{"==":["barcode","A1"]}"#), @r#"barcode = ?1 [Text("A1")]"#);
    insta::assert_snapshot!(compiled(r#"{"*=":["lastName","Mül"]}"#), @r#"id IN (SELECT rowid FROM delegates_search WHERE delegates_search MATCH ?1) AND text_contains(last_name, ?2) [Text("{last_name} : (\"mul\")"), Text("mül")]"#);
    insta::assert_snapshot!(compiled(r#"{"not":{"in":["parent",[1,2,null]]}}"#), @r#"(((SELECT r.id FROM delegates r WHERE r.id = delegates.parent_id AND r.deleted_at IS NULL) IS NOT NULL AND parent_id IN (SELECT value FROM json_each(?1)) OR (SELECT r.id FROM delegates r WHERE r.id = delegates.parent_id AND r.deleted_at IS NULL) IS NULL)) IS NOT TRUE [Text("[1,2]")]"#);
    insta::assert_snapshot!(compiled(r#"{"<=":["createdAt","2026-11-21 08:00:00"]}"#), @r#"created_at <= ?1 [Integer(1795248000999)]"#);
    insta::assert_snapshot!(compiled(r#"{"fi":["check-in",{"firstDevice":[12]},">= 2"]}"#), @r#"id IN (SELECT first_delegate_id FROM interactions WHERE first_delegate_id IS NOT NULL AND interaction_type = ?1 AND first_device_id IN (SELECT value FROM json_each(?2)) GROUP BY first_delegate_id HAVING (count(*) >= ?3)) [Text("check-in"), Text("[12]"), Integer(2)]"#);
    insta::assert_snapshot!(compiled(r#"{"fi":["*",{"firstDevice":[12]},"== 0"]}"#), @r#"id NOT IN (SELECT first_delegate_id FROM interactions WHERE first_delegate_id IS NOT NULL AND first_device_id IN (SELECT value FROM json_each(?1))) [Text("[12]")]"#);
    insta::assert_snapshot!(compiled(r#"{"si":["lead",{},"< 3"]}"#), @r#"(SELECT count(*) FROM interactions WHERE second_delegate_id = delegates.id AND interaction_type = ?1) < ?2 [Text("lead"), Integer(3)]"#);
    insta::assert_snapshot!(compiled(r#"{"ud":["Data.a \"b\".c",">",2]}"#), @r#"(json_type(data, ?1) IN ('integer', 'real') AND json_extract(data, ?1) > ?2) [Text("$.\"Data\".\"a \\\"b\\\"\".\"c\""), Integer(2)]"#);
    insta::assert_snapshot!(compiled(r#"{"comms":["email","welcome"]}"#), @r#"id IN (SELECT delegate_id FROM messages WHERE state = 'sent' AND channel = ?1 AND (?2 IS NULL OR template = ?2)) [Text("email"), Text("welcome")]"#);
}

/// The index must never hide what we would call a match: whatever the case of a letter, and whichever letters are
/// beside it, the index has what we ask it for.
#[test]
fn the_index_agrees_about_every_letter() {
    let mut asked = 0;
    for letter in (1..=0x0010_ffff).filter_map(char::from_u32) {
        let text = format!("x{letter}y\u{301}z");
        let indexed = crate::db::search_index::indexed("company", &text);
        for part in [fold(&text), fold(&text).to_uppercase()] {
            if !fold(&text).contains(&fold(&part)) {
                continue;
            }
            let Some(query) = crate::core::search::index_query("company", &part) else {
                continue;
            };
            let trigrams: Vec<&str> = query.split('"').skip(1).step_by(2).collect();
            assert!(!trigrams.is_empty());
            for three in trigrams {
                assert!(
                    indexed.contains(three),
                    "{text}: {three} is not in {indexed}"
                );
            }
            asked += 1;
        }
    }
    assert!(asked > 700, "{asked}");
}
