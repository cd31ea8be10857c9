//! Whom a scanned text means.

use super::{
    blocked,
    signed::{self, Ticket},
};
use crate::{
    core::{
        scanned::{self, Meaning},
        settings,
    },
    types::{
        DelegateSelector,
        error::{Error, Kind, Result},
        scanned::{ScanPattern, likely_code},
        signed_ticket, text,
    },
};
use rusqlite::Connection;
use std::sync::LazyLock;

/// Living attendees and blocked codes together.
static SQL: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} UNION ALL SELECT id, kind, value, 1 FROM blocked_codes WHERE value = ?1 COLLATE NOCASE",
        DelegateSelector::SCANNED_SQL
    )
});

/// Finds whom a scanned text means: by the codes that it may have in it, otherwise as a signed ticket.
pub fn meaning(connection: &Connection, scanned: &str) -> Result<Meaning> {
    let pattern = settings::scan_pattern(connection)?;
    meaning_by(connection, scanned, pattern.as_ref())
}

/// As [`meaning`], with a pattern that may not be set yet.
pub fn meaning_by(
    connection: &Connection,
    scanned: &str,
    pattern: Option<&ScanPattern>,
) -> Result<Meaning> {
    let meaning = scanned::meaning_by(connection, &SQL, scanned, pattern)?;
    if meaning == Meaning::Unknown
        && let Some(Ticket::Code(code)) = ticket(connection, scanned, pattern)?
    {
        return scanned::meaning_by(connection, &SQL, &code, None);
    }
    Ok(meaning)
}

/// The signed ticket in a scanned text.
fn ticket(
    connection: &Connection,
    scanned: &str,
    pattern: Option<&ScanPattern>,
) -> Result<Option<Ticket>> {
    if scanned.len() < signed_ticket::SYMBOLS {
        return Ok(None);
    }
    signed::read(connection, &likely_code(scanned, pattern))
}

