//! Texts by their English words. The source says in English what a property is called or why something was refused,
//! for the API, the log and the console alike; the console finds the words in other languages here.

use super::{Language, argument, lines, moments::from_english};
use fluent_bundle::FluentArgs;
use std::collections::HashMap;

/// The file with the words that no page has.
const WORDS: &str = "words.ftl";
/// The file whose texts are found with arguments in them, too.
const SENTENCES: &str = "sentences.ftl";
/// Arguments that people named, such as a place: they are the same in each language.
const NAMED: [&str; 3] = ["name", "place", "door"];
/// A sentence with fewer letters of its own is found where numbers or known words stand in it.
const LOOSE: usize = 6;

/// The texts of a language by their English words.
#[derive(Default)]
pub(super) struct Phrases {
    words: HashMap<String, String>,
    /// The ones with the most words of their own first.
    sentences: Vec<Sentence>,
}

/// A sentence with arguments.
struct Sentence {
    key: String,
    /// The words before, between and after the arguments.
    parts: Vec<String>,
    names: Vec<String>,
    /// It has so few words of its own, such as "to", that many a text fits it.
    is_loose: bool,
}

impl Phrases {
    /// Those of English files, as `said` has them.
    pub(super) fn new(english: &[(String, String)], said: impl Fn(&str) -> Option<String>) -> Self {
        let mut phrases = Self::default();
        // What is for this alone comes before the words of pages.
        let (own, pages): (Vec<_>, Vec<_>) =
            english.iter().partition(|(file, _)| file.ends_with(WORDS));
        for (file, text) in own.into_iter().chain(pages) {
            for (key, words) in lines(text) {
                let words = words.replace("{\"{\"}", "{").replace("{\"}\"}", "}");
                if words.is_empty() {
                    continue;
                }
                if !words.contains("{ $") {
                    if let Some(said) = said(&key) {
                        phrases.words.entry(words).or_insert(said);
                    }
                } else if file.ends_with(SENTENCES) {
                    phrases.sentences.extend(Sentence::read(key, &words));
                }
            }
        }
        let length = |sentence: &Sentence| sentence.parts.iter().map(String::len).sum::<usize>();
        phrases
            .sentences
            .sort_by_key(|sentence| std::cmp::Reverse(length(sentence)));
        phrases
    }
}

impl Sentence {
    fn read(key: String, words: &str) -> Option<Self> {
        let (mut parts, mut names, mut rest) = (Vec::new(), Vec::new(), words);
        while let Some((before, after)) = rest.split_once("{ $") {
            let (name, after) = after.split_once(" }")?;
            parts.push(before.to_owned());
            names.push(name.to_owned());
            rest = after;
        }
        parts.push(rest.to_owned());
        let own = |part: &String| part.chars().filter(|letter| letter.is_alphabetic()).count();
        let is_loose = parts[0].is_empty()
            && !rest.ends_with('.')
            && parts.iter().map(own).sum::<usize>() < LOOSE;
        Some(Self {
            key,
            parts,
            names,
            is_loose,
        })
    }

    /// What stands for the arguments in a text of this form.
    fn arguments<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let (first, others) = self.parts.split_first()?;
        let (last, between) = others.split_last()?;
        let mut rest = text
            .strip_prefix(first.as_str())?
            .strip_suffix(last.as_str())?;
        let mut found = Vec::with_capacity(self.names.len());
        for part in between {
            let (argument, after) = rest.split_once(part.as_str())?;
            found.push(argument);
            rest = after;
        }
        found.push(rest);
        let fits = found.iter().all(|found| !found.is_empty());
        fits.then_some(found)
    }

    /// The sentence in another language, with what stands in an English one of its form.
    fn say(&self, language: &Language, english: &str) -> Option<String> {
        let words = &language.phrases.words;
        let found = self.arguments(english)?;
        let has_number = |text: &&str| text.starts_with(|first: char| first.is_ascii_digit());
        let is_known = |text: &&str| words.contains_key(*text);
        let (all_numbers, any_known) = (found.iter().all(has_number), found.iter().any(is_known));
        // Of a sentence of arguments alone, such as "24 done", one is a number and the other is known.
        let is_bare = self.parts.iter().all(|part| part.trim().is_empty());
        let fits = if is_bare {
            found.first().is_some_and(has_number) && any_known
        } else {
            !self.is_loose || all_numbers || any_known
        };
        if !fits {
            return None;
        }
        let mut args = FluentArgs::new();
        for (name, found) in self.names.iter().zip(found) {
            let known = if NAMED.contains(&name.as_str()) {
                None
            } else {
                let known = words.get(found).cloned();
                let known = known.or_else(|| from_english(found));
                known.or_else(|| in_sentence(language, &Forms::of(found), false))
            };
            let found = known.unwrap_or_else(|| found.to_owned());
            args.set(name.clone(), argument(found));
        }
        language.format(&self.key, Some(&args))
    }
}

