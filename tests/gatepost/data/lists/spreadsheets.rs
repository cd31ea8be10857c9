//! Lists in spreadsheets: numbers, hidden rows, and texts around the list.

use super::{codes, tried};
use crate::{
    data::Site,
    harness::{Agrees, has},
};
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet};
use serde_json::json;
use std::io::{Cursor, Write};
use zip::{ZipWriter, write::SimpleFileOptions};

/// A workbook with one sheet of texts, which is changed before it is saved.
fn book(rows: &[&[&str]], change: impl Fn(&mut Worksheet)) -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(*cells).filter(|(_, cell)| !cell.is_empty()) {
            sheet.write_string(row, column, *cell).expect("a sheet");
        }
    }
    change(sheet);
    book.save_to_buffer().expect("a sheet")
}

#[test]
fn numbers_that_a_spreadsheet_rounded_are_bad_rows() {
    let site = Site::new();
    let rows: &[&[&str]] = &[
        &["First name", "Barcode"],
        &["A"],
        &["B"],
        &["C"],
        &["D", "T-1"],
    ];
    let long = book(rows, |sheet| {
        for (row, number) in [
            (1, 1.590_018_106_294_571e17),
            (2, 42.0),
            (3, 4_005_300_123_456.78),
        ] {
            sheet.write_number(row, 1, number).unwrap();
        }
    });
    let list = site.file("long.xlsx", long);
    let told = tried(&site, "delegates", &list, &[]);
    told.agrees(&json!({"badRows": 3, "imported": 0}));
    let reasons = told["bad"].to_string();
    has(
        &reasons,
        [
            "more than 15 digits",
            "longer codes the spreadsheet rounded",
            "with a fraction",
        ],
    );
    // A short number is a code like another.
    let short = book(rows, |sheet| {
        for (row, number) in [(1, 123_456_789_012_345.0), (2, 42.0), (3, 7.0)] {
            sheet.write_number(row, 1, number).unwrap();
        }
    });
    site.import("delegates", "short.xlsx", short, &[]);
    assert_eq!(codes(&site), "123456789012345 42 7 T-1");
}

#[test]
fn zeros_and_rows_that_a_spreadsheet_hides_are_asked_for() {
    let zeros = book(
        &[&["First name", "Barcode"], &["A", "007421"], &["B"], &["C"]],
        |sheet| {
            let format = Format::new().set_num_format("000000");
            sheet
                .write_number_with_format(2, 1, 7422.0, &format)
                .unwrap();
            sheet.write_number(3, 1, 7423.0).unwrap();
        },
    );
    let hidden = book(
        &[&["Barcode", "Name"], &["A", "Ada"], &["B", "Bob"]],
        |sheet| {
            sheet.set_row_hidden(2).unwrap();
        },
    );
    for (list, question, option, answers) in [
        (
            zeros,
            "such as 007422 and 7422",
            "--numbers",
            [
                ("shown", "007421 007422 7423"),
                ("stored", "007421 7422 7423"),
            ],
        ),
        (
            hidden,
            "1 row is hidden by a filter",
            "--hidden-rows",
            [("import", "A B"), ("drop", "A")],
        ),
    ] {
        let site = Site::new();
        let path = site.file("list.xlsx", &list);
        let refused = site.refused(&["import", "delegates", &path]);
        has(&refused, [question, "nothing was imported"]);
        let told = tried(&site, "delegates", &path, &["--dry-run"]);
        assert_eq!(told["questions"].as_array().map(Vec::len), Some(1));
        assert_eq!(site.rows("delegates"), 0);
        for (answer, found) in answers {
            has(&refused, &format!("{option} {answer}"));
            let site = Site::new();
            site.import("delegates", "list.xlsx", &list, &[option, answer]);
            assert_eq!(codes(&site), found);
        }
    }
}

