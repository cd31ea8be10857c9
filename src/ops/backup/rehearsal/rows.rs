//! The rows of the file as a snapshot beside it has them. Rows that are the same are not touched;
//! what depends on rows, such as the search index, follows by the triggers of the schema.

use super::Going;
use crate::{
    core::Context,
    db::{ATTACHED, Tx},
    domain::{delegates::erased, interactions::recount},
    types::error::Result,
};
use rusqlite::Connection;

/// The tables whose rows become those of the snapshot, parents before children.
#[rustfmt::skip]
pub const RESTORED: &[&str] = &[
    "settings", "statements", "reports", "sections", "logo", "regions", "region_versions",
    "app_config_draft", "delegates", "devices", "shared_values", "interactions", "conflicts",
    "refusals", "occupancy", "batches", "batch_rows", "message_templates", "automations",
    "messages", "blocked_codes", "gate_notes", "transactions", "transaction_bodies",
    "transaction_payments", "transaction_items", "transaction_delegates", "inconsistencies", "unknown_tags",
];

/// The tables that stay as they are. A new table must stand in one of the two; a test checks it. How messages
/// leave is of the place, not of what was tried; what was sent is not sent a second time; counters and the
/// search index follow from the rest.
#[rustfmt::skip]
pub const KEPT: &[&str] = &[
    "closed_by_upgrade", "erased_tickets", "app_config", "nonces", "erased_nonces", "keys",
    "erasures", "one_time_passwords", "idempotency_keys", "idempotency_parts", "audit", "changes", "backups",
    "clients", "users", "tokens", "second_factors", "console_sessions", "tls_certificate",
    "device_requests", "device_states", "device_pings", "webhooks", "outbox",
    "outbox_destinations", "webhook_attempts", "gateways", "delegates_search", "delegates_search_later",
    "counters",
];

/// People who were deleted for good since the snapshot and of whom nothing else is left: they are in it
/// and not here, and no import that was taken back since had made them. Who stands among the erasures
/// comes back with the rest, and is erased anew before anybody sees it: so nothing of them is missed.
const ERASED: &str = "CREATE TEMP TABLE erased AS
    SELECT id FROM beside.delegates AS s
    WHERE NOT EXISTS (SELECT 1 FROM main.delegates AS d WHERE d.id = s.id)
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

/// What of a table's rows stays whatever the snapshot says.
fn kept(table: &str) -> &'static str {
    match table {
        "settings" => "name = 'backups'",
        "devices" => "id IN (SELECT id FROM temp.connected)",
        _ => "FALSE",
    }
}

/// What of the snapshot's rows does not come back: what is of people who were erased.
fn passed_over(table: &str) -> &'static str {
    match table {
        "delegates" => "s.id IN (SELECT id FROM temp.erased)",
        "interactions" => {
            "coalesce(s.first_delegate_id IN (SELECT id FROM temp.erased), FALSE)
             OR coalesce(s.second_delegate_id IN (SELECT id FROM temp.erased), FALSE)
             OR coalesce(s.third_delegate_id IN (SELECT id FROM temp.erased), FALSE)"
        }
        "conflicts" => "s.interaction_id NOT IN (SELECT id FROM main.interactions)",
        // One that waited then and is gone since was decided about since.
        "messages" => {
            "coalesce(s.delegate_id IN (SELECT id FROM temp.erased), FALSE)
             OR s.state IN ('waiting', 'sending')"
        }
        // What a purchase said of them is blanked here, and stands in the snapshot as it was.
        "transactions" => "s.id IN (SELECT id FROM main.transactions WHERE erased_at IS NOT NULL)",
        "transaction_bodies" | "transaction_payments" | "transaction_items" => {
            "s.transaction_id IN (SELECT id FROM main.transactions WHERE erased_at IS NOT NULL)"
        }
        "inconsistencies" => {
            "s.body_id IN (SELECT b.id FROM main.transaction_bodies AS b
                 JOIN main.transactions AS t ON t.id = b.transaction_id WHERE t.erased_at IS NOT NULL)"
        }
        // What is missing was of somebody who is gone, if only by a code that was theirs. One that waited for its
        // code may also have been recorded since: then its nonce is still there.
        "refusals" => {
            "NOT (s.admitted AND EXISTS (SELECT 1 FROM main.nonces AS n
                 WHERE n.client_id = s.client_id AND n.nonce = s.nonce))"
        }
        "blocked_codes"
        | "gate_notes"
        | "transaction_delegates" => {
            "coalesce(s.delegate_id IN (SELECT id FROM temp.erased), FALSE)"
        }
        "batch_rows" => {
            "s.record_id IN (SELECT id FROM temp.erased)
             AND s.batch_id IN (SELECT id FROM beside.batches WHERE kind = 'delegates')"
        }
        "settings" => "s.name = 'backups'",
        _ => "FALSE",
    }
}

/// Whether rows of a table ever change; those of others are written and deleted only. What became of a
/// message does not go back: one that was sent since must not wait again.
fn changes(table: &str) -> bool {
    !matches!(
        table,
        "interactions" | "conflicts" | "refusals" | "shared_values" | "messages"
    )
}

/// A table, its columns, and those of its key.
struct Table<'a> {
    name: &'a str,
    columns: Vec<String>,
    key: Vec<String>,
}

impl<'a> Table<'a> {
    fn of(connection: &Connection, name: &'a str) -> Result<Self> {
        let sql = "SELECT name, pk > 0 FROM pragma_table_info(?1, 'main') ORDER BY cid";
        let mut statement = connection.prepare(sql)?;
        let columns = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let columns = columns.collect::<rusqlite::Result<Vec<(String, bool)>>>()?;
        let key = columns.iter().filter(|(_, is_key)| *is_key);
        Ok(Self {
            name,
            key: key.map(|(column, _)| column.clone()).collect(),
            columns: columns.into_iter().map(|(column, _)| column).collect(),
        })
    }

