//! Lists through the import wizard and back, as an operator does it in a browser without scripts.

use super::{Crew, Page, page};
use crate::harness::Server;
use gatepost::auth::ConsoleRole;
use reqwest::{Method, blocking::RequestBuilder};
use rust_xlsxwriter::Workbook;
use serde_json::json;
use std::{
    fmt::Write,
    fs,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Longer than any work of these tests takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(60);
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

impl Crew<'_> {
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
        let begun = Instant::now();
        loop {
            let html = self.get(path).shown();
            if !html.contains("Stop it</button>") {
                return html;
            }
            assert!(begun.elapsed() < PATIENCE, "{html}");
            std::thread::yield_now();
        }
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

/// Many delegates: enough for several slices.
fn many(rows: usize) -> Vec<u8> {
    let mut list = String::from("Ticket code,First name,Last name,Company\n");
    for row in 0..rows {
        let company = row % 97;
        writeln!(
            list,
            "MANY-{row:06},Given{row},Family{row},Company {company}"
        )
        .expect("text");
    }
    list.into_bytes()
}

fn sample() -> Vec<u8> {
    fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/attendees.csv"
    ))
    .expect("the sample")
}

/// Ends what waits for it, even when a test fails.
struct Caught<'a>(&'a AtomicBool);

impl Drop for Caught<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
    assert!(crew.get(&list).shown().contains("<strong>60</strong> made"));
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
    assert!(html.contains("60 removed for good"), "{html}");
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
    crew.post(&format!("{path}/undo"), &[]).taken();
    assert!(crew.done(&path).contains("2 removed for good"));
    assert_eq!(count(&server, "delegates"), 0);
}

#[test]
fn bad_rows_are_told_and_may_be_left_out() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let mut rows = String::from("barcode,first name,=Note\n");
    for row in 0..250 {
        writeln!(rows, "SAME,Given{row},=1+1").expect("text");
    }
    let list = crew.uploaded("delegates", "doubled.csv", rows.as_bytes());
    crew.send(&list, "import", &[]).taken();
    let html = crew.done(&list);
    assert!(html.contains("Nothing was imported"), "{html}");
    assert!(html.contains("<strong>249</strong> bad"), "{html}");
    assert!(html.contains("stands in line 2 already"), "{html}");
    assert_eq!(html.matches("data-name=\"Line\"").count(), 200, "the first");
    assert_eq!(count(&server, "delegates"), 0);
    let all = crew.get(&format!("{list}/bad")).shown();
    assert_eq!(all.lines().count(), 250, "a header and all of them: {all}");
    assert!(all.contains("251,barcode,"), "{all}");
    crew.imported(&list, &[("skip_bad", "on")]);
    assert_eq!(count(&server, "delegates"), 1);
    let html = crew.get(&list).shown();
    assert!(html.contains("<strong>249</strong> left out"), "{html}");
}

#[test]
fn what_is_no_list_is_told_and_not_kept() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let old = [b"\xd0\xcf\x11\xe0".as_slice(), &[0; 600]].concat();
    let wide = vec!["c"; 1_200];
    let wide: Vec<String> = wide
        .iter()
        .enumerate()
        .map(|(at, c)| format!("{c}{at}"))
        .collect();
    for (name, content, about) in [
        ("list.xls", old.as_slice(), "protected by a password"),
        ("list.xlsx", b"<html><table></table></html>", "web page"),
        ("list.csv", b"", "is empty"),
        ("list.csv", b"first name\n", "no rows"),
        ("list.csv", b"a,b,a\n1,2,3\n", "stands twice"),
        ("list.csv", wide.join(",").as_bytes(), "at most 1000"),
        ("list.xlsx", b"PK\x03\x04nothing", "list.xlsx"),
        ("", b"x", "Choose a file"),
    ] {
        crew.upload("delegates", name, content).refused(422, about);
    }
    let mut broken = form(&crew.csrf, "delegates", "a.csv", b"a,b");
    broken.truncate(broken.len() - BOUNDARY.len());
    let broken = crew
        .request(Method::POST, "/console/import")
        .header(
            "Content-Type",
            format!("multipart/form-data; boundary={BOUNDARY}"),
        )
        .body(broken);
    page(broken).refused(422, "cut off");
    assert_eq!(kept(&server), 0);
}

