//! Searches of what was imported, and exports of what a search finds.

use super::Site;
use crate::harness::{Server, cases, has};
use gatepost::{
    core::records::{Field, Kind},
    domain::delegates,
};
use serde_json::{Map, Value, json};

#[test]
fn an_export_holds_what_a_search_finds() {
    let site = Site::new();
    let devices = site.file(
        "devices.csv",
        "name,code,type\nHall,hall,room\nFair,fair,event\n",
    );
    site.done(&["import", "devices", &devices]);
    let hall = site.count("SELECT id FROM devices WHERE code = 'hall'");
    site.import(
        "delegates",
        "list.csv",
        "barcode,Last name,Diet\nA1,Müller,vegan\nA2,Lovelace,\nA3,Obermüller,all\n",
        &["--device", &hall.to_string()],
    );
    site.import(
        "delegates",
        "later.csv",
        "barcode,Last name\nB1,Müllerin\n",
        &[],
    );
    site.import("interactions", "scans.csv",
        "interactionType,delegate barcode,device code,recordedAt\nseen,A1,hall,1795248000\nlead,A2,hall,1795248060\n", &[]);
    for (what, search, found) in cases::<(&str, Value, Vec<&str>)>(json!([
        ["delegates", {"*=": ["lastName", "MÜLL"]}, ["A1", "A3", "B1"]],
        ["delegates", {"ud": ["Data.Diet", "==", "vegan"]}, ["A1"]],
        ["delegates", {"batch": [hall]}, ["A1", "A2", "A3"]],
        ["delegates", {"batch": []}, ["A1", "A2", "A3", "B1"]],
        ["delegates", {"fi": ["*", {}, "== 0"]}, ["A3", "B1"]],
        ["devices", {"batch": []}, ["hall", "fair"]],
        ["events", {"*=": ["name", "a"]}, ["Fair"]],
        ["interactions", {"==": ["interactionType", "lead"]}, ["lead"]],
        ["interactions", {"==": ["id", 99]}, []],
    ])) {
        let search = search.to_string();
        let lines = site.done(&["export", what, "--format", "ndjson", "--search", &search]);
        let name = match what {
            "delegates" => "barcode",
            "devices" => "code",
            "events" => "eventName",
            _ => "interactionType",
        };
        let named: Vec<String> = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
            .map(|record| record[name].as_str().expect(name).to_owned())
            .collect();
        assert_eq!(named, found, "{what} {search}");
    }
    let told = site.refused(&["export", "delegates", "--search", r#"{"==":["nom","x"]}"#]);
    has(&told, r#""=="[0]: "nom" is no field"#);
    let told = site.refused(&["export", "all", "--search", r#"{"==":["id",1]}"#]);
    has(&told, "--search");
}

/// The text index takes over every column of the declaration, however the text arrives: an import fills it
/// itself, triggers do so for everything else.
#[test]
fn every_searchable_text_is_found() {
    let server = Server::start();
    let (api, crew) = (server.caller_with_all(), server.administrator());
    let fields = delegates::FIELDS.iter();
    let fields: Vec<&Field> = fields
        .filter(|field| matches!(field.kind, Kind::Code | Kind::Text))
        .collect();
    let value = |field: &Field, person: &str| match field.name {
        "rawFlags" => person[..1].to_owned(),
        "email" => format!("{person}-email@example.org"),
        name => format!("{person}-{}", name.to_lowercase()),
    };
    let row = |text: &dyn Fn(&Field) -> String| {
        let row = fields.iter().map(|field| text(field));
        row.collect::<Vec<_>>().join(",")
    };
    let body = |person: &str| -> Value {
        let values = fields.iter();
        let values = values.map(|field| (field.name.to_owned(), value(field, person).into()));
        values.collect::<Map<_, _>>().into()
    };
    let check_found = |person: &str, expected: &[i64]| {
        for field in &fields {
            let value = value(field, person);
            let search = json!({"*=": [field.name, value]}).to_string();
            let search: String = form_urlencoded::byte_serialize(search.as_bytes()).collect();
            let found = api.get(&format!("/delegate/list?fields=id&search={search}"));
            let found = found.list().iter();
            let ids: Vec<_> = found.filter_map(|one| one["id"].as_i64()).collect();
            assert_eq!(ids, expected, "{}: {value}", field.name);
            if field.is_text_indexed {
                let page = crew.page(&format!("/console/delegates?q={value}"));
                let rows = page.split("<tbody>").nth(1).unwrap_or_default();
                let links = rows.matches("href=\"/console/delegates/").count();
                assert_eq!(
                    links,
                    expected.len(),
                    "{}: {value} in the console",
                    field.name
                );
            }
        }
    };

    let list = [
        row(&|field| field.name.to_owned()),
        row(&|field| value(field, "ada")),
    ];
    let list = server.file("list.csv", &list.join("\n"));
    server.done(&["import", "delegates", &list]);
    let imported = server.value("SELECT max(id) FROM delegates");
    check_found("ada", &[imported]);

    let created = api.delegate(&body("bob"));
    check_found("bob", &[created]);

    api.patched(&format!("/delegate/id:{imported}"), &body("cyd"));
    check_found("ada", &[]);
    check_found("cyd", &[imported]);
}

#[test]
fn keys_with_a_dot_are_searched_as_a_list() {
    let site = Site::new();
    site.import(
        "delegates",
        "list.csv",
        "barcode,Order no.,Tel. priv.\nA1,77,1\nA2,78,1\n",
        &[],
    );
    let search = r#"{"ud":[["Data","Order no."],"==","77"]}"#;
    let found = site.done(&[
        "export",
        "delegates",
        "--format",
        "ndjson",
        "--search",
        search,
    ]);
    assert_eq!(found.lines().count(), 1);
    has(&found, "\"A1\"");
    let told = site.refused(&[
        "export",
        "delegates",
        "--search",
        r#"{"ud":["Data.Order no.","==","77"]}"#,
    ]);
    has(&told, r#"["Data", "Order no."]"#);
}

#[test]
fn the_format_follows_the_name_of_the_file() {
    let site = Site::new();
    let list = site.file("list.csv", "barcode\nA1\n");
    site.done(&["import", "delegates", &list]);
    for (name, begins) in [
        ("list", "\u{feff}id,"),
        ("a.csv", "\u{feff}id,"),
        ("a.JSON", "[\n{"),
        ("a.ndjson", "{\"id\":1,"),
        ("a.xlsx", "PK"),
    ] {
        let path = site.path(name);
        site.done(&["export", "delegates", "--output", &path]);
        let written = std::fs::read(&path).expect("a file");
        assert!(written.starts_with(begins.as_bytes()), "{name}");
    }
    let path = site.path("a.xls");
    let told = site.refused(&["export", "delegates", "--output", &path]);
    has(&told, ".xls is none of .csv");
    assert!(!std::path::Path::new(&path).exists());
    site.done(&["export", "delegates", "--output", &path, "--format", "csv"]);
    // A folder that a typing mistake names is not made.
    for what in ["delegates", "all"] {
        let told = site.refused(&["export", what, "--output", &site.path("nowhere/a.csv")]);
        has(&told, "there is no folder");
    }
}