    /// Runs a statement; capitals in it stand for parts that depend on the table. `d` is our row, `s` the
    /// snapshot's.
    fn run(&self, tx: &Tx<'_>, sql: &str) -> Result<()> {
        // What refers to somebody who was erased does not come back.
        let of_snapshot = |column: &String| match (self.name, column.as_str()) {
            ("delegates", "parent_id" | "previous_id" | "owner_id") => {
                format!("iif(s.{column} IN (SELECT id FROM temp.erased), NULL, s.{column})")
            }
            _ => format!("s.{column}"),
        };
        let list = |of: &dyn Fn(&String) -> String| -> String {
            self.columns.iter().map(of).collect::<Vec<_>>().join(", ")
        };
        let same = self.key.iter().map(|key| format!("d.{key} = s.{key}"));
        let sql = sql
            .replace("OURS", &format!("main.{}", self.name))
            .replace("SNAPSHOT", &format!("{ATTACHED}.{}", self.name))
            .replace("COLUMNS", &self.columns.join(", "))
            .replace("THEIR_VALUES", &list(&of_snapshot))
            .replace("OUR_VALUES", &list(&|column| format!("d.{column}")))
            .replace("SAME_KEY", &same.collect::<Vec<_>>().join(" AND "))
            .replace("KEPT", kept(self.name))
            .replace("PASSED_OVER", passed_over(self.name));
        Ok(tx.execute_batch(&sql)?)
    }
}

/// Codes are unique among the records that are not deleted, and two may have changed theirs for each
/// other's: so everything that changes or goes is deleted, softly, before anything comes.
const FREE_CODES: &str = "UPDATE OURS AS d SET deleted_at = 0
    WHERE d.deleted_at IS NULL AND NOT (KEPT) AND NOT EXISTS
        (SELECT 1 FROM SNAPSHOT AS s WHERE s.id = d.id AND (THEIR_VALUES) IS (OUR_VALUES))";

const INSERT_MISSING: &str = "INSERT INTO OURS (COLUMNS) SELECT THEIR_VALUES FROM SNAPSHOT AS s
    WHERE NOT (PASSED_OVER) AND NOT EXISTS (SELECT 1 FROM OURS AS d WHERE SAME_KEY)";

const UPDATE_CHANGED: &str = "UPDATE OURS AS d
    SET (COLUMNS) = (SELECT THEIR_VALUES FROM SNAPSHOT AS s WHERE SAME_KEY)
    WHERE EXISTS (SELECT 1 FROM SNAPSHOT AS s
        WHERE SAME_KEY AND NOT (PASSED_OVER) AND (THEIR_VALUES) IS NOT (OUR_VALUES))";

const DELETE_SURPLUS: &str = "DELETE FROM OURS AS d
    WHERE NOT (KEPT) AND NOT EXISTS (SELECT 1 FROM SNAPSHOT AS s WHERE SAME_KEY)";

/// What goes, by ids; `now` is the name of our file on this connection.
pub(super) fn going(connection: &Connection, now: &str) -> Result<Going> {
    let count = |table: &str, but: &str| -> Result<i64> {
        let sql = format!(
            "SELECT count(*) FROM {now}.{table} AS d WHERE NOT EXISTS
             (SELECT 1 FROM {ATTACHED}.{table} AS s WHERE s.id = d.id) {but}"
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

/// Puts every row back; what went.
pub(super) fn put_back(tx: &Tx<'_>, ctx: &Context) -> Result<Going> {
    let gone = going(tx, "main")?;
    tx.execute_batch(&format!(
        "DROP TABLE IF EXISTS temp.erased; DROP TABLE IF EXISTS temp.connected;
         {ERASED}; CREATE TEMP TABLE connected AS {CONNECTED};"
    ))?;
    for table in ["delegates", "devices"] {
        Table::of(tx, table)?.run(tx, FREE_CODES)?;
    }
    for table in RESTORED {
        let found = Table::of(tx, table)?;
        found.run(tx, INSERT_MISSING)?;
        if changes(table) {
            found.run(tx, UPDATE_CHANGED)?;
        }
    }
    let_go(tx)?;
    for table in RESTORED.iter().rev() {
        Table::of(tx, table)?.run(tx, DELETE_SURPLUS)?;
    }
    erased::again(tx, ctx)?;
    tx.execute(
        "UPDATE main.nonces SET interaction_id = -r.id FROM main.refusals AS r
         WHERE r.admitted = 1 AND nonces.client_id = r.client_id AND nonces.nonce = r.nonce",
        [],
    )?;
    for (device, off) in recount::drift(tx)? {
        recount::correct(tx, device, off)?;
    }
    publish_again(tx, ctx)?;
    tx.execute_batch("DROP TABLE temp.erased; DROP TABLE temp.connected;")?;
    Ok(gone)
}

/// What stays lets go of what will not be there.
fn let_go(tx: &Tx<'_>) -> Result<()> {
    const GOING_DEVICES: &str =
        "NOT IN (SELECT id FROM beside.devices UNION ALL SELECT id FROM temp.connected)";
    tx.execute_batch(&format!(
        "UPDATE main.users SET delegate_id = NULL WHERE delegate_id NOT IN
             (SELECT id FROM beside.delegates WHERE id NOT IN (SELECT id FROM temp.erased));
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
