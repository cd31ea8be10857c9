//! Searches of what was imported, and exports of what a search finds.

use super::Site;

#[test]
fn an_export_holds_what_a_search_finds() {
    let site = Site::new();
    let devices = site.file(
        "devices.csv",
        "name,code,type\nHall,hall,room\nFair,fair,event\n",
    );
    site.done(&["import", "devices", &devices]);
    let hall = site.count("SELECT id FROM devices WHERE code = 'hall'");
    let list = site.file(
        "list.csv",
        "barcode,Last name,Diet\nA1,Müller,vegan\nA2,Lovelace,\nA3,Obermüller,all\n",
    );
    site.done(&["import", "delegates", &list, "--device", &hall.to_string()]);
    let later = site.file("later.csv", "barcode,Last name\nB1,Müllerin\n");
    site.done(&["import", "delegates", &later]);
    let scans = site.file(
        "scans.csv",
        "interactionType,delegate barcode,device code,recordedAt\nseen,A1,hall,1795248000\nlead,A2,hall,1795248060\n",
    );
    site.done(&["import", "interactions", &scans]);
    for (what, search, found) in [
        (
            "delegates",
            r#"{"*=":["lastName","MÜLL"]}"#.to_owned(),
            vec!["A1", "A3", "B1"],
        ),
        (
            "delegates",
            r#"{"ud":["Data.Diet","==","vegan"]}"#.to_owned(),
            vec!["A1"],
        ),
        (
            "delegates",
            format!(r#"{{"batch":[{hall}]}}"#),
            vec!["A1", "A2", "A3"],
        ),
        (
            "delegates",
            r#"{"batch":[]}"#.to_owned(),
            vec!["A1", "A2", "A3", "B1"],
        ),
        (
            "delegates",
            r#"{"fi":["*",{},"== 0"]}"#.to_owned(),
            vec!["A3", "B1"],
        ),
        (
            "devices",
            r#"{"batch":[]}"#.to_owned(),
            vec!["hall", "fair"],
        ),
        ("events", r#"{"*=":["name","a"]}"#.to_owned(), vec!["Fair"]),
        (
            "interactions",
            r#"{"==":["interactionType","lead"]}"#.to_owned(),
            vec!["lead"],
        ),
        ("interactions", r#"{"==":["id",99]}"#.to_owned(), vec![]),
    ] {
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
    assert!(told.contains(r#""=="[0]: "nom" is no field"#), "{told}");
    let told = site.refused(&["export", "all", "--search", r#"{"==":["id",1]}"#]);
    assert!(told.contains("--search"), "{told}");
}

#[test]
fn keys_with_a_dot_are_searched_as_a_list() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "barcode,Order no.,Tel. priv.\nA1,77,1\nA2,78,1\n",
    );
    site.done(&["import", "delegates", &list]);
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
    assert!(found.contains("\"A1\""), "{found}");
    let told = site.refused(&[
        "export",
        "delegates",
        "--search",
        r#"{"ud":["Data.Order no.","==","77"]}"#,
    ]);
    assert!(told.contains(r#"["Data", "Order no."]"#), "{told}");
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
    assert!(told.contains(".xls is none of .csv"), "{told}");
    assert!(!std::path::Path::new(&path).exists());
    site.done(&["export", "delegates", "--output", &path, "--format", "csv"]);
    // A folder that a typing mistake names is not made.
    for what in ["delegates", "all"] {
        let told = site.refused(&["export", what, "--output", &site.path("nowhere/a.csv")]);
        assert!(told.contains("there is no folder"), "{told}");
    }
}
