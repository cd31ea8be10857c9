//! By which index a search is run, so that a page costs what is shown and not all that matches.

use super::{
    catalogue::{FieldKind, Stretches, Subject, index_query},
    expression::{Expr, Op, Scalar, Test},
};
use rusqlite::Connection;

/// Stretches of time that are gone through rather than all rows of a type: two hours.
const STRETCHES_FEW: usize = 12;
/// The longest query that the text index is asked as a whole, in bytes.
const QUERY_MAX: usize = 8_192;
/// The most kinds whose entries are merged.
const KINDS_MAX: usize = 20;
/// Columns whose values few rows share.
const RARE: [&str; 14] = [
    "id",
    "barcode",
    "rfid",
    "external_id",
    "public_id",
    "code",
    "uhf_id",
    "slug",
    "first_delegate_id",
    "second_delegate_id",
    "third_delegate_id",
    "first_device_id",
    "second_device_id",
    "third_device_id",
];

/// The lead to the rows that may match, in the order of ids.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// The table, or whichever of its indexes SQLite chooses.
    Table,
    /// The text index, asked this.
    Text(String),
    /// Indexes of expressions, each with the key of an entry, and a condition they hold under.
    Keys(Vec<Key>),
    /// Stretches of time, ascending.
    Stretches(Vec<i64>),
}

/// An entry of an index of an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The expression, as SQL.
    pub expression: String,
    /// The column that it is of; the index has no rows without a value there.
    pub column: &'static str,
    /// Its value.
    pub value: String,
}

impl Lead {
    pub(super) fn of(
        connection: &Connection,
        subject: &'static Subject,
        expr: &Expr,
        is_indexed: bool,
    ) -> rusqlite::Result<Self> {
        let parts = conjunction(expr);
        if parts.iter().any(|part| is_rare(part)) {
            return Ok(Self::Table);
        }
        let query = || text_query(expr).filter(|query| query.len() <= QUERY_MAX);
        if is_indexed && let Some(query) = query() {
            return Ok(Self::Text(query));
        }
        let kinds = parts.iter().find_map(|part| kinds(subject, part));
        if let Some(stretches) = &subject.stretches
            && let Some(range) = range(stretches.column, &parts)
        {
            let most = kinds.as_ref().map_or(usize::MAX, |_| STRETCHES_FEW);
            if let Some(found) = existing(connection, subject, stretches, range, most)? {
                return Ok(Self::Stretches(found));
            }
        }
        Ok(kinds.map_or(Self::Table, Self::Keys))
    }
}

/// The parts that must all hold.
fn conjunction(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::And(parts) => parts.iter().flat_map(conjunction).collect(),
        other => vec![other],
    }
}

fn is_rare(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field, Test::Compare(Op::Equal, scalar)) => {
            *scalar != Scalar::Null
                && (RARE.contains(&field.column) || field.kind == FieldKind::Reference)
        }
        _ => false,
    }
}

/// The entries of the kinds that a part asks for.
fn kinds(subject: &Subject, expr: &Expr) -> Option<Vec<Key>> {
    let (column, expression) = subject.kind?;
    let scalars = match expr {
        Expr::Field(field, _) if field.column != column => return None,
        Expr::Field(_, Test::Compare(Op::Equal, scalar)) => std::slice::from_ref(scalar),
        Expr::Field(_, Test::In(scalars)) if scalars.len() <= KINDS_MAX => scalars,
        _ => return None,
    };
    let key = |scalar: &Scalar| match scalar {
        Scalar::Text(text) if !text.is_empty() => Some(Key {
            expression: expression.to_owned(),
            column,
            value: text.to_ascii_lowercase(),
        }),
        _ => None,
    };
    let keys: Option<Vec<Key>> = scalars.iter().map(key).collect();
    keys.filter(|keys| !keys.is_empty())
}

/// The query of the text index that every row that matches answers; `None` where it cannot tell.
fn text_query(expr: &Expr) -> Option<String> {
    let joined = |queries: Vec<String>, between: &str| match queries.len() {
        0 => None,
        1 => queries.into_iter().next(),
        _ => Some(format!("({})", queries.join(between))),
    };
    match expr {
        Expr::And(parts) => {
            let queries = parts.iter().filter_map(text_query);
            joined(queries.collect(), ") AND (")
        }
        Expr::Or(parts) => {
            let queries: Option<Vec<_>> = parts.iter().map(text_query).collect();
            joined(queries?, ") OR (")
        }
        Expr::Field(field, Test::Contains(text) | Test::Compare(Op::Equal, Scalar::Text(text)))
            if field.text_indexed =>
        {
            index_query(field.column, text)
        }
        _ => None,
    }
}

/// The times between which a column has to be, both included.
fn range(column: &str, parts: &[&Expr]) -> Option<(i64, i64)> {
    let mut range = (i64::MIN, i64::MAX);
    for part in parts {
        let Expr::Field(field, Test::Compare(op, Scalar::Time(first, last))) = part else {
            continue;
        };
        if field.column != column {
            continue;
        }
        let (from, to) = match op {
            Op::Equal => (*first, *last),
            Op::Less => (i64::MIN, first.saturating_sub(1)),
            Op::LessOrEqual => (i64::MIN, *last),
            Op::Greater => (last.saturating_add(1), i64::MAX),
            Op::GreaterOrEqual => (*first, i64::MAX),
            Op::Unequal => continue,
        };
        range = (range.0.max(from), range.1.min(to));
    }
    (range != (i64::MIN, i64::MAX)).then_some(range)
}

/// The stretches of a range that there are, each found by a step in the index; `None` for more than
/// `most`.
fn existing(
    connection: &Connection,
    subject: &Subject,
    stretches: &Stretches,
    (from, to): (i64, i64),
    most: usize,
) -> rusqlite::Result<Option<Vec<i64>>> {
    let (table, expression) = (subject.table, stretches.expression);
    let mut next = connection.prepare_cached(&format!(
        "SELECT min({expression}) FROM {table} WHERE {expression} >= ?1"
    ))?;
    let (mut at, end) = (from / stretches.length_ms, to / stretches.length_ms);
    let mut found = Vec::new();
    while let Some(stretch) = next.query_row([at], |row| row.get::<_, Option<i64>>(0))? {
        if stretch > end {
            break;
        }
        if found.len() >= most {
            return Ok(None);
        }
        found.push(stretch);
        at = stretch + 1;
    }
    Ok(Some(found))
}
