//! Files that are no lists, or more than a list: a clear message, nothing written, and no more
//! memory than a list needs.

use super::{Site, lines};
use crate::harness::{has, lacks, table};
use std::{
    fs::File,
    io::{Cursor, Write},
    time::Duration,
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// The most memory that a command may use, in KiB.
const MEMORY_MAX_KIB: u64 = 150 * 1024;

/// The most memory that a process had so far, in KiB; none where the system does not tell.
fn memory_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Imports a file that must be refused: what it is told, with little memory and nothing written.
#[track_caller]
fn refused(site: &Site, what: &str, file: &str) -> String {
    let mut child = site.start(&["import", what, file]);
    let mut most = 0;
    while child.try_wait().expect("a child").is_none() {
        most = memory_kib(child.id()).unwrap_or(0).max(most);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(most < MEMORY_MAX_KIB, "{most} KiB");
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    lacks(&told, "panic");
    if site.db.exists() {
        for table in ["delegates", "batches", "audit"] {
            assert_eq!(
                site.count(&format!("SELECT count(*) FROM {table}")),
                0,
                "{table}"
            );
        }
    }
    told
}

#[test]
fn what_is_no_list_is_refused_in_words() {
    let site = Site::new();
    let wide: Vec<String> = (0..1_001).map(|n| format!("c{n}")).collect();
    let mut lists: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "locked.xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more".to_vec(),
            "password",
        ),
        (
            "cut.xlsx",
            b"PK\x03\x04\x14\x00\x06\x00".to_vec(),
            "cut off",
        ),
        (
            "junk.csv",
            (0..=255).cycle().take(5_000).collect(),
            "is no text",
        ),
        (
            "junk.xlsx",
            (1..=255).rev().cycle().take(5_000).collect(),
            "no spreadsheet",
        ),
        (
            "wide.csv",
            (wide.join(",") + "\n").into(),
            "has 1001 columns",
        ),
        (
            "database.csv",
            b"SQLite format 3\0 and more".to_vec(),
            "is a database",
        ),
        ("blank.csv", b"\n\r\n\n".to_vec(), "is empty"),
        ("nul.csv", b"barcode,email\nA\0,x\n".to_vec(), "NUL"),
        (
            "page.xlsx",
            b"\r\n<!DOCTYPE html><html><body>Sign in</body></html>".to_vec(),
            "web page",
        ),
    ];
    // Slashes stand for the ends of lines.
    for [name, text, expected] in table(
        r#"empty.csv   |                        | is empty
           empty.xlsx  |                        | is empty
           header.csv  | barcode,email/         | has a header and no rows
           page.csv    | <html>                 | web page
           none.csv    | a,b,c/1,2,3/           | no column is known
           twice.csv   | barcode,barcode/1,2/   | stands twice
           quote.csv   | barcode,"email/A,b/    | not closed
           ragged.csv  | barcode,email/A/B,b,c/ | line 3: has 3 columns, the header has 2
           list.json   | [{"barcode": "A"},     | is cut off
           object.json | [{"barcod": "A"}]      | "barcod" is no property of a delegate; did you mean "barcode"?"#,
    ) {
        lists.push((name, text.replace('/', "\n").into(), expected));
    }
    for (name, content, expected) in lists {
        let file = site.file(name, content);
        let told = refused(&site, "delegates", &file);
        assert!(told.contains(expected), "{name}: {told}");
        assert!(
            told.contains(name) || told.contains("of "),
            "{name} is not named: {told}"
        );
    }
    let nowhere = refused(&site, "delegates", &site.path("nowhere.csv"));
    has(&nowhere, "nowhere.csv");
    let folder = site.folder.path().to_str().expect("a name");
    has(refused(&site, "delegates", folder), "is a folder");
}

#[test]
fn spreadsheets_of_many_columns_of_one_and_of_none() {
    let with_columns = |site: &Site, count: u16| {
        let mut book = rust_xlsxwriter::Workbook::new();
        let sheet = book.add_worksheet();
        for column in 0..count {
            let header = if column == 0 {
                "Barcode".to_owned()
            } else {
                format!("Question {column}")
            };
            sheet.write_string(0, column, header).unwrap();
            sheet
                .write_string(1, column, format!("answer {column}"))
                .unwrap();
        }
        let path = site.path("list.xlsx");
        book.save(&path).unwrap();
        path
    };
    let site = Site::new();
    has(
        refused(&site, "delegates", &with_columns(&site, 0)),
        "is empty",
    );
    has(
        refused(&site, "delegates", &with_columns(&site, 1_200)),
        "at most 1000 are taken",
    );
    for count in [1, 200] {
        let site = Site::new();
        site.done(&["import", "delegates", &with_columns(&site, count)]);
        let answers = "SELECT coalesce(count(*), 0) FROM delegates, json_each(data, '$.Data')";
        assert_eq!(site.count(answers), i64::from(count) - 1);
    }
}

/// An export that is cut off anywhere is refused, and never taken for a shorter list.
#[test]
fn a_spreadsheet_that_is_cut_off_is_refused() {
    let site = Site::new();
    site.import(
        "delegates",
        "list.csv",
        "barcode,slug\n".to_owned() + &lines(500, |n| format!("A{n},b{n}")),
        &[],
    );
    let whole = site.path("whole.xlsx");
    site.done(&["export", "delegates", "--output", &whole]);
    let whole = std::fs::read(whole).unwrap();
    let other = Site::new();
    for part in 1..20 {
        let cut = other.file("cut.xlsx", &whole[..whole.len() * part / 20]);
        let told = refused(&other, "delegates", &cut);
        has(&told, "cut.xlsx: is cut off, damaged");
    }
    // Damaged inside.
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 200].fill(0x55);
    let damaged = other.file("damaged.xlsx", damaged);
    refused(&other, "delegates", &damaged);
}

