//! Events as a calendar file (RFC 5545).

use super::Event;
use crate::types::{Timestamp, secret};
use std::fmt::Write;

/// The longest line, in bytes, without its end.
const LINE_MAX_BYTES: usize = 75;

/// Returns the events that have a beginning as a calendar; `None` without any. `token` makes their ids unique, and does
/// not appear in the file, which people share.
pub fn calendar(events: &[Event], token: &str, now: Timestamp) -> Option<String> {
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//Gatepost//Tickets//EN".to_owned(),
    ];
    let before = lines.len();
    let digest = secret::hex(&secret::digest(token.as_bytes())[..8]);
    for event in events {
        let Some(starts_at) = event.starts_at else {
            continue;
        };
        lines.push("BEGIN:VEVENT".to_owned());
        lines.push(format!("UID:{}-{digest}@gatepost", event.id));
        lines.push(format!("DTSTAMP:{}", utc(now)));
        lines.push(format!("DTSTART:{}", utc(starts_at)));
        if let Some(ends_at) = event.ends_at.filter(|ends_at| *ends_at > starts_at) {
            lines.push(format!("DTEND:{}", utc(ends_at)));
        }
        lines.push(format!("SUMMARY:{}", escaped(&event.name)));
        if let Some(place) = &event.place {
            lines.push(format!("LOCATION:{}", escaped(place)));
        }
        lines.push("END:VEVENT".to_owned());
    }
    if lines.len() == before {
        return None;
    }
    lines.push("END:VCALENDAR".to_owned());
    Some(lines.iter().map(|line| folded(line)).collect())
}

/// `20261127T080000Z`.
fn utc(at: Timestamp) -> String {
    let plain = crate::types::Zone::default().plain(at);
    let mut text: String = plain.replace(['-', ':'], "").replace(' ', "T");
    text.push('Z');
    text
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => {
                let _ = write!(escaped, "\\{letter}");
            }
            '\n' => escaped.push_str("\\n"),
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A line with its end, broken where it is too long; what follows begins with a space.
fn folded(line: &str) -> String {
    let (mut folded, mut bytes) = (String::new(), 0);
    for letter in line.chars() {
        if bytes + letter.len_utf8() > LINE_MAX_BYTES {
            folded.push_str("\r\n ");
            bytes = 1;
        }
        folded.push(letter);
        bytes += letter.len_utf8();
    }
    folded.push_str("\r\n");
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::DeviceId;

    fn event(name: &str, starts_at: Option<i64>) -> Event {
        Event {
            id: DeviceId(7),
            name: name.to_owned(),
            starts_at: starts_at.map(Timestamp),
            ends_at: starts_at.map(|at| Timestamp(at + 3_600_000)),
            place: Some("Hall 2, North".to_owned()),
        }
    }

    #[test]
    fn events_are_written_as_calendars_have_them() {
        let told = calendar(
            &[event("Summit; day 1\nand 2", Some(1_795_766_400_000))],
            "7-abc",
            Timestamp(1_795_000_000_000),
        );
        let told = told.expect("a calendar");
        for line in [
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n",
            "\r\nDTSTART:20261127T080000Z\r\nDTEND:20261127T090000Z\r\n",
            "\r\nSUMMARY:Summit\\; day 1\\nand 2\r\n",
            "\r\nLOCATION:Hall 2\\, North\r\n",
            "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        ] {
            assert!(told.contains(line), "{line} in {told}");
        }
        assert!(!told.contains("7-abc"), "{told}");
    }

    #[test]
    fn long_lines_are_folded_between_letters() {
        let told = calendar(&[event(&"Größe ".repeat(40), Some(0))], "", Timestamp(0));
        let told = told.expect("a calendar");
        assert!(told.split("\r\n").all(|line| line.len() <= LINE_MAX_BYTES));
        let joined = told.replace("\r\n ", "");
        assert!(joined.contains(&format!("SUMMARY:{}", "Größe ".repeat(40))));
    }

    #[test]
    fn without_a_date_there_is_no_calendar() {
        assert_eq!(calendar(&[event("Summit", None)], "", Timestamp(0)), None);
    }
}