/// The text of some English words, where the language has one: of all of them, or of one sentence after the other.
pub(super) fn find(language: &Language, english: &str) -> Option<String> {
    whole(language, english).or_else(|| {
        let mut is_known = false;
        let said = english.split_inclusive(". ").map(|sentence| {
            let words = sentence.trim_end();
            match whole(language, words) {
                Some(said) => {
                    is_known = true;
                    said + &sentence[words.len()..]
                }
                None => sentence.to_owned(),
            }
        });
        let said: String = said.collect();
        is_known.then_some(said)
    })
}

/// As [`find`], of all words: as they are, as the sentence that a page made of them, or as a list.
fn whole(language: &Language, english: &str) -> Option<String> {
    let phrases = &language.phrases;
    let forms = Forms::of(english);
    forms
        .find(|form| phrases.words.get(form).cloned())
        .or_else(|| in_sentence(language, &forms, false))
        .or_else(|| list(language, english))
        .or_else(|| in_sentence(language, &forms, true))
}

/// English words as the source may have them, of which a page made a sentence: with a capital and a full stop.
struct Forms<'t> {
    written: &'t str,
    lowered: String,
    bare: &'t str,
}

impl<'t> Forms<'t> {
    fn of(written: &'t str) -> Self {
        let bare = written.strip_suffix('.').unwrap_or(written);
        Self {
            written,
            lowered: with_first(bare, |first| first.to_lowercase().collect()),
            bare,
        }
    }

    /// What the first of them says that says anything, again as a sentence.
    fn find(&self, said: impl Fn(&str) -> Option<String>) -> Option<String> {
        if let Some(said) = said(self.written) {
            return Some(said);
        }
        if self.lowered == self.written {
            return None;
        }
        let said = said(&self.lowered).or_else(|| said(self.bare))?;
        let said = if self.bare.starts_with(char::is_uppercase) {
            with_first(&said, |first| first.to_uppercase().collect())
        } else {
            said
        };
        Some(said + &self.written[self.bare.len()..])
    }
}

fn with_first(text: &str, change: impl Fn(char) -> String) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(change);
    first.unwrap_or_default() + letters.as_str()
}

/// As [`find`], of a list whose every part is known, such as "24 done, 1 inside already".
fn list(language: &Language, english: &str) -> Option<String> {
    let (parts, end) = match english.strip_suffix('.') {
        Some(parts) => (parts, "."),
        None => (english, ""),
    };
    if !parts.contains(", ") {
        return None;
    }
    let said: Option<Vec<_>> = parts
        .split(", ")
        .map(|part| known(language, part))
        .collect();
    Some(said?.join(", ") + end)
}

fn known(language: &Language, english: &str) -> Option<String> {
    let word = language.phrases.words.get(english).cloned();
    let mut sentences = language.phrases.sentences.iter();
    word.or_else(|| sentences.find_map(|sentence| sentence.say(language, english)))
}

/// What the first sentence says that has one of these forms; those with the most words of their own come first. Loose
/// ones, which many a text fits, are for the end.
fn in_sentence(language: &Language, forms: &Forms<'_>, loose: bool) -> Option<String> {
    let sentences = language.phrases.sentences.iter();
    let mut sentences = sentences.filter(|sentence| sentence.is_loose == loose);
    sentences.find_map(|sentence| forms.find(|form| sentence.say(language, form)))
}
