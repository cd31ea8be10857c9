//! The rows of the file as a snapshot beside it has them. Rows that are the same are not touched;
//! what depends on rows, such as the search index, follows by the triggers of the schema.
//!
//! Comparing all rows takes nearly all of the time, and few differ. So that is done beside the writer, while
//! temporary triggers note which rows are written: put back are the rows that differed and those.

use super::Going;
use crate::{
    core::{Context, idempotency},
    db::{
        ATTACHED, Tx, counters,
        tables::{self, Content, Rehearsal, Table},
    },
    domain::erasure::noted,
    types::error::{Error, Result},
};
use rusqlite::{Connection, params_from_iter, types::Value};

/// People who were deleted for good since the snapshot and of whom nothing else is left: they are in it
/// and not here, and no import that was taken back since had made them. Who stands among the erasures
/// comes back with the rest, and is erased anew before anybody sees it: so nothing of them is missed.
const ERASED: &str = "CREATE TEMP TABLE erased AS
    SELECT id FROM beside.delegates AS s
    WHERE s.id IN (SELECT id FROM temp.differing_delegates)
    AND NOT EXISTS (SELECT 1 FROM main.delegates AS d WHERE d.id = s.id)
    AND NOT EXISTS (SELECT 1 FROM main.erasures AS e WHERE e.record_type = 'delegate' AND e.record_id = s.id)
    AND NOT EXISTS (
        SELECT 1 FROM beside.batch_rows AS r JOIN main.batches AS b ON b.id = r.batch_id
        WHERE r.record_id = s.id AND r.before IS NULL AND b.kind = 'delegates' AND b.undone_at IS NOT NULL)";

/// Devices of apps that were connected since and may still come in, unless one of the snapshot needs
/// their code.
const CONNECTED: &str = "SELECT d.id FROM main.devices AS d
    WHERE NOT EXISTS (SELECT 1 FROM beside.devices AS s WHERE s.id = d.id)
    AND EXISTS (SELECT 1 FROM main.clients AS c WHERE c.device_id = d.id AND c.revoked_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM beside.devices AS s WHERE s.deleted_at IS NULL AND
        (s.code = d.code OR s.public_id = d.public_id OR s.external_id = d.external_id
         OR s.rfid = d.rfid OR s.slug = d.slug))";

/// The rows of the snapshot, `s`, that do not come back: those of people who were erased, and what else the
/// catalogue says.
fn passed_over(table: &Table) -> String {
    let of_erased = table.columns().filter_map(|(content, column)| {
        let rows = match content {
            Content::Record | Content::Attendee => "TRUE",
            Content::AttendeeWhere(rows) => rows,
            _ => return None,
        };
        let found = format!("s.{column} IN (SELECT id FROM temp.erased)");
        Some(format!("coalesce({found}, FALSE) AND {rows}"))
    });
    let rows = [table.but, table.without].map(str::to_owned);
    let rows: Vec<String> = rows.into_iter().chain(of_erased).collect();
    format!("({})", rows.join(") OR ("))
}

/// A table, its columns that are stored, those of its key, and those of its codes.
struct StoredTable {
    table: &'static Table,
    columns: Vec<String>,
    key: Vec<String>,
    /// Those that no two rows share.
    codes: Vec<String>,
}

