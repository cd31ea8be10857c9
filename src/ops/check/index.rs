//! Whether the index for searching says what delegates' texts say: every three letters in a row of
//! every delegate, no more and no less. SQLite's own check looks at the index alone.
//!
//! One pass over the delegates and one over the index add up, for each three letters of a column, the
//! delegates that have them. Asking the index about one delegate would walk all that have the letters.

use crate::{
    db::{ServeLock, Store},
    domain::delegates::SEARCHED,
    types::error::{Error, Result},
};
use rusqlite::{Connection, types::ValueRef};
use std::collections::{HashMap, hash_map::Entry};

/// The first delegate found that the index has other letters of than its texts. To be called on one
/// state of the file.
pub fn first_wrong(connection: &Connection) -> Result<Option<i64>> {
    connection.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.indexed USING fts5vocab (main, delegates_search, instance)",
    )?;
    let mut letters = Letters::new()?;
    let mut sums = of_texts(connection, &mut letters)?;
    let wrong = match first_difference(connection, &mut sums)? {
        Some(wrong) => Some(wrong),
        // What is left is not in the index at all.
        None => sums.iter().enumerate().find_map(|(column, sums)| {
            let trigram = sums.keys().next()?;
            Some((column, *trigram))
        }),
    };
    match wrong {
        Some((column, trigram)) => first_of(connection, &mut letters, column, trigram).map(Some),
        None => Ok(None),
    }
}

/// Three letters in a row, as the index has them.
type Trigram = [char; 3];
/// Of each column: for each trigram, its delegates' ids, added up (see [`spread`]).
type Sums = Vec<HashMap<Trigram, u64>>;

/// The columns of the index.
fn columns() -> Vec<&'static str> {
    SEARCHED
        .fields
        .iter()
        .filter(|field| field.text_indexed)
        .map(|field| field.column)
        .collect()
}

/// Spreads an id over all bits, so that ids that differ do not add up to the same.
fn spread(id: i64) -> u64 {
    let mixed = (id.cast_unsigned() ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB) ^ (mixed >> 31)
}

/// What the delegates themselves say.
fn of_texts(connection: &Connection, letters: &mut Letters) -> Result<Sums> {
    let columns = columns();
    let mut sums: Sums = columns.iter().map(|_| HashMap::new()).collect();
    let mut read =
        connection.prepare(&format!("SELECT id, {} FROM delegates", columns.join(", ")))?;
    let mut rows = read.query([])?;
    let mut trigrams = Vec::new();
    while let Some(row) = rows.next()? {
        let id = spread(row.get(0)?);
        for (at, sums) in sums.iter_mut().enumerate() {
            if let ValueRef::Text(text) = row.get_ref(at + 1)? {
                letters.trigrams(&String::from_utf8_lossy(text), &mut trigrams)?;
                for trigram in &trigrams {
                    let sum = sums.entry(*trigram).or_default();
                    *sum = sum.wrapping_add(id);
                }
            }
        }
    }
    Ok(sums)
}

/// Holds the index against the sums and takes out of them what agrees; the first that does not.
fn first_difference(connection: &Connection, sums: &mut Sums) -> Result<Option<(usize, Trigram)>> {
    let columns = columns();
    let mut read = connection.prepare("SELECT term, col, doc FROM temp.indexed")?;
    let mut rows = read.query([])?;
    // Rows come by term.
    let mut term: Vec<u8> = Vec::new();
    let mut found = vec![0_u64; columns.len()];
    let mut differs = |term: &[u8], found: &mut [u64]| -> Option<(usize, Trigram)> {
        let trigram = trigram_of(term);
        for (column, (sums, found)) in sums.iter_mut().zip(found).enumerate() {
            match sums.entry(trigram) {
                Entry::Occupied(sum) if sum.get() == found => {
                    sum.remove();
                }
                Entry::Vacant(_) if *found == 0 => {}
                _ => return Some((column, trigram)),
            }
            *found = 0;
        }
        None
    };
    while let Some(row) = rows.next()? {
        let next = row.get_ref(0)?.as_bytes().map_err(Error::defect)?;
        if next != term {
            if !term.is_empty()
                && let Some(wrong) = differs(&term, &mut found)
            {
                return Ok(Some(wrong));
            }
            term.clear();
            term.extend_from_slice(next);
        }
        let name = row.get_ref(1)?.as_bytes().map_err(Error::defect)?;
        if let Some(column) = columns.iter().position(|column| column.as_bytes() == name) {
            found[column] = found[column].wrapping_add(spread(row.get(2)?));
        }
    }
    Ok(differs(&term, &mut found))
}