#[test]
fn columns_that_do_not_fit_are_told_in_the_words_of_the_page() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded("delegates", "codes.csv", b"What,Which\nA,B\nC,D\n");
    let told = crew.send(&list, "try", &[]);
    told.refused(422, "No column is known yet");
    crew.send(
        &list,
        "try",
        &[("column-0", "barcode"), ("column-1", "barcode")],
    )
    .refused(422, "are both");
    crew.send(
        &list,
        "try",
        &[("column-0", "firstName"), ("key", "barcode")],
    )
    .refused(422, "no column is that");
    crew.imported(&list, &[("column-0", "barcode"), ("column-1", "")]);
    let found: String =
        server.value("SELECT group_concat(barcode || coalesce(data, ''), ' ') FROM delegates");
    assert_eq!(found, "A C");
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
            .contains("<strong>1</strong> there already")
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
fn the_same_file_is_not_imported_twice_by_mistake() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let content = b"first name\nAda\n";
    let first = crew.uploaded("delegates", "a.csv", content);
    let batch = crew.imported(&first, &[]);
    let second = crew.uploaded("delegates", "b.csv", content);
    let html = crew.get(&second).shown();
    assert!(html.contains(&format!("import {batch}</a>")), "{html}");
    crew.send(&second, "import", &[])
        .refused(422, "was imported before");
    assert_eq!(count(&server, "delegates"), 1);
    crew.imported(&second, &[("again", "on")]);
    assert_eq!(count(&server, "delegates"), 2);
}

#[test]
fn one_list_is_dealt_with_at_a_time_and_a_stopped_one_is_completed() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    server.console_user("bo@example.com", ConsoleRole::Operator);
    let bo = Crew::sign_in(&server, "bo@example.com");
    let content = many(20_000);
    let list = crew.uploaded("delegates", "many.csv", &content);
    let small = bo.uploaded("delegates", "small.csv", b"first name\nBo\n");
    // Somebody else writes, so that the import takes its time and is caught on its way.
    let caught = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !caught.load(Ordering::Relaxed) {
                server.sql("REPLACE INTO shared_values (id, digest, value) VALUES (1, x'00', '1')");
                std::thread::yield_now();
            }
        });
        let _end = Caught(&caught);
        crew.send(&list, "import", &[]).taken();
        // Until something is written: then it is stopped between two slices.
        let begun = Instant::now();
        while count(&server, "delegates") == 0 {
            assert!(begun.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
        let running = crew.get(&list).shown();
        assert!(running.contains("<progress"), "{running}");
        bo.send(&small, "import", &[])
            .refused(422, "operator@example.com is importing many.csv");
        crew.post(&format!("{list}/cancel"), &[]).taken();
    });
    let html = crew.done(&list);
    assert!(html.contains("It was stopped after row"), "{html}");
    let written = count(&server, "delegates");
    assert!(written > 0 && written < 20_000, "{written}");
    let batch: i64 = server.value("SELECT id FROM batches");
    let done: i64 = server.value("SELECT done FROM batches");
    assert_eq!(done, written);
    assert!(html.contains("Write the rest"), "{html}");
    assert_eq!(
        kept(&server),
        2,
        "the small one waits, and the rest of this"
    );
    let path = format!("/console/import/batches/{batch}");
    let html = crew.get(&path).shown();
    assert!(html.contains("interrupted"), "{html}");
    assert!(html.contains(&format!("href=\"{list}\"")), "{html}");
    // Thrown away, the file can be sent once more.
    crew.post(&format!("{list}/discard"), &[]).taken();
    assert_eq!(kept(&server), 1);
    let html = crew.get(&path).shown();
    assert!(
        html.contains(&format!("/console/import?batch={batch}")),
        "{html}"
    );
    bo.imported(&small, &[]);
    // The same file again: the rest is written.
    let wizard = format!("/console/import?batch={batch}");
    assert!(crew.get(&wizard).shown().contains("<strong>many.csv"));
    let other = crew.upload_to(&wizard, "delegates", "other.csv", b"first name\nBo\n");
    page(other).refused(422, "is not the file that import");
    let again = crew.uploaded("delegates", "many.csv", &content);
    let html = crew.get(&again).shown();
    assert!(html.contains(&format!("Complete import {batch}")), "{html}");
    crew.post(&format!("{again}/resume"), &[]).taken();
    let html = crew.done(&again);
    assert!(html.contains("20,000 rows are done with"), "{html}");
    assert_eq!(
        count(&server, "delegates WHERE barcode LIKE 'MANY-%'"),
        20_000
    );
    assert_eq!(count(&server, "batches"), 2);
}

