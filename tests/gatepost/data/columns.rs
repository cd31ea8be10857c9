//! The columns of exported lists, and the keys of exported records: spreadsheets and scripts of others
//! name them.

use super::{Site, older, run};
use crate::harness::Server;
use calamine::{Reader, Xlsx};
use gatepost::{
    core::records::{Field, Kind},
    db::sandbox::Sandbox,
    domain::{delegates, devices, events},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const LISTS: [&str; 5] = [
    "delegates",
    "devices",
    "events",
    "interactions",
    "transactions",
];

fn csv_header(site: &Site, list: &str) -> Vec<String> {
    let text = site.done(&["export", list, "--format", "csv"]);
    let text = text.strip_prefix('\u{feff}').expect("a byte order mark");
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let header = rows.headers().expect("a header").iter();
    header.map(ToOwned::to_owned).collect()
}

fn sheet_header(site: &Site, list: &str) -> Vec<String> {
    let path = site.path(&format!("{list}.xlsx"));
    site.done(&["export", list, "--output", &path]);
    let mut book: Xlsx<_> = calamine::open_workbook(path).expect("a workbook");
    let (name, sheet) = book.worksheets().remove(0);
    assert_eq!(name, list);
    let header = sheet.rows().next().expect("a header").iter();
    header.map(ToString::to_string).collect()
}

#[test]
fn columns_of_exports_stay() {
    let site = older::newest();
    let header = |list: &str| {
        let header = csv_header(&site, list);
        assert_eq!(sheet_header(&site, list), header, "{list}");
        header.join(",")
    };
    insta::assert_snapshot!(LISTS.map(header).join("\n\n"));
}

/// The keys of a record and of the objects in it, each with a path.
fn names(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                names(&format!("{path}{dot}{name}"), value, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                names(&format!("{path}[]"), value, found);
            }
        }
        _ if found.iter().any(|known| known == path) => {}
        _ => found.push(path.to_owned()),
    }
}

#[test]
fn keys_of_exported_records_stay() {
    let site = older::newest();
    let keys_of = |list: &str| {
        let text = site.done(&["export", list, "--format", "json"]);
        let records: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        let lines = site.done(&["export", list, "--format", "ndjson"]);
        let of_lines = lines.lines().map(serde_json::from_str);
        let of_lines: Result<Vec<Value>, _> = of_lines.collect();
        assert_eq!(of_lines.expect("JSON"), records, "{list}");
        let mut found = Vec::new();
        for record in &records {
            names("", record, &mut found);
        }
        found.sort_unstable();
        format!("{list}: {}", found.join(" "))
    };
    insta::assert_snapshot!(LISTS.map(keys_of).join("\n\n"));
}

#[test]
fn keys_of_a_migrated_files_configuration_stay() {
    let text = older::newest().done(&["config", "export"]);
    let document: serde_json::Map<String, Value> = serde_json::from_str(&text).expect("JSON");
    let parts = document.iter().map(|(part, value)| {
        let mut found = Vec::new();
        names("", value, &mut found);
        format!("{part}: {}", found.join(" "))
    });
    insta::assert_snapshot!(parts.collect::<Vec<_>>().join("\n\n"));
}

/// Reports see every column that is declared, and none that is not, but for these.
#[test]
fn views_of_reports_show_what_is_declared() {
    const HIDDEN: [(&str, &str, &str); 5] = [
        ("delegates", "sources", "bookkeeping of the server"),
        ("devices", "sources", "bookkeeping of the server"),
        ("events", "sources", "bookkeeping of the server"),
        ("events", "created_at", "the view devices has it"),
        ("events", "updated_at", "the view devices has it"),
    ];
    const SHOWN: [(&str, &str, &str); 1] = [("events", "data", "events declare it as devices")];
    let site = older::newest();
    let views = Sandbox::open(&site.db).expect("a sandbox").views();
    let views = views.expect("views");
    for (name, fields) in [
        ("delegates", delegates::FIELDS),
        ("devices", devices::FIELDS),
        ("events", events::FIELDS),
    ] {
        let of_view = |list: &[(&str, &'static str, &str)]| -> BTreeSet<&'static str> {
            let of_view = list.iter().filter(|(view, ..)| *view == name);
            of_view.map(|(_, column, _)| *column).collect()
        };
        let declared = fields.iter().map(|field| field.column);
        let declared: BTreeSet<_> = declared.filter(|column| !column.is_empty()).collect();
        let hidden = of_view(&HIDDEN);
        assert!(hidden.is_subset(&declared), "{name}: {hidden:?}");
        let mut expected: BTreeSet<_> = declared.difference(&hidden).copied().collect();
        expected.extend(of_view(&SHOWN));
        let view = views.iter().find(|view| view.name == name);
        let columns = view.expect(name).columns.iter().map(String::as_str);
        assert_eq!(columns.collect::<BTreeSet<_>>(), expected, "{name}");
    }
}

/// What a field is declared with, everything follows: no other place says that there is one.
#[test]
fn every_text_of_an_attendee_is_known_everywhere() {
    let server = Server::start();
    let (api, crew) = (server.caller_with_all(), server.administrator());
    let fields = delegates::FIELDS.iter();
    let fields: Vec<&Field> = fields
        .filter(|field| field.kind == Kind::Text && field.name != "rawFlags")
        .collect();
    let value = |field: &Field| format!("{}@Ada", field.column);
    let body: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.to_owned(), value(field).into()))
        .collect();
    let id = api.delegate(&Value::Object(body));
    let page = |path: &str| crew.page(&format!("/console/delegates/{path}"));
    let (record, form, new) = (
        page(&id.to_string()),
        page(&format!("{id}/edit")),
        page("new"),
    );
    let shown = api.get(&format!("/delegate/id:{id}"));
    let file = server.app.store.path().to_owned();
    let sandbox = Sandbox::open(&file).expect("a sandbox");
    let site = Site::new();
    let list = site.file(
        "list.csv",
        run(&file, &["export", "delegates", "--format", "csv"]).stdout,
    );
    site.done(&["import", "delegates", &list]);
    let imported: Value =
        serde_json::from_str(&site.done(&["export", "delegates", "--format", "json"]))
            .expect("JSON");
    for field in fields {
        let (name, value) = (field.name, value(field));
        assert_eq!(shown.data()[name], json!(value), "{name}: the API");
        let search = json!({"==": [name, value]}).to_string();
        let search: String = form_urlencoded::byte_serialize(search.as_bytes()).collect();
        let found = api.get(&format!("/delegate/list?search={search}"));
        assert_eq!(
            found.data().as_array().map(Vec::len),
            Some(1),
            "{name}: searches"
        );
        assert!(record.contains(&value), "{name}: the page of the record");
        assert!(
            form.contains(&format!("value=\"{value}\"")),
            "{name}: the form"
        );
        assert!(
            new.contains(&format!(">{}</label>", field.label)),
            "{name}: the empty form"
        );
        let sql = format!("SELECT {} FROM delegates WHERE id = :id", field.column);
        let of_view = sandbox.scalar(&sql, id).expect("a value of the view");
        assert_eq!(
            of_view,
            rusqlite::types::Value::Text(value.clone()),
            "{name}: reports"
        );
        assert_eq!(
            imported[0][name],
            json!(value),
            "{name}: exports and imports"
        );
    }
}