/// The letters of a term; of one that is none of ours, such as none at all, something that no text has.
fn trigram_of(term: &[u8]) -> Trigram {
    let text = String::from_utf8_lossy(term);
    let mut letters = text.chars();
    let mut next = || letters.next().unwrap_or('\0');
    [next(), next(), next()]
}

/// The first delegate of whom the index says something else about a trigram than their text.
fn first_of(
    connection: &Connection,
    letters: &mut Letters,
    column: usize,
    trigram: Trigram,
) -> Result<i64> {
    let name = columns()[column];
    let mut read =
        connection.prepare("SELECT doc FROM temp.indexed WHERE term = ?1 AND col = ?2")?;
    let term: String = trigram.iter().collect();
    let indexed = read.query_map([term.as_str(), name], |row| row.get(0))?;
    let mut indexed: std::collections::BTreeSet<i64> = indexed.collect::<rusqlite::Result<_>>()?;
    let mut read = connection.prepare(&format!(
        "SELECT id, {name} FROM delegates WHERE {name} IS NOT NULL ORDER BY id"
    ))?;
    let mut rows = read.query([])?;
    let mut trigrams = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let text = row.get_ref(1)?.as_bytes().map_err(Error::defect)?;
        letters.trigrams(&String::from_utf8_lossy(text), &mut trigrams)?;
        if indexed.remove(&id) != trigrams.contains(&trigram) {
            return Ok(id);
        }
    }
    // Of nobody who is there.
    Ok(indexed.first().copied().unwrap_or_default())
}

/// Letters as the index takes them, which is asked once about each.
struct Letters {
    index: Connection,
    ascii: [Option<char>; 128],
    others: HashMap<char, Option<char>>,
}

impl Letters {
    fn new() -> Result<Self> {
        let index = Connection::open_in_memory()?;
        index.execute_batch(
            "CREATE VIRTUAL TABLE one USING fts5 (text, content = '', tokenize = 'trigram', detail = 'column', columnsize = 0);
             CREATE VIRTUAL TABLE terms USING fts5vocab (one, row)",
        )?;
        let mut letters = Self {
            index,
            ascii: [None; 128],
            others: HashMap::new(),
        };
        for (letter, folded) in (0_u8..128).map(char::from).zip(0..) {
            letters.ascii[folded] = letters.ask(letter)?;
        }
        Ok(letters)
    }

    /// How the index writes a letter; `None` where it passes it over.
    fn ask(&self, letter: char) -> Result<Option<char>> {
        self.index
            .execute_batch("INSERT INTO one (one) VALUES ('delete-all')")?;
        self.index
            .prepare_cached("INSERT INTO one (rowid, text) VALUES (1, ?1)")?
            .execute([format!("a{letter}a")])?;
        let mut read = self.index.prepare_cached("SELECT term FROM terms")?;
        let mut rows = read.query([])?;
        Ok(match rows.next()? {
            Some(row) => row.get::<_, String>(0)?.chars().nth(1),
            None => None,
        })
    }

    fn fold(&mut self, letter: char) -> Result<Option<char>> {
        if let Some(folded) = self.ascii.get(letter as usize) {
            return Ok(*folded);
        }
        if let Some(folded) = self.others.get(&letter) {
            return Ok(*folded);
        }
        let folded = self.ask(letter)?;
        self.others.insert(letter, folded);
        Ok(folded)
    }

    /// The trigrams of a text, each once.
    fn trigrams(&mut self, text: &str, trigrams: &mut Vec<Trigram>) -> Result<()> {
        trigrams.clear();
        let mut last = ['\0'; 3];
        let mut length = 0;
        for letter in text.chars() {
            if let Some(folded) = self.fold(letter)? {
                last = [last[1], last[2], folded];
                length += 1;
                if length >= 3 {
                    trigrams.push(last);
                }
            }
        }
        trigrams.sort_unstable();
        trigrams.dedup();
        Ok(())
    }
}

/// Makes the index anew. It holds the file for as long as that takes (some ten seconds a million
/// delegates), so it is not done beside a server; the server does it before it begins.
pub fn rebuild(store: &Store, _: &ServeLock) -> Result<()> {
    store.write_blocking(|tx| {
        tx.execute(
            "INSERT INTO delegates_search (delegates_search) VALUES ('rebuild')",
            [],
        )?;
        Ok(())
    })
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
                "INSERT INTO delegates_search (delegates_search, rowid, company) VALUES ('delete', 5, 'Pearl & Sons GmbH')",
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
