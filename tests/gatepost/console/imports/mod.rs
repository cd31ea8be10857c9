//! Lists through the import wizard and back, as an operator does it in a browser without scripts.

mod lists;
mod refused;
mod stopped;

use super::{Crew, Page, page};
use crate::{faults::process::until, harness::Server};
use gatepost::identity::ConsoleRole;
use reqwest::{Method, blocking::RequestBuilder};
use rust_xlsxwriter::Workbook;
use serde_json::json;
use std::fs;

const BOUNDARY: &str = "a-line-that-no-list-has";

/// A form with a file, as a browser sends it.
fn form(csrf: &str, kind: &str, name: &str, content: &[u8]) -> Vec<u8> {
    let mut body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\n{kind}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(content);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    body
}

impl Crew {
    fn upload_request(&self, kind: &str, name: &str, content: &[u8]) -> RequestBuilder {
        self.upload_to("/console/import", kind, name, content)
    }

    fn upload_to(&self, path: &str, kind: &str, name: &str, content: &[u8]) -> RequestBuilder {
        self.request(Method::POST, path)
            .header(
                "Content-Type",
                format!("multipart/form-data; boundary={BOUNDARY}"),
            )
            .body(form(&self.csrf, kind, name, content))
    }

    /// Uploads a list: where it is then.
    #[track_caller]
    fn uploaded(&self, kind: &str, name: &str, content: &[u8]) -> String {
        page(self.upload_request(kind, name, content)).taken()
    }

    fn upload(&self, kind: &str, name: &str, content: &[u8]) -> Page {
        page(self.upload_request(kind, name, content))
    }

    /// The page once nothing is worked on it any more.
    #[track_caller]
    fn done(&self, path: &str) -> String {
        let mut html = String::new();
        until("nothing is worked on it", || {
            html = self.get(path).shown();
            !html.contains(">Stop</button>")
        });
        html
    }

    /// Sends the form of a list as the page shows it, but for some fields.
    #[track_caller]
    fn send(&self, path: &str, what: &str, changes: &[(&str, &str)]) -> Page {
        let mut fields = chosen(&self.get(path).shown());
        for (name, value) in changes {
            fields.retain(|(known, _)| known != name);
            fields.push(((*name).to_owned(), (*value).to_owned()));
        }
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        self.post(&format!("{path}/{what}"), &fields)
    }

    /// Imports a list: the number of its batch.
    #[track_caller]
    fn imported(&self, path: &str, changes: &[(&str, &str)]) -> i64 {
        self.send(path, "import", changes).taken();
        let html = self.done(path);
        let batch = html
            .split("/console/import/batches/")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        batch
            .and_then(|id| id.parse().ok())
            .unwrap_or_else(|| panic!("no batch in {html}"))
    }
}

/// The selects of a page with what is selected in them: what a browser would send.
fn chosen(html: &str) -> Vec<(String, String)> {
    let attribute = |tag: &str, name: &str| {
        let value = tag.split(&format!("{name}=\"")).nth(1)?;
        let value = value.split('"').next()?;
        Some(
            value
                .replace("&#34;", "\"")
                .replace("&#39;", "'")
                .replace("&#38;", "&"),
        )
    };
    let mut fields = Vec::new();
    for select in html.split("<select ").skip(1) {
        let select = select.split("</select>").next().expect("a select");
        let name = attribute(select, "name").expect("a name");
        let options: Vec<&str> = select.split("<option").skip(1).collect();
        let option = options
            .iter()
            .find(|option| {
                option
                    .split('>')
                    .next()
                    .expect("a tag")
                    .contains(" selected")
            })
            .or(options.first())
            .expect("an option");
        fields.push((name, attribute(option, "value").unwrap_or_default()));
    }
    fields
}

fn sample() -> Vec<u8> {
    fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/attendees.csv"
    ))
    .expect("the sample")
}

fn count(server: &Server, sql: &str) -> i64 {
    server.value(&format!("SELECT count(*) FROM {sql}"))
}

