//! Tables of cases, and texts that must or must not have their parts.

use serde::Deserialize;
use serde_json::Value;

/// Rows of a table that is written as JSON, one array a row.
#[track_caller]
pub fn cases<T: Deserialize<'static>>(rows: Value) -> Vec<T> {
    // A table of texts borrows them; it lives as long as the tests do.
    Vec::deserialize(&*Box::leak(Box::new(rows))).expect("rows of these types")
}

/// Rows of a table of texts, one line a row; `|` stands between columns. Spaces around a text do not count.
#[track_caller]
pub fn table<const N: usize>(rows: &str) -> Vec<[&str; N]> {
    let row = |line| str::split(line, '|').map(str::trim).collect::<Vec<_>>();
    let rows = rows.lines().filter(|line| !line.trim().is_empty());
    rows.map(|line| row(line).try_into().expect(line)).collect()
}

/// The words of a line.
pub fn words(line: &str) -> std::str::SplitWhitespace<'_> {
    line.split_whitespace()
}

/// What is typed into a form, written as `name=value&name=value`; nothing is encoded.
#[track_caller]
pub fn typed(fields: &str) -> Vec<(&str, &str)> {
    let fields = fields.split('&');
    fields
        .map(|field| field.split_once('=').expect(field))
        .collect()
}

/// The names of an object's properties, in their order.
#[track_caller]
pub fn keys(object: &Value) -> String {
    let keys = object.as_object().expect("an object").keys();
    keys.map(String::as_str).collect::<Vec<_>>().join(" ")
}

pub trait Agrees {
    /// Checks that an object has these properties, whatever else it has.
    fn agrees(&self, expected: &Value);
}

impl Agrees for Value {
    #[track_caller]
    fn agrees(&self, expected: &Value) {
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(&self[name], value, "{name} of {self}");
        }
    }
}

/// One text or several.
pub trait Parts {
    fn parts(&self) -> Vec<&str>;
}

impl Parts for &str {
    fn parts(&self) -> Vec<&str> {
        vec![self]
    }
}

impl Parts for &String {
    fn parts(&self) -> Vec<&str> {
        vec![self]
    }
}

impl<P: AsRef<str>, const N: usize> Parts for [P; N] {
    fn parts(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

/// Checks that a text has all these parts.
#[track_caller]
pub fn has(text: impl AsRef<str>, parts: impl Parts) {
    let text = text.as_ref();
    for part in parts.parts() {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// Checks that a text has none of these parts.
#[track_caller]
pub fn lacks(text: impl AsRef<str>, parts: impl Parts) {
    let text = text.as_ref();
    for part in parts.parts() {
        assert!(!text.contains(part), "{part:?} in {text}");
    }
}

/// Does something many times in the same moment; the outcomes, in order.
pub fn at_once<T: Send>(count: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let job = &job;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|at| scope.spawn(move || job(at))).collect();
        let outcomes = threads
            .into_iter()
            .map(|thread| thread.join().expect("it ends"));
        outcomes.collect()
    })
}
