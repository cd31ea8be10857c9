//! Spreadsheets and CSV files as clients send them.

use super::Site;
use crate::harness::{Agrees, has};
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use serde_json::json;
use std::io::{Cursor, Read, Write};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

#[test]
fn cells_of_a_spreadsheet_are_read_as_people_see_them() {
    let site = Site::new();
    let mut book = Workbook::new();
    book.add_worksheet().set_name("Notes").unwrap();
    let sheet = book.add_worksheet().set_name("Gäste").unwrap();
    let headers = [
        "Ticket code",
        "Vorname",
        "Prénom 2",
        "Handy",
        "Menü",
        "When",
        "Paid",
        "Sum",
        "Late",
        "Empty",
        "Badge.Farbe",
    ];
    for (column, header) in (0..).zip(headers) {
        sheet.write_string(2, column, header).unwrap();
    }
    let date = Format::new().set_num_format("dd.mm.yyyy hh:mm");
    let at = ExcelDateTime::parse_from_str("2026-11-21T09:02:00").unwrap();
    sheet.write_string(4, 0, "00123").unwrap();
    sheet.write_string(4, 1, " Ada ").unwrap();
    sheet.write_string(4, 2, "=1+1").unwrap();
    sheet.write_number(4, 3, 4_930_555_123_456.0).unwrap();
    sheet.write_number(4, 4, 1.5).unwrap();
    sheet.write_datetime_with_format(4, 5, &at, &date).unwrap();
    sheet.write_boolean(4, 6, true).unwrap();
    sheet
        .write_formula(4, 7, Formula::new("=1+2").set_result("3"))
        .unwrap();
    sheet.write_string(4, 10, "red").unwrap();
    // A row with nothing in it but a format is none.
    sheet.write_blank(5, 0, &date).unwrap();
    sheet.write_number(7, 0, 456.0).unwrap();
    let path = site.path("guests.xlsx");
    book.save(&path).unwrap();

    let told = site.refused(&["import", "delegates", &path]);
    has(
        &told,
        "its sheet \"Notes\" is empty; there are others, for --sheet: \"Gäste\"",
    );
    let told = site.refused(&["import", "delegates", &path, "--sheet", "Gast"]);
    has(&told, "\"Gäste\"");
    let told = site.told(&[
        "import",
        "delegates",
        &path,
        "--sheet",
        "Gäste",
        "--map",
        "Late=",
    ]);
    assert_eq!((&told["imported"], &told["rows"]), (&json!(2), &json!(2)));
    let found = site.exported("delegates");
    found[0].agrees(&json!({
            "barcode": "00123", "firstName": "Ada", "phone": "4930555123456",
            "data": { "Data": {"Prénom 2": "=1+1", "Menü": "1.5", "When": "2026-11-21 09:02:00", "Paid": "true", "Sum": "3"}, "Badge": {"Farbe": "red"}, },
        }));
    assert_eq!(found[1]["barcode"], json!("456"));
    assert!(found[1].get("data").is_none());
    // Lines are rows of the sheet.
    assert_eq!(
        site.text("SELECT group_concat(line) FROM batch_rows"),
        "5,8"
    );
}

#[test]
fn a_duration_is_read_as_it_is_shown_however_long() {
    let site = Site::new();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let long = Format::new().set_num_format("[h]:mm:ss");
    for (column, header) in ["barcode", "Stay"].iter().enumerate() {
        sheet
            .write_string(0, u16::try_from(column).unwrap(), *header)
            .unwrap();
    }
    for (row, days) in [(1, 1.25), (2, 50.0), (3, 0.5)] {
        sheet.write_string(row, 0, format!("D{row}")).unwrap();
        sheet.write_number_with_format(row, 1, days, &long).unwrap();
    }
    let path = site.path("a.xlsx");
    book.save(&path).unwrap();
    site.done(&["import", "delegates", &path]);
    let stays: Vec<_> = site
        .exported("delegates")
        .iter()
        .map(|one| one["data"]["Data"]["Stay"].clone())
        .collect();
    assert_eq!(stays, ["30:00:00", "1200:00:00", "12:00:00"]);
}

#[test]
fn sheets_of_one_book_are_lists_of_their_own() {
    let site = Site::new();
    let mut book = Workbook::new();
    for (day, code) in [("Day 1", "A"), ("Day 2", "B")] {
        let sheet = book.add_worksheet();
        sheet.set_name(day).unwrap();
        sheet.write_string(0, 0, "barcode").unwrap();
        sheet.write_string(1, 0, code).unwrap();
    }
    let path = site.path("a.xlsx");
    book.save(&path).unwrap();
    for day in ["Day 1", "Day 2"] {
        site.done(&["import", "delegates", &path, "--sheet", day]);
    }
    let again = site.refused(&["import", "delegates", &path, "--sheet", "Day 2"]);
    has(&again, "imported already (import 2)");
    // The first sheet is the same one by its name and without.
    let again = site.refused(&["import", "delegates", &path]);
    has(&again, "imported already (import 1)");
    assert_eq!(site.rows("delegates"), 2);
}