const WORKBOOK: &str = r#"<?xml version="1.0"?><workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
const RELATIONS: &str = r#"<?xml version="1.0"?><Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
const ROOT: &str = r#"<?xml version="1.0"?><Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;

/// A workbook whose named part holds `before`, then `filler` so often, then `after`.
fn bomb(name: &str, before: &str, filler: &[u8], times: usize, after: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_level(Some(1));
    let sheet = "<?xml version=\"1.0\"?><worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>Barcode</t></is></c></row></sheetData></worksheet>";
    for (part, text) in [
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", WORKBOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", sheet),
    ] {
        if part != name {
            zip.start_file(part, options).expect("packed");
            zip.write_all(text.as_bytes()).expect("packed");
        }
    }
    zip.start_file(name, options).expect("packed");
    zip.write_all(before.as_bytes()).expect("packed");
    for _ in 0..times {
        zip.write_all(filler).expect("packed");
    }
    zip.write_all(after.as_bytes()).expect("packed");
    zip.finish().expect("packed").into_inner()
}

#[test]
fn a_zip_bomb_is_refused_before_it_goes_off() {
    let mib = 1024 * 1024;
    let head = "<?xml version=\"1.0\"?><worksheet><sheetData>";
    let cell = format!("{head}<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>");
    let texts = "<sst count=\"1\" uniqueCount=\"1\">";
    let some_texts = "<si><t>a</t></si>".repeat(60_000);
    let end = "</t></is></c></row></sheetData></worksheet>";
    let tag = format!("{head}<row r=\"");
    let data = format!("{cell}<![CDATA[");
    let sheet = "xl/worksheets/sheet1.xml";
    let strings = "xl/sharedStrings.xml";
    let announced = "<sst uniqueCount=\"88888888888888\">";
    let some_rows = "<row></row>".repeat(100_000);
    let x = vec![b'x'; mib];
    let digits = vec![b'1'; mib];
    let brackets = vec![b'<'; mib];
    let blanks = vec![b' '; mib];
    for (what, file) in [
        ("a cell", bomb(sheet, &cell, &x, 40, end)),
        (
            "a tag",
            bomb(sheet, &tag, &digits, 2, "\"/></sheetData></worksheet>"),
        ),
        (
            "texts",
            bomb(strings, texts, some_texts.as_bytes(), 150, "</sst>"),
        ),
        (
            "announced texts",
            bomb(strings, announced, b"<si><t>a</t></si>", 1, "</sst>"),
        ),
        (
            "a CDATA",
            bomb(sheet, &data, &brackets, 20, &format!("]]>{end}")),
        ),
        (
            "another part",
            bomb(
                "xl/styles.xml",
                "<styleSheet>",
                &blanks,
                20,
                "</styleSheet>",
            ),
        ),
        (
            "rows",
            bomb(
                sheet,
                head,
                some_rows.as_bytes(),
                1_050,
                "</sheetData></worksheet>",
            ),
        ),
    ] {
        let site = Site::new();
        assert!(file.len() < 20 * mib, "{what}: {} bytes", file.len());
        let path = site.file("bomb.xlsx", file);
        let told = refused(&site, "delegates", &path);
        assert!(
            told.contains("unpacks to more") || told.contains("CDATA"),
            "{what}: {told}"
        );
    }
}

