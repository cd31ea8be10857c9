//! People who want to be gone: out of everything that the file has, also after a backup took its
//! place.

mod anonymous;
mod backups;
mod console;
mod requests;
mod sample_person;

use crate::{
    faults::process::{beside, gatepost, until},
    harness::Server,
};
use sample_person::Person;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// Waits until the log is empty.
fn wiped(server: &Server) {
    let log = beside(&server.path(), "-wal");
    until("the log is emptied", || {
        std::fs::metadata(&log).map_or(0, |log| log.len()) == 0
    });
}

/// Which of a person's words stand in a file or in its log, plainly or as JSON escapes them.
fn traces(path: &Path, person: &Person) -> Vec<String> {
    let mut bytes = std::fs::read(path).expect("the file");
    bytes.extend(std::fs::read(beside(path, "-wal")).unwrap_or_default());
    words_in(&bytes, person)
}

fn words_in(bytes: &[u8], person: &Person) -> Vec<String> {
    let held = |form: &[u8]| memmem(bytes, form);
    let words = person.words.iter();
    words
        .filter(|word| forms(word).iter().any(|form| held(form.as_bytes())))
        .cloned()
        .collect()
}

/// What the file shows to whoever reads it: every value of every table but the search index, which keeps no values.
fn shown(path: &Path) -> Vec<u8> {
    let connection = rusqlite::Connection::open(path).expect("the file");
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'delegates_search%'";
    let mut tables = connection.prepare(tables).expect("tables");
    let names = tables.query_map([], |row| row.get(0)).expect("tables");
    let names: Vec<String> = names.map(|name| name.expect("a name")).collect();
    let mut bytes = Vec::new();
    for name in names {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {name}"))
            .expect(&name);
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect(&name);
        while let Some(row) = rows.next().expect(&name) {
            for column in 0..columns {
                if let Ok(value) = row.get_ref(column).expect(&name).as_bytes() {
                    bytes.extend_from_slice(value);
                    bytes.push(b'\n');
                }
            }
        }
    }
    bytes
}

/// A copy of the file, page by page, that is compacted.
fn compacted(server: &Server) -> PathBuf {
    let copy = server.folder.path().join("compacted.db");
    let name = copy.to_str().expect("a name");
    server.done(&["backup", "--force", "--output", name]);
    let done = gatepost(&copy, &["compact", "--json"]);
    assert!(done.status.success(), "{done:?}");
    copy
}

/// The forms in which a text may stand in a file.
fn forms(word: &str) -> Vec<String> {
    let quoted = serde_json::to_string(word).expect("JSON");
    let inside = quoted[1..quoted.len() - 1].to_owned();
    let ascii: String = inside
        .chars()
        .map(|letter| {
            let mut units = [0; 2];
            if letter.is_ascii() {
                letter.to_string()
            } else {
                let mut escaped = String::new();
                for unit in letter.encode_utf16(&mut units) {
                    write!(escaped, "\\u{unit:04x}").expect("a text");
                }
                escaped
            }
        })
        .collect();
    let mut forms = vec![word.to_owned(), inside, ascii.clone()];
    forms.push(ascii.replace("\\\\", "\\").to_uppercase());
    forms.push(word.to_lowercase());
    forms.push(
        percent_encoding::utf8_percent_encode(word, percent_encoding::NON_ALPHANUMERIC).to_string(),
    );
    forms.sort();
    forms.dedup();
    forms
}

/// Whether bytes have others in them.
pub fn memmem(bytes: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else {
        return false;
    };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        if rest[at..].starts_with(part) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

#[test]
fn a_word_is_found_in_whatever_form_it_stands() {
    let forms = forms("Zoë \"Q\"");
    for form in ["Zoë \"Q\"", "Zoë \\\"Q\\\"", "Zo\\u00eb \\\"Q\\\""] {
        assert!(forms.iter().any(|known| known == form), "{form}");
    }
    assert!(memmem(b"aab", b"ab") && !memmem(b"aab", b"ba"));
}