/// Lists that lie beside the database.
fn kept(server: &Server) -> usize {
    fs::read_dir(server.folder.path())
        .expect("a folder")
        .filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().contains(".upload-")
        })
        .count()
}

#[test]
fn the_sample_goes_in_and_comes_back_out() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let list = crew.uploaded("delegates", "attendees.csv", &sample());
    let html = crew.get(&list).shown();
    assert!(html.contains("columns separated by"), "{html}");
    assert!(html.contains("Brückner"), "{html}");
    assert!(
        html.contains("<option value=\"barcode\" selected>"),
        "{html}"
    );
    assert!(
        html.contains("<option value=\"data.Data.Dietary needs\" selected>"),
        "{html}"
    );
    crew.send(&list, "try", &[]).taken();
    let html = crew.done(&list);
    assert!(html.contains("Every row is good"), "{html}");
    assert_eq!(count(&server, "delegates"), 0);
    assert_eq!(count(&server, "batches"), 0);
    assert_eq!(kept(&server), 1);
    let batch = crew.imported(&list, &[]);
    assert_eq!(kept(&server), 0, "the list is gone once it is imported");
    assert!(
        crew.get(&list)
            .shown()
            .contains("<strong>60</strong> created")
    );
    assert_eq!(count(&server, "delegates WHERE barcode IS NOT NULL"), 60);
    let diet: String = server
        .value("SELECT data ->> '$.Data.Dietary needs' FROM delegates WHERE first_name = 'Tomás'");
    assert_eq!(diet, "Vegetarian");
    let sources: String = server.value("SELECT sources FROM delegates LIMIT 1");
    assert_eq!(sources, "[\"import\"]");
    let history = crew.get("/console/import/batches").shown();
    for told in ["attendees.csv", "administrator@example.com", "complete"] {
        assert!(history.contains(told), "no {told} in {history}");
    }
    let path = format!("/console/import/batches/{batch}");
    assert_eq!(crew.post(&format!("{path}/undo"), &[]).taken(), path);
    let html = crew.done(&path);
    assert!(html.contains("60 removed permanently"), "{html}");
    assert!(html.contains("taken back"), "{html}");
    assert_eq!(count(&server, "delegates"), 0);
    crew.post(&format!("{path}/undo"), &[])
        .refused(422, "taken back already");
}

#[test]
fn a_spreadsheet_goes_in_by_another_sheet_and_comes_back_out() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let mut workbook = Workbook::new();
    let notes = workbook.add_worksheet().set_name("Notes").expect("a name");
    notes.write(0, 0, "first name").expect("a cell");
    notes.write(1, 0, "nothing of use").expect("a cell");
    let guests = workbook.add_worksheet().set_name("Gäste").expect("a name");
    for (row, cells) in [
        ["Billetkode", "Vorname", "Zimmer"],
        ["X-1", "Ada", "12"],
        ["X-2", "Bo", "14"],
    ]
    .iter()
    .enumerate()
    {
        for (column, cell) in cells.iter().enumerate() {
            let (row, column) = (u32::try_from(row), u16::try_from(column));
            guests
                .write(row.expect("small"), column.expect("small"), *cell)
                .expect("a cell");
        }
    }
    let bytes = workbook.save_to_buffer().expect("a workbook");
    let list = crew.uploaded("delegates", "gäste.xlsx", &bytes);
    let html = crew.get(&list).shown();
    assert!(html.contains("<option>Gäste</option>"), "{html}");
    crew.post(&format!("{list}/sheet"), &[("sheet", "Gäste")])
        .taken();
    let batch = crew.imported(&list, &[]);
    let first: String = server.value("SELECT first_name FROM delegates WHERE barcode = 'X-1'");
    assert_eq!(first, "Ada");
    let path = format!("/console/import/batches/{batch}");
    assert!(crew.get(&path).shown().contains("Gäste"));
    // Another sheet of the file is another list, the same one is told.
    let again = crew.uploaded("delegates", "gäste.xlsx", &bytes);
    let told = "was imported already";
    assert!(!crew.get(&again).shown().contains(told));
    crew.post(&format!("{again}/sheet"), &[("sheet", "Gäste")])
        .taken();
    assert!(crew.get(&again).shown().contains(told));
    crew.post(&format!("{path}/undo"), &[]).taken();
    assert!(crew.done(&path).contains("2 removed permanently"));
    assert_eq!(count(&server, "delegates"), 0);
}

