//! Codes as scanners send them (contract §1): the forms in which a scanned text is looked for. `assets/gate/core/scanned.js`
//! is the same for gates; `tests/gate/scans.json` holds both together.

use super::{
    barcode::Barcode,
    error::{Error, Result},
    signed_ticket::SignedTicket,
};

/// The code in a pattern.
const GROUP: &str = "(*)";
const PATTERN_MAX_CHARS: usize = 200;
/// The code ends before the first of these where the pattern has no text after it.
const ENDS: &[char] = &[
    ' ', '\t', '\r', '\n', '"', '\'', '<', '>', '?', '&', '#', ',', ';', '|', ')', ']', '}',
];

/// The part of scanned texts that is the code: text before it, `(*)` for the code, and text after it. Any other `*` stands
/// for anything. Case does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPattern {
    text: String,
    /// In small letters, in the order in which they follow each other.
    before: Vec<String>,
    after: Vec<String>,
}

impl ScanPattern {
    /// Reads a pattern such as `https://tickets.example/c/(*)`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], saying what is missing.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.contains(char::is_control) {
            return Err(Error::invalid("must not contain control characters"));
        }
        if text.chars().count() > PATTERN_MAX_CHARS {
            let message = format!("must have at most {PATTERN_MAX_CHARS} characters");
            return Err(Error::invalid(message));
        }
        let sides = text
            .split_once(GROUP)
            .filter(|(_, after)| !after.contains(GROUP));
        let Some((before, after)) = sides else {
            let message = "must have (*) once, in the place of the code";
            return Err(Error::invalid(message));
        };
        let pieces = |side: &str| -> Vec<String> {
            let pieces = side.split('*').filter(|piece| !piece.is_empty());
            pieces.map(str::to_ascii_lowercase).collect()
        };
        let (before, after) = (pieces(before), pieces(after));
        if before.is_empty() && after.is_empty() {
            let message = "must have text before or after (*)";
            return Err(Error::invalid(message));
        }
        Ok(Self {
            text: text.to_owned(),
            before,
            after,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The code in a scanned text; none where the pattern does not fit.
    fn code<'t>(&self, scanned: &'t str) -> Option<&'t str> {
        let folded = scanned.to_ascii_lowercase();
        let behind =
            |from: usize, piece: &String| Some(from + folded[from..].find(piece)? + piece.len());
        let start = self.before.iter().try_fold(0, behind)?;
        let end = match self.after.split_first() {
            Some((next, others)) => {
                let end = start + folded[start..].find(next)?;
                others.iter().try_fold(end + next.len(), behind)?;
                end
            }
            None => start + folded[start..].find(ENDS).unwrap_or(folded.len() - start),
        };
        Some(trimmed(&scanned[start..end]))
    }
}

/// The forms of a scanned text, in the order in which they are looked for: as it is; without spaces around it; without an
/// AIM prefix (`]Q1`); the part that the pattern names; a code of Gatepost's own, or a signed ticket, as it was before
/// somebody typed it in groups. The last one is the code that the text most likely has in it.
#[must_use]
pub fn forms(scanned: &str, pattern: Option<&ScanPattern>) -> Vec<String> {
    let whole = trimmed(scanned);
    let plain = without_aim_prefix(whole);
    let part = pattern.and_then(|pattern| pattern.code(plain));
    let own = own_code(plain).or_else(|| {
        let ticket = SignedTicket::read(part.unwrap_or(plain))?;
        Some(ticket.to_string())
    });
    let mut forms = vec![scanned.to_owned()];
    for form in [Some(whole), Some(plain), part, own.as_deref()] {
        let form = form.filter(|form| !form.is_empty() && forms.iter().all(|known| known != form));
        forms.extend(form.map(ToOwned::to_owned));
    }
    forms
}

/// The code that a scanned text most likely has in it, for whoever is to get that code.
#[must_use]
pub fn likely_code(scanned: &str, pattern: Option<&ScanPattern>) -> String {
    forms(scanned, pattern).pop().unwrap_or_default()
}

/// A text without spaces, line ends, control characters, byte order marks and marks of no width around it.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|sign: char| {
        sign.is_whitespace()
            || sign.is_control()
            || matches!(sign, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
    })
}

/// A text without the three signs by which a scanner says what kind of code it read.
fn without_aim_prefix(text: &str) -> &str {
    match text.as_bytes() {
        [b']', kind, modifier, ..]
            if kind.is_ascii_alphabetic() && modifier.is_ascii_alphanumeric() =>
        {
            trimmed(&text[3..])
        }
        _ => text,
    }
}

/// A code of Gatepost's own making, which people type in groups and in small letters.
fn own_code(text: &str) -> Option<String> {
    let code: String = text.chars().filter(|sign| !sign.is_whitespace()).collect();
    let code = code.to_uppercase();
    let own = Barcode::parse(&code).ok()?.to_string().replace('-', "");
    (own == code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_says_what_it_lacks() {
        for (text, fault) in [
            ("https://tickets.example/c/", "must have (*) once"),
            ("/c/(*)/(*)", "must have (*) once"),
            ("*(*)*", "must have text before or after"),
            ("", "must have (*) once"),
            ("\0(*)x", "control"),
            (&format!("{}(*)", "x".repeat(198)), "at most 200"),
        ] {
            let cause = ScanPattern::parse(text).unwrap_err().to_string();
            assert!(cause.contains(fault), "{text}: {cause}");
        }
    }

    #[test]
    fn the_code_is_the_part_that_a_pattern_names() {
        for (pattern, scanned, code) in [
            ("/c/(*)", "https://t.example/c/T7XQ2-AB", Some("T7XQ2-AB")),
            (
                "/c/(*)",
                "HTTPS://T.EXAMPLE/C/T7XQ2-AB?utm=1",
                Some("T7XQ2-AB"),
            ),
            ("/c/(*)/", "https://t.example/c/T7/view", Some("T7")),
            ("/c/(*)/", "https://t.example/c/T7", None),
            (
                "\"ticket\":*\"(*)\"",
                "{\"ticket\": \"T7\", \"n\": 1}",
                Some("T7"),
            ),
            ("\"ticket\":(*)", "{\"ticket\": 4711}", Some("")),
            ("\"ticket\":*(*)}", "{\"ticket\": 4711}", Some("4711")),
            ("A|*|(*)|", "a|1|T 7|x", Some("T 7")),
            ("(*)-AB", "T7XQ2-AB", Some("T7XQ2")),
            ("Ü(*)ß", "xÜ Tä ß", Some("Tä")),
        ] {
            let read = ScanPattern::parse(pattern).expect("a pattern");
            assert_eq!(read.code(scanned), code, "{pattern} of {scanned}");
        }
    }
}
