//! The hub's own file as its store.

use super::{COLUMNS, Record, Row, Sql, Value, on_conflict};
use crate::{db::HUB_VIEWS, types::error::Result};
use rusqlite::{Connection, params, params_from_iter};
use std::sync::LazyLock;

/// The views as common tables: the file has none, as everybody may name a report's own so.
static VIEWS: LazyLock<String> = LazyLock::new(|| {
    let views = HUB_VIEWS.replace("file.", "");
    let views = views.split(';').filter_map(|view| {
        let (name, body) = view
            .trim()
            .strip_prefix("CREATE VIEW ")?
            .split_once(" AS\n")?;
        Some(format!("{name} AS ({body})"))
    });
    format!("WITH {}", views.collect::<Vec<_>>().join(", "))
});

static PUT: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<_> = (1..=COLUMNS.split(", ").count())
        .map(|at| format!("?{at}"))
        .collect();
    format!(
        "INSERT INTO hub_records ({COLUMNS}) VALUES ({}) {}",
        places.join(", "),
        on_conflict()
    )
});

/// A transaction of the file.
pub struct File<'a>(pub &'a Connection);

impl Sql for File<'_> {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let mut statement = self.0.prepare_cached(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map(params_from_iter(values), |row| {
            let cells = (0..columns).map(|at| row.get(at));
            cells.collect::<rusqlite::Result<_>>().map(Row)
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn holds(&self, column: &str, folded: &str) -> String {
        format!("instr(text_folded({column}), {folded}) > 0")
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64> {
        let mut statement = self.0.prepare_cached(sql)?;
        Ok(statement.execute(params_from_iter(values))? as u64)
    }

    fn put(&mut self, venue: i64, generation: i64, records: &[Record]) -> Result<()> {
        let mut statement = self.0.prepare_cached(&PUT)?;
        for one in records {
            statement.execute(params![
                venue,
                generation,
                one.record_type,
                one.id,
                one.sequence,
                one.is_deleted,
                one.kind,
                one.name,
                one.code,
                one.email,
                one.who,
                one.place,
                one.subtype,
                one.at,
                one.amount,
                one.data,
            ])?;
        }
        Ok(())
    }

    fn report(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        self.query(&format!("{} {sql}", *VIEWS), values)
    }

    /// There is one writer.
    fn lock(&mut self, _: i64) -> Result<()> {
        Ok(())
    }
}
