//! The rank of an attendee: how well its texts fit the words that somebody typed, as a code, whole words, beginnings,
//! other spellings, parts or typos, in this order. `assets/gate/core/find.js` ranks alike.

use crate::types::fold::{self, alternative};

/// Letters of a word from which on one typo is forgiven, and two.
const ONE_TYPO_MIN: usize = 4;
const TWO_TYPOS_MIN: usize = 8;

/// The lower the better: how the worst word fits and all together, whether the words stand in a row, how many words of
/// the name were not typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u8, u16, bool, u8);

impl Rank {
    /// A code, exactly as it was typed.
    pub const CODE: Self = Self(0, 0, false, 0);
}

/// The manner of reading words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    Plain,
    /// Neighbours were joined, which counts as another spelling.
    Joined,
    Typos,
}

const WHOLE: u8 = 1;
const BEGINNING: u8 = 3;
const SPELT: u8 = 5;
const PART: u8 = 7;
const TYPO: u8 = 9;

/// A word that was typed.
pub struct Word {
    text: String,
    /// Its other spelling.
    spelt: String,
    length: usize,
}

impl Word {
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            spelt: alternative(text),
            length: text.chars().count(),
        }
    }

    fn typos_max(&self) -> usize {
        match self.length {
            TWO_TYPOS_MIN.. => 2,
            ONE_TYPO_MIN.. => 1,
            _ => 0,
        }
    }
}

/// Pieces of a word, one of which a text still has that differs by a typo, two in a long word; none of a word that
/// is too short for typos.
pub fn pieces(word: &str) -> Option<Vec<String>> {
    let spelt: Vec<char> = format!(" {} ", alternative(word)).chars().collect();
    let length = spelt.len();
    if length < ONE_TYPO_MIN + 2 {
        return None;
    }
    let piece = |from: usize, to: usize| spelt[from..to].iter().collect();
    Some(if length > TWO_TYPOS_MIN {
        let third = length / 3;
        vec![
            piece(0, third),
            piece(third, 2 * third),
            piece(2 * third, length),
        ]
    } else {
        vec![piece(0, 3), piece(length - 3, length)]
    })
}

/// The texts of an attendee.
#[derive(Debug, Default)]
pub struct Candidate {
    /// The texts: whether each is of the name, and the words that it is found by.
    texts: Vec<(bool, Vec<String>)>,
    first_name: String,
    last_name: String,
    phone: String,
}

impl Candidate {
    pub fn put(&mut self, column: &str, text: &str) {
        match column {
            "first_name" => self.first_name = fold::fold(text),
            "last_name" => self.last_name = fold::fold(text),
            "phone" => self.phone = fold::phone(text),
            _ => {}
        }
        let is_name = matches!(column, "first_name" | "last_name");
        self.texts.push((is_name, fold::forms(text)));
    }

    /// None where a word fits nothing.
    pub fn rank(&self, words: &[Word], reading: Reading) -> Option<Rank> {
        let (mut worst, mut sum) = (0, 0);
        for word in words {
            let mut fit = self.fit(word, reading == Reading::Typos)?;
            if reading == Reading::Joined {
                fit = fit.max(SPELT);
            }
            worst = worst.max(fit);
            sum += u16::from(fit);
        }
        let typed: String = words.iter().map(|word| word.text.as_str()).collect();
        let (first, last) = (
            self.first_name.replace(' ', ""),
            self.last_name.replace(' ', ""),
        );
        let in_row =
            format!("{first}{last}").contains(&typed) || format!("{last}{first}").contains(&typed);
        let names = self.first_name.split(' ').chain(self.last_name.split(' '));
        let names = names.filter(|name| !name.is_empty()).count();
        let untyped = u8::try_from(names.saturating_sub(words.len())).unwrap_or(u8::MAX);
        Some(Rank(worst, sum, !in_row, untyped))
    }

    /// The best fit of a word.
    fn fit(&self, word: &Word, with_typos: bool) -> Option<u8> {
        let fits = self.texts.iter().flat_map(|(is_name, forms)| {
            let fits = forms.iter().filter_map(|form| fit(word, form, with_typos));
            fits.map(move |fit| fit + u8::from(!is_name))
        });
        fits.min()
    }

    /// National and international forms of a number end alike.
    pub fn rank_of_phone(&self, digits: &str) -> Option<Rank> {
        let fit = if self.phone == digits {
            WHOLE
        } else if self.phone.ends_with(digits)
            || (self.phone.len() > 5 && digits.ends_with(&self.phone))
        {
            BEGINNING
        } else {
            return None;
        };
        Some(Rank(fit + 1, 0, true, 0))
    }
}

/// The fit of a word to a form of a text.
fn fit(word: &Word, form: &str, with_typos: bool) -> Option<u8> {
    if form == word.text {
        return Some(WHOLE);
    }
    if form.starts_with(&word.text) {
        return Some(BEGINNING);
    }
    let spelt = alternative(form);
    if spelt.starts_with(&word.spelt) {
        return Some(SPELT);
    }
    if word.length > 2 && form.contains(&word.text) {
        return Some(PART);
    }
    if !with_typos || word.typos_max() == 0 {
        return None;
    }
    typos(&word.spelt, &spelt, word.typos_max())
}

/// A typo in the whole word is likelier than one in its beginning.
fn typos(word: &str, form: &str, most: usize) -> Option<u8> {
    let length = word.chars().count();
    let beginning: String = form.chars().take(length).collect();
    let whole = strsim::osa_distance(word, form) * 2;
    let begun = strsim::osa_distance(word, &beginning) * 2 + 1;
    let distance = whole.min(begun);
    let typos = u8::try_from(distance).ok()?;
    (distance / 2 <= most).then_some(TYPO + typos)
}