#[test]
fn a_key_changes_who_is_there_and_a_device_is_joined() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let gate = server.caller_with_all();
    let hall = gate.device(&json!({"name": "Hall A", "code": "hall"}));
    let ada = gate.delegate(&json!({"barcode": "A", "firstName": "Ada", "company": "Ada & Co."}));
    let list = crew.uploaded(
        "delegates",
        "more.csv",
        b"barcode,company\nA,Lovelace Ltd.\nB,\n",
    );
    let id = hall.to_string();
    crew.send(&list, "try", &[("key", "barcode")]).taken();
    assert!(
        crew.done(&list)
            .contains("<strong>1</strong> exist already")
    );
    let batch = crew.imported(&list, &[("key", "barcode"), ("join", &id), ("device", &id)]);
    assert_eq!(
        count(&server, "interactions WHERE interaction_type = 'join'"),
        2
    );
    let company =
        || server.value::<String>(&format!("SELECT company FROM delegates WHERE id = {ada}"));
    assert_eq!(company(), "Lovelace Ltd.");
    // The new one enters: what was used since stays, and is told by name.
    let seen = gate.interact(
        "check-in",
        &json!({"delegate": "barcode:B", "device": hall}),
    );
    assert_eq!(seen.status, 201);
    let path = format!("/console/import/batches/{batch}");
    crew.post(&format!("{path}/undo"), &[]).taken();
    let html = crew.done(&path);
    assert!(
        html.contains("1 put back to what they were, 1 left"),
        "{html}"
    );
    assert!(html.contains("taken back in part"), "{html}");
    assert!(
        html.contains("(B)") && html.contains("was used since"),
        "{html}"
    );
    assert_eq!(company(), "Ada & Co.");
}

#[test]
fn devices_and_interactions_go_in_by_their_own_columns() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let devices = crew.uploaded("devices", "rooms.csv", b"code,name\nhall,Hall A\n");
    crew.imported(&devices, &[]);
    let people = crew.uploaded(
        "delegates",
        "people.json",
        br#"[{"barcode": "A", "firstName": "Ada"}]"#,
    );
    crew.imported(&people, &[]);
    let history = crew.uploaded(
        "interactions",
        "history.csv",
        b"Type,Time,Delegate barcode,Device code,Remark\ncheck-in,2026-11-20 09:00:00,A,hall,early\n",
    );
    let batch = crew.imported(&history, &[]);
    let remark: String = server.value("SELECT data ->> 'Remark' FROM interactions");
    assert_eq!(remark, "early");
    let id: i64 = server.value("SELECT id FROM interactions");
    let html = crew.get(&format!("/console/interactions/{id}")).shown();
    assert!(html.contains(&format!("import {batch}</a>")), "{html}");
    assert!(html.contains("operator@example.com"), "{html}");
}

#[test]
fn a_sheet_that_is_about_the_others_is_passed_over() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let mut workbook = Workbook::new();
    let about = workbook
        .add_worksheet()
        .set_name("Read me")
        .expect("a name");
    about
        .write(0, 0, "Guests are on the next sheet")
        .expect("a cell");
    let guests = workbook.add_worksheet().set_name("Guests").expect("a name");
    guests.write(0, 0, "First name").expect("a cell");
    guests.write(1, 0, "Ada").expect("a cell");
    let bytes = workbook.save_to_buffer().expect("a workbook");
    let list = crew.uploaded("delegates", "guests.xlsx", &bytes);
    crew.sees(&list, "Ada");
    crew.imported(&list, &[]);
    assert_eq!(count(&server, "delegates"), 1);
}

