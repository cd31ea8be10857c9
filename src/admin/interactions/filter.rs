//! The form above the lists of interactions and refusals.

use crate::admin::prelude::*;
use crate::{
    admin::filter::{Asked, Times, query},
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
            search: asked.text("search"),
            code: asked.number("code"),
            times: asked.times(),
        };
        (filter, asked.failure())
    }

    pub fn is_device(&self, id: &i64) -> bool {
        self.device == Some(*id)
    }

    /// Whether it matches everything.
    pub fn is_any(&self) -> bool {
        self.query().is_empty()
    }

    pub fn query(&self) -> String {
        let device = self.device.map(|id| id.to_string()).unwrap_or_default();
        let code = self.code.map(|code| code.to_string()).unwrap_or_default();
        query(&[
            ("type", &self.kind),
            ("device", &device),
            ("delegate", &self.delegate),
            ("search", &self.search),
            ("code", &code),
            ("since", &self.times.typed[0]),
            ("until", &self.times.typed[1]),
            ("refused", if self.refused { "on" } else { "" }),
        ])
    }

    pub fn prepare(&self, connection: &Connection, zone: &Zone) -> Result<Finder> {
        let wanted = Wanted {
            kind: self.kind.clone(),
            device: self.device,
            refused: self.refused,
            code: self.code,
            since: self.times.since,
            until: self.times.until,
        };
        Finder::new(connection, wanted, &self.delegate, &self.search, zone)
    }
}
