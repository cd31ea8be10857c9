//! Makes a fresh file with `schema.sql`, and brings an older one to the current schema by the steps that it
//! lacks. Steps are never changed once released: they are how old files remember their past.

use super::{APPLICATION_ID, migrate_sections, open, search_index};
use crate::types::{
    error::{Error, Kind, Result},
    os,
};
use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};
use std::path::Path;

const STEPS: &[M<'static>] = &[
    M::up(include_str!("migrations/0001_core.sql")),
    M::up(include_str!("migrations/0002_search.sql")),
    M::up(include_str!("migrations/0003_tls.sql")),
    M::up(include_str!("migrations/0004_console.sql")),
    M::up(include_str!("migrations/0005_transactions.sql")),
    M::up(include_str!("migrations/0006_content.sql")),
    M::up(concat!(
        include_str!("migrations/0007_reports.sql"),
        include_str!("migrations/reports.sql")
    )),
    M::up(include_str!("migrations/0008_messages.sql")),
    M::up(include_str!("migrations/0009_one_time.sql")),
    M::up(include_str!("migrations/0010_sales.sql")),
    M::up(include_str!("migrations/0011_webhooks.sql")),
    M::up(include_str!("migrations/0012_follow_up.sql")),
    M::up(include_str!("migrations/0013_purchases.sql")),
    M::up(include_str!("migrations/0014_interactions.sql")),
    M::up(include_str!("migrations/0015_lists.sql")),
    M::up(include_str!("migrations/0016_presence.sql")),
    M::up(include_str!("migrations/0017_totals.sql")),
    M::up(include_str!("migrations/0018_import_changes.sql")),
    M::up(include_str!("migrations/0019_order.sql")),
    M::up(include_str!("migrations/0020_pages.sql")),
    M::up(include_str!("migrations/0021_plainer_tables.sql")),
    M::up(include_str!("migrations/0022_change_feed.sql")),
    M::up(include_str!("migrations/0023_outbox.sql")),
    M::up(include_str!("migrations/0024_local_ca.sql")),
    M::up(concat!(
        include_str!("migrations/0025_readers.sql"),
        include_str!("migrations/reports_readers.sql")
    )),
    M::up(concat!(
        include_str!("migrations/0026_tags.sql"),
        // Not where somebody changed them.
        "DELETE FROM reports WHERE dashboard = 'event' AND id IN ('time-spent', 'heat')
             AND number NOT IN (SELECT record_id FROM audit WHERE record_type = 'report' AND record_id IS NOT NULL);\n",
        include_str!("migrations/reports_readers.sql")
    )),
    M::up(include_str!("migrations/0027_late_codes.sql")),
    M::up(concat!(
        include_str!("migrations/0028_reports.sql"),
        include_str!("migrations/reports_readers.sql")
    )),
    M::up(include_str!("migrations/0029_doors.sql")),
    M::up(include_str!("migrations/0030_everybody_out.sql")),
    M::up(include_str!("migrations/0031_folded_search.sql")),
    M::up(include_str!("migrations/0032_desk.sql")),
    M::up(include_str!("migrations/0033_wall.sql")),
    M::up(include_str!("migrations/0034_activity.sql")),
    M::up(include_str!("migrations/0035_evacuated.sql")),
    M::up(include_str!("migrations/0036_checked_sections.sql")),
    M::up(include_str!("migrations/0037_scanned.sql")),
    M::up(include_str!("migrations/0038_badges.sql")),
    M::up(include_str!("migrations/0039_webhook_expand.sql")),
    M::up(include_str!("migrations/0040_printing.sql")),
    M::up(include_str!("migrations/0041_webhook_definition.sql")),
    M::up(include_str!("migrations/0042_signed_tickets.sql")),
    M::up(include_str!("migrations/0043_standby.sql")),
    M::up(include_str!("migrations/0044_hub.sql")),
    M::up(include_str!("migrations/0045_head_office.sql")),
    M::up(concat!(
        include_str!("migrations/0046_built_reports.sql"),
        include_str!("migrations/reports_places.sql")
    )),
];

/// The content of a fresh file: a message that is sent by itself, and reports.
const CONTENT: &str = concat!(
    include_str!("migrations/messages.sql"),
    include_str!("migrations/reports.sql"),
    include_str!("migrations/reports_readers.sql"),
    include_str!("migrations/reports_places.sql")
);

