//! Types that somebody typed: what is nearly a known type is probably meant to be it (contract §3, 1501).

use super::types::{self, TYPES};
use crate::{
    core::settings::Settings,
    types::{
        error::{Error, Kind, Result},
        text::shortened,
    },
};
use rusqlite::Connection;

/// Under another name these would be recorded, and open a gate that they should close.
const GUARDED: [&str; 3] = ["check-in", "check-out", "check-in-override"];

/// Checks a type that somebody typed.
///
/// # Errors
/// [`Kind::InteractionType`] for what is nearly a check-in or check-out, unless the file has interactions of that
/// type, and for every unknown type where the settings say so.
pub fn check(connection: &Connection, settings: &Settings, kind: &str) -> Result<()> {
    if types::find(kind).is_some() {
        return Ok(());
    }
    let is_guarded = meant(kind).is_some_and(|meant| GUARDED.contains(&meant));
    if settings.known_types_only {
        let why = "is unknown, and Settings allow known types only";
        return Err(Error::new(Kind::InteractionType, told(kind, why)));
    }
    if is_guarded && !is_recorded(connection, kind)? {
        return Err(Error::new(Kind::InteractionType, told(kind, "is unknown")));
    }
    Ok(())
}

/// The hint for a type that is nearly a known one.
pub fn warning(kind: &str) -> Option<String> {
    meant(kind).map(|_| told(kind, "is unknown"))
}

/// Says what is wrong with a type, and what was probably meant.
pub fn told(kind: &str, fault: &str) -> String {
    let told = format!("interaction type \"{}\" {fault}", shortened(kind));
    match meant(kind) {
        Some(meant) => format!("{told}; did you mean \"{meant}\"?"),
        None => told,
    }
}

/// The known type that differs from an unknown one by `-`, `_`, spaces, case or one letter.
fn meant(kind: &str) -> Option<&'static str> {
    if kind.len() > 100 || types::find(kind).is_some() {
        return None;
    }
    let letters = folded(kind);
    let mut known = TYPES.iter().map(|known| known.name);
    let same = known.clone().find(|known| folded(known) == letters);
    same.or_else(|| known.find(|known| is_one_letter_off(&folded(known), &letters)))
}

fn folded(kind: &str) -> Vec<char> {
    let letters = kind.chars().flat_map(char::to_lowercase);
    letters
        .filter(|letter| !matches!(letter, '-' | '_') && !letter.is_whitespace())
        .collect()
}

/// Tells if two words differ by one letter, or by two neighbours that changed places.
fn is_one_letter_off(one: &[char], other: &[char]) -> bool {
    let begin = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[begin..], &other[begin..]);
    let end = one.iter().rev().zip(other.iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    match (&one[..one.len() - end], &other[..other.len() - end]) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

/// Tells if the file has an interaction of a type, by the index of types.
fn is_recorded(connection: &Connection, kind: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM interactions WHERE lower(interaction_type) = ?1";
    Ok(connection.prepare_cached(sql)?.exists([kind])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_known_type_is_told_from_what_is_another() {
        for (typed, expected) in [
            ("checkin", Some("check-in")),
            ("Check-In", Some("check-in")),
            ("check_in", Some("check-in")),
            ("check in", Some("check-in")),
            ("chekin", Some("check-in")),
            ("checck-in", Some("check-in")),
            ("chekc-in", Some("check-in")),
            ("check-im", Some("check-in")),
            ("checkout", Some("check-out")),
            ("checkinoverride", Some("check-in-override")),
            ("leads", Some("lead")),
            ("check-in", None),
            ("check", None),
            ("chick-on", None),
            ("survey", None),
            ("checked-in", None),
        ] {
            assert_eq!(meant(typed), expected, "{typed}");
        }
    }

    #[test]
    fn types_of_the_file_are_found_by_an_index() {
        let file = Connection::open_in_memory().unwrap();
        crate::db::migrate::create(&file).unwrap();
        let plan: String = file
            .query_row(
                "EXPLAIN QUERY PLAN SELECT 1 FROM interactions WHERE lower(interaction_type) = ?1",
                ["checkin"],
                |row| row.get(3),
            )
            .unwrap();
        assert!(
            plan.contains("USING COVERING INDEX interactions_kind"),
            "{plan}"
        );
    }
}
