//! Text as it stands in spreadsheet cells: kept from being run as a formula, both ways (contract §8).

use std::borrow::Cow;

/// What spreadsheets take for a formula.
const FORMULA_STARTS: [char; 6] = ['=', '@', '+', '-', '\t', '\r'];

/// The text as a CSV cell: what a spreadsheet would run gets a leading apostrophe, and so does what
/// would lose one of its own by [`unguarded`].
#[must_use]
pub fn guarded(text: &str) -> Cow<'_, str> {
    if would_run(text) {
        return Cow::Owned(format!("'{text}"));
    }
    kept(text)
}

/// The text as a cell that is text for sure, as in XLSX: only an apostrophe that [`unguarded`]
/// would take is kept by another.
#[must_use]
pub fn kept(text: &str) -> Cow<'_, str> {
    if unguarded(text).len() == text.len() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{text}"))
    }
}

/// A cell without the apostrophe that keeps a spreadsheet from running it.
#[must_use]
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.trim_start_matches('\'').starts_with(FORMULA_STARTS) => rest,
        _ => cell,
    }
}

fn would_run(text: &str) -> bool {
    match text.chars().next() {
        Some('=' | '@' | '\t' | '\r') => true,
        Some('+' | '-') => !is_plain_number(&text[1..]),
        _ => false,
    }
}

/// Digits, with at most one point among them.
fn is_plain_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let points = text.bytes().filter(|byte| *byte == b'.').count();
    digits > 0 && points <= 1 && digits + points == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_guarded_and_comes_back() {
        for (text, cell) in [
            ("", ""),
            ("Ada", "Ada"),
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("\rx", "'\rx"),
            ("+49 30 5550", "'+49 30 5550"),
            ("+49305550", "+49305550"),
            ("-1.5", "-1.5"),
            ("-1.5.2", "'-1.5.2"),
            ("-", "'-"),
            ("+", "'+"),
            ("'tis", "'tis"),
            ("'=1", "''=1"),
            ("''=1", "'''=1"),
            ("'+1", "''+1"),
            ("'", "'"),
            ("0049", "0049"),
        ] {
            assert_eq!(guarded(text), cell, "{text:?}");
            assert_eq!(unguarded(cell), text, "{cell:?}");
            assert_eq!(unguarded(&kept(text)), text, "{text:?}");
        }
    }
}
