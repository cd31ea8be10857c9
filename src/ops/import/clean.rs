//! A cell of a list from outside as it is meant. Signs that spreadsheets and chats put around a value are taken off where
//! that is certain, and counted by kind; a code that cannot be known any more is refused, in the words of what happened.

use std::borrow::Cow;

/// A kind of mending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mending {
    /// `'0001` or `="0001"`.
    Wrapped,
    /// Marks and spaces that nobody sees.
    Invisible,
    /// Letters and signs of another script in a code.
    Lookalikes,
}

impl Mending {
    pub const ALL: [Self; 3] = [Self::Wrapped, Self::Invisible, Self::Lookalikes];

    /// The end of a sentence that begins with a count and a column.
    pub fn told(self) -> &'static str {
        match self {
            Self::Wrapped => "were unwrapped from an apostrophe or =\"…\"",
            Self::Invisible => "had invisible marks or odd spaces, which are removed",
            Self::Lookalikes => {
                "had letters or signs of another script, which are read as the Latin ones they look like"
            }
        }
    }
}

/// Counts of mended cells, in the order of [`Mending::ALL`].
pub type Mended = [u64; 3];

/// A cell that is clean.
#[derive(Debug, PartialEq, Eq)]
pub struct Clean<'a> {
    pub text: Cow<'a, str>,
    pub mended: Mended,
}

/// Cleans a cell.
///
/// # Errors
/// The fault of a code that a spreadsheet damaged for good.
pub fn clean(cell: &str, is_code: bool) -> Result<Clean<'_>, String> {
    let mut text = Cow::Borrowed(cell);
    let mut mended = Mended::default();
    if !cell.is_ascii() {
        let visible = visible(cell, is_code);
        if visible != cell {
            mended[Mending::Invisible as usize] = 1;
            text = Cow::Owned(visible);
        }
    }
    if let Some(unwrapped) = unwrapped(&text, is_code) {
        mended[Mending::Wrapped as usize] = 1;
        text = Cow::Owned(unwrapped);
    }
    if is_code {
        if !text.is_ascii()
            && let Some(latin) = latin(&text)?
        {
            mended[Mending::Lookalikes as usize] = 1;
            text = Cow::Owned(latin);
        }
        if is_scientific(&text) {
            return Err(format!(
                "\"{text}\" is a number as a spreadsheet shows it, with digits left out; format the column as text there, and take the codes from where they came"
            ));
        }
    }
    Ok(Clean { text, mended })
}

/// Returns whether a text is a number as spreadsheets shorten it: `1,59002E+17`.
pub fn is_scientific(text: &str) -> bool {
    let Some((number, exponent)) = text.split_once(['E', 'e']) else {
        return false;
    };
    let number = number.strip_prefix('-').unwrap_or(number);
    let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or_default();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    whole.len() == 1
        && is_digits(whole)
        && is_digits(fraction)
        && is_digits(exponent)
        && (2..=3).contains(&exponent.len())
}

/// A text without the marks that nobody sees, and with plain spaces.
pub(super) fn visible(text: &str, is_code: bool) -> String {
    let is_removed = |letter: char| match letter {
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' => true,
        // These join or part the letters of some languages.
        '\u{200c}'..='\u{200f}' => is_code,
        _ => false,
    };
    let letters = text.chars().filter(|letter| !is_removed(*letter));
    let plain = letters.map(|letter| match letter {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => ' ',
        letter => letter,
    });
    let plain: String = plain.collect();
    let is_mark =
        |letter: char| letter.is_whitespace() || matches!(letter, '\u{200c}'..='\u{200f}');
    plain.trim_matches(is_mark).to_owned()
}

fn unwrapped(text: &str, is_code: bool) -> Option<String> {
    let formula = text
        .strip_prefix("=\"")
        .and_then(|text| text.strip_suffix('"'));
    if let Some(text) = formula.filter(|text| !text.replace("\"\"", "").contains('"')) {
        return Some(text.replace("\"\"", "\""));
    }
    let rest = text.strip_prefix('\'')?;
    let is_number = |byte: u8| byte.is_ascii_digit() || b" -+/().".contains(&byte);
    let is_certain = rest.starts_with(|first: char| first.is_ascii_digit())
        && !rest.ends_with('\'')
        && (is_code || rest.bytes().all(is_number));
    is_certain.then(|| rest.to_owned())
}

/// Letters that look like the Latin ones below them.
const LOOKALIKES: [&str; 2] = [
    "АВЕЅІЈКМНОРСТУХаеіјорсѕухΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",
    "ABESIJKMHOPCTYXaeijopcsyxABEZHIKMNOPTYXo",
];

/// A code with Latin letters in the place of others that look like them; none where it has none, or is all in another
/// script.
fn latin(code: &str) -> Result<Option<String>, String> {
    let has_latin = code.bytes().any(|byte| byte.is_ascii_alphabetic());
    let [others, known] = LOOKALIKES;
    let lookalike = |letter: char| {
        let at = others.chars().position(|other| other == letter)?;
        known.chars().nth(at)
    };
    let mut latin = String::with_capacity(code.len());
    for letter in code.chars() {
        latin.push(match letter {
            '\u{ff01}'..='\u{ff5e}' => {
                char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter)
            }
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{370}'..='\u{52f}' if has_latin => lookalike(letter).ok_or_else(|| {
                format!("has the letter {letter} of another script among Latin ones; write the code anew")
            })?,
            letter => letter,
        });
    }
    Ok((latin != code).then_some(latin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_surrounds_a_code_is_taken_off_and_counted() {
        for (cell, code, mended) in [
            ("AB-1", "AB-1", [0, 0, 0]),
            ("'0001234", "0001234", [1, 0, 0]),
            ("=\"0001235\"", "0001235", [1, 0, 0]),
            ("=\"a\"\"b\"", "a\"b", [1, 0, 0]),
            ("'A", "'A", [0, 0, 0]),
            ("'12'", "'12'", [0, 0, 0]),
            ("\u{200e}AB\u{200b}-1\u{a0}", "AB-1", [0, 1, 0]),
            ("\u{feff}'007", "007", [1, 1, 0]),
            ("АB-12", "AB-12", [0, 0, 1]),
            ("ＡＢ１２", "AB12", [0, 0, 1]),
            ("AB\u{2013}12", "AB-12", [0, 0, 1]),
            ("АВ-12", "АВ-12", [0, 0, 0]),
            ("12E34", "12E34", [0, 0, 0]),
            ("1E5", "1E5", [0, 0, 0]),
            ("Ü-1", "Ü-1", [0, 0, 0]),
        ] {
            let text = Cow::Borrowed(code);
            assert_eq!(clean(cell, true), Ok(Clean { text, mended }), "{cell}");
        }
        for damaged in ["1,59002E+17", "4.0053E+12", "1E+15", "'1,5E+20", "ЖB-1"] {
            assert!(clean(damaged, true).is_err(), "{damaged}");
        }
    }

    #[test]
    fn other_texts_keep_what_their_language_needs() {
        for (cell, text) in [
            ("'t Hooft", "'t Hooft"),
            ("'68 reunion", "'68 reunion"),
            ("'0301", "0301"),
            ("Anna\u{a0}Lena", "Anna Lena"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("Иванов I", "Иванов I"),
            ("1,5E+20", "1,5E+20"),
        ] {
            assert_eq!(clean(cell, false).unwrap().text, text);
        }
    }
}
