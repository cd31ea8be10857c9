//! Text in spreadsheet cells: kept from being run as a formula, both ways (contract §8),
//! and cut where no cell holds it.

use super::error::{Error, Result};
use std::borrow::Cow;

/// The longest text that a cell of a spreadsheet can have, in UTF-16 units.
const CELL_MAX: usize = 32_767;
/// The end of a text that was cut.
const CUT_MARK: &str = " … [cut: no cell holds more]";

/// The text as a CSV cell: what a spreadsheet would run gets a leading apostrophe, and so does what
/// would lose one of its own by [`unguarded`].
pub fn guarded(text: &str) -> Cow<'_, str> {
    if would_run(text) {
        return Cow::Owned(format!("'{text}"));
    }
    kept(text)
}

/// The text as a cell that is text for sure, as in XLSX: only an apostrophe that [`unguarded`]
/// would take is kept by another.
pub fn kept(text: &str) -> Cow<'_, str> {
    if unguarded(text).len() == text.len() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{text}"))
    }
}

/// Rows as CSV, each cell guarded (RFC 4180, contract §8). A head comes after the mark of UTF-8, which
/// spreadsheets need.
pub fn csv_bytes<const N: usize>(
    head: Option<&[&str; N]>,
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<Vec<u8>> {
    let out = head.map_or_else(Vec::new, |_| "\u{feff}".as_bytes().to_vec());
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    if let Some(head) = head {
        writer.write_record(head).map_err(Error::defect)?;
    }
    for row in rows {
        let cells = row.iter().map(|cell| guarded(cell).into_owned());
        writer
            .write_record(cells.collect::<Vec<_>>())
            .map_err(Error::defect)?;
    }
    writer.into_inner().map_err(Error::defect)
}

/// A cell without the apostrophe that keeps a spreadsheet from running it.
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_like_formula(rest.trim_start_matches('\'')) => rest,
        _ => cell,
    }
}

/// The text as far as a cell holds it, with a mark at its end; none where a cell holds all of it.
pub fn cut(text: &str) -> Option<String> {
    // No letter has more units than bytes.
    if text.len() <= CELL_MAX || units(text) <= CELL_MAX {
        return None;
    }
    let mut room = CELL_MAX - units(CUT_MARK);
    let fits = |letter: &char| {
        let left = room.checked_sub(letter.len_utf16());
        room = left.unwrap_or(room);
        left.is_some()
    };
    let mut held: String = text.chars().take_while(fits).collect();
    held.push_str(CUT_MARK);
    Some(held)
}

/// Returns whether [`cut`] made the text of a longer one.
pub fn was_cut(cell: &str) -> bool {
    // The letter that did not fit may have had two units.
    cell.ends_with(CUT_MARK) && (CELL_MAX - 1..=CELL_MAX).contains(&units(cell))
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The beginnings of formulas; the wide ones are read alike where Chinese, Japanese or Korean is written.
const FORMULA: [char; 8] = [
    '=', '@', '+', '-', '\u{ff1d}', '\u{ff20}', '\u{ff0b}', '\u{ff0d}',
];

/// Returns whether it begins as what spreadsheets take for a formula, some of them behind white space.
fn is_like_formula(text: &str) -> bool {
    text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(FORMULA)
}

fn would_run(text: &str) -> bool {
    let number = text.trim_start().strip_prefix(['+', '-']);
    is_like_formula(text)
        && (text.starts_with(['\t', '\r', '\n']) || !number.is_some_and(is_plain_number))
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
            ("\u{ff1d}1+1", "'\u{ff1d}1+1"),
            (" \u{ff20}A1", "' \u{ff20}A1"),
            ("\u{ff0b}49", "'\u{ff0b}49"),
            ("'\u{ff0d}1", "''\u{ff0d}1"),
            ("\tx", "'\tx"),
            ("\rx", "'\rx"),
            ("\n=1", "'\n=1"),
            ("\n-1", "'\n-1"),
            ("\t\n +x", "'\t\n +x"),
            ("  =1", "'  =1"),
            ("\u{a0}@A1", "'\u{a0}@A1"),
            (" -1", " -1"),
            (" - a list", "' - a list"),
            (" Ada", " Ada"),
            ("'\n=1", "''\n=1"),
            ("' =1", "'' =1"),
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

    #[test]
    fn what_no_cell_holds_is_cut_and_marked() {
        let long = "x".repeat(CELL_MAX + 1);
        for whole in [
            "",
            "a",
            CUT_MARK,
            &long[1..],
            &"\u{1f600}".repeat(CELL_MAX / 2),
        ] {
            assert_eq!(cut(whole), None);
            assert!(!was_cut(whole));
        }
        for long in [long, "\u{1f600}".repeat(CELL_MAX), "ä".repeat(8 << 20)] {
            let held = cut(&long).unwrap();
            assert!(was_cut(&held) && units(&held) <= CELL_MAX);
            assert!(long.starts_with(held.strip_suffix(CUT_MARK).unwrap()));
            assert_eq!(cut(&held), None);
        }
    }
}