#[test]
fn sessions_that_share_a_room_are_told_after_an_import() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let session = |guid: &str, title: &str, time: &str| json!({"guid": guid, "title": title, "date": format!("2026-05-01T{time}Z"), "duration": "00:45"});
    let programme = |locks: &str| {
        let rooms = json!({
            "Attic": [session("a", "Keys", "10:00:00"), session("b", "Locks", locks)],
            "Hall": [session("c", "Doors", "10:00:00")],
        });
        let days = json!({"schedule": {"conference": {"days": [{"rooms": rooms}]}}});
        let upload = crew.uploaded("devices", "schedule.json", days.to_string().as_bytes());
        // The next version of a programme changes what the first one made.
        crew.sees(&upload, "<option value=\"externalId\" selected>");
        crew.imported(&upload, &[("key", "externalId")])
    };
    let page = |batch| {
        crew.get(&format!("/console/import/batches/{batch}"))
            .shown()
    };
    let told = "Some sessions share a room at the same time";
    let html = page(programme("10:30:00"));
    assert!(html.contains(told), "{html}");
    assert!(
        html.contains(">Keys</a>") && html.contains("same room as Locks"),
        "{html}"
    );
    assert!(!html.contains(">Doors</a>"), "{html}");
    // The next version has mended it.
    let html = page(programme("11:00:00"));
    assert!(!html.contains(told), "{html}");
}

#[test]
fn what_is_doubtful_is_shown_and_the_encoding_can_be_changed() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded(
        "delegates",
        "guests.csv",
        b"Nachname/Familienname,Mail Adresse (privat),Newsletter phone\n\xa3ukasz,not-an-address,x\n",
    );
    let html = crew.get(&list).shown();
    for told in [
        "no column is a ticket code",
        "if it is the phone",
        "<option value=\"lastName\" selected>",
    ] {
        assert!(html.contains(told), "no {told} in {html}");
    }
    crew.post(&format!("{list}/sheet"), &[("encoding", "Windows-1250")])
        .taken();
    let html = crew.get(&list).shown();
    assert!(
        html.contains("Łukasz") && html.contains("<option selected>Windows-1250"),
        "{html}"
    );
    crew.post(&format!("{list}/sheet"), &[("encoding", "UTF-8")])
        .refused(422, "is not UTF-8: line 2");
    crew.send(&list, "try", &[]).taken();
    let html = crew.done(&list);
    assert!(html.contains("1 e-mail addresses are not valid"), "{html}");
    assert!(html.contains("line 2, column"), "{html}");
    crew.imported(&list, &[("make_codes", "on")]);
    let code: String = server.value("SELECT barcode FROM delegates WHERE last_name = 'Łukasz'");
    assert!(
        gatepost::types::barcode::Barcode::parse(&code).is_ok(),
        "{code}"
    );
}

#[test]
fn everybody_is_joined_with_an_event_that_is_made_after_the_import() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded("delegates", "guests.csv", b"barcode,Name\nA,Ada\nB,Bob\n");
    let batch = crew.imported(&list, &[]);
    let path = format!("/console/import/batches/{batch}");
    let event = server
        .caller_with_all()
        .device(&json!({"name": "Congress", "deviceType": "event"}));
    crew.post(&format!("{path}/join"), &[])
        .refused(422, "Choose what");
    let html = crew.get(&path).shown();
    assert!(
        html.contains(&format!("<option value=\"{event}\">Congress")),
        "{html}"
    );
    crew.post(&format!("{path}/join"), &[("device", &event.to_string())])
        .taken();
    let html = crew.done(&path);
    assert!(
        html.contains("2 attendees registered for Congress"),
        "{html}"
    );
    assert_eq!(
        count(&server, "interactions WHERE interaction_type = 'join'"),
        2
    );
}
