//! What a file says by itself: whether it is whole, and whether the counts of those inside follow
//! from the interactions in it.

use super::process::beside;
use crate::harness::table;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Copies a file and its log, so that the look at it leaves the recovery to the next server. The
/// server must be dead.
pub fn copy(db: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("evidence.db");
    for suffix in ["", "-wal", "-shm"] {
        let of_copy = beside(&copy, suffix);
        let _ = std::fs::remove_file(&of_copy);
        let original = beside(db, suffix);
        // The index of the log is made anew; a copy of it would be of another file.
        if suffix != "-shm" && original.exists() {
            std::fs::copy(&original, &of_copy).expect("a copy");
        }
    }
    copy
}

/// Everything that is wrong with a file.
pub fn troubles(connection: &Connection) -> Vec<String> {
    let mut troubles = integrity(connection).unwrap_or_else(|cause| vec![cause.to_string()]);
    if !troubles.is_empty() {
        return troubles;
    }
    let mut count = |what: &str, sql: &str| {
        let found: i64 = connection.query_row(sql, [], |row| row.get(0)).expect(sql);
        if found > 0 {
            troubles.push(format!("{found} {what}"));
        }
    };
    count(
        "rows with a broken foreign key",
        "SELECT count(*) FROM pragma_foreign_key_check",
    );
    count(
        "interactions with nobody",
        "SELECT count(*) FROM interactions
         LEFT JOIN delegates AS a ON a.id = first_delegate_id
         LEFT JOIN delegates AS b ON b.id = second_delegate_id
         LEFT JOIN delegates AS c ON c.id = third_delegate_id
         LEFT JOIN devices AS d ON d.id = first_device_id
         LEFT JOIN devices AS e ON e.id = second_device_id
         LEFT JOIN devices AS f ON f.id = third_device_id
         WHERE (a.id, b.id, c.id, d.id, e.id, f.id) IS NOT (first_delegate_id, second_delegate_id,
             third_delegate_id, first_device_id, second_device_id, third_device_id)",
    );
    count(
        "occupancies that do not follow from the interactions",
        &format!(
            "{EXPECTED} SELECT count(*) FROM now
            FULL JOIN occupancy USING (device_id)
            WHERE coalesce(now.inside, 0) <> coalesce(occupancy.inside, 0)"
        ),
    );
    troubles
}

fn integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    lines
        .filter(|line| !matches!(line, Ok(line) if line == "ok"))
        .collect()
}

/// Who is inside as contract §6 defines it, from the interactions alone: whoever entered a device and
/// left neither it nor anything above it since is inside it and all above it; 0 is the whole venue.
/// Written on its own, not with the product's code.
const EXPECTED: &str = "
    WITH RECURSIVE tree (device, above) AS (
        SELECT id, id FROM devices
        UNION SELECT tree.device, devices.parent_id FROM tree JOIN devices ON devices.id = tree.above
        WHERE devices.parent_id IS NOT NULL
    ),
    passes AS MATERIALIZED (
        SELECT first_delegate_id AS delegate, first_device_id AS device, id,
               coalesce(order_at, min(recorded_at, created_at)) AS at,
               interaction_type <> 'check-out' AS enters,
               row_number() OVER (
                   PARTITION BY first_delegate_id, first_device_id, interaction_type = 'check-out'
                   ORDER BY coalesce(order_at, min(recorded_at, created_at)) DESC, id DESC) AS place
        FROM interactions
        WHERE interaction_type IN ('check-in', 'check-in-override', 'check-out')
            AND first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL
    ),
    entered AS (
        SELECT delegate, device FROM passes AS i
        WHERE place = 1 AND enters
        AND device IN (SELECT id FROM devices WHERE deleted_at IS NULL)
        AND NOT EXISTS (
            SELECT 1 FROM passes AS o JOIN tree ON tree.above = o.device
            WHERE o.place = 1 AND NOT o.enters AND o.delegate = i.delegate AND tree.device = i.device
            AND (o.at, o.id) > (i.at, i.id))
    ),
    now AS (
        SELECT device_id, count(DISTINCT delegate) AS inside FROM (
            SELECT delegate, tree.above AS device_id FROM entered JOIN tree ON tree.device = entered.device
            UNION ALL SELECT delegate, 0 FROM entered)
        GROUP BY device_id)";

/// The control of [`troubles`]: each kind of damage is told.
#[test]
fn damage_is_seen() {
    use crate::harness::Server;
    use serde_json::json;

    let (server, gate) = Server::with_api();
    let device = gate.device(&json!({"name": "Gate"}));
    for (barcode, kinds) in [
        ("A", ["join", "check-in"]),
        ("B", ["check-in", "check-out"]),
    ] {
        let delegate = gate.delegate(&json!({"barcode": barcode}));
        for kind in kinds {
            gate.scan(kind, delegate, device).id();
        }
    }
    let file = Connection::open(server.path()).expect("the file");
    file.busy_timeout(super::wire::PATIENCE).expect("a timeout");
    file.pragma_update(None, "foreign_keys", false)
        .expect("a pragma");
    assert_eq!(troubles(&file), Vec::<String>::new());
    for [damage, seen] in table(
        "UPDATE occupancy SET inside = inside + 1 | 2 occupancies
         DELETE FROM occupancy | 2 occupancies
         DELETE FROM interactions WHERE interaction_type = 'check-in' | 2 occupancies
         UPDATE delegates SET parent_id = 99 | 2 rows with a broken foreign key
         UPDATE interactions SET first_device_id = 99 WHERE interaction_type = 'join' | 1 interactions with nobody",
    ) {
        file.execute_batch(&format!("BEGIN; {damage}"))
            .expect(damage);
        let found = troubles(&file).join(", ");
        assert!(found.contains(seen), "{damage}: {found}");
        file.execute_batch("ROLLBACK").expect(damage);
    }
    let copy = server.folder.path().join("copy.db");
    file.execute("VACUUM INTO ?1", [copy.to_str()])
        .expect("a copy");
    let mut bytes = std::fs::read(&copy).expect("the copy");
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    std::fs::write(&copy, bytes).expect("the copy");
    assert!(!troubles(&Connection::open(&copy).expect("the copy")).is_empty());
}
