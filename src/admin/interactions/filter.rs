//! The form above the lists of interactions and refusals.

use crate::admin::prelude::*;
use crate::{
    admin::filter::{Asked, Times},
    domain::interactions::log::find::{Finder, Wanted},
};

#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub kind: String,
    pub device: Option<i64>,
    /// A text about a delegate: parts of name, company, e-mail or code.
    pub delegate: String,
    /// Only what was refused.
    pub refused: bool,
    /// Only what was taken back.
    pub undone: bool,
    /// One kind of what machines repeat, each by itself.
    pub many: String,
    /// Each of those that machines repeat by itself, imported ones as well.
    pub single: bool,
    /// A search of interactions as the API takes it.
    pub search: String,
    /// The code of a refusal.
    pub code: Option<i64>,
    /// Refusals of these times.
    pub times: Times,
}

impl Filter {
    /// Reads the query string; what cannot be read is returned as a message, and left out.
    pub fn read(query: &Fields, zone: &Zone) -> (Self, Option<String>) {
        let mut asked = Asked::of(query, zone);
        let filter = Self {
            kind: asked.text("type"),
            device: asked.number("device"),
            delegate: asked.text("delegate"),
            refused: query.ticked("refused"),
            undone: false,
            many: asked.text("many"),
            single: false,
            search: asked.text("search"),
            code: asked.number("code"),
            times: asked.times(),
        };
        (filter, asked.failure())
    }

    pub fn prepare(&self, connection: &Connection, zone: &Zone) -> Result<Finder> {
        let wanted = Wanted {
            kind: self.kind.clone(),
            device: self.device,
            refused: self.refused,
            undone: self.undone,
            many: self.many.clone(),
            single: self.single || !self.many.is_empty(),
            code: self.code,
            since: self.times.since,
            until: self.times.until,
        };
        Finder::new(connection, wanted, &self.delegate, &self.search, zone)
    }
}
