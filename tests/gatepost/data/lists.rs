//! Lists as shops, spreadsheets and other people write them: each is a kind of damage or of shape.

use super::Site;
use crate::harness::{Agrees, has};
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet};
use serde_json::{Value, json};
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

/// Imports a list; the answer, whether it was imported or not.
fn tried(site: &Site, what: &str, list: &str, options: &[&str]) -> Value {
    let output = site.run(&[&["import", what, list, "--json"], options].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn codes(site: &Site) -> String {
    site.text("SELECT coalesce(group_concat(barcode, ' '), '') FROM (SELECT barcode FROM delegates ORDER BY id)")
}

const SHOP: &str = "Order code;Attendee name;Attendee name: Given name;Attendee name: Family name;Product;Secret;\
    Requires special attention;Comment;Checked in;Status\n\
    X1;Dr. Ida Ost;Ida;Ost;Regular;secret-1;Yes;ramp;2027-01-02 10:00;paid\n\
    X2;Ole Nord;Ole;Nord;Student;secret-2;No;;;canceled\n\
    X3;Una Süd;Una;Süd;Student;secret-3;No;;;paid\n";

#[test]
fn a_shops_list_is_known_and_mapped_in_one_step() {
    let site = Site::new();
    let list = site.file("shop.csv", SHOP);
    let told = site.told(&["import", "delegates", &list]);
    told.agrees(&json!({"rows": 3, "imported": 2, "leftOut": 1, "badRows": 0}));
    has(told["recognised"].to_string(), "a list of pretix");
    has(
        told["warnings"].to_string(),
        [
            "calls cancelled (1): left out",
            "1 row that \\\"Checked in\\\" calls checked in elsewhere",
        ],
    );
    told["leftOutRows"][0].agrees(&json!({"line": 3, "column": "Status"}));
    let found = site.exported("delegates");
    found[0].agrees(&json!({
        "barcode": "secret-1", "firstName": "Ida", "lastName": "Ost", "delegateType": "Regular",
    }));
    assert_eq!(codes(&site), "secret-1 secret-3");
    let notes = "SELECT group_concat(delegate_id || ' ' || level || ' ' || note) FROM gate_notes";
    assert_eq!(site.text(notes), "1 warning ramp");
    for (name, list) in [
        (
            "ti.to",
            "Ticket,Ticket First Name,Ticket Last Name,Void Status,Ticket Reference\nEarly,A,B,,R-1\nEarly,C,D,void,R-2\n",
        ),
        (
            "Eventbrite",
            "Order #,First Name,Surname,Ticket Type,Attendee #,Attendee Status,Barcode number\n\
            1,A,B,Day,7,Attending,R-1\n2,C,D,Day,8,Not Attending,R-2\n",
        ),
        (
            "Hi.Events",
            "Public ID,First Name,Last Name,Ticket Name,Is Checked In,Status\nR-1,A,B,Day,No,ACTIVE\nR-2,C,D,Day,No,CANCELLED\n",
        ),
        (
            "Odoo",
            "Attendee Name,Event Ticket,Barcode,Status,Attended Date\nA B,Day,R-1,Registered,\nC D,Day,R-2,Cancelled,\n",
        ),
    ] {
        let site = Site::new();
        let list = site.file("list.csv", list);
        let told = site.told(&["import", "delegates", &list]);
        told.agrees(&json!({"imported": 1, "leftOut": 1}));
        has(
            told["recognised"].to_string(),
            &format!("a list of {name};"),
        );
        site.exported("delegates")[0]
            .agrees(&json!({"barcode": "R-1", "firstName": "A", "lastName": "B"}));
        let kind = site.text("SELECT delegate_type FROM delegates");
        assert!(["Early", "Day"].contains(&kind.as_str()), "{name}: {kind}");
    }
}

#[test]
fn tickets_that_are_not_good_are_left_out_blocked_or_kept() {
    let list =
        "barcode,Name,Bestellstatus\nA,Ada Ost,bezahlt\nB,Bo West,storniert\nC,Cy Nord,erstattet\n";
    for (rule, imported, valid) in [("drop", 1, "A"), ("block", 3, "A"), ("keep", 3, "A B C")] {
        let site = Site::new();
        let list = site.file("list.csv", list);
        let rule = format!("Bestellstatus={rule}");
        let told = site.told(&["import", "delegates", &list, "--status", &rule]);
        told.agrees(&json!({"imported": imported}));
        has(
            told["warnings"].to_string(),
            "calls cancelled (1), refunded (1)",
        );
        assert_eq!(codes(&site), valid, "{rule}");
        let blocked =
            site.rows("blocked_codes WHERE reason LIKE '%cancelled' OR reason LIKE '%refunded'");
        assert_eq!(blocked, if rule.ends_with("block") { 2 } else { 0 });
        // Taken back, nothing of it is left.
        site.told(&["import", "--undo", "1"])
            .agrees(&json!({"left": 0}));
        assert_eq!(site.rows("delegates") + site.rows("blocked_codes"), 0);
    }
    let site = Site::new();
    let list = site.file("list.csv", list);
    let refused = site.refused(&["import", "delegates", &list, "--status", "Bestellung=keep"]);
    has(&refused, "--status: there is no column \"Bestellung\"");
    // A column that nobody knows by its header may be named.
    let other = site.file("other.csv", "barcode,Zustand\nA,ok\nB,storniert\n");
    let told = site.told(&["import", "delegates", &other, "--status", "Zustand=drop"]);
    told.agrees(&json!({"imported": 1, "leftOut": 1}));
}

#[test]
fn a_ticket_that_is_refunded_later_is_blocked_and_given_back_with_the_import() {
    let site = Site::new();
    site.import(
        "delegates",
        "first.csv",
        "externalId,barcode\nx1,A\nx2,B\n",
        &[],
    );
    let list = site.file(
        "second.csv",
        "externalId,barcode,Status,Comment\nx1,A,refunded,\nx2,B,paid,vip\n",
    );
    let key = [
        "import",
        "delegates",
        &list,
        "--key",
        "externalId",
        "--status",
        "Status=block",
    ];
    let key = [&key[..], &["--map", "Comment=note"]].concat();
    site.told(&key).agrees(&json!({"updated": 2}));
    assert_eq!(codes(&site), "B");
    assert_eq!(site.text("SELECT note FROM gate_notes"), "vip");
    // The same list once more changes nothing.
    site.told(&key)
        .agrees(&json!({"updated": 1, "leftOut": 1, "badRows": 0}));
    for import in ["3", "2"] {
        site.told(&["import", "--undo", import])
            .agrees(&json!({"left": 0}));
    }
    assert_eq!(codes(&site), "A B");
    assert_eq!(site.rows("blocked_codes") + site.rows("gate_notes"), 0);
}

#[test]
fn what_surrounds_a_code_is_taken_off_and_counted() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "Barcode,Last name,Phone\n'0001,'t Hooft,'+49301\n\"=\"\"0002\"\"\",B,'0301\n\
         \u{200b}AB\u{200e}3\u{a0},Anna\u{a0}Lena,\n\u{410}B-4,D,\n",
    );
    let told = site.told(&["import", "delegates", &list]);
    assert_eq!(codes(&site), "0001 0002 AB3 AB-4");
    has(
        told["recognised"].to_string(),
        [
            "2 cells of \\\"Barcode\\\" were unwrapped",
            "1 cell of \\\"Barcode\\\" had invisible marks",
            "1 cell of \\\"Barcode\\\" had letters or signs of another script",
            "1 cell of \\\"Last name\\\" had invisible marks",
        ],
    );
    let found = site.exported("delegates");
    found[0].agrees(&json!({"lastName": "'t Hooft", "phone": "+49301"}));
    found[2].agrees(&json!({"lastName": "Anna Lena"}));
}

