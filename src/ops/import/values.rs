//! A cell's text as the value that its property holds.

use super::{
    dates::{self, Order},
    headers::has,
};
use crate::{
    core::records::Kind,
    types::json::{check_limits, fault},
};
use serde_json::Value;

/// Words for yes, and for no, in the languages of headers.
const YES: &str =
    "true yes y 1 x on ja wahr j oui vrai o sí si verdadero sì vero waar sand ano tak ✓ ✔ ☑";
const NO: &str = "false no n 0 off nein falsch non faux falso nee onwaar nej falsk ne nie ✗ ✘ ☐";

/// The longest of them.
const WORD_MAX_BYTES: usize = 16;

/// Reads the cell of a property.
pub(super) fn read(
    name: &str,
    kind: Kind,
    cell: &str,
    order: Option<Order>,
) -> Result<Value, String> {
    match kind {
        Kind::Flag => flag(cell)
            .map(Value::Bool)
            .ok_or_else(|| format!("{name}: must be true or false, yes or no")),
        Kind::Time | Kind::PlainTime => {
            dates::read(cell, order).map_err(|reason| format!("{name}: {reason}"))
        }
        Kind::Document => match json(cell)? {
            document @ Value::Object(_) => Ok(document),
            _ => Err(format!("{name}: must be a JSON object")),
        },
        Kind::Reference if cell.bytes().all(|byte| byte.is_ascii_digit()) => {
            let id: i64 = cell.parse().map_err(|_| format!("{name}: is no id"))?;
            Ok(id.into())
        }
        _ => Ok(cell.into()),
    }
}

/// Reads a free-form cell.
pub(super) fn free(cell: &str, is_json: bool) -> Result<Value, String> {
    if cell.contains('\0') {
        return Err("must not contain a NUL character".into());
    }
    if is_json {
        return json(cell);
    }
    Ok(cell.into())
}

/// Returns whether a cell is a whole number, as rules of entry have them.
pub(super) fn is_whole(cell: &str) -> bool {
    cell.len() < 10
        && cell
            .parse::<u32>()
            .is_ok_and(|number| number.to_string() == cell)
}

fn json(cell: &str) -> Result<Value, String> {
    check_limits(cell.as_bytes()).map_err(|cause| cause.to_string())?;
    serde_json::from_str(cell).map_err(|cause| fault(&cause))
}

/// The answer that a cell gives, in any of the languages.
pub(super) fn flag(cell: &str) -> Option<bool> {
    if cell.len() > WORD_MAX_BYTES {
        return None;
    }
    let cell = cell.to_lowercase();
    if has(YES, &cell) {
        return Some(true);
    }
    has(NO, &cell).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_read_by_what_their_property_holds() {
        for (kind, cell, value) in [
            (Kind::Text, "0049", json!("0049")),
            (Kind::Code, "true", json!("true")),
            (Kind::Flag, "Ja", json!(true)),
            (Kind::Flag, "FALSE", json!(false)),
            (Kind::Flag, "Nee", json!(false)),
            (Kind::Flag, "vero", json!(true)),
            (Kind::Time, "1795248120", json!(1_795_248_120)),
            (Kind::Time, "21.11.2026 9:02", json!("2026-11-21 09:02:00")),
            (Kind::Time, "1.2.2026", json!("2026-02-01 00:00:00")),
            (Kind::Time, "2026-02-01", json!("2026-02-01 00:00:00")),
            (Kind::Time, "2026-02-0x", json!("2026-02-0x")),
            (
                Kind::Time,
                "2026-11-21T09:02:00Z",
                json!("2026-11-21T09:02:00Z"),
            ),
            (Kind::Reference, "12", json!(12)),
            (Kind::Reference, "code:a", json!("code:a")),
            (
                Kind::Document,
                "{\"a\": {\"b\": 1}}",
                json!({"a": {"b": 1}}),
            ),
        ] {
            assert_eq!(read("x", kind, cell, None), Ok(value), "{cell}");
        }
        assert!(read("x", Kind::Flag, "maybe", None).is_err());
        assert!(read("x", Kind::Document, "[]", None).is_err());
        assert!(read("x", Kind::Document, "{", None).is_err());
        assert!(read("x", Kind::Reference, "99999999999999999999", None).is_err());
    }
}