#[test]
fn a_first_sheet_that_is_no_list_names_the_others() {
    let site = Site::new();
    let mut book = Workbook::new();
    for (sheet, cell) in [("Notes", "hello"), ("Delegates", "barcode")] {
        let sheet = book.add_worksheet().set_name(sheet).unwrap();
        sheet.write_string(0, 0, cell).unwrap();
        sheet.write_string(1, 0, "A").unwrap();
    }
    let path = site.path("a.xlsx");
    book.save(&path).unwrap();
    let refused = site.refused(&["import", "delegates", &path]);
    has(&refused, "for --sheet: \"Delegates\"");
}

#[test]
fn an_error_in_a_cell_makes_a_bad_row() {
    let site = Site::new();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write_string(0, 0, "barcode").unwrap();
    sheet
        .write_formula(1, 0, Formula::new("=1/0").set_result("#DIV/0!"))
        .unwrap();
    let path = site.path("a.xlsx");
    book.save(&path).unwrap();
    let told = site.refused(&["import", "delegates", &path]);
    has(&told, "line 2, column \"barcode\": holds the error #DIV/0!");
}

#[test]
fn a_formula_whose_result_was_not_saved_makes_a_bad_row() {
    let site = Site::new();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let formulas = [(1, "=1+1", "4711"), (2, "=IF(1=1,\"\",1)", "nothing")];
    for (row, formula, result) in formulas {
        sheet
            .write_formula(row, 1, Formula::new(formula).set_result(result))
            .unwrap();
        sheet.write_string(row, 0, format!("G{row}")).unwrap();
    }
    for (column, header) in [(0, "barcode"), (1, "email")] {
        sheet.write_string(0, column, header).unwrap();
    }
    let book = book.save_to_buffer().unwrap();
    site.import("delegates", "computed.xlsx", &book, &["--dry-run"]);
    // As libraries write it that compute nothing; what a formula made empty is empty.
    let unsaved = with_sheet(&book, |xml| {
        has(&xml, ["<v>4711</v>", "<v>nothing</v>"]);
        xml.replace("<v>4711</v>", "<v></v>")
            .replace("<v>nothing</v>", "<v></v>")
    });
    let path = site.file("unsaved.xlsx", unsaved);
    let told = site.refused(&["import", "delegates", &path]);
    has(
        &told,
        "line 2, column \"email\": holds a formula whose result was not saved",
    );
    assert_eq!(told.matches("bad: line").count(), 1, "{told}");
}

/// A workbook whose first sheet's XML is changed.
fn with_sheet(book: &[u8], change: impl Fn(String) -> String) -> Vec<u8> {
    let mut parts = ZipArchive::new(Cursor::new(book)).expect("a workbook");
    let mut changed = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..parts.len() {
        let mut part = parts.by_index(at).expect("a part");
        let mut content = String::new();
        part.read_to_string(&mut content).expect("text");
        if part.name() == "xl/worksheets/sheet1.xml" {
            content = change(content);
        }
        changed
            .start_file(part.name(), SimpleFileOptions::default())
            .expect("room");
        changed.write_all(content.as_bytes()).expect("room");
    }
    changed.finish().expect("room").into_inner()
}

#[test]
fn a_date_is_read_as_it_is_shown() {
    let site = Site::new();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let date = Format::new().set_num_format("dd.mm.yyyy");
    for (column, header) in [(0, "code"), (1, "name"), (2, "start"), (3, "Built")] {
        sheet.write_string(0, column, header).unwrap();
    }
    for (column, text) in [(0, "hall"), (1, "Hall")] {
        sheet.write_string(1, column, text).unwrap();
    }
    for column in [2, 3] {
        sheet
            .write_number_with_format(1, column, 46347.0, &date)
            .unwrap();
    }
    let path = site.path("a.xlsx");
    book.save(&path).unwrap();
    site.done(&["import", "devices", &path]);
    let found = &site.exported("devices")[0];
    assert_eq!(found["data"]["Data"]["Built"], "2026-11-21");
    let start = found["startAt"].as_str().unwrap_or_default();
    assert!(start.starts_with("2026-11-21T00:00:00"), "{found}");
}