#[test]
fn a_code_that_a_spreadsheet_shortened_is_a_bad_row_and_overwrites_nothing() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "First name;Barcode;Phone\nA;1,59002E+17;x\nB;4.0053E+12;4,9E+12\nC;12E34;\n",
    );
    let told = tried(&site, "delegates", &list, &["--skip-bad"]);
    told.agrees(&json!({"badRows": 2, "imported": 1}));
    has(
        told["bad"][0]["reason"].to_string(),
        "a number as a spreadsheet shows it",
    );
    has(told["warnings"].to_string(), "that a spreadsheet shortened");
    assert_eq!(codes(&site), "12E34");
    // An export that was saved by a spreadsheet is held to that as well.
    let id = site.text("SELECT public_id FROM delegates");
    let saved = format!("_type;publicId;barcode;firstName\ndelegate;{id};1,23457E+15;Uma\n");
    let saved = site.file("saved.csv", saved);
    let told = tried(&site, "delegates", &saved, &["--key", "publicId"]);
    told.agrees(&json!({"badRows": 1, "imported": 0}));
    assert_eq!(codes(&site), "12E34");
    // What a record has already may be sent back as it is.
    site.import(
        "delegates",
        "old.json",
        "[{\"barcode\": \"1,5E+15\", \"slug\": \"old\"}]",
        &[],
    );
    let same = site.file("same.csv", "slug,barcode,company\nold,\"1,5E+15\",Works\n");
    site.told(&["import", "delegates", &same, "--key", "slug"])
        .agrees(&json!({"updated": 1}));
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
fn zeros_that_only_a_number_format_shows_are_asked_for() {
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
    let site = Site::new();
    let list = site.file("zeros.xlsx", &zeros);
    let refused = site.refused(&["import", "delegates", &list]);
    has(
        &refused,
        [
            "such as 007422 and 7422",
            "--numbers shown",
            "--numbers stored",
            "nothing was imported",
        ],
    );
    let told = tried(&site, "delegates", &list, &["--dry-run"]);
    assert_eq!(told["questions"].as_array().map(Vec::len), Some(1));
    assert_eq!(site.rows("delegates"), 0);
    for (answer, found) in [
        ("shown", "007421 007422 7423"),
        ("stored", "007421 7422 7423"),
    ] {
        let site = Site::new();
        site.import("delegates", "zeros.xlsx", &zeros, &["--numbers", answer]);
        assert_eq!(codes(&site), found);
    }
}

