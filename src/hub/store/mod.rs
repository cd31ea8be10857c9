//! The store of a hub: tables in its own file, or in PostgreSQL. Both have the same tables and columns, so that a use
//! case is written once, as a function over [`Sql`].
//!
//! SQL is of the kind that both understand, with values as `?1`; flags are `NOT deleted`, never `deleted = 0`.

mod postgres;
mod sqlite;

pub use postgres::Postgres;
pub use rusqlite::types::Value;

use crate::{identity::App, types::error::Result};
use std::sync::Arc;

/// The version of the tables in PostgreSQL.
pub const VERSION: i64 = 1;
/// Records that are stored at a time: on SQLite somebody may wait for the writer meanwhile.
pub const SLICE: usize = 1_000;

/// A record of a venue, with the columns that are searched and counted.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub record_type: String,
    pub id: i64,
    pub sequence: i64,
    pub is_deleted: bool,
    pub kind: String,
    pub name: Option<String>,
    pub code: Option<String>,
    pub email: Option<String>,
    pub who: Option<i64>,
    pub place: Option<i64>,
    pub subtype: Option<String>,
    pub at: Option<i64>,
    pub amount: Option<i64>,
    pub data: Option<String>,
}

/// The columns of a record, in the order in which both stores write them.
const COLUMNS: &str = "venue, generation, type, id, sequence, deleted, kind, name, code, email, who, place, subtype, at, amount, data";

/// What happens to a record that is there.
fn on_conflict() -> String {
    let written = COLUMNS.split(", ").skip(4);
    // Of what was deleted it stays known what it was: by that it is told from a later record of the same id.
    let set = written.map(|name| match name {
        "who" | "place" | "subtype" | "at" => {
            format!("{name} = CASE WHEN excluded.deleted THEN hub_records.{name} ELSE excluded.{name} END")
        }
        _ => format!("{name} = excluded.{name}"),
    });
    let set: Vec<_> = set.collect();
    format!(
        "ON CONFLICT (venue, generation, type, id) DO UPDATE SET {}",
        set.join(", ")
    )
}

/// A transaction of either store.
pub trait Sql {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>>;

    /// Returns how many rows were written.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64>;

    /// Stores records in place of those of the same type and id. None may be there twice.
    fn put(&mut self, venue: i64, generation: i64, records: &[Record]) -> Result<()>;

    /// Nobody else writes of this venue, at any hub, until the transaction ends.
    fn lock(&mut self, venue: i64) -> Result<()>;

    /// A condition: a column has a text of [`fold`](crate::types::fold::fold) in it, whatever its case and accents.
    fn holds(&self, column: &str, folded: &str) -> String;

    /// As [`Sql::query`], over the documented views.
    fn report(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>>;

    fn query_one(&mut self, sql: &str, values: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(sql, values)?.into_iter().next())
    }
}

/// A row of an answer.
#[derive(Debug, Clone)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// A number; 0 where there is none.
    pub fn number(&self, at: usize) -> i64 {
        self.maybe_number(at).unwrap_or_default()
    }

    pub fn maybe_number(&self, at: usize) -> Option<i64> {
        match self.0.get(at) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn is(&self, at: usize) -> bool {
        self.number(at) != 0
    }

    /// A text; empty where there is none.
    pub fn text(&self, at: usize) -> String {
        self.maybe_text(at).unwrap_or_default()
    }

    pub fn maybe_text(&self, at: usize) -> Option<String> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

/// A text as a value.
pub fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Where a hub keeps what venues pushed.
#[derive(Clone)]
pub enum Store {
    Sqlite(App),
    Postgres(Arc<Postgres>),
}

impl Store {
    /// Runs `work` in one transaction; after an error nothing of it is stored.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(app) => {
                app.store
                    .write_bulk(move |tx| work(&mut sqlite::File(tx)))
                    .await
            }
            Self::Postgres(postgres) => postgres.run(true, work).await,
        }
    }

    /// Reads one state of the store.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(app) => {
                app.store
                    .read(move |file| work(&mut sqlite::File(file)))
                    .await
            }
            Self::Postgres(postgres) => postgres.run(false, work).await,
        }
    }
}
