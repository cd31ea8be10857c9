//! Conditions of a statement that are put together part by part.

use rusqlite::types::Value;

/// Conditions that grow; the text begins with nothing, and each part with `AND`.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// The condition.
    pub sql: String,
    /// What it is about, numbered from 1.
    pub parameters: Vec<Value>,
}

impl Conditions {
    /// A value's place.
    pub fn bind(&mut self, value: impl Into<Value>) -> String {
        self.parameters.push(value.into());
        format!("?{}", self.parameters.len())
    }

    /// Adds a part.
    pub fn and(&mut self, sql: &str) {
        self.sql += " AND ";
        self.sql += sql;
    }
}
