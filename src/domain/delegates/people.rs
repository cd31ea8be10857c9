//! Finds attendees by what somebody types: names in any order and spelling, companies, parts of addresses and
//! codes, phone numbers; the likeliest first. The index gives candidates, a bounded number for each way to read
//! the words; their texts are folded again and ranked (`rank.rs`). `assets/gate/core/find.js` ranks a gate's own list alike.

use super::{
    FIELDS,
    rank::{self, Candidate, Rank, Reading},
    scanned,
};
use crate::{
    core::{scanned::Meaning, search::trigrams},
    db::search_index::COLUMNS,
    types::{
        DelegateCode,
        error::{Error, Result},
        fold::{self, alternative},
    },
};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Words that are looked for.
const WORDS_MAX: usize = 6;
/// Letters of a word that are looked for.
const WORD_MAX: usize = 40;
/// Candidates that each way to read the words may give.
const CANDIDATES_MAX: usize = 1_000;
/// With fewer hits than that, parts of words are looked for as well; with none, typos.
const FEW: usize = 3;
/// Digits that make a phone number.
const PHONE_MIN: usize = 4;
/// Its last digits, by which the index finds one.
const PHONE_END: usize = 7;

/// The people to find, and the words to find them by.
#[derive(Debug, Clone)]
pub struct People {
    typed: String,
    /// Folded.
    words: Vec<String>,
    columns: Vec<&'static str>,
    codes: Vec<DelegateCode>,
    /// Only by whole words.
    is_whole: bool,
    /// Set to find the deleted instead of those who were not.
    is_deleted: bool,
}

/// The attendees that were found.
#[derive(Debug, Default)]
pub struct Found {
    /// The likeliest first.
    pub ids: Vec<i64>,
    /// There may be more.
    pub more: bool,
    /// The first has exactly this code.
    pub is_code: bool,
}

impl People {
    /// By every property, from two letters on, or one of Chinese, Japanese or Korean; by a code always.
    #[must_use]
    pub fn new(typed: &str) -> Self {
        let typed = typed.trim();
        let folded = fold::fold(typed);
        let words = folded.split(' ').filter(|word| !word.is_empty());
        let words = words.map(|word| word.chars().take(WORD_MAX).collect());
        Self {
            words: words.take(WORDS_MAX).collect(),
            typed: typed.to_owned(),
            columns: COLUMNS.to_vec(),
            codes: DelegateCode::ALL.to_vec(),
            is_whole: false,
            is_deleted: false,
        }
    }

    /// By the properties that a client sees; without a list by all.
    #[must_use]
    pub fn seen_by(mut self, visible: Option<&[String]>) -> Self {
        if let Some(visible) = visible {
            let shows = |name: &str| visible.iter().any(|property| property == name);
            self.columns.retain(|column| {
                let mut fields = FIELDS.iter().filter(|field| field.column == *column);
                fields.any(|field| shows(field.name))
            });
            self.codes.retain(|code| shows(code.name()));
        }
        self
    }

    /// By these columns, as far as it was by them before.
    #[must_use]
    fn by(mut self, columns: &[&str]) -> Self {
        self.columns.retain(|column| columns.contains(column));
        self
    }

    /// As a gate may: by name, company and code, from three letters on, one of Chinese, Japanese or Korean, or two
    /// that are a whole name.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for fewer letters.
    pub fn at_gate(mut self) -> Result<Self> {
        let columns = [
            "first_name",
            "last_name",
            "company",
            "barcode",
            "external_id",
        ];
        match self.letters() {
            0 | 1 => Err(Error::field(
                "q",
                "must have 3 letters or more, or a whole name",
            )),
            2 => {
                self.is_whole = true;
                Ok(self.by(&columns[..2]))
            }
            _ => Ok(self.by(&columns)),
        }
    }

    /// Returns whether it may be a part of an e-mail address or a phone number.
    #[must_use]
    pub fn may_be_contact(&self) -> bool {
        !self.is_whole
    }

    /// Returns whether it looks like a whole e-mail address or a phone number.
    #[must_use]
    pub fn is_like_contact(&self) -> bool {
        self.typed.contains('@') || !self.phones().is_empty()
    }

