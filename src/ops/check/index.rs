//! Checks that the index for searching agrees with delegates' texts: every three letters in a row of
//! every delegate, no more and no less. SQLite's own check looks at the index alone; so a second index is
//! made of the texts, in a temporary file, and both are read side by side.

use crate::{
    db::{ServeLock, Store, search_index},
    types::error::{Error, Result},
};
use rusqlite::{Connection, Rows};
use std::collections::BTreeSet;

/// The first delegate found that the index has other letters of than its texts. To be called on one
/// state of the file.
pub fn first_wrong(connection: &Connection) -> Result<Option<i64>> {
    search_index::make_fresh(connection)?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE temp.expected USING fts5vocab (temp, fresh, instance);
         CREATE VIRTUAL TABLE temp.indexed USING fts5vocab (main, delegates_search, instance)",
    )?;
    let difference = first_difference(connection);
    connection.execute_batch(
        "DROP TABLE temp.indexed; DROP TABLE temp.expected; DROP TABLE temp.fresh",
    )?;
    difference
}

/// Rows that wait for the index (another program changed them) do not count.
fn instances(index: &str) -> String {
    format!(
        "SELECT term, doc, col FROM temp.{index}
         WHERE doc NOT IN (SELECT id FROM main.delegates_search_pending)"
    )
}

/// The first delegate of the first term that is not of the same delegates in both. Rows come by term,
/// and within one in any order.
fn first_difference(connection: &Connection) -> Result<Option<i64>> {
    let mut expected = connection.prepare(&instances("expected"))?;
    let mut indexed = connection.prepare(&instances("indexed"))?;
    let mut expected = Terms::of(expected.query([])?)?;
    let mut indexed = Terms::of(indexed.query([])?)?;
    loop {
        let (expected, indexed) = (expected.next()?, indexed.next()?);
        if expected != indexed {
            let first = expected.symmetric_difference(&indexed).next();
            return Ok(first.map(|(_, delegate, _)| *delegate));
        }
        if expected.is_empty() {
            return Ok(None);
        }
    }
}

/// A term, a delegate who has it, and in which column.
type Instance = (Vec<u8>, i64, String);

/// An index term by term.
struct Terms<'a> {
    rows: Rows<'a>,
    /// The first instance of the next term.
    ahead: Option<Instance>,
}

impl<'a> Terms<'a> {
    fn of(rows: Rows<'a>) -> Result<Self> {
        let mut terms = Self { rows, ahead: None };
        terms.ahead = terms.read()?;
        Ok(terms)
    }

    fn read(&mut self) -> Result<Option<Instance>> {
        let Some(row) = self.rows.next()? else {
            return Ok(None);
        };
        let term = row.get_ref(0)?.as_bytes().map_err(Error::defect)?;
        Ok(Some((term.to_vec(), row.get(1)?, row.get(2)?)))
    }

    /// All instances of the next term; none at the end.
    fn next(&mut self) -> Result<BTreeSet<Instance>> {
        let mut instances = BTreeSet::new();
        while let Some(instance) = self.ahead.take() {
            if instances
                .first()
                .is_some_and(|(term, ..): &Instance| *term != instance.0)
            {
                self.ahead = Some(instance);
                break;
            }
            instances.insert(instance);
            self.ahead = self.read()?;
        }
        Ok(instances)
    }
}

/// Rebuilds the index. It holds the lock of the file for as long as that takes (some ten seconds a million
/// delegates), so it is not done beside a server; the server does it before it begins.
pub fn rebuild(store: &Store, _: &ServeLock) -> Result<()> {
    store.write(|tx| search_index::rebuild(tx)).wait()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;
    use proptest::prelude::*;

    /// Names with letters that fold, that no text has twice, and that other alphabets have.
    fn file(names: &[String]) -> Connection {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        for name in names {
            file.execute(
                "INSERT INTO delegates (public_id, last_name, company, sources, created_at, updated_at)
                 VALUES (hex(randomblob(8)), ?1, 'Pearl & Sons GmbH', '[]', 0, 0)",
                [name],
            )
            .unwrap();
        }
        search_index::settle(&file, usize::MAX).unwrap();
        file
    }

    /// Changes a row behind the index's back.
    fn change(file: &Connection, sql: &str) {
        file.execute_batch("DROP TRIGGER IF EXISTS delegates_search_update; DROP TRIGGER IF EXISTS delegates_search_insert; DROP TRIGGER IF EXISTS delegates_search_delete")
            .unwrap();
        file.execute_batch(sql).unwrap();
    }

    fn people() -> Connection {
        let names = [
            "Ada",
            "Özgür Yılmaz",
            "K2 \u{212A}elvin",
            "Li",
            "Ωmega Ʀ ς",
            "王小明二",
        ];
        file(&names.map(String::from))
    }

    #[test]
    fn a_missing_or_stale_entry_of_anybody_is_found() {
        for (damage, id) in [
            ("UPDATE delegates SET last_name = 'Adb' WHERE id = 1", 1),
            (
                "UPDATE delegates SET last_name = '王小明一' WHERE id = 6",
                6,
            ),
            ("UPDATE delegates SET last_name = NULL WHERE id = 2", 2),
            ("UPDATE delegates SET last_name = 'Linda' WHERE id = 4", 4),
            // Two that are exchanged.
            (
                "UPDATE delegates SET last_name = iif(id = 1, 'Özgür Yılmaz', 'Ada') WHERE id < 3",
                1,
            ),
            ("DELETE FROM delegates WHERE id = 3", 3),
            (
                "INSERT INTO delegates (public_id, email, sources, created_at, updated_at) VALUES ('x', 'x@y.z', '[]', 0, 0)",
                7,
            ),
            (
                "INSERT INTO delegates_search (delegates_search, rowid, company) VALUES ('delete', 5, ' pearl ')",
                5,
            ),
            (
                "INSERT INTO delegates_search (rowid, phone) VALUES (99, '0301')",
                99,
            ),
        ] {
            let file = people();
            assert_eq!(first_wrong(&file).unwrap(), None);
            change(&file, damage);
            assert_eq!(first_wrong(&file).unwrap(), Some(id), "{damage}");
        }
    }

    proptest! {
        #[test]
        fn what_the_index_makes_of_any_text_is_known(names in prop::collection::vec("\\PC{0,12}|[a-zA-Z\\x00-\\x20À-ɏͰ-ӿḀ-ỿ]{3,9}", 1..6)) {
            let names: Vec<String> = names.iter().map(|name| name.replace('\0', "")).collect();
            prop_assert_eq!(first_wrong(&file(&names)).unwrap(), None);
        }
    }
}
