//! Who changed what (contract §3 and issue: audit of every change to a mutable record).

use crate::harness::{Server, has, lacks, table};
use serde_json::{Value, json};

/// The audit of a type of record: actor, action, id, before and after.
fn audit(server: &Server, record_type: &str) -> Vec<(String, String, i64, Value, Value)> {
    let connection = rusqlite::Connection::open(server.path()).expect("the file");
    let mut statement = connection
        .prepare(
            "SELECT actor, action, record_id, coalesce(before, 'null'), coalesce(after, 'null'), request_id
             FROM audit WHERE record_type = ?1 ORDER BY id",
        )
        .expect("the audit");
    let rows = statement.query_map([record_type], |row| {
        assert!(!row.get::<_, String>(5)?.is_empty(), "a request's id");
        let json = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            json(row.get(3)?),
            json(row.get(4)?),
        ))
    });
    rows.expect("rows")
        .collect::<rusqlite::Result<_>>()
        .expect("rows")
}

#[test]
fn every_change_leaves_who_what_before_and_after() {
    let (server, api) = Server::with_api();
    for [new, path, name, record_type, taken] in table(
        "/delegate/new | /delegate/id: | firstName | delegate | barcode
         /device/new   | /device/id:   | name      | device   | code
         /event/new    | /event/       | eventName | event    | eventExternalID",
    ) {
        api.post(new, &json!({taken: "T"}));
        let made = api.made(new, &json!({name: "One"}));
        let id = made["id"].as_i64().expect("an id");
        let path = format!("{path}{id}");
        api.patch(&path, &json!({name: "Two"}));
        // What changes nothing, or fails, leaves nothing.
        api.patch(&path, &json!({name: "Two"}));
        api.patch(&path, &json!({}));
        api.patch(&path, &json!({name: "Three", taken: "T"}))
            .is(409);
        api.patch(&path, &json!({"typo": 1})).is(400);
        let last = api.read(&path);
        api.delete(&path);
        let rows: Vec<_> = audit(&server, record_type)
            .into_iter()
            .filter(|row| row.2 == id)
            .collect();
        let actions: Vec<&str> = rows.iter().map(|row| row.1.as_str()).collect();
        assert_eq!(actions, ["create", "update", "delete"], "{record_type}");
        assert!(
            rows.iter().all(|row| row.0.starts_with("client:test-")),
            "{rows:?}"
        );
        assert_eq!((&rows[0].3, &rows[0].4), (&Value::Null, &made));
        assert_eq!(
            (&rows[1].3, &rows[1].4),
            (&json!({name: "One"}), &json!({name: "Two"}))
        );
        assert_eq!((&rows[2].3, &rows[2].4), (&last, &Value::Null));
    }
}

#[test]
fn interactions_are_in_the_audit_when_they_are_deleted() {
    let (server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let made = api.interacted("lead", &json!({"delegate": delegate, "data": {"x": 1}}));
    assert!(audit(&server, "interaction").is_empty());
    api.delete(&format!("/interaction/id:{}", made["id"]))
        .is(204);
    let rows = audit(&server, "interaction");
    assert_eq!(rows.len(), 1);
    assert_eq!((&*rows[0].1, &rows[0].4), ("delete", &Value::Null));
    for (name, value) in made.as_object().expect("an object") {
        assert_eq!(&rows[0].3[name], value, "{name}");
    }
}

#[test]
fn clients_users_and_settings_are_audited_without_their_secrets() {
    let server = Server::start();
    let (_, secret) = server.client(&[], &[]);
    server.user("ada@example.org", &[], None);
    server.settings(&json!({"name": "Summit"}));
    server.settings(&json!({"name": "Fair"}));
    let rows: String = server.value("SELECT group_concat(record_type || action || ifnull(before, '') || ifnull(after, '')) FROM audit");
    has(
        &rows,
        [
            "clientcreate",
            "usercreate",
            "settingsupdate",
            "ada@example.org",
            "Summit",
            "Fair",
        ],
    );
    lacks(
        &rows,
        [&*secret, "argon2", "secret", crate::harness::PASSWORD],
    );
}

#[test]
fn a_user_is_named_as_such() {
    let (server, api) = Server::with_api();
    let id = api.delegate(&json!({}));
    let user = server.caller_as_user("ada@example.org", &[], Some(id));
    user.patch("/delegate/myself", &json!({"firstName": "Ada"}));
    let rows = audit(&server, "delegate");
    assert_eq!(rows.last().map(|row| &*row.0), Some("user:1"));
}