#[test]
fn a_zip_bomb_that_lies_about_its_size_is_refused() {
    let texts = "<sst count=\"1\" uniqueCount=\"1\">";
    let some_texts = "<si><t>a</t></si>".repeat(60_000);
    let mut lying = bomb(
        "xl/sharedStrings.xml",
        texts,
        some_texts.as_bytes(),
        150,
        "</sst>",
    );
    let size = u32::try_from(texts.len() + some_texts.len() * 150 + "</sst>".len()).unwrap();
    let places: Vec<_> = (0..lying.len() - 4)
        .filter(|at| lying[*at..at + 4] == size.to_le_bytes())
        .collect();
    assert_eq!(places.len(), 2, "the size stands in two places");
    for at in places {
        lying[at..at + 4].copy_from_slice(&1_000_u32.to_le_bytes());
    }
    let site = Site::new();
    let path = site.file("bomb.xlsx", lying);
    has(refused(&site, "delegates", &path), "bomb.xlsx: ");
}

#[test]
fn a_cell_at_the_far_end_of_a_sheet_takes_no_more_memory() {
    let site = Site::new();
    let head = "<?xml version=\"1.0\"?><worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>Barcode</t></is></c></row>";
    for (cell, expected) in [("XFD1048576", "in column 16384"), ("A1048576", "")] {
        let far = format!(
            "<row r=\"1048576\"><c r=\"{cell}\" t=\"inlineStr\"><is><t>X</t></is></c></row></sheetData></worksheet>"
        );
        let file = site.file(
            "far.xlsx",
            bomb("xl/worksheets/sheet1.xml", head, b"", 0, &far),
        );
        if expected.is_empty() {
            site.done(&["import", "delegates", &file]);
            assert_eq!(site.count("SELECT line FROM batch_rows"), 1_048_576);
        } else {
            let told = refused(&site, "delegates", &file);
            assert!(told.contains(expected), "{told}");
        }
    }
}

#[test]
fn a_csv_of_gigabytes_is_refused_and_a_row_without_end_too() {
    let site = Site::new();
    let path = site.path("huge.csv");
    // Sparse: it takes no room on the disk.
    let mut file = File::create(&path).unwrap();
    file.write_all(b"barcode,email\nA,a\n").unwrap();
    file.set_len(2 * 1024 * 1024 * 1024).unwrap();
    let told = refused(&site, "delegates", &path);
    has(&told, "is larger than 1024 MiB; split it");
    // One that is just small enough is read, and is one row without end.
    file.set_len(40 * 1024 * 1024).unwrap();
    let told = refused(&site, "delegates", &path);
    has(&told, "line 3: goes on for more than 4 MiB");
    let mut open = "barcode,email\nA,\"".to_owned();
    open.push_str(&"b,c\n".repeat(8 * 1024 * 1024));
    let open = site.file("open.csv", open);
    let told = refused(&site, "delegates", &open);
    has(&told, ["line 2: goes on", "not closed"]);
}

/// Thirty times the rows, hardly more memory.
#[test]
fn a_long_list_is_not_held_in_memory() {
    let memory = |rows: usize| {
        let site = Site::new();
        let note = "n".repeat(2_000);
        let list = lines(rows, |n| format!("B{n},{note}"));
        let list = site.file("list.csv", format!("barcode,Notes\n{list}"));
        let mut child = site.start(&["import", "delegates", &list, "--dry-run"]);
        let mut most = 0;
        while child.try_wait().expect("a child").is_none() {
            most = memory_kib(child.id()).unwrap_or(0).max(most);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(child.wait().expect("a child").success());
        most
    };
    let (few, many) = (memory(1_000), memory(30_000));
    // 60 MB of text.
    assert!(many < few + 12 * 1024, "{few} KiB, {many} KiB");
}
