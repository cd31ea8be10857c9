//! The properties that a kind of record offers to a search, conditions that are put together part by part, and queries
//! of the full-text index.

use crate::types::fold::fold;
use rusqlite::types::Value;

/// One kind of record that can be searched.
#[derive(Debug)]
pub struct Subject {
    /// The name of the kind in messages, such as `delegate`.
    pub name: &'static str,
    /// Its table; the key is `id`.
    pub table: &'static str,
    /// The condition of rows that are not deleted.
    pub alive: &'static str,
    /// The fields that `==`, `*=` and the like compare.
    pub fields: &'static [SearchField],
    /// The full-text table with trigrams of some of its columns, by the same column names.
    pub text_index: Option<&'static str>,
    /// A column of few values, and the expression of it that has an index: its ASCII letters lowercased.
    pub kind: Option<(&'static str, &'static str)>,
    /// A time column with an index of stretches of time.
    pub stretches: Option<Stretches>,
    /// An expression that gives its `data` as valid JSON or NULL: what `ud` looks into.
    pub document: &'static str,
    /// A column that says where in it values stand that are kept in `shared_values`, as JSON
    /// (`[["/photo", 7], …]`, JSON Pointers and ids), or NULL.
    pub shared: Option<&'static str>,
    /// The interactions that `fi`, `si` and `ti` count.
    pub counted: Option<Counted>,
    /// Set where statements may be defined for it (`st`).
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
    /// The way in which it compares.
    pub kind: FieldKind,
    /// Set where the text index has it.
    pub text_indexed: bool,
}

/// The way in which a field compares.
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

/// An index by stretches of time, each in the order of ids: a range of times gives a few stretches, and
/// the lowest ids of each are found at once.
#[derive(Debug)]
pub struct Stretches {
    /// The column, in milliseconds.
    pub column: &'static str,
    /// The stretch of a row, as the index has it: the column divided by `length_ms`.
    pub expression: &'static str,
    /// The length of a stretch.
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
    /// The filters that may narrow them: the name in the filter and the column.
    pub others: [(&'static str, &'static str); 3],
    /// The properties under which the record shows them, for callers that do not see all.
    pub shown_as: [&'static str; 3],
}

/// Conditions that grow; the text begins with nothing, and each part with `AND`.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// The condition.
    pub sql: String,
    /// The values of its parameters, numbered from 1.
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

/// The full-text query for rows that may have a text in a column, whatever its case; `None` when the index
/// cannot tell.
pub fn index_query(column: &str, text: &str) -> Option<String> {
    let words = text.split(|letter| !folds_alike(letter));
    let words: Vec<String> = words.map(fold).collect();
    let words = words.iter().map(String::as_str);
    trigrams(words).map(|trigrams| format!("{{{column}}} : ({trigrams})"))
}

/// The full-text query for rows that have every three letters in a row of each of these texts, which are
/// folded; `None` when there are no such three.
pub fn trigrams<'t>(texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut trigrams: Vec<String> = Vec::new();
    for text in texts {
        let letters: Vec<char> = text.chars().collect();
        trigrams.extend(
            letters
                .windows(3)
                .map(|three| three.iter().collect::<String>()),
        );
    }
    trigrams.dedup();
    let step = trigrams.len().div_ceil(TRIGRAMS_MAX).max(1);
    let quoted: Vec<String> = trigrams
        .iter()
        .step_by(step)
        .map(|three| format!("\"{three}\""))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(" AND "))
}

/// Returns whether a letter is folded alike wherever it stands and whatever its case, to letters of one word; a test
/// tries every letter there is.
fn folds_alike(letter: char) -> bool {
    matches!(letter, '0'..='9' | 'A'..='Z' | 'a'..='z' | '\u{aa}' | '\u{ba}' | '\u{c0}'..='\u{148}' | '\u{14a}'..='\u{17f}' | '\u{386}'..='\u{3ce}' | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{527}')
        && letter.is_alphanumeric()
}
