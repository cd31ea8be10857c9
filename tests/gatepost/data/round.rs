//! Round trips: `import` takes every format that `export` writes back to the same data.

use super::Site;
use crate::faults::process::write_demo;
use crate::harness::{Agrees, has};
use serde_json::{Value, json};

const FORMATS: [&str; 4] = ["csv", "json", "ndjson", "xlsx"];

fn awkward() -> Vec<Value> {
    let long = "Zürich „quoted“ ".repeat(600);
    let texts = [
        "Jürgen Müller-Lüdenscheidt",
        "O'Sullivan",
        "'t Hooft",
        "'=1+1",
        "''=1",
        "=1+1",
        "@SUM(A1:A9)",
        "+49 30 5550142",
        "+49305550142",
        "-5",
        "-5 %",
        "0049301234567",
        "007",
        "1.5e3",
        "TRUE",
        "false",
        "null",
        "a \"quoted\" word",
        "two\nlines",
        "with\r\nreturn",
        "tab\there",
        "\tfirst",
        "\n=1+1",
        "\t+49",
        " =1+1",
        "'\n-x",
        " leading",
        "trailing ",
        "ends with\n",
        "a,b;c|d",
        "_x0041_",
        "日本語 😀",
        "{}",
        "[1]",
        "&amp;<b>",
        "\u{1}\u{7f}",
        "2026-11-21",
        "21.11.2026",
        "12345678901234567890",
        "\u{feff}mark",
        "#N/A",
        "\u{2028}",
    ];
    let mut records: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| {
            json!({
                "publicId": format!("p-{n}"), "barcode": format!("0{n}"), "externalId": format!("{n}: {text}"),
                "firstName": text, "company": text, "phone": text,
                "data": {"Data": {"free": text, "mixed": text, "list": [text, {text.to_string(): n}]}, "Badge": {"line": text}},
            })
        })
        .collect();
    records.push(json!({"publicId": "bare"}));
    records.push(json!({
        "publicId": "rich", "barcode": "=RICH", "firstName": long.trim_end().chars().take(9_000).collect::<String>(), "rawFlags": "ps", "delegateType": "visitor",
        "parent": "publicId:bare", "previous": "barcode:00", "owner": "barcode:01",
        "data": {
            "Data": {"mixed": 5, "empty": "", "flag": true, "float": 1.25, "nested": {"a": [1, null, {"b": "="}]}, "a.b": "dotted", " spaced": "x", "n (json)": "y"},
            "data": {"k": "a section called data"},
            "Two words": {"k": "v"}, "Dot.ted": {"k": "v"}, "Nothing": {}, "=x": {"=y": "=z"}, "Long": {"t": long},
        },
    }));
    records
}

/// Puts `seed` into a file, and from there through each format into another: the same each time.
fn goes_round(what: &str, prepare: impl Fn(&Site), seed: &[Value], expected: &[Value]) {
    let site = Site::new();
    prepare(&site);
    let file = site.file("seed.json", json!(seed).to_string());
    site.done(&["import", what, &file]);
    let first = site.exported(what);
    assert_eq!(first.len(), expected.len());
    for (found, expected) in first.iter().zip(expected) {
        let mut found = found.clone();
        found.as_object_mut().expect("an object").remove("_type");
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(&found[name], value, "{name} of {expected}");
        }
    }
    for format in FORMATS {
        let list = site.path(&format!("list.{format}"));
        site.done(&["export", what, "--output", &list]);
        let other = Site::new();
        prepare(&other);
        let told = other.told(&["import", what, &list]);
        assert_eq!(told["imported"], json!(seed.len()), "{format}");
        for (found, expected) in other.exported(what).iter().zip(&first) {
            assert_eq!(found, expected, "{format}");
        }
        assert_eq!(other.exported(what).len(), first.len(), "{format}");
    }
}

#[test]
fn delegates_go_out_and_come_back_the_same() {
    let seed = awkward();
    goes_round("delegates", |_| {}, &seed, &seed);
}

#[test]
fn devices_go_out_and_come_back_the_same() {
    let seed = [
        json!({"code": "congress", "publicId": "c", "name": "Kongreß", "deviceType": "event", "startAt": "2026-11-21T09:00:00+00:00", "endAt": "2026-11-23T18:30:00.250+00:00"}),
        json!({"code": "hall", "publicId": "h", "name": "=Hall", "shortName": "'H", "parent": "code:congress", "available": false, "rfid": "00A",
            "data": {"Access": {"ruleSet": "simple", "entry": "single", "capacity": 120, "opensBefore": 15}, "Data": {"map": "a\nb"}}}),
        json!({"code": "open", "publicId": "o", "data": {"Access": {}}}),
        json!({"code": "s1", "publicId": "s", "name": "Opening", "deviceType": "session", "deviceTags": "a, b", "category": "x", "description": "\"long\"", "externalId": "007", "slug": "opening", "parent": "code:hall", "available": true}),
    ];
    goes_round("devices", |_| {}, &seed, &seed);
}