#[test]
fn a_list_in_any_encoding_and_with_any_delimiter_goes_in() {
    let utf16 = "\u{feff}Nombre\tApellidos\tCorreo\r\nJürgen\tWeiß\tj@example.org\r\n";
    let utf16: Vec<u8> = utf16.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let ansi = b"Vorname;Nachname;E-Mail\r\nJ\xfcrgen;Wei\xdf;j@example.org\r\n";
    let mut lists = vec![("utf16.csv", utf16), ("ansi.csv", ansi.to_vec())];
    for (name, text) in [
        (
            "utf8.csv",
            "Vorname;Nachname;E-Mail\r\nJürgen;Weiß;j@example.org\r\n",
        ),
        (
            "mark.csv",
            "\u{feff}Vorname,Nachname,E-Mail\nJürgen,Weiß,j@example.org\n",
        ),
        (
            "tabs.txt",
            "Fornavn\tEfternavn\tMail\nJürgen\tWeiß\tj@example.org",
        ),
        ("pipes", "Prénom|Nom|Courriel\rJürgen|Weiß|j@example.org\r"),
    ] {
        lists.push((name, text.into()));
    }
    for (name, bytes) in lists {
        let site = Site::new();
        site.import("delegates", name, bytes, &[]);
        let found = "SELECT first_name || ' ' || last_name || ' ' || email FROM delegates";
        assert_eq!(site.text(found), "Jürgen Weiß j@example.org", "{name}");
    }
}

#[test]
fn a_list_may_come_through_a_pipe() {
    let site = Site::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .args([
            "--db",
            site.db.to_str().unwrap(),
            "import",
            "delegates",
            "/dev/stdin",
        ])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"barcode\nA\nB\n").unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(site.rows("delegates"), 2);
}

#[test]
fn sessions_with_rooms_and_rules_go_in() {
    let site = Site::new();
    let list = "code,Bezeichnung,Typ,Beginn,Ende,Verfügbar,parent,Access.capacity,Access.entry\n\
                hall,Saal 1,room,,,ja,,120,single\n\
                s1,Eröffnung,session,21.11.2026 09:00,21.11.2026 10:30,nein,code:hall,,\n";
    site.import("devices", "sessions.csv", list, &[]);
    let found = site.exported("devices");
    assert_eq!(
        found[0]["data"],
        json!({"Access": {"capacity": 120, "entry": "single"}})
    );
    assert_eq!(found[1]["startAt"], json!("2026-11-21T09:00:00+00:00"));
    found[1].agrees(&json!({"available": false, "parent": "code:hall"}));
}

/// What happened is stored whatever the rules say, and the gates know of it from then on.
#[test]
fn scans_from_elsewhere_are_history() {
    let site = Site::new();
    site.import(
        "devices",
        "devices.csv",
        "code,Access.ruleSet,Access.entry,available\ngate,simple,single,no\n",
        &[],
    );
    site.import("delegates", "delegates.csv", "barcode\nA\nB\n", &[]);
    let scans = site.file(
        "scans.csv",
        "Action,Ticket code,Scanned at,Temperature\ncheck-in,A,1795248120,36.6\ncheck-in,A,2026-11-21 09:05,\ncheck-in,B,2026-11-21T09:06:00Z,\ncheck-out,B,2026-11-21T09:07:00Z,\n",
    );
    let told = site.told(&["import", "interactions", &scans, "--device", "code:gate"]);
    assert_eq!(told["created"], json!(4));
    assert_eq!(
        site.rows("interactions WHERE admitted = 1 AND first_device_id = 1"),
        4
    );
    assert_eq!(site.count("SELECT inside FROM occupancy"), 1);
    assert_eq!(site.rows("conflicts"), 0);
    assert_eq!(
        site.count("SELECT device_id FROM batches ORDER BY id DESC LIMIT 1"),
        1
    );
    assert_eq!(
        site.exported("interactions")[0]["data"],
        json!({"Temperature": "36.6"})
    );
    let again = site.refused(&["import", "interactions", &scans, "--device", "code:gate"]);
    has(&again, ["imported already", "--undo 3"]);
    let unknown = site.file("unknown.csv", "type,barcode,device\ncheck-in,A,code:gate\ncheck-in,X,code:gate\ncheck-in,A,code:nowhere\n");
    let told = site.refused(&["import", "interactions", &unknown]);
    has(
        &told,
        [
            "line 3, column \"barcode\": firstDelegate: there is no delegate barcode:X",
            "line 4, column \"device\": firstDevice: there is no device",
        ],
    );
    assert_eq!(site.rows("interactions"), 4);
}
