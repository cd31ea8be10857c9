//! Findings of the wizard about other people's lists, and its questions, before anything is written.

use super::{Crew, count};
use crate::harness::{Server, has};
use gatepost::identity::ConsoleRole;
use rust_xlsxwriter::{Format, Workbook};

/// Unescaped, as a browser shows it.
fn shown(crew: &Crew, path: &str) -> String {
    let html = crew.get(path).shown();
    html.replace("&#34;", "\"").replace("&#39;", "'")
}

#[test]
fn a_shops_list_is_known_and_its_tickets_are_chosen_for() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let shop = b"Ticket,Ticket First Name,Ticket Last Name,Void Status,Ticket Reference\n\
        Early,Ada,Ost,,R-1\nEarly,Bo,West,void,R-2\n";
    let list = crew.uploaded("delegates", "shop.csv", shop);
    let html = shown(&crew, &list);
    has(
        &html,
        [
            "this is a list of ti.to",
            "1 row has a ticket that \"Void Status\" calls void (1): left out",
            "<option value=\"drop\" selected>Leave these rows out</option>",
        ],
    );
    crew.send(&list, "try", &[]).taken();
    let html = crew.done(&list);
    has(&html, ["<strong>1</strong> left out", "the ticket is void"]);
    assert_eq!(count(&server, "delegates"), 0);
    crew.imported(&list, &[("status-3", "block")]);
    assert_eq!(count(&server, "delegates"), 2);
    assert_eq!(count(&server, "blocked_codes WHERE value = 'R-2'"), 1);
}

#[test]
fn what_cannot_be_known_is_asked_before_anything_is_written() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded(
        "devices",
        "talks.csv",
        b"The summer fair\ncode,name,startAt\na,A,05/06/2027 09:00\nb,B,13-Jun-27 9:00\n",
    );
    let html = shown(&crew, &list);
    has(
        &html,
        [
            "the header is in row 2",
            "Answer these under Options",
            "can be read in several ways",
            "<option value=\"dmy\">Day, month, year</option>",
        ],
    );
    crew.send(&list, "import", &[])
        .refused(422, "can be read in several ways");
    crew.send(&list, "try", &[]).taken();
    has(
        crew.done(&list),
        ["Answer these under Options", "<strong>1</strong> bad"],
    );
    assert_eq!(count(&server, "batches"), 0);
    crew.imported(&list, &[("dates", "mdy")]);
    let day: String =
        server.value("SELECT date(start_at / 1000, 'unixepoch') FROM devices WHERE code = 'a'");
    assert_eq!(day, "2027-05-06");
}

#[test]
fn numbers_and_hidden_rows_of_a_spreadsheet_are_asked_for() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let zeros = Format::new().set_num_format("000000");
    for (column, header) in [(0, "Barcode"), (1, "Whole name"), (2, "Phone")] {
        sheet.write_string(0, column, header).expect("a cell");
    }
    for row in 1..4 {
        sheet
            .write_number_with_format(row, 0, f64::from(row), &zeros)
            .expect("a cell");
        sheet
            .write_string(row, 1, format!("Ost, Ada {row}"))
            .expect("a cell");
        sheet.write_string(row, 2, "'0301").expect("a cell");
    }
    sheet.set_row_hidden(3).expect("a row");
    let bytes = book.save_to_buffer().expect("a workbook");
    let list = crew.uploaded("delegates", "guests.xlsx", &bytes);
    let html = shown(&crew, &list);
    has(
        &html,
        [
            "such as 000001 and 1",
            "1 row is hidden by a filter",
            "holds whole names, which are split",
            "3 cells of \"Phone\" were unwrapped",
        ],
    );
    crew.imported(&list, &[("numbers", "shown"), ("hidden_rows", "drop")]);
    let found: String = server
        .value("SELECT group_concat(barcode || ' ' || first_name || ' ' || phone) FROM delegates");
    assert_eq!(found, "000001 Ada 1 0301,000002 Ada 2 0301");
}

#[test]
fn values_for_every_row_and_another_header_row_are_given() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let people = crew.uploaded(
        "delegates",
        "people.csv",
        b"x;y\nCode;Email\nH-1;a@example.org\n",
    );
    crew.post(&format!("{people}/sheet"), &[("header_row", "2")])
        .taken();
    crew.imported(&people, &[("key", "email")]);
    let history = crew.uploaded(
        "interactions",
        "scans.csv",
        b"code,date,time\nH-1,2027-06-12,09:32:14\n",
    );
    has(shown(&crew, &history), "no column says what happened");
    let map = [
        ("column-0", "firstDelegate code"),
        ("set", "interactionType=check-in"),
    ];
    crew.send(&history, "import", &[("set", "interactionType")])
        .refused(422, "must be PROPERTY=VALUE");
    crew.imported(&history, &map);
    assert_eq!(
        count(&server, "interactions WHERE interaction_type = 'check-in'"),
        1
    );
}
