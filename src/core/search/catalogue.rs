//! What a kind of record offers to a search, conditions that are put together part by part, and queries of
//! the full-text index.

use rusqlite::types::Value;

/// One kind of record that can be searched.
#[derive(Debug)]
pub struct Subject {
    /// How messages call it, such as `delegate`.
    pub name: &'static str,
    /// Its table; the key is `id`.
    pub table: &'static str,
    /// What is true of the rows that are not deleted.
    pub alive: &'static str,
    /// What `==`, `*=` and the like compare.
    pub fields: &'static [SearchField],
    /// The full-text table with trigrams of some of its columns, by the same column names.
    pub text_index: Option<&'static str>,
    /// Columns whose first letter and first two letters have an index each (see [`first_letters`]): what
    /// words of one or two letters are looked for in.
    pub beginnings: &'static [&'static str],
    /// A column of few values, and the expression of it that has an index: its ASCII letters lowercased.
    pub kind: Option<(&'static str, &'static str)>,
    /// A time column with an index of stretches of time.
    pub stretches: Option<Stretches>,
    /// An expression that gives its `data` as valid JSON or NULL: what `ud` looks into.
    pub document: &'static str,
    /// A column that says where in it values stand that are kept in `shared_values`, as JSON
    /// (`[["/photo", 7], …]`, JSON Pointers and ids), or NULL.
    pub shared: Option<&'static str>,
    /// What `fi`, `si` and `ti` count.
    pub counted: Option<Counted>,
    /// Whether statements may be defined for it (`st`).
    pub statements: bool,
    /// Messages sent to it (`comms`): a condition over `:channel` and `:template`; the template is
    /// NULL when any will do.
    pub messages: Option<&'static str>,
    /// Batches it came in by (`batch`): a condition over `:device`, NULL when any will do.
    pub batches: Option<&'static str>,
}

impl Subject {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&'static SearchField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// A property that can be compared.
#[derive(Debug)]
pub struct SearchField {
    /// Its name in the API.
    pub name: &'static str,
    /// Its column.
    pub column: &'static str,
    /// How it compares.
    pub kind: FieldKind,
    /// Whether the text index has it.
    pub text_indexed: bool,
}

/// How a field compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A whole number: an id.
    Number,
    /// The id of another record of the same kind, no value where that is deleted.
    Reference,
    /// Text, an empty one being no value.
    Text,
    /// An instant, kept in milliseconds.
    Time,
    /// True or false.
    Flag,
}

/// The first letters of a column as its indexes have them. Only ASCII letters are lowercased.
pub fn first_letters(column: &str, count: usize) -> String {
    format!("lower(substr({column}, 1, {count}))")
}

/// An index by stretches of time, each in the order of ids: a range of times gives a few stretches, and
/// the lowest ids of each are found at once.
#[derive(Debug)]
pub struct Stretches {
    /// The column, in milliseconds.
    pub column: &'static str,
    /// The stretch of a row, as the index has it: the column divided by `length_ms`.
    pub expression: &'static str,
    /// How long a stretch is.
    pub length_ms: i64,
}

/// Interactions as delegates or devices count them.
#[derive(Debug)]
pub struct Counted {
    /// Their table.
    pub table: &'static str,
    /// The column of their type.
    pub kind: &'static str,
    /// The columns in which the record is first, second and third.
    pub own: [&'static str; 3],
    /// What they may be narrowed by: the name in the filter and the column.
    pub others: [(&'static str, &'static str); 3],
    /// The properties under which the record shows them, for callers that do not see all.
    pub shown_as: [&'static str; 3],
}

/// Conditions that grow; the text begins with nothing, and each part with `AND`.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// The condition.
    pub sql: String,
    /// What it is about, numbered from 1.
    pub parameters: Vec<Value>,
}

impl Conditions {
    /// A value's place.
    pub fn bind(&mut self, value: impl Into<Value>) -> String {
        self.parameters.push(value.into());
        format!("?{}", self.parameters.len())
    }

    /// Adds a part.
    pub fn and(&mut self, sql: &str) {
        self.sql += " AND ";
        self.sql += sql;
    }
}

/// The most trigrams of a text that the index is asked for; the text itself is compared anyway.
const TRIGRAMS_MAX: usize = 12;

/// The full-text query for rows that may have a text in a column; `None` when the index cannot tell.
pub fn index_query(column: &str, text: &str) -> Option<String> {
    trigrams(text).map(|trigrams| format!("{{{column}}} : ({trigrams})"))
}

/// The full-text query for rows that have every three letters in a row of a text, as far as the
/// index and [`crate::types::text::fold`] agree on the case of those letters; `None` when there are
/// no such three.
pub(super) fn trigrams(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut trigrams: Vec<String> = chars
        .windows(3)
        .filter(|three| three.iter().all(|&letter| folds_alike(letter)))
        .map(|three| three.iter().collect::<String>())
        .collect();
    trigrams.dedup();
    let step = trigrams.len().div_ceil(TRIGRAMS_MAX).max(1);
    let quoted: Vec<String> = trigrams
        .iter()
        .step_by(step)
        .map(|three| format!("\"{}\"", three.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(" AND "))
}

/// Whether the index takes a letter for the same as we do, whatever its case; a test asks it about
/// every letter there is.
fn folds_alike(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{17f}' | '\u{384}'..='\u{3f2}' | '\u{3f4}'..='\u{527}')
}

/// Whether a word is too short for the text index.
pub(super) fn is_short(word: &str) -> bool {
    word.chars().nth(2).is_none()
}

/// A word of one or two letters as the indexes of first letters have it: those lowercase ASCII letters
/// only, so that other letters are tried small and capital.
pub(super) fn beginnings(word: &str) -> Vec<String> {
    let small = word.to_lowercase();
    let mut letters = small.chars();
    let first: String = letters
        .next()
        .map(char::to_uppercase)
        .into_iter()
        .flatten()
        .collect();
    let capital = first + letters.as_str();
    let mut keys = vec![small.clone(), capital, word.to_uppercase()];
    for key in &mut keys {
        key.make_ascii_lowercase();
    }
    keys.sort_unstable();
    keys.dedup();
    // Some letters have more than one capital: those would not be as long as the index's.
    let length = word.chars().count();
    keys.retain(|key| key.chars().count() == length);
    keys
}