#[test]
fn an_order_of_day_and_month_is_asked_for_once_and_never_guessed() {
    let site = Site::new();
    let list = site.file(
        "dates.csv",
        "code,name,startAt\na,A,13/06/2027 09:00\nb,B,06/13/2027 09:00 AM\nc,C,05/06/2027 09:00\n\
         d,D,13-Jun-27 9:00\ne,E,2027-06-13T09:00\nf,F,2027/06/13 09:00\ng,G,13.06.27 09:00\n",
    );
    let refused = site.refused(&["import", "devices", &list, "--skip-bad"]);
    has(
        &refused,
        ["can be read in several ways", "--dates dmy", "--dates mdy"],
    );
    let told = tried(&site, "devices", &list, &["--dates", "dmy", "--skip-bad"]);
    told.agrees(&json!({"imported": 6, "badRows": 1}));
    told["bad"][0].agrees(&json!({"line": 3}));
    let same = "devices WHERE start_at = (SELECT start_at FROM devices WHERE code = 'e')";
    assert_eq!(site.rows(same), 5);
    // What only one order fits needs no answer, and is told.
    let site = Site::new();
    let list = site.file(
        "us.csv",
        "code,name,startAt\na,A,06/13/2027\nb,B,05/06/2027\n",
    );
    let told = site.told(&["import", "devices", &list]);
    has(told["recognised"].to_string(), "are month, day, year");
    assert_eq!(
        site.text("SELECT date(max(start_at) / 1000, 'unixepoch') FROM devices"),
        "2027-06-13"
    );
    assert_eq!(
        site.text("SELECT date(min(start_at) / 1000, 'unixepoch') FROM devices"),
        "2027-05-06"
    );
}