#[test]
fn titles_totals_and_notes_around_a_list_are_no_guests() {
    let site = Site::new();
    let rows: &[&[&str]] = &[
        &["Summer Fair - guest list"],
        &[],
        &["First name", "Last name", "Barcode"],
        &["Ada", "Ost", "T-1", "", "", "see mail"],
        &["First name", "Last name", "Barcode"],
        &["Bo", "Total", "T-2"],
        &["Sum", "12", "4711"],
        &["Total"],
        &["Summe", "2"],
    ];
    let list = book(rows, |sheet| {
        sheet
            .write_formula(7, 2, Formula::new("=COUNTA(C4:C6)"))
            .unwrap();
    });
    let list = site.file("fair.xlsx", list);
    let told = site.told(&["import", "delegates", &list]);
    told.agrees(&json!({"imported": 3, "leftOut": 3, "badRows": 0}));
    has(
        told["recognised"].to_string(),
        "the header is in row 3; 1 row is above it left out",
    );
    has(
        told["warnings"].to_string(),
        "the first in line 4: \\\"see mail\\\"",
    );
    assert_eq!(codes(&site), "T-1 T-2 4711");
    assert_eq!(
        site.text("SELECT group_concat(line) FROM batch_rows"),
        "4,6,7"
    );
    // In a text as well, whatever stands in the title; and where it is named.
    let site = Site::new();
    let list = site.file(
        "fair.csv",
        "Fair, summer\n\nVorname;Name;Strichcode\nAda;Ost;T-1\n",
    );
    site.told(&["import", "delegates", &list])
        .agrees(&json!({"imported": 1}));
    let list = site.file("odd.csv", "x;y\nBarcode;Kennung\nB1;B2\nB3;B4\n");
    let named = [
        "import",
        "delegates",
        &list,
        "--header-row",
        "2",
        "--dry-run",
    ];
    site.told(&named).agrees(&json!({"rows": 2}));
    has(
        site.refused(&["import", "delegates", &list, "--header-row", "9"]),
        "--header-row: row 9 is empty",
    );
}

/// A spreadsheet in the format of office programs that are free.
fn ods(rows: &str) -> Vec<u8> {
    let mut parts = ZipWriter::new(Cursor::new(Vec::new()));
    let content = format!(
        "<?xml version='1.0' encoding='UTF-8'?><office:document-content xmlns:office='o' xmlns:table='t' xmlns:text='x' \
         xmlns:calcext='c'><office:body><office:spreadsheet><table:table table:name='Guests'>{rows}</table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    for (name, text) in [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
    ] {
        parts
            .start_file(name, SimpleFileOptions::default())
            .expect("room");
        parts.write_all(text.as_bytes()).expect("room");
    }
    parts.finish().expect("room").into_inner()
}

#[test]
fn an_ods_file_is_read_like_an_xlsx_file() {
    let text = |text: &str| {
        format!(
            "<table:table-cell office:value-type='string'><text:p>{text}</text:p></table:table-cell>"
        )
    };
    let row = |cells: &str| format!("<table:table-row>{cells}</table:table-row>");
    let header = row(&["Barcode", "Name", "Nr", "When", "Was"].map(text).concat());
    let number = "<table:table-cell office:value-type='float' office:value='7422'><text:p>007422</text:p></table:table-cell>";
    let date = "<table:table-cell office:value-type='date' office:date-value='2027-06-13T09:00:00'><text:p>13.6.</text:p></table:table-cell>";
    let gap = "<table:table-cell table:number-columns-repeated='2'/>";
    let rows = [
        header,
        row(&format!("{number}{}{gap}{}", text("Odi &amp; Co"), text("a<text:s text:c='2'/>b"))),
        "<table:table-row table:number-rows-repeated='3'><table:table-cell/></table:table-row>".to_owned(),
        row(&format!("{}<table:table-cell/><table:table-cell office:value-type='float' office:value='1.5'/>{date}", text("O-2"))),
        format!("<table:table-row table:visibility='filter'>{}</table:table-row>", text("O-3")),
        "<table:table-row table:number-rows-repeated='1048570'><table:table-cell table:number-columns-repeated='16384'/></table:table-row>".to_owned(),
    ];
    let site = Site::new();
    let list = site.file("list.ods", ods(&rows.concat()));
    let refused = site.refused(&["import", "delegates", &list]);
    has(&refused, ["--numbers shown", "--hidden-rows drop"]);
    let told = site.told(&[
        "import",
        "delegates",
        &list,
        "--numbers",
        "shown",
        "--hidden-rows",
        "drop",
    ]);
    told.agrees(&json!({"format": "sheet \"Guests\"", "imported": 2, "leftOut": 1}));
    assert_eq!(codes(&site), "007422 O-2");
    let found = site.exported("delegates");
    found[0].agrees(
        &json!({"firstName": "Odi &", "lastName": "Co", "data": {"Data": {"Was": "a  b"}}}),
    );
    assert_eq!(
        found[1]["data"]["Data"],
        json!({"Nr": "1.5", "When": "2027-06-13 09:00:00"})
    );
    assert_eq!(
        site.text("SELECT group_concat(line) FROM batch_rows"),
        "2,6"
    );
    has(
        site.refused(&["import", "delegates", &list, "--sheet", "Gäste"]),
        "there is no sheet \"Gäste\"",
    );
    // A crafted file stands for no more than a spreadsheet has.
    let many = row(&format!(
        "<table:table-cell table:number-columns-repeated='99999999'>{}</table:table-cell>",
        "<text:p>x</text:p>"
    ));
    let list = site.file("many.ods", ods(&many));
    has(
        site.refused(&["import", "delegates", &list]),
        "at most 1000 are taken",
    );
}
