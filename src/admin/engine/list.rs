//! The form above a list and the pages of the list, as the address has them.

use super::Input;
use crate::admin::{RequestContext, filter::query};

/// The form and the pages of a list of records.
pub struct List {
    pub path: String,
    pub inputs: Vec<Input>,
    /// The fields of the form that are filled in.
    filled: Vec<(String, String)>,
    /// The field of the address that says where a page begins.
    cursor: &'static str,
    /// Set where the page is not the first.
    pub is_later: bool,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// The fault of the form.
    pub failure: Option<String>,
}

impl List {
    pub fn new(request: &RequestContext, mut inputs: Vec<Input>, cursor: &'static str) -> Self {
        let mut filled = Vec::new();
        for input in &mut inputs {
            input.refill(&request.query);
            if let Some(text) = request.query.filled(&input.name) {
                filled.push((input.name.to_string(), text.to_owned()));
            }
        }
        Self {
            path: request.uri_path().to_owned(),
            inputs,
            filled,
            cursor,
            is_later: request.query.filled(cursor).is_some(),
            next: None,
            failure: None,
        }
    }

    pub fn is_filtered(&self) -> bool {
        !self.filled.is_empty()
    }

    /// The query string of the same list with one more field.
    pub fn with(&self, name: &str, value: &str) -> String {
        let filled = self.filled.iter();
        let filled = filled.map(|(name, text)| (name.as_str(), text.as_str()));
        query(&filled.chain([(name, value)]).collect::<Vec<_>>())
    }

    /// The address of the first page.
    pub fn first(&self) -> String {
        format!("{}?{}", self.path, self.with("", ""))
    }

    /// The address of the next page.
    pub fn after(&self, next: &str) -> String {
        format!("{}?{}", self.path, self.with(self.cursor, next))
    }

    /// The records of a page. One more than `page` says that another one follows, after the last `id`.
    pub fn cut<T>(&mut self, mut found: Vec<T>, page: usize, id: impl Fn(&T) -> i64) -> Vec<T> {
        let more = found.len() > page;
        found.truncate(page);
        let last = found.last().filter(|_| more);
        self.next = last.map(|last| id(last).to_string());
        found
    }
}
