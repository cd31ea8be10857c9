//! What tells of a person in a text: e-mail, telephone, codes and names, now and as the audit has
//! them. Pure but for looking them up.

use crate::{
    error::Result,
    records::Kind,
    types::{
        DelegateCode, DelegateId,
        text::{contains_folded, fold},
    },
};
use rusqlite::Connection;
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Write};

/// A code that is shorter means somebody only where a code stands.
const CODE_MIN_CHARS: usize = 4;
/// A number with fewer digits is no telephone's.
const PHONE_MIN_DIGITS: usize = 7;

/// Whom a purchase may tell of.
#[derive(Debug, Default, Clone)]
pub struct Person {
    /// Full names, e-mails and codes, folded: wherever they stand, they mean the person.
    sure: BTreeSet<String>,
    /// First and last names, folded: they mean the person in purchases with a ticket of theirs.
    likely: BTreeSet<String>,
    /// The digits of telephone numbers.
    phones: BTreeSet<String>,
    /// Codes as they are.
    codes: BTreeSet<String>,
}

impl Person {
    /// What is known of one who may have several records.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(connection: &Connection, people: &[DelegateId]) -> Result<Self> {
        let mut documents = Vec::new();
        for person in people {
            documents.extend(known_of(connection, *person)?);
        }
        Ok(Self::told(&documents))
    }

    /// What documents with the properties of a delegate say.
    pub(super) fn told(documents: &[Value]) -> Self {
        let all = |property: &str| -> BTreeSet<&str> {
            let values = documents.iter().filter_map(|one| one[property].as_str());
            values
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .collect()
        };
        let mut person = Self::default();
        let (first, last) = (all("firstName"), all("lastName"));
        for first in &first {
            for last in &last {
                for name in [
                    format!("{first} {last}"),
                    format!("{last} {first}"),
                    format!("{last}, {first}"),
                ] {
                    person.sure.insert(fold(&name));
                }
            }
        }
        person.likely = first
            .union(&last)
            .filter(|name| name.chars().count() > 1)
            .map(|name| fold(name))
            .collect();
        person.sure.extend(all("email").into_iter().map(fold));
        person.phones = all("phone")
            .into_iter()
            .map(digits)
            .filter(|digits| digits.len() >= PHONE_MIN_DIGITS)
            .collect();
        for code in DelegateCode::ALL {
            person
                .codes
                .extend(all(code.name()).into_iter().map(ToOwned::to_owned));
        }
        person
            .codes
            .extend(all("blocked").into_iter().map(ToOwned::to_owned));
        let long = person
            .codes
            .iter()
            .filter(|code| code.chars().count() >= CODE_MIN_CHARS);
        person.sure.extend(long.map(|code| fold(code)));
        person
    }

    /// Whether this is one of the person's codes.
    pub fn has_code(&self, code: &str) -> bool {
        self.codes.contains(code)
    }

    /// Whether a text tells of the person; `near`: where a ticket of theirs is by.
    pub fn is_in(&self, text: &str, near: bool) -> bool {
        if text.trim().is_empty() {
            return false;
        }
        let likely = self.likely.iter().filter(|_| near);
        self.sure
            .iter()
            .chain(likely)
            .any(|known| has_word(text, known))
            || self.is_phone(text)
    }

    /// Whether a text is the person's telephone number, however it is written.
    fn is_phone(&self, text: &str) -> bool {
        let plain = |letter: char| letter.is_ascii_digit() || "+-()/. ".contains(letter);
        if self.phones.is_empty() || !text.chars().all(plain) {
            return false;
        }
        let digits = digits(text);
        self.phones.contains(&digits)
    }

    /// A text that is no JSON, with `mark` for all that tells of the person; none where nothing does.
    pub fn blanked(&self, text: &str, mark: &str) -> Option<String> {
        let mut blanked = text.to_owned();
        for known in &self.sure {
            // As they are, and as JSON writes them that has ASCII alone.
            for pattern in [known.clone(), escaped(known)] {
                blanked = replaced(&blanked, &pattern, mark);
            }
        }
        (blanked != text).then_some(blanked)
    }
}

