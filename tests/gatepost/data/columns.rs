//! The columns of exported lists, and the keys of exported records: spreadsheets and scripts of others
//! name them.

use super::{Site, older};
use calamine::{Reader, Xlsx};
use serde_json::Value;

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
fn keys(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                keys(&format!("{path}{dot}{name}"), value, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                keys(&format!("{path}[]"), value, found);
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
            keys("", record, &mut found);
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
        keys("", value, &mut found);
        format!("{part}: {}", found.join(" "))
    });
    insta::assert_snapshot!(parts.collect::<Vec<_>>().join("\n\n"));
}