impl StoredTable {
    fn of(connection: &Connection, file: &str, table: &'static Table) -> Result<Self> {
        let sql = "SELECT name, pk > 0 FROM pragma_table_info(?1, ?2) ORDER BY cid";
        let mut statement = connection.prepare(sql)?;
        let columns =
            statement.query_map((table.name, file), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let columns = columns.collect::<rusqlite::Result<Vec<(String, bool)>>>()?;
        let key = columns.iter().filter(|(_, is_key)| *is_key);
        let sql = "SELECT DISTINCT c.name FROM pragma_index_list(?1, ?2) AS i, pragma_index_info(i.name, ?2) AS c
            WHERE i.[unique]";
        let mut statement = connection.prepare(sql)?;
        let codes = statement.query_map((table.name, file), |row| row.get(0))?;
        Ok(Self {
            table,
            codes: codes.collect::<rusqlite::Result<_>>()?,
            key: key.map(|(column, _)| column.clone()).collect(),
            columns: columns.into_iter().map(|(column, _)| column).collect(),
        })
    }

    /// Runs a statement ([`StoredTable::statement`]).
    fn run(&self, tx: &Tx<'_>, sql: &str) -> Result<()> {
        Ok(tx.execute_batch(&self.statement(sql))?)
    }

    /// Sets what differs in rows that both files have. Other columns are left alone, the key too: SQLite would
    /// write their indexes anew, and look for all that refers to the row.
    fn update(mut self, tx: &Tx<'_>) -> Result<()> {
        let mut differs = tx.query_row(&self.statement(COLUMNS_THAT_DIFFER), [], |row| {
            let columns = 0..self.columns.len();
            columns
                .map(|at| row.get(at))
                .collect::<rusqlite::Result<Vec<bool>>>()
        })?;
        self.columns.retain(|_| differs.remove(0));
        if self.columns.is_empty() {
            return Ok(());
        }
        self.run(tx, UPDATE_CHANGED)
    }

    /// A statement; capitals in it stand for parts that depend on the table. `d` is our row, `s` the snapshot's.
    fn statement(&self, sql: &str) -> String {
        let name = self.table.name;
        // What refers to somebody who was erased does not come back.
        let of_snapshot = |column: &String| {
            let mut columns = self.table.columns();
            if columns.any(|of_table| of_table == (Content::Reference, column)) {
                format!("iif(s.{column} IN (SELECT id FROM temp.erased), NULL, s.{column})")
            } else {
                format!("s.{column}")
            }
        };
        let ours = |column: &String| format!("d.{column}");
        let differs_anywhere = |column: &String| {
            let theirs = of_snapshot(column);
            format!("coalesce(max(d.{column} IS NOT {theirs}), FALSE)")
        };
        let list = |columns: &[String], of: &dyn Fn(&String) -> String| {
            let columns = columns.iter().map(of);
            columns.collect::<Vec<_>>().join(", ")
        };
        let differs = |of| {
            let (keys, all) = (self.keys(of), self.keys(""));
            format!("({keys}) IN (SELECT {all} FROM temp.differing_{name})")
        };
        sql.replace("OUR_ROW_DIFFERS", &differs("d."))
            .replace("THEIR_ROW_DIFFERS", &differs("s."))
            .replace("OURS", &format!("main.{name}"))
            .replace("SNAPSHOT", &format!("{ATTACHED}.{name}"))
            .replace("COLUMNS", &self.columns.join(", "))
            .replace("THEIR_VALUES", &list(&self.columns, &of_snapshot))
            .replace("OUR_VALUES", &list(&self.columns, &ours))
            .replace("THEIR_CODES", &list(&self.codes, &of_snapshot))
            .replace("OUR_CODES", &list(&self.codes, &ours))
            .replace("DIFFERENCES", &list(&self.columns, &differs_anywhere))
            .replace("SAME_KEY", &self.same_key())
            .replace("KEPT", self.table.but)
            .replace("PASSED_OVER", &passed_over(self.table))
    }

    /// The columns of the key, each with this before it.
    fn keys(&self, of: &str) -> String {
        let keys = self.key.iter().map(|key| format!("{of}{key}"));
        keys.collect::<Vec<_>>().join(", ")
    }

    fn same_key(&self) -> String {
        let same = self.key.iter().map(|key| format!("d.{key} = s.{key}"));
        same.collect::<Vec<_>>().join(" AND ")
    }
}

/// Keys of rows of one table that differ: so many as are noted at once.
pub(super) struct Differing {
    table: &'static str,
    keys: Vec<Vec<Value>>,
}

/// Rows that are noted at once, beside gates.
const NOTED_AT_ONCE: usize = 5_000;

/// Has the writing connection note which rows are written from now on; the state of the file by which writes
/// of other programs are noticed, which it does not see.
pub(super) fn watch(tx: &Tx<'_>) -> Result<i64> {
    forget(tx)?;
    for table in tables::restored() {
        let (name, table) = (table.name, StoredTable::of(tx, "main", table)?);
        let keys = table.keys("");
        tx.execute_batch(&format!(
            "CREATE TEMP TABLE differing_{name} AS SELECT {keys} FROM main.{name} LIMIT 0;
             CREATE UNIQUE INDEX temp.differing_{name}_keys ON differing_{name} ({keys})"
        ))?;
        for (event, rows) in [
            ("INSERT", &["NEW."][..]),
            ("UPDATE", &["OLD.", "NEW."]),
            ("DELETE", &["OLD."]),
        ] {
            // Not OR IGNORE: an upsert that sets it off would have its own way with conflicts.
            let noted = rows.iter().map(|row| {
                let (new, known) = (table.keys(row), table.keys(""));
                format!(
                    "INSERT INTO differing_{name} SELECT {new} WHERE NOT EXISTS
                         (SELECT 1 FROM differing_{name} WHERE ({known}) = ({new}));"
                )
            });
            tx.execute_batch(&format!(
                "CREATE TEMP TRIGGER differing_{name}_{event} AFTER {event} ON main.{name} BEGIN {} END",
                noted.collect::<String>()
            ))?;
        }
    }
    state(tx)
}

/// Ends that.
pub(super) fn forget(tx: &Tx<'_>) -> Result<()> {
    stop_noting(tx)?;
    for Table { name, .. } in tables::restored() {
        tx.execute_batch(&format!("DROP TABLE IF EXISTS temp.differing_{name}"))?;
    }
    Ok(())
}

fn stop_noting(tx: &Tx<'_>) -> Result<()> {
    for Table { name, .. } in tables::restored() {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            tx.execute_batch(&format!(
                "DROP TRIGGER IF EXISTS temp.differing_{name}_{event}"
            ))?;
        }
    }
    Ok(())
}

