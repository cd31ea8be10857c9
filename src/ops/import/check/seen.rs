//! Codes and people of the rows above. Of each only a hash is kept, so that the longest list takes little memory.

use super::super::{What, people};
use crate::{
    core::records::Resource,
    types::error::{Error, Result},
};
use serde_json::{Map, Value};
use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
};

/// The most unique codes that a file may have, beside each other; a few bytes of memory each.
const CODES_MAX: usize = 5_000_000;

/// The person that a row means.
#[derive(Clone, Copy)]
pub(super) struct Person {
    hash: u64,
    /// Set where the key means people, and not the e-mail address alone.
    pub is_by_key: bool,
}

pub(super) struct Seen {
    resource: Option<&'static Resource>,
    /// The line of each code, by a hash of the code and its column; of good rows only.
    codes: HashMap<u64, u32>,
    /// The line of each person.
    people: HashMap<u64, u32>,
    /// Codes that records of the store have until a row changes them.
    changed: HashSet<u64>,
    hasher: RandomState,
}

impl Seen {
    pub fn new(what: What) -> Self {
        Self {
            resource: what.resource(),
            codes: HashMap::new(),
            people: HashMap::new(),
            changed: HashSet::new(),
            hasher: RandomState::new(),
        }
    }

    /// The person that a row means by the key, or by the e-mail address alone; only delegates have either.
    pub fn person(&self, key: Option<&str>, body: &Map<String, Value>) -> Result<Option<Person>> {
        let by_key = key.map_or(Ok(None), |key| people::person(key, body))?;
        if let Some(person) = by_key {
            let hash = self.hasher.hash_one(person);
            let is_by_key = true;
            return Ok(Some(Person { hash, is_by_key }));
        }
        let email = body.get(people::EMAIL).and_then(Value::as_str);
        let email = email.map(|email| email.trim().to_ascii_lowercase());
        Ok(email.filter(|email| !email.is_empty()).map(|email| Person {
            hash: self.hasher.hash_one(email),
            is_by_key: false,
        }))
    }

    pub fn line_of_person(&self, person: Person) -> Option<u32> {
        self.people.get(&person.hash).copied()
    }

    pub fn add_person(&mut self, person: Person, line: u32) {
        if self.people.len() < CODES_MAX {
            self.people.insert(person.hash, line);
        }
    }

    /// The hash of the code of a selector such as `code:hall-a`.
    pub fn code_of(&self, selector: &str) -> u64 {
        let (name, code) = selector.split_once(':').unwrap_or_default();
        if matches!(name, "name" | "room") {
            return self.hash("name", code);
        }
        let mut codes = self.resource.into_iter().flat_map(Resource::codes);
        let column = codes.find(|(_, known)| *known == name);
        self.hash(column.map_or("", |(column, _)| column), code)
    }

    pub fn line_of_code(&self, code: u64) -> Option<u32> {
        self.codes.get(&code).copied()
    }

    pub fn line_of(&self, column: &str, code: &str) -> Option<u32> {
        self.line_of_code(self.hash(column, code))
    }

    /// Adds the codes of a row, with their columns, and its name.
    pub fn add_codes<'a>(
        &mut self,
        codes: impl Iterator<Item = (&'static str, &'static str, &'a str)>,
        name: Option<&str>,
        line: u32,
    ) -> Result<()> {
        for (column, _, code) in codes {
            self.codes.insert(self.hash(column, code), line);
        }
        if let Some(name) = name {
            let hash = self.hash("name", name);
            self.codes.entry(hash).or_insert(line);
        }
        if self.codes.len() > CODES_MAX {
            return Err(Error::invalid(format!(
                "has more than {CODES_MAX} unique codes; split it"
            )));
        }
        Ok(())
    }

    /// Returns whether a row took the code of a selector from its record.
    pub fn is_changed(&self, selector: &str) -> bool {
        self.changed.contains(&self.code_of(selector))
    }

    pub fn add_changed(&mut self, column: &str, code: &str) {
        self.changed.insert(self.hash(column, code));
    }

    fn hash(&self, column: &str, code: &str) -> u64 {
        let in_any_case = |resource: &Resource| resource.is_in_any_case(column);
        if self.resource.is_some_and(in_any_case) {
            return self.hasher.hash_one((column, code.to_ascii_uppercase()));
        }
        self.hasher.hash_one((column, code))
    }
}
