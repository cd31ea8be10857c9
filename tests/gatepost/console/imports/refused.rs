//! Refusals and warnings: bad rows, files that are no lists, columns, the same file again, and people.

use super::{BOUNDARY, count, form, kept};
use crate::{console::page, harness::Server};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use std::fmt::Write;

#[test]
fn bad_rows_are_told_and_may_be_left_out() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let mut rows = String::from("barcode,first name,=Note\n");
    for row in 0..250 {
        writeln!(rows, "SAME,Given{row},=1+1").expect("text");
    }
    // A column with one value for all would be no code.
    rows.push_str("OTHER,Other,\n");
    let list = crew.uploaded("delegates", "doubled.csv", rows.as_bytes());
    crew.send(&list, "import", &[]).taken();
    let html = crew.done(&list);
    assert!(html.contains("Nothing was imported"), "{html}");
    assert!(html.contains("<strong>249</strong> bad"), "{html}");
    assert!(html.contains("same as line 2"), "{html}");
    assert_eq!(html.matches("data-name=\"Line\"").count(), 200, "the first");
    assert_eq!(count(&server, "delegates"), 0);
    let all = crew.get(&format!("{list}/bad")).shown();
    assert_eq!(all.lines().count(), 250, "a header and all of them: {all}");
    assert!(all.contains("251,barcode,"), "{all}");
    crew.imported(&list, &[("skip_bad", "on")]);
    assert_eq!(count(&server, "delegates"), 2);
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
        html.contains("a.csv") && !html.contains("Take back"),
        "{html}"
    );
    viewer
        .post(&format!("{path}/undo"), &[])
        .refused(403, "needs the role operator");
    // An operator deletes nothing for good.
    crew.post(&format!("{path}/undo"), &[])
        .refused(403, "needs the role administrator");
    assert!(!crew.get(&path).shown().contains(">Take back<"));
    viewer
        .upload("delegates", "a.csv", b"first name\nAda\n")
        .refused(403, "needs the role operator");
    assert_eq!(count(&server, "delegates"), 1);
}
