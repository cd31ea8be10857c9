//! The letters of names and companies in the list: those that no font has, told before they are missed on a badge.

use super::fonts::EMBEDDED;
use crate::types::{DelegateId, error::Result};
use badges::Fonts;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The most attendees that are looked at.
const PEOPLE_MAX: usize = 50_000;

/// Letters beyond ASCII, each with how many people have it, and the first of them.
pub struct Letters {
    seen: BTreeMap<char, (usize, DelegateId)>,
    /// The attendees that were looked at.
    pub people: usize,
}

impl Letters {
    /// Goes once through names and companies.
    pub fn survey(connection: &Connection) -> Result<Self> {
        let mut people = connection.prepare_cached(
            "SELECT id, first_name, last_name, company FROM delegates WHERE deleted_at IS NULL LIMIT ?1",
        )?;
        let mut rows = people.query([PEOPLE_MAX])?;
        let mut letters = Self {
            seen: BTreeMap::new(),
            people: 0,
        };
        let mut own = Vec::new();
        while let Some(row) = rows.next()? {
            letters.people += 1;
            own.clear();
            for column in 1..=3 {
                let text: Option<String> = row.get(column)?;
                let text = text.unwrap_or_default();
                own.extend(text.chars().filter(|letter| !letter.is_ascii()));
            }
            own.sort_unstable();
            own.dedup();
            for letter in &own {
                let id = DelegateId(row.get(0)?);
                letters.seen.entry(*letter).or_insert((0, id)).0 += 1;
            }
        }
        Ok(letters)
    }

    /// The letters that none of the fonts has, each with how many people have it, the most frequent first.
    pub fn missing(&self, fonts: &Fonts) -> Vec<(char, usize)> {
        let letters = self
            .seen
            .iter()
            .map(|(letter, (people, _))| (*letter, *people));
        let mut missing: Vec<_> = letters
            .filter(|(letter, _)| !fonts.draws(*letter))
            .collect();
        missing.sort_by_key(|(_, people)| std::cmp::Reverse(*people));
        missing
    }

    /// Somebody with the rarest letter: those that the embedded fonts lack come before all others, signs behind them.
    pub fn rarest(&self) -> Option<DelegateId> {
        let rank =
            |letter: char, people: usize| (EMBEDDED.draws(letter), !letter.is_alphabetic(), people);
        let letters = self.seen.iter();
        let rarest = letters.min_by_key(|(letter, (people, _))| rank(**letter, *people));
        rarest.map(|(_, (_, example))| *example)
    }
}
