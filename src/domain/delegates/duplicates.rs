//! Attendees who are likely to be one person, with the reason: the same e-mail address, the same phone number and last
//! name (a company has one number), or the same name at the same company. Found by one pass over all of them, whose work grows with their number alone.

use super::overview::{self, Line};
use crate::{
    core::Context,
    db::Tx,
    types::{
        error::{Error, Result},
        text::fold,
    },
};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// Digits that a phone number has at least; its last ones are compared, as some have their country and some do not.
const PHONE_DIGITS: usize = 8;
/// People of one group that are named; a box office's own address may have hundreds.
const GROUP_MAX: usize = 10;

/// Attendees who are likely to be one.
#[derive(Debug, Clone)]
pub struct Group {
    pub reason: &'static str,
    pub people: Vec<Line>,
    /// Those who are not named.
    pub more: usize,
}

const REASONS: [&str; 3] = [
    "same e-mail",
    "same phone and last name",
    "same name and company",
];

/// Finds the first groups, those of the surest reason first, and how many there are in all. With a batch, those that
/// have somebody whom its rows became.
pub fn find(
    connection: &Connection,
    batch: Option<i64>,
    most: usize,
) -> Result<(Vec<Group>, usize)> {
    let mut groups = groups(connection)?;
    if let Some(batch) = batch {
        let mut of_batch = connection
            .prepare("SELECT 1 FROM batch_rows WHERE batch_id = ?1 AND record_id = ?2")?;
        let mut kept = Vec::new();
        for (reason, ids) in groups {
            for id in &ids {
                if of_batch.exists([batch, *id])? {
                    kept.push((reason, ids));
                    break;
                }
            }
        }
        groups = kept;
    }
    let count = groups.len();
    let named = groups.into_iter().take(most).map(|(reason, ids)| {
        let shown = &ids[..ids.len().min(GROUP_MAX)];
        Ok(Group {
            reason,
            people: overview::lines(connection, shown)?,
            more: ids.len() - shown.len(),
        })
    });
    Ok((named.collect::<Result<_>>()?, count))
}

/// Counts the groups.
pub fn count(connection: &Connection) -> Result<usize> {
    Ok(groups(connection)?.len())
}

fn groups(connection: &Connection) -> Result<Vec<(&'static str, Vec<i64>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, email, phone, first_name, last_name, company FROM delegates WHERE deleted_at IS NULL ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    let mut known: [HashMap<String, Vec<i64>>; REASONS.len()] = Default::default();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let text = |column| -> rusqlite::Result<String> {
            let text: Option<String> = row.get(column)?;
            Ok(text.unwrap_or_default())
        };
        let person = [text(1)?, text(2)?, text(3)?, text(4)?, text(5)?];
        for (key, known) in keys(&person).into_iter().zip(&mut known) {
            if let Some(key) = key {
                known.entry(key).or_default().push(id);
            }
        }
    }
    let distinct = distinct(connection)?;
    let (mut groups, mut told) = (Vec::new(), HashSet::new());
    for (reason, known) in REASONS.into_iter().zip(known) {
        let mut found: Vec<_> = known.into_values().filter(|ids| ids.len() > 1).collect();
        found.sort_unstable();
        for ids in &mut found {
            let all = ids.clone();
            ids.retain(|id| {
                let is_double =
                    |other: &&i64| *other != id && !distinct.contains(&pair(*id, **other));
                all.iter().any(|other| is_double(&other))
            });
        }
        found.retain(|ids| ids.len() > 1);
        // Who is found by a surer reason is told once.
        found.retain(|ids| told.insert(ids.clone()));
        groups.extend(found.into_iter().map(|ids| (reason, ids)));
    }
    Ok(groups)
}

/// Two ids, the lower one first.
fn pair(one: i64, other: i64) -> (i64, i64) {
    (one.min(other), one.max(other))
}

/// The pairs of which somebody said that they are two people.
fn distinct(connection: &Connection) -> Result<HashSet<(i64, i64)>> {
    let mut statement =
        connection.prepare_cached("SELECT one_id, other_id FROM distinct_delegates")?;
    let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(pairs.collect::<rusqlite::Result<_>>()?)
}

/// Remembers that these are all different people.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for fewer than two, and for more than a page names.
pub fn tell_apart(tx: &Tx<'_>, ctx: &Context, ids: &[i64]) -> Result<()> {
    if !(2..=GROUP_MAX).contains(&ids.len()) {
        return Err(Error::invalid(format!(
            "choose from 2 to {GROUP_MAX} attendees"
        )));
    }
    let mut insert = tx.prepare_cached(
        "INSERT OR IGNORE INTO distinct_delegates (one_id, other_id, actor, at)
         SELECT ?1, ?2, ?3, ?4 WHERE 2 = (SELECT count(*) FROM delegates WHERE id IN (?1, ?2))",
    )?;
    for (at, one) in ids.iter().enumerate() {
        for other in &ids[at + 1..] {
            let (low, high) = pair(*one, *other);
            if low != high {
                insert.execute(rusqlite::params![low, high, ctx.actor, tx.now()])?;
            }
        }
    }
    Ok(())
}

/// What two of a person would have in common, by each reason.
fn keys([email, phone, first, last, company]: &[String; 5]) -> [Option<String>; REASONS.len()] {
    let email = email.trim();
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    let end = digits.len().saturating_sub(PHONE_DIGITS);
    let is_named = !first.trim().is_empty() && !last.trim().is_empty();
    let name = [first, last, company].map(|text| fold(text.trim()));
    [
        (!email.is_empty()).then(|| fold(email)),
        (digits.len() >= PHONE_DIGITS && !name[1].is_empty())
            .then(|| format!("{}\n{}", &digits[end..], name[1])),
        is_named.then(|| name.join("\n")),
    ]
}

#[cfg(test)]
mod tests {
    use super::keys;

    fn common(one: [&str; 5], other: [&str; 5]) -> [bool; 3] {
        let [one, other] = [one, other].map(|texts| keys(&texts.map(ToOwned::to_owned)));
        std::array::from_fn(|at| one[at].is_some() && one[at] == other[at])
    }

    #[test]
    fn people_have_addresses_phones_and_names_in_common() {
        for (one, other, expected) in [
            (
                ["A@x.org", "", "", "", ""],
                [" a@X.org", "", "", "", ""],
                [true, false, false],
            ),
            (
                ["", "+49 40 1234567", "Jo", "Lee", "Ace"],
                ["", "040/1234567", "Joe", "LEE", "Bee"],
                [false, true, false],
            ),
            (
                ["", "+49 40 1234567", "Jo", "Lee", "Ace"],
                ["", "+49 40 1234567", "Ada", "Ost", "Ace"],
                [false, false, false],
            ),
            (
                ["", "110", "", "Lee", ""],
                ["", "110", "", "Lee", ""],
                [false, false, false],
            ),
            (
                ["", "", "Jürgen", "Müller", "Ace"],
                ["", "", "jürgen", "MÜLLER ", "ACE"],
                [false, false, true],
            ),
            (
                ["", "", "Ada", "Lee", "Ace"],
                ["", "", "Ada", "Lee", "Other"],
                [false, false, false],
            ),
            (
                ["", "", "Ada", "", "Ace"],
                ["", "", "Ada", "", "Ace"],
                [false, false, false],
            ),
        ] {
            assert_eq!(common(one, other), expected, "{one:?} {other:?}");
        }
    }
}
