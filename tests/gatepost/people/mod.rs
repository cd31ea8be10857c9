//! People who want to be gone: out of everything that the file has, also after a backup took its
//! place.

mod erased;
mod filled;
mod restored;

use crate::harness::Server;
use filled::Person;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the last traces of whoever was erased are wiped, and the log is empty.
fn wiped(server: &Server) {
    let begun = Instant::now();
    let log = beside(&server.path(), "-wal");
    let left = || {
        let rows = server.value::<i64>("SELECT count(*) FROM erasures WHERE wiped_at IS NULL");
        rows > 0 || std::fs::metadata(&log).is_ok_and(|log| log.len() > 0)
    };
    while left() {
        assert!(begun.elapsed() < PATIENCE, "the log is not emptied");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Which of a person's words stand in a file or in its log, plainly or as JSON escapes them.
fn traces(path: &Path, person: &Person) -> Vec<String> {
    let mut bytes = std::fs::read(path).expect("the file");
    bytes.extend(std::fs::read(beside(path, "-wal")).unwrap_or_default());
    let held = |form: &[u8]| memmem(&bytes, form);
    let words = person.words.iter();
    words
        .filter(|word| forms(word).iter().any(|form| held(form.as_bytes())))
        .cloned()
        .collect()
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

/// Runs a command on a file.
fn gatepost(db: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .arg("--db")
        .arg(db)
        .args(args)
        .output()
        .expect("it runs")
}

#[test]
fn a_word_is_found_in_whatever_form_it_stands() {
    let forms = forms("Zoë \"Q\"");
    for form in ["Zoë \"Q\"", "Zoë \\\"Q\\\"", "Zo\\u00eb \\\"Q\\\""] {
        assert!(forms.iter().any(|known| known == form), "{form}");
    }
    assert!(memmem(b"aab", b"ab") && !memmem(b"aab", b"ba"));
}