/// The error for a scanned text that means nobody. A steward reads it to whoever holds the ticket.
pub fn missing(connection: &Connection, scanned: &str, meaning: &Meaning) -> Result<Error> {
    let code = text::shortened(scanned);
    let blocked = match meaning {
        Meaning::Match(found) => blocked::with_id(connection, found.id)?,
        Meaning::Several | Meaning::Unknown => None,
    };
    let (reason, told) = match (blocked, meaning) {
        (Some(blocked), _) => ("blocked", blocked::told(connection, &blocked)?),
        (None, Meaning::Several) => (
            "ambiguous",
            format!("unknown code {code}: more than one person has one like it; find them by name"),
        ),
        (None, _) => {
            let pattern = settings::scan_pattern(connection)?;
            let ticket = ticket(connection, scanned, pattern.as_ref())?;
            let told = ticket.map(|ticket| signed::told(connection, &ticket));
            let unknown = || ("unknown", format!("unknown code {code}"));
            told.transpose()?.flatten().unwrap_or_else(unknown)
        }
    };
    Ok(Error::new(Kind::DelegateNotFound, told).because(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{db::migrate, domain::delegates};
    use serde_json::{Value, json};

    const URL: &str = "https://tickets.example/c/(*)";
    const JSON: &str = "\"ticket\":*\"(*)\"";

    /// Attendees by their codes, in the order in which kinds of codes are looked for.
    const PEOPLE: &[(i64, &[(&str, &str)])] = &[
        (1, &[("barcode", "T7XQ2-AB"), ("external_id", "4711")]),
        (2, &[("barcode", "zq7w4e2x9v6b")]),
        (3, &[("barcode", "aBc9")]),
        (4, &[("barcode", "AbC9")]),
        (5, &[("barcode", "Mixed-77")]),
        (6, &[("barcode", "W002NSDDW1KWCNYY")]),
        (7, &[("barcode", " spaced "), ("rfid", "04A2FF")]),
        (8, &[("barcode", "https://tickets.example/c/WHOLE")]),
        (9, &[("barcode", "WHOLE")]),
        (10, &[("barcode", "]Q1REAL")]),
        (11, &[("barcode", "REAL")]),
        (12, &[("barcode", "twin"), ("external_id", "TWIN")]),
        (13, &[("barcode", "0815")]),
        (14, &[("external_id", "0815")]),
    ];
    /// Blocked codes, with whose they were.
    const BLOCKED: &[(i64, &str)] = &[(1, "LOST-1"), (5, "mixed-78"), (4, "Gone-3")];

    /// Patterns, scanned texts, and who is meant: an id, `blocked`, `several`, or nobody.
    fn cases() -> Vec<(Option<&'static str>, &'static str, Value)> {
        let nobody = Value::Null;
        let (blocked, several) = (json!("blocked"), json!("several"));
        vec![
            (None, "T7XQ2-AB", json!(1)),
            (None, "T7XQ2-AB ", json!(1)),
            (None, "T7XQ2-AB\r\n", json!(1)),
            (None, "\u{feff}\u{200b}T7XQ2-AB\u{85}\u{a0}", json!(1)),
            (None, "]Q1T7XQ2-AB", json!(1)),
            (None, "]C1T7XQ2-AB", json!(1)),
            (None, "]q1t7xq2-ab\n", json!(1)),
            (None, "]d2\u{1d}T7XQ2-AB", json!(1)),
            (None, "]Q1", nobody.clone()),
            (None, "t7xq2-ab", json!(1)),
            (None, "ZQ7W4E2X9V6B", json!(2)),
            (None, "04a2ff", json!(7)),
            (None, "]C04711", json!(1)),
            // The exact text before all others, whatever it looks like.
            (None, " spaced ", json!(7)),
            (None, "spaced", nobody.clone()),
            (None, "]Q1REAL", json!(10)),
            (Some(URL), "https://tickets.example/c/WHOLE", json!(8)),
            (Some(URL), "HTTPS://tickets.example/c/WHOLE?x=1", json!(9)),
            (None, "0815", json!(13)),
            (None, "0815\n", several.clone()),
            // In any case, where one person has it.
            (None, "aBc9", json!(3)),
            (None, "AbC9\n", json!(4)),
            (None, "ABC9", several.clone()),
            (None, "]Q1abc9", several.clone()),
            (None, "mIXED-77", json!(5)),
            (None, "MIXED-77", json!(5)),
            (None, "Twin", json!(12)),
            // Only the letters of A to Z have a case.
            (None, "\u{212a}T7XQ2-AB", nobody.clone()),
            // Blocked.
            (None, "LOST-1", blocked.clone()),
            (None, "]Q1lost-1\r", blocked.clone()),
            (None, "MIXED-78", blocked.clone()),
            (Some(URL), "https://tickets.example/c/gone-3", blocked),
            // The part that a pattern names.
            (None, "https://tickets.example/c/T7XQ2-AB", nobody.clone()),
            (Some(URL), "https://tickets.example/c/T7XQ2-AB", json!(1)),
            (
                Some(URL),
                "]Q1https://tickets.example/c/t7xq2-ab?utm=1\r\n",
                json!(1),
            ),
            (
                Some(URL),
                "HTTPS://TICKETS.EXAMPLE/C/ZQ7W4E2X9V6B#x",
                json!(2),
            ),
            (Some(URL), "https://tickets.example/c/aBC9", several),
            (
                Some(URL),
                "https://tickets.example/x/T7XQ2-AB",
                nobody.clone(),
            ),
            (Some(URL), "T7XQ2-AB", json!(1)),
            (Some(URL), "https://tickets.example/c/", nobody.clone()),
            (Some(JSON), "{\"ticket\":\"T7XQ2-AB\"}", json!(1)),
            (
                Some(JSON),
                "{\"n\": 1, \"ticket\": \"T7XQ2-AB\", \"x\": \"y\"}",
                json!(1),
            ),
            (Some(JSON), "{\"ticket\":4711}", nobody.clone()),
            (Some("TICKET|*|(*)|"), "ticket|7|T7XQ2-AB|Ada", json!(1)),
            (Some("(*)-AB"), "T7XQ2-AB", json!(1)),
            // A code of Gatepost's own, in groups.
            (None, "w002 nsdd w1kw cnyy", json!(6)),
            (
                Some(URL),
                "https://tickets.example/c/W002NSDDW1KWCNYY",
                json!(6),
            ),
            (None, "w002 nsdd w1kw cnyx", nobody.clone()),
            (None, "", nobody.clone()),
            (None, " \r\n", nobody),
        ]
    }

    fn file() -> Connection {
        let file = Connection::open_in_memory().expect("a file");
        migrate::create(&file).expect("a schema");
        for (id, codes) in PEOPLE {
            file.execute(
                "INSERT INTO delegates (id, public_id, sources, created_at, updated_at) VALUES (?1, 'p-' || ?1, '[]', 0, 0)",
                [id],
            )
            .expect("an attendee");
            for (column, code) in *codes {
                file.execute(
                    &format!("UPDATE delegates SET {column} = ?2 WHERE id = ?1"),
                    (id, code),
                )
                .expect("a code");
            }
        }
        for (holder, code) in BLOCKED {
            file.execute(
                "INSERT INTO blocked_codes (kind, value, delegate_id, reason, actor, at)
                 VALUES ('barcode', ?2, ?1, 'reported lost', 'test', 0)",
                (holder, code),
            )
            .expect("a block");
        }
        file
    }

    fn set(file: &Connection, pattern: Option<&str>) {
        file.execute("DELETE FROM settings", []).expect("none");
        let value = json!({ "code": pattern }).to_string();
        file.execute(
            "INSERT INTO settings (name, value) SELECT 'scans', ?1 WHERE ?2",
            (value, pattern.is_some()),
        )
        .expect("a setting");
    }

    #[test]
    fn scanned_texts_mean_whom_they_should_and_are_written_down_for_gates() {
        let file = file();
        let mut written = Vec::new();
        for (pattern, scanned, expected) in cases() {
            set(&file, pattern);
            let pattern_set = settings::scan_pattern(&file).expect("a pattern");
            let found = match meaning(&file, scanned).expect("a meaning") {
                Meaning::Match(found) if found.is_blocked => json!("blocked"),
                Meaning::Match(found) => json!(found.id),
                Meaning::Several => json!("several"),
                Meaning::Unknown => Value::Null,
            };
            assert_eq!(found, expected, "{pattern:?} {scanned:?}");
            let selector = DelegateSelector::Scanned(scanned.to_owned());
            let by_selector = delegates::find(&file, &selector).ok();
            assert_eq!(by_selector.map(|id| id.0), expected.as_i64(), "{scanned:?}");
            let likely = likely_code(scanned, pattern_set.as_ref());
            written.push(json!([pattern, scanned, expected, likely]));
        }
        let people = PEOPLE.iter().map(|(id, codes)| {
            let no_ticket = codes[0].0 != "barcode";
            json!([
                id,
                codes.iter().map(|(_, code)| code).collect::<Vec<_>>(),
                no_ticket
            ])
        });
        let blocked = BLOCKED.iter().map(|(_, code)| code);
        let fresh = json!({
            "about": "Written by src/domain/delegates/scanned.rs: pattern, scanned text, who is meant, likely code.",
            "people": people.collect::<Vec<_>>(),
            "blocked": blocked.collect::<Vec<_>>(),
            "scans": written,
        });
        let fresh = fresh.to_string().replace("],[", "],\n[") + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/scans.json");
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            std::fs::write(path, &fresh).expect("written");
        }
        assert!(
            std::fs::read_to_string(path).unwrap_or_default() == fresh,
            "tests/gate/scans.json is stale: run this test with INSTA_UPDATE=always, then tests/gate"
        );
    }

    /// However many attendees there are.
    #[test]
    fn scanned_codes_are_found_by_indexes_in_any_case() {
        let file = file();
        for sql in [&*SQL, crate::types::DeviceSelector::SCANNED_SQL] {
            let mut plan = file
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .expect("a plan");
            let steps = plan
                .query_map(["x"], |row| row.get::<_, String>(3))
                .expect("steps");
            let scans: Vec<_> = steps
                .map(|step| step.expect("a step"))
                .filter(|step| step.starts_with("SCAN") && step != "SCAN CONSTANT ROW")
                .collect();
            assert_eq!(scans, [""; 0]);
        }
    }
}
