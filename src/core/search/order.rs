//! The order of a list by a property, records without a value last (contract §2, `sort`).

use super::{
    Search,
    catalogue::{FieldKind, SearchField, Subject},
    run::{Part, SEARCH_MAX},
};
use crate::types::{
    error::{Error, Result},
    text,
};
use rusqlite::{Connection, types::Value};

/// The property that a list is sorted by.
#[derive(Debug, Clone)]
pub struct Order {
    pub subject: &'static Subject,
    field: &'static SearchField,
    pub is_descending: bool,
}

/// Records in order, each with the value that it is sorted by.
pub type Sorted = Vec<(i64, Value)>;

impl Order {
    /// Reads the name of a property, with `-` before it for the reverse order; `visible` are the properties that the
    /// caller may see, all without it.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for what cannot be searched, or is not seen.
    pub fn parse(
        subject: &'static Subject,
        sort: &str,
        visible: Option<&[String]>,
    ) -> Result<Self> {
        let (is_descending, name) = match sort.trim().strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, sort.trim()),
        };
        let sees = |known: &str| {
            known == "id" || visible.is_none_or(|visible| visible.iter().any(|one| one == known))
        };
        let field = subject.field(name).filter(|field| sees(field.name));
        let field = field.ok_or_else(|| {
            let known = subject.fields.iter().map(|field| field.name);
            let known: Vec<_> = known.filter(|known| sees(known)).collect();
            let name = text::shortened(name);
            Error::field(
                "sort",
                format!(
                    "\"{name}\" is nothing to sort by; {}",
                    text::hint(&name, &known)
                ),
            )
        })?;
        Ok(Self {
            subject,
            field,
            is_descending,
        })
    }

    /// The value that a record is sorted by, as SQL.
    pub(super) fn key(&self) -> String {
        let column = self.field.column;
        match self.field.kind {
            // In whatever case and with whatever accents.
            FieldKind::Text => format!("nullif(text_folded({column}), '')"),
            _ => column.to_owned(),
        }
    }

    /// The condition of what comes after or before a record, whose value and id have these parameters.
    pub(super) fn bound(&self, part: Part, key: &Value, value: &str, id: &str) -> String {
        let is_after = matches!(part, Part::After(_));
        let sign = if is_after == self.is_descending {
            "<"
        } else {
            ">"
        };
        match (is_after, *key == Value::Null) {
            (true, true) => format!("key IS NULL AND id {sign} {id}"),
            (false, true) => format!("key IS NOT NULL OR id {sign} {id}"),
            (is_after, false) => {
                let nulls = if is_after { "key IS NULL OR " } else { "" };
                format!("{nulls}key {sign} {value} OR (key = {value} AND id {sign} {id})")
            }
        }
    }

    /// The order of the list, or the reverse where it is read before a record.
    pub(super) fn direction(&self, part: Option<Part>) -> String {
        let is_reverse = matches!(part, Some(Part::Before(_)));
        let nulls = if is_reverse { "DESC" } else { "ASC" };
        let direction = if is_reverse == self.is_descending {
            "ASC"
        } else {
            "DESC"
        };
        format!("key IS NULL {nulls}, key {direction}, id {direction}")
    }
}

impl Search {
    /// Finds the matches after or before a record, `key` being the value that it is sorted by, or all without one, but for
    /// the nearest `offset`; `limit` at the most. They are in the order of the list.
    ///
    /// # Errors
    /// As [`Search::page`].
    pub fn sorted(
        &self,
        connection: &Connection,
        order: &Order,
        from: Option<(Part, &Value)>,
        offset: u64,
        limit: u64,
    ) -> Result<Sorted> {
        let mut sorted = Sorted::new();
        self.run(connection, SEARCH_MAX, |statement| {
            statement.sorted(order, from, offset, limit, |id, key| sorted.push((id, key)))
        })?;
        if let Some((Part::Before(_), _)) = from {
            sorted.reverse();
        }
        Ok(sorted)
    }
}