/// The schema version this program writes (SQLite's `user_version`).
#[expect(clippy::cast_possible_wrap, reason = "a handful of steps")]
pub const CURRENT: i64 = STEPS.len() as i64;

/// The newest schema version that a released program writes. Steps up to it never change, and
/// `tests/fixtures` has a file of each. Later steps may still change.
pub const RELEASED: usize = 26;
const _: () = assert!(RELEASED <= STEPS.len());

/// Makes an empty file one of ours, with the whole current schema.
pub fn create(connection: &Connection) -> Result<()> {
    // A check-in touches a few rows on as many pages; half a page is half the log. Must come first.
    connection.pragma_update(None, "page_size", 2048)?;
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {} {CONTENT} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {CURRENT}; COMMIT;",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schema.sql"))
    ))?;
    Ok(())
}

/// Runs the steps that an older file lacks, writes out the references in schemas of sections, and indexes the attendees
/// that were changed without the index.
pub fn upgrade(connection: &mut Connection) -> Result<()> {
    let steps = Migrations::from_slice(STEPS);
    let done: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for (version, _) in (1..)
        .zip(STEPS)
        .skip(usize::try_from(done).unwrap_or_default())
    {
        tracing::info!("migrating the file to schema version {version} of {CURRENT}");
        steps.to_version(connection, version).map_err(|cause| {
            let cause = match cause {
                rusqlite_migration::Error::RusqliteError { err, .. } => Error::from(err),
                cause => Error::defect(cause),
            };
            Error::new(
                cause.kind,
                format!("upgrading the file to schema version {version}: {cause}"),
            )
        })?;
    }
    // Before these end, too, when a step that was done left rows for them.
    migrate_sections::inline_references(connection)?;
    match search_index::settle_all(connection) {
        // It is made anew before a server begins.
        Err(cause) if cause.kind == Kind::Damaged => {
            tracing::warn!("the index for searching is damaged: {cause}");
            Ok(())
        }
        settled => settled,
    }
}

/// Brings a file to a version that is not the newest.
#[cfg(test)]
pub(super) fn up_to(connection: &mut Connection, version: usize) {
    let steps = Migrations::from_slice(&STEPS[..version]);
    if let Err(cause) = steps.to_latest(connection) {
        unreachable!("version {version}: {cause}");
    }
}