#[test]
fn what_refers_to_a_later_record_goes_out_and_comes_back() {
    let devices = [
        json!({"code": "room", "publicId": "r", "name": "Room", "parent": "code:hall"}),
        json!({"code": "hall", "publicId": "h", "name": "Hall", "parent": "code:congress"}),
        json!({"code": "congress", "publicId": "c", "deviceType": "event", "name": "Congress",
            "eventManagerEmail": "ada@example.org", "eventManagerPhone": "+49 30 5550142"}),
    ];
    goes_round("devices", |_| {}, &devices, &devices);
    let delegates = [
        json!({"publicId": "a", "barcode": "A", "parent": "barcode:C", "previous": "publicId:b"}),
        json!({"publicId": "b", "previous": "barcode:A", "owner": "publicId:b"}),
        json!({"publicId": "c", "barcode": "C"}),
    ];
    goes_round("delegates", |_| {}, &delegates, &delegates);
}

#[test]
fn events_go_out_and_come_back_the_same() {
    let site = Site::new();
    site.import("devices", "seed.json",
        r#"[{"_type": "event", "eventName": "Kongreß", "eventExternalID": "007", "eventStartAt": "2026-11-21 09:00:00", "eventManagerEmail": "a@example.org"},
            {"_type": "event", "eventName": "=Fair", "eventManagerPhone": "+49 30", "code": "fair", "publicId": "p",
             "parent": "externalId:007", "available": false, "shortName": "F", "data": {"Access": {"capacity": 9}}}]"#, &[]);
    let first = site.exported("events");
    assert_eq!(first.len(), 2);
    first[1].agrees(&json!({"code": "fair", "available": false}));
    assert!(
        first[1]["parent"]
            .as_str()
            .is_some_and(|parent| parent.starts_with("code:"))
    );
    for format in FORMATS {
        let list = site.path(&format!("events.{format}"));
        site.done(&["export", "events", "--output", &list]);
        let other = Site::new();
        other.done(&["import", "devices", &list]);
        assert_eq!(other.exported("events"), first, "{format}");
        // A corrected list changes them, and is taken back to what they are as devices, too.
        let devices = other.exported("devices");
        let text = site.done(&["export", "events", "--format", "json"]);
        other.import(
            "devices",
            "corrected.json",
            text.replace("Kongreß", "Kongress"),
            &["--key", "code"],
        );
        assert_eq!(other.exported("events")[0]["eventName"], json!("Kongress"));
        other.done(&["import", "--undo", "2"]);
        assert_eq!(other.exported("devices"), devices, "{format}");
    }
}

#[test]
fn interactions_go_out_and_come_back_the_same() {
    let prepare = |site: &Site| {
        site.import(
            "devices",
            "devices.csv",
            "code,name\ngate,Gate\nhall,Hall\n",
            &[],
        );
        site.import(
            "delegates",
            "delegates.csv",
            "barcode,publicId\nA,a\n=B,b\n,c\n",
            &[],
        );
    };
    let at = |second: u32, ms: &str| format!("2026-11-21T09:00:{second:02}{ms}+00:00");
    let seed = [
        json!({"interactionType": "join", "firstDelegate": "barcode:A", "firstDevice": "code:hall", "recordedAt": at(0, "")}),
        json!({"interactionType": "check-in", "firstDelegate": "barcode:A", "firstDevice": "code:gate", "recordedAt": at(1, ".123")}),
        json!({"interactionType": "check-in", "firstDelegate": "barcode:A", "firstDevice": "code:gate", "recordedAt": at(1, ".123")}),
        json!({"interactionType": "connect", "firstDelegate": "barcode:A", "secondDelegate": "barcode:=B", "recordedAt": at(2, "")}),
        json!({"interactionType": "lead", "firstDelegate": "publicId:c", "secondDelegate": "barcode:=B", "thirdDelegate": "barcode:A",
            "firstDevice": "code:gate", "secondDevice": "code:hall", "recordedAt": at(3, ""),
            "data": {"form": "f", "answers": [{"field": "a.b", "answer": "=1"}], "n": 5, "e": "", "x": {"y": [null]},
                "none": null, "deep": {"none": null, "empty": {}}, "empty": {}}}),
        json!({"interactionType": "seen", "firstDevice": "code:gate", "recordedAt": at(4, "")}),
    ];
    let mut expected = seed.to_vec();
    expected[4]["data"]["answersData"] = json!({"a": {"b": "=1"}});
    expected[4]["data"]["reportData"] = json!({"a.b": "=1"});
    goes_round("interactions", prepare, &seed, &expected);

    // Both ways: the `connected` that the server made is not made twice.
    let site = Site::new();
    prepare(&site);
    site.import("interactions", "both.csv",
        "type,delegate,second delegate,time\nconnect,barcode:A,publicId:c,2026-11-21 09:00\nconnect,publicId:c,barcode:A,2026-11-21 09:01\n", &[]);
    let list = site.path("list.csv");
    site.done(&["export", "interactions", "--output", &list]);
    let other = Site::new();
    prepare(&other);
    other.done(&["import", "interactions", &list]);
    assert_eq!(
        other.exported("interactions"),
        site.exported("interactions")
    );
    assert_eq!(other.rows("interactions"), 3);
}