#[test]
fn a_list_that_is_thrown_away_is_gone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded("delegates", "a.csv", b"first name\nAda\n");
    assert_eq!(kept(&server), 1);
    crew.post(&format!("{list}/discard"), &[]).taken();
    assert_eq!(kept(&server), 0);
    crew.get(&list).refused(404, "upload it again");
    // No more than a few wait, and files of one that is full are not kept.
    for _ in 0..5 {
        crew.uploaded("delegates", "a.csv", b"first name\nAda\n");
    }
    crew.upload("delegates", "a.csv", b"first name\nAda\n")
        .refused(422, "are waiting already");
    assert_eq!(kept(&server), 5);
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
fn viewers_see_the_history_and_nothing_of_the_lists() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded("delegates", "a.csv", b"first name\nAda\n");
    let batch = crew.imported(&list, &[]);
    let viewer = server.crew(ConsoleRole::Viewer);
    for path in ["/console/import", &list] {
        viewer.get(path).refused(403, "needs the role operator");
    }
    let path = format!("/console/import/batches/{batch}");
    let html = viewer.get(&path).shown();
    assert!(
        html.contains("a.csv") && !html.contains("Take it back"),
        "{html}"
    );
    viewer
        .post(&format!("{path}/undo"), &[])
        .refused(403, "needs the role administrator");
    // An operator deletes nothing for good.
    crew.post(&format!("{path}/undo"), &[])
        .refused(403, "needs the role administrator");
    assert!(!crew.get(&path).shown().contains(">Take it back<"));
    viewer
        .upload("delegates", "a.csv", b"first name\nAda\n")
        .refused(403, "needs the role operator");
    assert_eq!(count(&server, "delegates"), 1);
}

#[test]
fn the_rest_of_a_stopped_import_is_written_from_the_file_that_was_kept() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let stopped = |name: &str, content: &[u8]| {
        let list = crew.uploaded("delegates", name, content);
        let before = count(&server, "delegates");
        let caught = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !caught.load(Ordering::Relaxed) {
                    server.sql(
                        "REPLACE INTO shared_values (id, digest, value) VALUES (1, x'00', '1')",
                    );
                    std::thread::yield_now();
                }
            });
            let _end = Caught(&caught);
            crew.send(&list, "import", &[]).taken();
            let begun = Instant::now();
            while count(&server, "delegates") == before {
                assert!(begun.elapsed() < PATIENCE);
                std::thread::yield_now();
            }
            crew.post(&format!("{list}/cancel"), &[]).taken();
        });
        let html = crew.done(&list);
        assert!(html.contains("It was stopped after row"), "{html}");
        list
    };
    let list = stopped("many.csv", &many(20_000));
    assert_eq!(kept(&server), 1);
    crew.post(&format!("{list}/resume"), &[]).taken();
    let html = crew.done(&list);
    assert!(html.contains("20,000 rows are done with"), "{html}");
    assert_eq!(count(&server, "delegates"), 20_000);
    assert_eq!((count(&server, "batches"), kept(&server)), (1, 0));
    // Taken back, it is not to be completed: its file goes.
    let other = String::from_utf8(many(20_000)).expect("text");
    let other = other.replace("MANY-", "OTHER-");
    let list = stopped("other.csv", other.as_bytes());
    assert_eq!(kept(&server), 1);
    let batch: i64 = server.value("SELECT max(id) FROM batches");
    let path = format!("/console/import/batches/{batch}");
    crew.post(&format!("{path}/undo"), &[]).taken();
    crew.done(&path);
    assert_eq!((kept(&server), count(&server, "delegates")), (0, 20_000));
    crew.get(&list).refused(404, "upload it again");
}
