//! Fields of the setting `walkIn`: what walk-ins pay at the desk, one line a type.

use crate::admin::prelude::*;
use crate::{admin::sales, core::settings::WalkInPrices, domain::devices};
use serde_json::{Map, Value, json};

const CURRENCY: &str = "currency";
const TYPES: &str = "types";

pub(super) fn inputs() -> Vec<Input> {
    vec![
        Input::text(CURRENCY, "Currency")
            .max(3)
            .placeholder("EUR")
            .help("Its code of three letters."),
        Input::lines(TYPES, "Prices by type of attendee", 3)
            .with_id("walk-in-types")
            .placeholder("Visitor: 45.00 for code:day-ticket")
            .help(
                "One type a line, with the product that is sold: its id, or its code. The desk asks how it was paid, \
                 and Sales has the purchase.",
            ),
    ]
}

/// Checks that what is sold is there: otherwise the first guest who pays would find out.
pub(super) fn check(connection: &Connection, changes: &Map<String, Value>) -> Result<()> {
    let Some(sent @ Value::Object(_)) = changes.get("walkIn") else {
        return Ok(());
    };
    let prices = WalkInPrices::parse(sent)?;
    for (at, price) in prices.types.iter().enumerate() {
        devices::find(connection, &price.product).map_err(|cause| match cause.kind {
            Kind::DeviceNotFound => Error::field(format!("walkIn.types[{at}].product"), cause),
            _ => cause,
        })?;
    }
    Ok(())
}

/// From the setting to the fields.
pub(super) fn shown(mut set: Map<String, Value>) -> Map<String, Value> {
    let types = set.get(TYPES).and_then(Value::as_array).cloned();
    if let Some(types) = types {
        let lines = types.iter().map(line).collect();
        set.insert(TYPES.to_owned(), lines);
    }
    set
}

fn line(price: &Value) -> String {
    let text = |name: &str| match &price[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let cents = price["cents"].as_i64().unwrap_or_default();
    format!(
        "{}: {} for {}",
        text("type"),
        sales::money(&cents),
        text("product")
    )
}

/// From the fields to the setting. A line that is no price becomes one that cannot be read.
pub(super) fn stored(mut fields: Map<String, Value>) -> Map<String, Value> {
    let lines = match fields.remove(TYPES) {
        Some(Value::Array(lines)) => lines,
        _ => Vec::new(),
    };
    let types: Vec<Value> = lines.iter().filter_map(Value::as_str).map(price).collect();
    if !types.is_empty() || fields.get(CURRENCY).is_some_and(|code| *code != json!("")) {
        fields.insert(TYPES.to_owned(), types.into());
    }
    fields
}

fn price(line: &str) -> Value {
    let parts = line.match_indices(':').find_map(|(at, _)| {
        let (amount, product) = line[at + 1..].split_once(" for ")?;
        Some((line[..at].trim(), cents(amount)?, product.trim()))
    });
    let (name, cents, product) = parts.unwrap_or((line, 0, ""));
    json!({"type": name, "product": product, "cents": cents})
}

/// `45`, `45.00`, `45,00` or `1,250.00`, in cents.
fn cents(amount: &str) -> Option<i64> {
    let amount = amount.trim();
    let fraction = amount.len().checked_sub(3).and_then(|at| {
        let (units, rest) = amount.split_at_checked(at)?;
        Some((units, rest.strip_prefix(['.', ','])?))
    });
    let (units, fraction) = fraction.unwrap_or((amount, "00"));
    let units: i64 = units.replace([',', '\u{a0}'], "").parse().ok()?;
    let fraction: i64 = fraction.parse().ok()?;
    units.checked_mul(100)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_that_are_shown_and_saved_stay_as_they_are() {
        let set = json!({"currency": "EUR", "types": [
            {"type": "Day: adults", "product": "code:day for all", "cents": 4500},
            {"type": "Visitor", "product": "12", "cents": 125_000},
        ]});
        let Value::Object(set) = set else {
            unreachable!()
        };
        assert_eq!(stored(shown(set.clone())), set);
        assert_eq!(stored(shown(Map::new())), Map::new());
    }

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, read) in [
            ("45", 4500),
            (" 45.50", 4550),
            ("45,50", 4550),
            ("1,250.00", 125_000),
        ] {
            assert_eq!(cents(text), Some(read), "{text}");
        }
        for text in ["", "free", "4.5.0", "99999999999999999999"] {
            assert_eq!(cents(text), None, "{text}");
        }
    }
}