#[test]
fn all_goes_into_a_folder_and_comes_back() {
    let site = Site::new();
    write_demo(&site.db);
    let folder = site.path("all");
    site.done(&["export", "all", "--output", &folder]);
    has(
        site.refused(&["export", "all", "--output", &folder]),
        "is there already",
    );
    let other = Site::new();
    for what in ["devices", "delegates", "interactions"] {
        other.done(&["import", what, &format!("{folder}/{what}.csv")]);
    }
    for what in ["devices", "delegates", "interactions"] {
        assert_eq!(other.exported(what), site.exported(what), "{what}");
    }
    // Who is where follows from the interactions, so it is the same, too.
    for sql in [
        "SELECT sum(inside) FROM occupancy",
        "SELECT count(*) FROM interactions WHERE effect = 2",
        "SELECT count(*) FROM interactions WHERE effect = 0",
    ] {
        assert_eq!(other.count(sql), site.count(sql), "{sql}");
    }
}

#[test]
fn transactions_are_for_the_books_and_not_for_an_import() {
    let site = Site::new();
    write_demo(&site.db);
    let count = site.rows("transactions");
    let list: Vec<Value> =
        serde_json::from_str(&site.done(&["export", "transactions", "--format", "json"]))
            .expect("JSON");
    assert_eq!(i64::try_from(list.len()), Ok(count));
    let sum = |name: &str| -> i64 {
        let values = list.iter().filter_map(|one| one[name].as_i64());
        values.sum()
    };
    let net = |method: &str| {
        site.count(&format!(
            "SELECT sum(net) FROM transaction_payments WHERE method = '{method}'"
        ))
    };
    assert_eq!(
        sum("totalAmount"),
        site.count("SELECT sum(total_amount) FROM transactions")
    );
    assert_eq!((sum("cash"), sum("card")), (net("cash"), net("card")));
    let first = &list[0];
    first.agrees(&json!({"_type": "transaction", "code": "BO260001"}));
    assert!(
        first["context"]
            .as_str()
            .is_some_and(|context| context.starts_with("code:"))
    );
    assert_eq!(first["items"][0]["description"], "Full Pass");
    assert!(first["delegates"][0]["barcode"].is_string());
    assert!(list.iter().any(|one| one["openInconsistencies"] == 1));
    assert!(list.iter().any(|one| one["revisions"] == 1));
    let lines = site.done(&["export", "transactions", "--format", "ndjson"]);
    assert_eq!(lines.lines().count(), list.len());
    let csv = site.done(&["export", "transactions"]);
    assert!(
        csv.starts_with("\u{feff}id,_type,code,context,totalAmount,"),
        "{csv}"
    );
    let sheet = site.path("sales.xlsx");
    site.done(&["export", "transactions", "--output", &sheet]);
    assert!(std::fs::metadata(&sheet).is_ok_and(|sheet| sheet.len() > 5_000));
    let folder = site.path("all");
    site.done(&["export", "all", "--output", &folder]);
    assert!(
        std::path::Path::new(&folder)
            .join("transactions.csv")
            .exists()
    );
    has(
        site.refused(&[
            "export",
            "transactions",
            "--search",
            "{\"==\": [\"code\", \"A\"]}",
        ]),
        "knows no transactions",
    );
    // They are no delegates, whatever somebody tries.
    let file = site.file("sales.csv", csv);
    let before = site.dump();
    for what in ["delegates", "devices", "interactions"] {
        let told = site.refused(&["import", what, &file]);
        assert!(told.contains("transaction"), "{what}: {told}");
    }
    assert_eq!(site.dump(), before);
}

#[test]
fn a_csv_is_what_a_spreadsheet_reads_and_never_runs() {
    let site = Site::new();
    site.import(
        "delegates",
        "list.csv",
        "Barcode,First name,Phone\n007,=1+1,+49 30 5\n008,\"two\nlines\",+4930\n",
        &[],
    );
    let text = site.done(&["export", "delegates"]);
    assert!(text.starts_with("\u{feff}id,_type,"), "{text}");
    has(&text, [",007,", ",'=1+1,", ",'+49 30 5,"]);
    assert!(
        text.contains(",+4930,") && text.contains("\"two\nlines\"") && text.ends_with("\r\n"),
        "{text}"
    );
    assert_eq!(text, site.done(&["export", "delegates"]), "twice the same");
    let lines = site.done(&["export", "delegates", "--format", "ndjson"]);
    assert_eq!(lines.lines().count(), 2);
    has(
        site.refused(&["export", "delegates", "--format", "xlsx"]),
        "--output",
    );
}