#[test]
fn dates_and_times_in_two_columns_are_joined_and_changes_of_the_clocks_told() {
    let site = Site::new();
    site.applied(&json!({"settings": {"timeZone": "Europe/Berlin"}}), &[]);
    site.import("delegates", "people.csv", "barcode\nH-1\nH-2\n", &[]);
    let list = site.file(
        "history.csv",
        "barcode,date,time\nH-1,2027-03-28,02:30:00\nH-2,2027-06-12,09:44:51\nH-9,2027-10-31,02:30\n",
    );
    let refused = site.refused(&["import", "interactions", &list]);
    has(&refused, "no column says what happened");
    let told = tried(
        &site,
        "interactions",
        &list,
        &["--set", "interactionType=check-in", "--skip-bad"],
    );
    told.agrees(&json!({"imported": 2, "badRows": 1}));
    has(told["bad"].to_string(), "there is no delegate barcode:H-9");
    let warnings = told["warnings"].to_string();
    has(
        &warnings,
        [
            "the clocks leave out; read an hour later",
            "the clocks show twice",
        ],
    );
    let times: Vec<_> = site
        .exported("interactions")
        .iter()
        .map(|one| one["recordedAt"].clone())
        .collect();
    assert_eq!(
        times,
        ["2027-03-28T03:30:00+02:00", "2027-06-12T09:44:51+02:00"]
    );
    // Sessions share a day.
    site.import(
        "devices",
        "sessions.csv",
        "code,Titel,Datum,Beginn,Ende\ns,Talk,12.06.27,9:00,10h30\n",
        &[],
    );
    site.exported("devices")[0].agrees(
        &json!({"startAt": "2027-06-12T09:00:00+02:00", "endAt": "2027-06-12T10:30:00+02:00"}),
    );
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

#[test]
fn rows_that_a_filter_hides_are_asked_for() {
    let hidden = book(
        &[&["Barcode", "Name"], &["A", "Ada"], &["B", "Bob"]],
        |sheet| {
            sheet.set_row_hidden(2).unwrap();
        },
    );
    let site = Site::new();
    let list = site.file("hidden.xlsx", &hidden);
    let refused = site.refused(&["import", "delegates", &list]);
    has(
        &refused,
        [
            "1 row is hidden by a filter",
            "--hidden-rows import",
            "--hidden-rows drop",
        ],
    );
    for (answer, found) in [("import", "A B"), ("drop", "A")] {
        let site = Site::new();
        site.import(
            "delegates",
            "hidden.xlsx",
            &hidden,
            &["--hidden-rows", answer],
        );
        assert_eq!(codes(&site), found);
    }
}

#[test]
fn whole_names_are_split_and_one_value_for_all_is_no_code() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "Attendee,Code,NFC,UHF tag,Barcode\n\"Ost, Ada\",FAIR27,04A1,e7e70001,L-1\nLise van West,FAIR27,04A2,e7e70002,L-2\n\
         Una,FAIR27,04A3,e7e70003,L-3\n",
    );
    let told = site.told(&["import", "delegates", &list]);
    has(
        told["recognised"].to_string(),
        [
            "holds whole names, which are split",
            "\\\"Code\\\" has one value for all, so it is no code",
        ],
    );
    let found = site.exported("delegates");
    found[0].agrees(
        &json!({"firstName": "Ada", "lastName": "Ost", "rfid": "04A1", "uhfId": "e7e70001"}),
    );
    found[1].agrees(&json!({"firstName": "Lise", "lastName": "van West"}));
    assert_eq!(found[1]["data"]["Data"]["Code"], "FAIR27");
}