    /// As a gate that is online may as well: by e-mail address and phone number.
    #[must_use]
    pub fn by_contact(mut self) -> Self {
        self.codes.clear();
        self.by(&["email", "phone"])
    }

    #[must_use]
    pub fn deleted(mut self, is_deleted: bool) -> Self {
        self.is_deleted = is_deleted;
        self
    }

    /// Returns whether there are letters enough to look for anything but a code.
    #[must_use]
    pub fn is_long_enough(&self) -> bool {
        self.letters() >= 2
    }

    /// Letters and digits; one of Chinese, Japanese or Korean counts as three.
    fn letters(&self) -> usize {
        let letters = self.words.iter().flat_map(|word| word.chars());
        letters
            .map(|letter| if fold::is_cjk(letter) { 3 } else { 1 })
            .sum()
    }

    /// The digits of a phone number, if that is what was typed: without the zeros before it, and as the last digits
    /// of one.
    fn phones(&self) -> Vec<String> {
        let is_sign = |sign: char| sign.is_ascii_digit() || " +-()/.".contains(sign);
        if !self.typed.chars().all(is_sign) || !self.columns.contains(&"phone") {
            return Vec::new();
        }
        let mut phones = vec![fold::phone(&self.typed), self.words.concat()];
        phones.dedup();
        phones.retain(|digits| digits.len() >= PHONE_MIN);
        phones
    }
}

/// Finds people, so many at the most.
pub fn find(connection: &Connection, people: &People, most: usize) -> Result<Found> {
    let mut finder = Finder {
        connection,
        people,
        candidates_max: most.max(CANDIDATES_MAX),
        hits: HashMap::new(),
        is_capped: false,
    };
    finder.by_code()?;
    for digits in people.phones() {
        finder.by_phone(&digits)?;
    }
    if people.is_long_enough() && !people.columns.is_empty() {
        finder.by_words(most)?;
    }
    let mut hits: Vec<(Rank, i64)> = finder
        .hits
        .into_iter()
        .map(|(id, rank)| (rank, id))
        .collect();
    hits.sort_unstable();
    let more = finder.is_capped || hits.len() > most;
    hits.truncate(most);
    let is_code = hits.first().is_some_and(|(rank, _)| *rank == Rank::CODE);
    let ids = hits.into_iter().map(|(_, id)| id).collect();
    Ok(Found { ids, more, is_code })
}

struct Finder<'a> {
    connection: &'a Connection,
    people: &'a People,
    candidates_max: usize,
    hits: HashMap<i64, Rank>,
    /// There were more candidates than were looked at.
    is_capped: bool,
}

