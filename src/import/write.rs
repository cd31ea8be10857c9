//! The good rows of a table to delegates, through the same use cases as the API's.

use super::{
    check::{self, BadRow, BadRows, Problem},
    columns::Columns,
    slices::{self, Steps},
    table::{Row, Rows},
};
use crate::{
    auth::Context,
    delegates,
    error::{Error, Kind, Result},
    interactions::{
        draft::Draft,
        record::{self, Outcome},
    },
    records,
    store::{Store, Tx},
    types::{DelegateId, DelegateSelector, DeviceId, DeviceSelector},
};

/// An import on its way.
pub struct Import {
    /// The rows that are left.
    pub rows: Rows,
    /// What their columns are.
    pub columns: Columns,
    /// The rows to leave out.
    pub leave_out: BadRows,
    /// Who imports.
    pub ctx: Context,
    /// The device that every delegate is joined with.
    pub join: Option<DeviceId>,
    /// How many delegates were made.
    pub written: usize,
    /// Rows that were good and are no more: their code was taken between check and write.
    pub late: BadRows,
}

/// Writes every row that is not left out; `told` sees the import grow.
///
/// # Errors
/// When the store cannot take it; what `told` saw is written.
pub fn write(store: &Store, import: Import, told: impl FnMut(&Import)) -> Result<Import> {
    slices::write(store, import, told)
}

impl Steps for Import {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        let Some(row) = self.rows.next().transpose()? else {
            return Ok(false);
        };
        if self.leave_out.contains(row.line) {
            return Ok(true);
        }
        // Without a savepoint for the row, which would cost more than the row: what fails for a
        // reason of its own fails before anything of it is written.
        match self.row(tx, &row) {
            Ok(()) => self.written += 1,
            Err(cause) if matches!(cause.kind, Kind::CodeTaken | Kind::Invalid) => {
                let problem = check::taken(tx, &self.columns, &row)?.unwrap_or(Problem {
                    column: None,
                    reason: cause.message,
                });
                let line = row.line;
                self.late.push(BadRow { line, problem });
            }
            Err(cause) => return Err(cause),
        }
        Ok(true)
    }
}

impl Import {
    fn row(&self, tx: &Tx<'_>, row: &Row) -> Result<()> {
        let body = self.columns.body(row);
        let id = records::write::create(tx, &self.ctx, &delegates::RESOURCE, body)?;
        match self.join {
            Some(device) => join(tx, &self.ctx, DelegateId(id), device),
            None => Ok(()),
        }
    }
}

fn join(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId, device: DeviceId) -> Result<()> {
    let draft = Draft {
        kind: "join".into(),
        delegates: [Some(DelegateSelector::Id(delegate)), None, None],
        devices: [Some(DeviceSelector::Id(device)), None, None],
        ..Draft::default()
    };
    match record::record(tx, ctx, &draft)? {
        Outcome::Refused(cause) => Err(Error::new(Kind::Defect, cause.message)),
        Outcome::Created(_) | Outcome::Replayed(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        import::Table,
        store::{in_transaction, migrate},
        types::Timestamp,
    };
    use rusqlite::Connection;
    use std::sync::Arc;

    #[test]
    fn a_code_that_was_taken_since_the_check_makes_a_bad_row() {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        let table = Table::parse(b"code,slug\nA,a\nB,b\nC,c\n".to_vec()).unwrap();
        let columns = Columns::new(table.header(), &[]).unwrap();
        let ctx = Context::of_command("import", Arc::default());
        let mut import = Import {
            rows: table.rows(),
            columns,
            leave_out: BadRows::default(),
            ctx: ctx.clone(),
            join: None,
            written: 0,
            late: BadRows::default(),
        };
        in_transaction(&connection, Timestamp(0), |tx| {
            let other = serde_json::Map::from_iter([("slug".to_owned(), "b".into())]);
            records::write::create(tx, &ctx, &delegates::RESOURCE, other)?;
            while import.step(tx)? {}
            Ok(())
        })
        .unwrap();
        assert_eq!(import.written, 2);
        assert_eq!(
            import.late.told()[0].to_string(),
            "line 3, column \"slug\": slug: already used by the delegate with id 1"
        );
    }
}
