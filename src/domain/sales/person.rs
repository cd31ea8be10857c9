//! Finds mentions of a person in a text: e-mail, telephone, codes and names, now and as the audit has
//! them. Pure but for looking them up.

use super::contacts::Contacts;
use crate::{
    core::records::Kind,
    types::{DelegateCode, DelegateId, error::Result},
};
use encoding_rs::WINDOWS_1252;
use regex::{Captures, Regex};
use rusqlite::Connection;
use serde_json::Value;
use std::{borrow::Cow, collections::BTreeSet, sync::LazyLock};

#[derive(Debug, Default, Clone)]
pub struct Person {
    /// E-mails, telephone numbers and codes: wherever they stand, they mean the person.
    pub contacts: Contacts,
    names: BTreeSet<String>,
    /// First and last names, folded: they mean the person in purchases with a ticket of theirs.
    likely: BTreeSet<String>,
    codes: BTreeSet<String>,
}

impl Person {
    /// Collects what is known of one who may have several records.
    pub fn of(connection: &Connection, people: &[DelegateId]) -> Result<Self> {
        let mut documents = Vec::new();
        for person in people {
            documents.extend(known_of(connection, *person)?);
        }
        Self::of_documents(&documents)
    }

    /// Collects what documents with the properties of a delegate say.
    pub(super) fn of_documents(documents: &[Value]) -> Result<Self> {
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
                    person.names.insert(folded(&name));
                }
            }
        }
        person.likely = first
            .union(&last)
            .filter(|name| name.chars().count() > 1)
            .map(|name| folded(name))
            .collect();
        let codes = DelegateCode::ALL.iter().map(|code| code.name());
        let codes = codes.chain(["blocked"]).flat_map(all);
        person.codes = codes.map(ToOwned::to_owned).collect();
        let codes = person.codes.iter().map(String::as_str);
        person.contacts = Contacts::of(all("email"), all("phone"), codes)?;
        Ok(person)
    }

    /// Returns whether this is one of the person's codes.
    pub fn has_code(&self, code: &str) -> bool {
        self.codes.contains(code)
    }

    /// Returns whether a text mentions the person; `near`: where a ticket of theirs is by.
    pub fn is_in(&self, text: &str, near: bool) -> bool {
        if text.trim().is_empty() {
            return false;
        }
        let folded = folded(text);
        let likely = self.likely.iter().filter(|_| near);
        let mut names = self.names.iter().chain(likely);
        names.any(|name| has_word(&folded, name)) || self.contacts.are_in(text)
    }

    /// Returns whether a body that is no JSON mentions the person, in UTF-8 or Windows-1252.
    pub fn is_in_bytes(&self, body: &[u8]) -> bool {
        let (windows, _) = WINDOWS_1252.decode_without_bom_handling(body);
        [String::from_utf8_lossy(body), windows]
            .iter()
            .any(|text| self.is_in(&unescaped(text), false))
    }

    /// Returns whether a body has a telephone number that may be the person's, written in whatever way.
    pub fn is_like_in(&self, body: &[u8]) -> bool {
        let text = String::from_utf8_lossy(body);
        self.contacts.are_like(&unescaped(&text))
    }
}

/// Every document that the file has of a delegate: the record, and its versions in the audit.
fn known_of(connection: &Connection, person: DelegateId) -> Result<Vec<Value>> {
    let mut columns = Vec::new();
    for property in crate::domain::delegates::RESOURCE.fields {
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

/// Returns whether a text is in another as a word of its own, both folded.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// A text with its letters folded, so that `STRASSE` and `straße` are the same.
fn folded(text: &str) -> String {
    text.chars().flat_map(fold).collect()
}

fn fold(letter: char) -> impl Iterator<Item = char> {
    let small = letter.to_uppercase().flat_map(char::to_lowercase);
    // The dot of a Turkish İ, which its small letter has anyway.
    let small = small.filter(|letter| *letter != '\u{307}');
    small.map(|letter| match letter {
        'ς' => 'σ',
        '\u{a0}' | '\u{202f}' => ' ',
        other => other,
    })
}

/// A text with the letters that JSON escapes in place of their escapes.
fn unescaped(text: &str) -> Cow<'_, str> {
    static ESCAPES: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"\\["/]|(?:\\u[0-9a-fA-F]{4})+"#).ok());
    let letters = |escapes: &Captures<'_>| {
        let units = escapes[0].split("\\u").skip(1);
        let units: Vec<u16> = units
            .filter_map(|unit| u16::from_str_radix(unit, 16).ok())
            .collect();
        if units.is_empty() {
            escapes[0][1..].to_owned()
        } else {
            String::from_utf16_lossy(&units)
        }
    };
    match &*ESCAPES {
        Some(escapes) => escapes.replace_all(text, letters),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ada() -> Person {
        Person::of_documents(&[
            json!({"firstName": "Ada", "lastName": "Müller", "email": "ada@example.com",
                "phone": "+49 30 555 0123", "barcode": "TLH26-1", "rfid": "A1"}),
            json!({"lastName": "Berg"}),
            json!({"blocked": "OLD-BADGE"}),
        ])
        .unwrap()
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
            "call +49 30 555 0123 before noon",
            "+49305550123",
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
            "0049 30 5550123",
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
    fn somebody_is_found_in_a_body_that_is_no_json() {
        for body in [
            "total: 25, ADA MÜLLER, cash".as_bytes(),
            b"{\"name\": \"Ada M\\u00DCLLER",
            b"caf\xe9 25;M\xdcLLER, ADA",
            b"caf\xe9;+49 30 555 0123",
            b"tlh26-1|12,50",
        ] {
            let shown = String::from_utf8_lossy(body);
            assert!(ada().is_in_bytes(body), "{shown}");
        }
        for body in [&b"total: 25, M\xfcller"[..], b"\\u12 \\", b""] {
            assert!(!ada().is_in_bytes(body) && !ada().is_like_in(body));
        }
        assert!(ada().is_like_in(b"caf\xe9;0049\\/30\\/5550123"));
    }

    #[test]
    fn letters_are_the_same_whatever_their_case() {
        for (one, other) in [
            ("Weiß", "WEISS"),
            ("Ωμέγας", "ΩΜΈΓΑΣ"),
            ("İpek", "ipek"),
            ("ﬁlm", "FILM"),
            ("Ada\u{a0}M", "ada m"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("Müller"), folded("Muller"));
    }

    #[test]
    fn escapes_are_read_where_they_are_whole() {
        for (text, letters) in [
            (r#"M\u00DCLLER \/ \""#, "MÜLLER / \""),
            (r"\ud83c\udfab!", "🎫!"),
            (r"\u12 \n \", r"\u12 \n \"),
        ] {
            assert_eq!(unescaped(text), letters);
        }
    }
}