/// Everything of a database that a schema decides (kind, name, statement), in a comparable form:
/// comments and white space of each statement folded.
pub fn schema_of(connection: &Connection) -> Result<Vec<(String, String, String)>> {
    let mut statement = connection
        .prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")?;
    let rows = statement.query_map([], |row| {
        let sql: String = row.get(2)?;
        let folded = sql
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default())
            .flat_map(str::split_whitespace)
            .collect::<Vec<_>>()
            .join(" ")
            .replace(" ,", ",")
            .replace(" )", ")")
            .replace("( ", "(");
        Ok((row.get(0)?, row.get(1)?, folded))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Makes a fresh file. It is there as a whole or not at all, and where somebody else made one at the
/// same time, that one stays.
pub(super) fn create_file(path: &Path) -> Result<()> {
    let told = |cause: &dyn std::fmt::Display| Error::field(path.display(), cause);
    // A link may lead to where the file is to be.
    let path = open::resolved(path);
    let path = path.as_path();
    let folder = open::folder_of(path);
    if !folder.is_dir() {
        return Err(told(&"the folder is not there"));
    }
    if open::interrupted(path) == Some(0) {
        // Of a file that was never made whole, and is gone; SQLite would empty the new one by it.
        std::fs::remove_file(open::beside(path, "-journal")).map_err(|cause| told(&cause))?;
    }
    // Its owner alone may read it: it holds people, and what opens doors.
    let file = tempfile::Builder::new()
        .prefix(".gatepost-")
        .suffix(".new")
        .tempfile_in(folder)
        .map_err(|cause| told(&cause.kind()))?;
    let connection = Connection::open(file.path())?;
    create(&connection)?;
    connection.close().map_err(|(_, cause)| cause)?;
    if let Err(cause) = file.persist_noclobber(path)
        && !path.exists()
    {
        return Err(told(&cause.error));
    }
    // The name must survive a power loss as the file does.
    os::sync_folder(folder).map_err(|cause| told(&cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::newest_interaction;

    #[test]
    fn migrations_meet_the_schema() {
        let fresh = Connection::open_in_memory().unwrap();
        create(&fresh).unwrap();
        let mut migrated = Connection::open_in_memory().unwrap();
        upgrade(&mut migrated).unwrap();
        assert_eq!(schema_of(&fresh).unwrap(), schema_of(&migrated).unwrap());
        assert!(schema_of(&fresh).unwrap().len() > 20);
        let version: i64 = migrated
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap();
        assert_eq!(version, CURRENT);
    }

    #[test]
    fn a_migrated_file_begins_with_the_content_of_a_fresh_one() {
        let fresh = Connection::open_in_memory().unwrap();
        create(&fresh).unwrap();
        let mut migrated = Connection::open_in_memory().unwrap();
        upgrade(&mut migrated).unwrap();
        let reports = |connection: &Connection| -> Vec<(String, String)> {
            let mut statement = connection
                .prepare("SELECT id, query FROM reports ORDER BY number")
                .unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            rows.unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(reports(&migrated), reports(&fresh));
        assert_eq!(reports(&fresh).len(), 8);
        let message = |connection: &Connection| -> (String, i64, String) {
            let sql = "SELECT name, active, content FROM automations a
                JOIN message_templates t ON t.channel = a.channel AND t.slug = a.template";
            let row =
                connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            row.unwrap()
        };
        assert_eq!(message(&migrated), message(&fresh));
    }

    #[test]
    fn a_report_that_somebody_changed_stays_so() {
        let mut connection = Connection::open_in_memory().unwrap();
        Migrations::from_slice(&STEPS[..25])
            .to_latest(&mut connection)
            .unwrap();
        connection
            .execute_batch(
                "UPDATE reports SET query = 'SELECT 1';
                 INSERT INTO audit (at, actor, action, record_type, record_id)
                 SELECT 0, 'a', 'update', 'report', number FROM reports WHERE id = 'heat'",
            )
            .unwrap();
        upgrade(&mut connection).unwrap();
        let changed = |id: &str| -> bool {
            let sql = "SELECT query = 'SELECT 1' FROM reports WHERE id = ?1";
            connection.query_row(sql, [id], |row| row.get(0)).unwrap()
        };
        assert!(changed("heat"));
        assert!(!changed("time-spent"), "which nobody changed");
    }

    #[test]
    fn readers_of_an_older_file_are_noted_with_their_addresses() {
        let settings = |data: &str| {
            let mut connection = Connection::open_in_memory().unwrap();
            Migrations::from_slice(&STEPS[..26])
                .to_latest(&mut connection)
                .unwrap();
            connection
                .execute(
                    "INSERT INTO devices (id, device_type, data, code, public_id, sources, created_at, updated_at)
                     VALUES (7, 'rfidreader', ?1, 'r', 'r', '[]', 0, 0)",
                    [data],
                )
                .unwrap();
            upgrade(&mut connection).unwrap();
            let sql = "SELECT coalesce(max(value), '') FROM settings WHERE name = 'earlierReaders'";
            connection
                .query_row(sql, [], |row| row.get::<_, String>(0))
                .unwrap()
        };
        let noted = settings(r#"{"Reader":{"protocol":"llrp","address":"127.0.0.1:5084"}}"#);
        assert_eq!(noted, r#"{"7":"127.0.0.1:5084"}"#);
        for data in [r#"{"Reader":{"protocol":"push"}}"#, "no JSON"] {
            assert_eq!(settings(data), "", "{data}");
        }
    }

    #[test]
    fn what_an_older_file_holds_is_found_afterwards() {
        let mut connection = Connection::open_in_memory().unwrap();
        Migrations::from_slice(&STEPS[..1])
            .to_latest(&mut connection)
            .unwrap();
        connection
            .execute_batch(
                "INSERT INTO delegates (public_id, last_name, sources, created_at, updated_at)
                 VALUES ('p', 'Lovelace', '[]', 0, 0)",
            )
            .unwrap();
        upgrade(&mut connection).unwrap();
        let found: i64 = connection
            .query_row(
                "SELECT rowid FROM delegates_search WHERE delegates_search MATCH 'last_name : lov'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(found, 1);
    }

    #[test]
    fn interactions_of_an_older_file_stay_and_their_ids_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let mut connection = Connection::open(&path).unwrap();
        Migrations::from_slice(&STEPS[..13])
            .to_latest(&mut connection)
            .unwrap();
        connection
            .execute_batch(
                "INSERT INTO delegates (id, public_id, sources, created_at, updated_at) VALUES (1, 'p', '[]', 0, 0);
                 INSERT INTO interactions (interaction_type, first_delegate_id, recorded_at, created_at)
                 VALUES ('a', 1, 0, 0), ('b', 1, 0, 0), ('c', 1, 0, 0);
                 DELETE FROM interactions WHERE id = 3",
            )
            .unwrap();
        upgrade(&mut connection).unwrap();
        drop(connection);
        let connection = Connection::open(&path).unwrap();
        assert_eq!(newest_interaction(&connection).unwrap(), 3);
        let kinds: String = connection
            .query_row(
                "SELECT group_concat(id || interaction_type) FROM interactions",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(kinds, "1a,2b");
        let sound: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sound, "ok");
        let kept = connection.execute("DELETE FROM delegates", []).unwrap_err();
        assert!(kept.to_string().contains("takes part"), "{kept}");
    }

    #[test]
    fn effects_that_older_files_computed_are_kept() {
        let mut connection = Connection::open_in_memory().unwrap();
        Migrations::from_slice(&STEPS[..20])
            .to_latest(&mut connection)
            .unwrap();
        connection
            .execute_batch(
                "INSERT INTO interactions (interaction_type, second_delegate_id, recorded_at, created_at)
                 VALUES ('check-in', NULL, 0, 0), ('check-in-override', 2, 0, 0), ('check-out', NULL, 0, 0),
                     ('join', NULL, 0, 0), ('booking', 2, 0, 0), ('cancel-booking', 2, 0, 0),
                     ('uninvite', NULL, 0, 0), ('uninvite', 2, 0, 0), ('lead', NULL, 0, 0)",
            )
            .unwrap();
        let effects = |connection: &Connection| -> String {
            let sql = "SELECT group_concat(coalesce(effect, '-'), ' ') FROM interactions";
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(effects(&connection), "0 0 1 2 2 3 3 - -");
        upgrade(&mut connection).unwrap();
        assert_eq!(effects(&connection), "0 0 1 2 2 3 3 4 -");
    }

    /// A gate below an event for registered attendees was open, as nothing was inherited.
    #[test]
    fn gates_that_the_inherited_rule_set_closes_are_listed() {
        let mut connection = Connection::open_in_memory().unwrap();
        Migrations::from_slice(&STEPS[..18])
            .to_latest(&mut connection)
            .unwrap();
        let simple = r#"{"Access":{"ruleSet":"simple"}}"#;
        let open = r#"{"Access":{"ruleSet":"open"}}"#;
        for (id, parent, data) in [
            (1, None, Some(simple)),
            (2, Some(1), None),
            (3, Some(2), Some(r#"{"Access":{"entry":"single"}}"#)),
            (4, Some(1), Some(open)),
            (5, Some(4), None),
            (6, Some(1), Some("no JSON")),
            (7, None, None),
            // Nobody ever checked in there.
            (8, Some(1), None),
        ] {
            connection
                .execute(
                    "INSERT INTO devices (id, parent_id, data, code, public_id, sources, created_at, updated_at)
                     VALUES (?1, ?2, ?3, ?1, ?1, '[]', 0, 0)",
                    (id, parent, data),
                )
                .unwrap();
        }
        connection
            .execute_batch(
                "INSERT INTO occupancy (device_id, inside) VALUES (1, 0), (2, 1), (3, 0), (4, 0), (5, 0), (7, 0);
                 INSERT INTO interactions (interaction_type, recorded_at, created_at) VALUES ('x', 5, 9)",
            )
            .unwrap();
        upgrade(&mut connection).unwrap();
        let closed: String = connection
            .query_row(
                "SELECT group_concat(device_id) FROM closed_by_upgrade",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(closed, "2,3");
        let order: String = connection
            .query_row(
                "SELECT (SELECT moment FROM interactions) || ' ' || group_concat(name || value, ' ') FROM counters",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(order, "5 moves1 moves_counted0 order9");
    }
}
