//! The search language of lists (spec: Search; contract §5): a JSON expression becomes a checked
//! tree, the tree becomes SQL with bound parameters. It knows no HTTP, and no feature's tables by
//! name: a [`Subject`] tells it what can be searched.
//!
//! - `catalogue`: what a list offers to a search, and queries of the full-text index
//! - `expression`, `parse`: the tree, and JSON to it; errors tell their path
//! - `compile`: the tree to SQL
//! - `lead`: by which index a search is run
//! - `statement`: the SQL of a search; `run`: finding ids, in bounded time
//! - `order`: the order of a list by a property
//! - `statements`: named values that an administrator defines in SQL

pub mod catalogue;
pub mod compile;
pub mod expression;
mod lead;
mod order;
pub mod parse;
mod run;
mod statement;
pub mod statements;

pub use catalogue::{
    Conditions, Counted, FieldKind, SearchField, Stretches, Subject, index_query, trigrams,
};
pub use expression::Expr;
pub use order::{Order, Sorted};
pub use run::{Found, Part};

use crate::types::{Zone, error::Result};
use compile::Condition;
use expression::{Scalar, Test};

/// A checked search of one kind of record.
#[derive(Debug)]
pub struct Search {
    subject: &'static Subject,
    expr: Expr,
}

impl Search {
    /// Reads an expression; `visible` are the properties that the caller may see, all without it:
    /// what is not shown cannot be guessed by searching either.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::InvalidSearch`]; the message begins with the path to the fault, such
    /// as `and[1].">="[0]`.
    pub fn parse(
        subject: &'static Subject,
        text: &str,
        zone: &Zone,
        visible: Option<&[String]>,
    ) -> Result<Self> {
        let expr = parse::parse(subject, text, zone, visible)?;
        Ok(Self { subject, expr })
    }

    /// Finds everything, until it is narrowed.
    pub fn everything(subject: &'static Subject) -> Self {
        Self {
            subject,
            expr: Expr::And(Vec::new()),
        }
    }

    /// Narrows the search to these records.
    #[must_use]
    pub fn among(self, ids: &[i64]) -> Self {
        let Some(field) = self.subject.field("id") else {
            return self;
        };
        let ids = ids.iter().copied().map(Scalar::Integer).collect();
        self.and(Expr::Field(field, Test::In(ids)))
    }

    /// Narrows the search by an expression that was read for the same kind of record, whichever of its rows that was
    /// for.
    #[must_use]
    pub fn and_search(self, other: Self) -> Self {
        self.and(other.expr)
    }

    fn and(mut self, expr: Expr) -> Self {
        if let Expr::And(parts) = &mut self.expr {
            parts.push(expr);
            return self;
        }
        Self {
            subject: self.subject,
            expr: Expr::And(vec![self.expr, expr]),
        }
    }

    /// As [`Search::parse`], of a parameter that may be absent or empty.
    pub fn asked(
        subject: &'static Subject,
        text: Option<&str>,
        zone: &Zone,
        visible: Option<&[String]>,
    ) -> Result<Option<Self>> {
        text.filter(|text| !text.trim().is_empty())
            .map(|text| Self::parse(subject, text, zone, visible))
            .transpose()
    }

    /// The search as a condition over the rows of its table, for a statement that also asks for
    /// something else; not of a search that names a statement of its own.
    pub fn condition(&self) -> Condition {
        compile::compile(self.subject, &self.expr)
    }
}

#[cfg(test)]
mod tests;