#[test]
fn texts_of_old_macs_and_with_a_declared_delimiter_are_read() {
    let site = Site::new();
    site.import(
        "delegates",
        "mac.csv",
        b"First name,Last name\nRen\x8e,F\x8evrier\nMa\x91lle,No\x91l\n",
        &[],
    );
    site.import(
        "delegates",
        "sep.csv",
        "\u{feff}\"sep=;\"\r\nFirst name;Last name\r\nUma;Bom\r\n",
        &[],
    );
    site.import(
        "delegates",
        "ansi.csv",
        b"First name,Last name\nS\x94ren,O\x92Brien \x80\n",
        &["--encoding", "windows-1252"],
    );
    site.import(
        "delegates",
        "ansi2.csv",
        b"First name,Last name\nJ\xf6rg,D\x92Angelo\nZo\xeb,Wei\xdf\n",
        &[],
    );
    let names = "SELECT group_concat(first_name || ' ' || last_name, '|') FROM (SELECT * FROM delegates ORDER BY id)";
    assert_eq!(
        site.text(names),
        "René Février|Maëlle Noël|Uma Bom|S”ren O’Brien €|Jörg D’Angelo|Zoë Weiß"
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

#[test]
fn one_person_twice_is_told_and_made_one_by_a_key() {
    let list = "First name,Last name,Email,Barcode\nAda,Twice, ada@example.org ,D-1\nAda,Twice,ADA@example.org,D-2\nBea,Once,bea@example.org,D-3\n";
    let site = Site::new();
    let file = site.file("list.csv", list);
    let told = site.told(&["import", "delegates", &file]);
    told.agrees(&json!({"created": 3}));
    has(
        told["warnings"].to_string(),
        "1 row has the e-mail address of a row above",
    );
    let site = Site::new();
    let file = site.file("list.csv", list);
    let told = site.told(&["import", "delegates", &file, "--key", "email"]);
    told.agrees(&json!({"created": 2, "updated": 1, "badRows": 0}));
    has(told["warnings"].to_string(), "the last row counts");
    assert_eq!(codes(&site), "D-2 D-3");
    // Somebody else has the address of a family; the name tells who is meant.
    site.import(
        "delegates",
        "other.csv",
        "First name,Last name,Email\nCy,Twice,ada@example.org\n",
        &[],
    );
    let change = site.file(
        "change.csv",
        "First name,Last name,Email,Company\nCy,Twice,ADA@example.org,Works\n",
    );
    has(
        site.refused(&["import", "delegates", &change, "--key", "email"]),
        "several attendees",
    );
    site.told(&["import", "delegates", &change, "--key", "name+email"])
        .agrees(&json!({"updated": 1}));
    assert_eq!(
        site.text("SELECT first_name FROM delegates WHERE company = 'Works'"),
        "Cy"
    );
    for import in ["3", "2", "1"] {
        site.told(&["import", "--undo", import])
            .agrees(&json!({"left": 0}));
    }
    assert_eq!(site.rows("delegates"), 0);
}

#[test]
fn a_session_list_makes_rooms_limits_and_parents() {
    let site = Site::new();
    site.import(
        "devices",
        "halls.csv",
        "code,name,deviceType\nhall,Main Hall,room\n",
        &[],
    );
    let list = site.file(
        "sessions.csv",
        "Session,Room,Capacity,Speaker\nOpening,Main Hall,120,A. Ost\nTalk,Attic,30,B. West\nPanel,Attic,,\n",
    );
    let told = site.told(&["import", "devices", &list]);
    has(told["recognised"].to_string(), "every row is a session");
    let tree = "SELECT group_concat(d.name || ':' || coalesce(d.device_type, '') || ':' || coalesce(p.name, ''), ' ')
        FROM (SELECT * FROM devices ORDER BY id) d LEFT JOIN devices p ON p.id = d.parent_id";
    assert_eq!(
        site.text(tree),
        "Main Hall:room: Opening:session:Main Hall Attic:room: Talk:session:Attic Panel:session:Attic"
    );
    let limits = "SELECT group_concat(data ->> '$.Access.capacity') FROM devices";
    assert_eq!(site.text(limits), "120,30");
    assert_eq!(
        site.text("SELECT data ->> '$.Data.Speaker' FROM devices WHERE name = 'Talk'"),
        "B. West"
    );
    site.told(&["import", "--undo", "2"])
        .agrees(&json!({"removed": 4, "left": 0}));
    // Parents by their names, wherever in the list they stand.
    let list = site.file(
        "tree.csv",
        "name,deviceType,parent\nStage,stand,Attic\nAttic,room,Main Hall\nLoft,room,Cellar\n",
    );
    let refused = site.refused(&["import", "devices", &list]);
    has(&refused, ["line 4", "nor in this list"]);
    site.run(&["import", "devices", &list, "--skip-bad"]);
    assert_eq!(
        site.text(tree),
        "Main Hall:room: Stage:stand:Attic Attic:room:Main Hall"
    );
}

#[test]
fn a_shops_list_is_history_of_those_who_came() {
    let site = Site::new();
    let list = site.file("shop.csv", SHOP);
    site.done(&["import", "delegates", &list]);
    let map = [
        "--map",
        "Secret=firstDelegate barcode",
        "--set",
        "interactionType=check-in",
    ];
    let told = site.told(&[&["import", "interactions", &list][..], &map].concat());
    told.agrees(&json!({"imported": 1, "leftOut": 2}));
    assert_eq!(site.rows("interactions WHERE first_delegate_id = 1"), 1);
}