/// Every document that the file has of a delegate: the record, and its versions in the audit.
fn known_of(connection: &Connection, person: DelegateId) -> Result<Vec<Value>> {
    let mut columns = Vec::new();
    for property in crate::delegates::RESOURCE.properties {
        if matches!(property.kind, Kind::Text | Kind::Code) {
            columns.push(format!("'{}', {}", property.name, property.column));
        }
    }
    let mut statement = connection.prepare(&format!(
        "SELECT json_object({}) FROM delegates WHERE id = ?1
         UNION ALL SELECT before FROM audit WHERE record_type = 'delegate' AND record_id = ?1 AND before IS NOT NULL
         UNION ALL SELECT after FROM audit WHERE record_type = 'delegate' AND record_id = ?1 AND after IS NOT NULL
         UNION ALL SELECT json_object('blocked', value) FROM blocked_codes WHERE delegate_id = ?1
         UNION ALL SELECT json_object('barcode', barcode) FROM transaction_delegates WHERE delegate_id = ?1",
        columns.join(", ")
    ))?;
    let documents = statement.query_map([person], |row| row.get::<_, String>(0))?;
    let mut known = Vec::new();
    for document in documents {
        known.extend(serde_json::from_str(&document?).ok());
    }
    Ok(known)
}

fn digits(text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').to_owned()
}

/// Whether a folded text stands in another as a word of its own.
fn has_word(text: &str, word: &str) -> bool {
    // Most texts do not even contain it.
    if !contains_folded(text, word) {
        return false;
    }
    let text = fold(text);
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// A text with every occurrence of a folded one replaced, whatever the case.
fn replaced(text: &str, pattern: &str, mark: &str) -> String {
    if pattern.is_empty() || !contains_folded(text, pattern) {
        return text.to_owned();
    }
    let (letters, pattern): (Vec<char>, Vec<char>) =
        (text.chars().collect(), pattern.chars().collect());
    let folded: Vec<char> = fold(text).chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        if folded[at..].starts_with(&pattern) {
            out.push_str(mark);
            at += pattern.len();
        } else {
            out.push(letters[at]);
            at += 1;
        }
    }
    out
}

/// A text as JSON writes it that has ASCII alone, in small letters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut units = [0; 2];
    for letter in text.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut units) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ada() -> Person {
        Person::told(&[
            json!({"firstName": "Ada", "lastName": "Müller", "email": "ada@example.com",
                "phone": "+49 30 555 0123", "barcode": "TLH26-1", "rfid": "A1"}),
            json!({"lastName": "Berg"}),
            json!({"blocked": "OLD-BADGE"}),
        ])
    }

    #[test]
    fn what_tells_of_somebody_is_known_as_it_may_be_written() {
        for text in [
            "ada@example.com",
            "send it to ADA@Example.com!",
            "Ada Müller",
            "MÜLLER, ADA",
            "for Ada Berg, paid late",
            "tlh26-1",
            "OLD-BADGE",
            "0049 30 5550123",
            "+49 (30) 555-0123",
        ] {
            assert!(ada().is_in(text, false), "{text}");
        }
        for text in [
            "",
            " ",
            "Ada",
            "Adam Bergen",
            "nada@example.com.au",
            "TLH26-10",
            "A1",
            "30 5550123",
            "Day ticket",
            "4930555012",
        ] {
            assert!(!ada().is_in(text, false), "{text}");
        }
        assert!(ada().is_in("Ada came late", true));
        assert!(!ada().is_in("Adam came late", true));
        assert!(ada().has_code("A1") && !ada().has_code("A2"));
    }

    #[test]
    fn a_text_that_is_no_json_loses_what_tells_alone() {
        let text = "total: 25, ADA MÜLLER <ada@example.com>, cash; Ada M\\u00fcller";
        assert_eq!(
            ada().blanked(text, "[erased]").as_deref(),
            Some("total: 25, [erased] <[erased]>, cash; [erased]")
        );
        assert_eq!(ada().blanked("total: 25", "[erased]"), None);
    }
}