impl Finder<'_> {
    fn by_code(&mut self) -> Result<()> {
        if self.people.is_deleted || self.people.typed.is_empty() {
            return Ok(());
        }
        for code in &self.people.codes {
            let mut holder = self.connection.prepare_cached(code.find_sql())?;
            let found = holder.query_row([&self.people.typed], |row| row.get(0));
            if let Some(id) = found.optional()? {
                self.hits.entry(id).or_insert(Rank::CODE);
            }
        }
        if self.hits.is_empty()
            && let Meaning::Match(found) = scanned::meaning(self.connection, &self.people.typed)?
            && !found.is_blocked
            && self
                .people
                .codes
                .iter()
                .any(|code| code.name() == found.kind)
        {
            self.hits.insert(found.id, Rank::CODE);
        }
        Ok(())
    }

    fn by_phone(&mut self, digits: &str) -> Result<()> {
        let end = &digits[digits.len().saturating_sub(PHONE_END)..];
        let Some(query) = query_of(&format!("{end} ")) else {
            return Ok(());
        };
        self.each(&format!("{{phone}} : ({query})"), |candidate| {
            candidate.rank_of_phone(digits)
        })
    }

    /// Reads the words one way after the other, until there are hits enough.
    fn by_words(&mut self, most: usize) -> Result<()> {
        let words = &self.people.words;
        self.read(words, Reading::Plain, |word| query_of(&format!(" {word} ")))?;
        if self.people.is_whole || self.hits.len() >= most {
            return Ok(());
        }
        let beginning = |word: &str| query_of(&format!(" {word}"));
        let spelt = |word: &str| beginning(&alternative(word));
        self.read(words, Reading::Plain, beginning)?;
        // Of a word without another spelling the index has the beginning under both.
        if self.hits.len() < most && words.iter().any(|word| alternative(word) != *word) {
            self.read(words, Reading::Plain, spelt)?;
        }
        if self.hits.len() < FEW.min(most) {
            for joined in joined(words) {
                self.read(&joined, Reading::Joined, spelt)?;
            }
            self.read(words, Reading::Plain, |word| {
                query_of(word).or_else(|| beginning(word))
            })?;
        }
        if self.hits.is_empty() {
            self.read(words, Reading::Typos, |word| {
                let Some(pieces) = rank::pieces(word) else {
                    return beginning(word);
                };
                let pieces = pieces.iter().filter_map(|piece| query_of(piece));
                let pieces: Vec<String> = pieces.map(|piece| format!("({piece})")).collect();
                Some(format!("({})", pieces.join(" OR ")))
            })?;
        }
        Ok(())
    }

    /// Ranks whom the index finds by every word; of no words it cannot be asked.
    fn read(
        &mut self,
        words: &[String],
        reading: Reading,
        query: impl Fn(&str) -> Option<String>,
    ) -> Result<()> {
        let queries: Vec<String> = words.iter().filter_map(|word| query(word)).collect();
        if queries.is_empty() {
            return Ok(());
        }
        let columns = self.people.columns.join(" ");
        let words: Vec<rank::Word> = words.iter().map(|word| rank::Word::new(word)).collect();
        let query = format!("{{{columns}}} : ({})", queries.join(" AND "));
        self.each(&query, |candidate| candidate.rank(&words, reading))
    }

    fn each(&mut self, query: &str, rank: impl Fn(&Candidate) -> Option<Rank>) -> Result<()> {
        let alive = if self.people.is_deleted {
            "IS NOT NULL"
        } else {
            "IS NULL"
        };
        let columns: Vec<String> = self
            .people
            .columns
            .iter()
            .map(|column| format!("d.{column}"))
            .collect();
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT d.id, {} FROM (SELECT rowid AS matched FROM delegates_search WHERE delegates_search MATCH ?1
                 UNION ALL SELECT id FROM delegates_search_pending)
             CROSS JOIN delegates d ON d.id = matched WHERE d.deleted_at {alive} LIMIT ?2",
            columns.join(", ")
        ))?;
        let most = i64::try_from(self.candidates_max).unwrap_or(i64::MAX);
        let mut rows = statement.query((query, most))?;
        let mut looked_at = 0;
        while let Some(row) = rows.next()? {
            looked_at += 1;
            let id: i64 = row.get(0)?;
            let mut candidate = Candidate::default();
            for (at, column) in (1..).zip(&self.people.columns) {
                if let Some(text) = row.get_ref(at)?.as_str_or_null().map_err(Error::defect)? {
                    candidate.put(column, text);
                }
            }
            if let Some(rank) = rank(&candidate) {
                let best = self.hits.entry(id).or_insert(rank);
                *best = rank.min(*best);
            }
        }
        self.is_capped |= looked_at == self.candidates_max;
        Ok(())
    }
}

/// The query for every three letters in a row of a text; none of a shorter one.
fn query_of(text: &str) -> Option<String> {
    trigrams(std::iter::once(text))
}

/// The words with two neighbours as one, each pair in turn, and all as one: `mc carthy`.
fn joined(words: &[String]) -> Vec<Vec<String>> {
    if words.iter().any(|word| word.chars().any(fold::is_cjk)) {
        return Vec::new();
    }
    let pairs = (1..words.len()).map(|at| {
        let mut joined = words.to_vec();
        let second = joined.remove(at);
        joined[at - 1] += &second;
        joined
    });
    let mut found: Vec<_> = pairs.collect();
    if words.len() > 2 {
        found.push(vec![words.concat()]);
    }
    found
}

#[cfg(test)]
mod tests;