/// Changes whenever another program writes to the file, or the log is emptied beside the writer.
fn state(tx: &Tx<'_>) -> Result<i64> {
    Ok(tx.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// Compares all rows of the file, which is `now` on this connection, with those of the snapshot. What differs is to
/// be noted.
pub(super) fn compare(connection: &Connection, now: &str) -> Result<Vec<Differing>> {
    let mut all = Vec::new();
    for table in tables::restored() {
        let (name, table) = (table.name, StoredTable::of(connection, now, table)?);
        let columns = |of: &str| {
            let columns = table.columns.iter().map(|column| format!("{of}{column}"));
            columns.collect::<Vec<_>>().join(", ")
        };
        let sql = format!(
            "SELECT {} FROM {now}.{name} AS d LEFT JOIN {ATTACHED}.{name} AS s ON {same}
             WHERE s.{first} IS NULL OR ({}) IS NOT ({})
             UNION ALL
             SELECT {} FROM {ATTACHED}.{name} AS s
             WHERE NOT EXISTS (SELECT 1 FROM {now}.{name} AS d WHERE {same})",
            table.keys("d."),
            columns("d."),
            columns("s."),
            table.keys("s."),
            same = table.same_key(),
            first = table.key[0],
        );
        let mut statement = connection.prepare(&sql)?;
        let keys = statement.query_map([], |row| {
            (0..table.key.len()).map(|at| row.get(at)).collect()
        })?;
        let mut keys = keys.collect::<rusqlite::Result<Vec<_>>>()?;
        while !keys.is_empty() {
            let rest = keys.split_off(keys.len().min(NOTED_AT_ONCE));
            all.push(Differing { table: name, keys });
            keys = rest;
        }
    }
    Ok(all)
}

/// Notes which rows differ, beside those that were written since [`watch`].
pub(super) fn note(tx: &Tx<'_>, Differing { table, keys }: &Differing) -> Result<()> {
    let values = vec!["?"; keys.first().map_or(1, Vec::len)].join(", ");
    let sql = format!("INSERT OR IGNORE INTO temp.differing_{table} VALUES ({values})");
    let mut statement = tx.prepare(&sql)?;
    for key in keys {
        statement.execute(params_from_iter(key))?;
    }
    Ok(())
}

/// Codes are unique among the records that are not deleted, and two may have changed theirs for each
/// other's: so whoever gives up one, or goes, is deleted, softly, before anything comes.
const FREE_CODES: &str = "UPDATE OURS AS d SET deleted_at = 0
    WHERE OUR_ROW_DIFFERS AND d.deleted_at IS NULL AND NOT (KEPT) AND NOT EXISTS
        (SELECT 1 FROM SNAPSHOT AS s WHERE s.id = d.id AND s.deleted_at IS NULL AND (THEIR_CODES) IS (OUR_CODES))";

const INSERT_MISSING: &str = "INSERT INTO OURS (COLUMNS) SELECT THEIR_VALUES FROM SNAPSHOT AS s
    WHERE THEIR_ROW_DIFFERS AND NOT (PASSED_OVER) AND NOT EXISTS (SELECT 1 FROM OURS AS d WHERE SAME_KEY)";

const COLUMNS_THAT_DIFFER: &str =
    "SELECT DIFFERENCES FROM OURS AS d CROSS JOIN SNAPSHOT AS s ON SAME_KEY
    WHERE OUR_ROW_DIFFERS";

const UPDATE_CHANGED: &str = "UPDATE OURS AS d
    SET (COLUMNS) = (SELECT THEIR_VALUES FROM SNAPSHOT AS s WHERE SAME_KEY)
    WHERE OUR_ROW_DIFFERS AND EXISTS (SELECT 1 FROM SNAPSHOT AS s
        WHERE SAME_KEY AND NOT (PASSED_OVER) AND (THEIR_VALUES) IS NOT (OUR_VALUES))";

const DELETE_SURPLUS: &str = "DELETE FROM OURS AS d
    WHERE OUR_ROW_DIFFERS AND NOT (KEPT) AND NOT EXISTS (SELECT 1 FROM SNAPSHOT AS s WHERE SAME_KEY)";

/// Counts what goes, by ids; `now` is the name of our file on this connection.
pub(super) fn going(connection: &Connection, now: &str) -> Result<Going> {
    count_going(connection, now, |_| String::new())
}

fn count_going(
    connection: &Connection,
    now: &str,
    among: impl Fn(&str) -> String,
) -> Result<Going> {
    let count = |table: &str, but: &str| -> Result<i64> {
        let among = among(table);
        let sql = format!(
            "SELECT count(*) FROM {now}.{table} AS d WHERE NOT EXISTS
             (SELECT 1 FROM {ATTACHED}.{table} AS s WHERE s.id = d.id) {but} {among}"
        );
        Ok(connection.query_row(&sql, [], |row| row.get(0))?)
    };
    let connected = CONNECTED.replace("main.", &format!("{now}."));
    Ok(Going {
        interactions: count("interactions", "")?,
        delegates: count("delegates", "AND d.deleted_at IS NULL")?,
        devices: count(
            "devices",
            &format!("AND d.deleted_at IS NULL AND d.id NOT IN ({connected})"),
        )?,
    })
}

/// Puts every row back that was noted, and those written since; what went. Who is inside where is
/// to be counted anew.
pub(super) fn put_back(tx: &Tx<'_>, ctx: &Context, watched: i64) -> Result<Going> {
    if state(tx)? != watched {
        return Err(Error::unavailable(
            "another program wrote to the file meanwhile, or its log was emptied after somebody was erased; nothing was changed, try again",
        ));
    }
    stop_noting(tx)?;
    let gone = count_going(tx, "main", |table| {
        format!("AND d.id IN (SELECT id FROM temp.differing_{table})")
    })?;
    tx.execute_batch(&format!(
        "DROP TABLE IF EXISTS temp.erased; DROP TABLE IF EXISTS temp.connected;
         {ERASED}; CREATE TEMP TABLE connected AS {CONNECTED};"
    ))?;
    for table in ["delegates", "devices"]
        .into_iter()
        .filter_map(tables::find)
    {
        StoredTable::of(tx, "main", table)?.run(tx, FREE_CODES)?;
    }
    // Their rows go with them, which takes less than to find each.
    if let Some(batches) = tables::find("batches") {
        StoredTable::of(tx, "main", batches)?.run(tx, DELETE_SURPLUS)?;
    }
    for table in tables::restored() {
        let found = StoredTable::of(tx, "main", table)?;
        found.run(tx, INSERT_MISSING)?;
        if table.rehearsal == Rehearsal::SetBack {
            found.update(tx)?;
        }
    }
    let_go(tx)?;
    for table in tables::restored().rev() {
        StoredTable::of(tx, "main", table)?.run(tx, DELETE_SURPLUS)?;
    }
    noted::again(tx, ctx)?;
    tx.execute(
        "UPDATE main.nonces SET interaction_id = -r.id FROM main.refusals AS r
         WHERE r.admitted = 1 AND nonces.client_id = r.client_id AND nonces.nonce = r.nonce",
        [],
    )?;
    idempotency::forget_rehearsed(tx)?;
    counters::have_people_counted(tx)?;
    publish_again(tx, ctx)?;
    forget(tx)?;
    tx.execute_batch("DROP TABLE temp.erased; DROP TABLE temp.connected;")?;
    Ok(gone)
}

/// Has what stays let go of what will not be there.
fn let_go(tx: &Tx<'_>) -> Result<()> {
    const GOING_DEVICES: &str =
        "NOT IN (SELECT id FROM beside.devices UNION ALL SELECT id FROM temp.connected)";
    tx.execute_batch(&format!(
        "UPDATE main.users SET delegate_id = NULL WHERE delegate_id IS NOT NULL AND NOT EXISTS
             (SELECT 1 FROM beside.delegates AS s WHERE s.id = delegate_id
                 AND s.id NOT IN (SELECT id FROM temp.erased));
         UPDATE main.clients SET device_id = NULL WHERE device_id {GOING_DEVICES};
         UPDATE main.device_requests SET device_id = NULL WHERE device_id {GOING_DEVICES};
         UPDATE main.devices SET parent_id = NULL
             WHERE id IN (SELECT id FROM temp.connected) AND parent_id {GOING_DEVICES};"
    ))?;
    Ok(())
}

/// Has apps take the snapshot's configuration, where it is another, as a version of its own.
fn publish_again(tx: &Tx<'_>, ctx: &Context) -> Result<()> {
    tx.execute(
        "INSERT INTO main.app_config (version, document, actor, published_at)
         SELECT (SELECT max(version) + 1 FROM main.app_config), s.document, ?1, ?2
         FROM beside.app_config AS s
         WHERE s.version = (SELECT max(version) FROM beside.app_config)
         AND s.document IS NOT (SELECT document FROM main.app_config ORDER BY version DESC LIMIT 1)",
        rusqlite::params![ctx.actor, tx.now()],
    )?;
    Ok(())
}
