//! The setting `walkIn`: what people who come without a ticket pay at the desk, by type.

use crate::{
    core::rules::folded,
    types::{
        DeviceSelector,
        error::{Error, Result},
        text::check_text,
    },
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;

const TYPES_MAX: usize = 50;
/// No amount is so high; it is in cents.
const CENTS_END: i64 = 100_000_000;

/// Prices of walk-ins; none unless set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkInPrices {
    /// The code of the currency, such as `EUR`.
    pub currency: String,
    /// One of each type that pays.
    pub types: Vec<WalkInPrice>,
}

/// The price of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkInPrice {
    /// The type of attendee.
    pub delegate_type: String,
    /// The device that is sold.
    pub product: DeviceSelector,
    pub cents: i64,
}

/// Prices as they are sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    currency: String,
    types: Vec<SentPrice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentPrice {
    r#type: String,
    product: Value,
    cents: i64,
}

impl SentPrice {
    /// The price, which stands at a position of the list behind those of the types `seen`.
    fn checked(self, at: usize, seen: &mut HashSet<String>) -> Result<WalkInPrice> {
        let fault =
            |name: &str, message: &str| Error::field(format!("walkIn.types[{at}].{name}"), message);
        let name = self.r#type.trim();
        check_text(&format!("walkIn.types[{at}].type"), name)?;
        if name.is_empty() || !seen.insert(folded(name)) {
            return Err(fault("type", "must be a type, and each at most once"));
        }
        if !(1..CENTS_END).contains(&self.cents) {
            return Err(fault("cents", "must be from 1 to 99999999"));
        }
        let product = product(&self.product).ok_or_else(|| {
            fault(
                "product",
                "must name a device, such as 12 or code:day-ticket",
            )
        })?;
        Ok(WalkInPrice {
            delegate_type: name.to_owned(),
            product,
            cents: self.cents,
        })
    }
}

impl WalkInPrices {
    /// Reads the setting.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the property at fault.
    pub fn parse(value: &Value) -> Result<Self> {
        let sent = Sent::deserialize(value).map_err(|cause| Error::field("walkIn", cause))?;
        let is_code = sent.currency.len() == 3;
        if !is_code
            || !sent
                .currency
                .bytes()
                .all(|letter| letter.is_ascii_uppercase())
        {
            return Err(Error::field(
                "walkIn.currency",
                "must be a code of three letters, such as EUR",
            ));
        }
        if sent.types.len() > TYPES_MAX {
            return Err(Error::field(
                "walkIn.types",
                format!("must have at most {TYPES_MAX} entries"),
            ));
        }
        let mut seen = HashSet::new();
        let mut types = Vec::with_capacity(sent.types.len());
        for (at, price) in sent.types.into_iter().enumerate() {
            types.push(price.checked(at, &mut seen)?);
        }
        Ok(Self {
            currency: sent.currency,
            types,
        })
    }

    /// The price of a type.
    pub fn of(&self, delegate_type: &str) -> Option<&WalkInPrice> {
        let wanted = folded(delegate_type);
        let mut types = self.types.iter();
        types.find(|price| folded(&price.delegate_type) == wanted)
    }
}

/// A device by its id, as a number or as text, or by a code.
fn product(value: &Value) -> Option<DeviceSelector> {
    let text = match value {
        Value::Number(id) => id.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let is_id = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let text = if is_id { format!("id:{text}") } else { text };
    DeviceSelector::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prices_are_read_or_refused_by_name() {
        let set = json!({"currency": "EUR", "types": [
            {"type": "Visitor", "product": 12, "cents": 4500}, {"type": "Student", "product": "code:day", "cents": 1},
        ]});
        let prices = WalkInPrices::parse(&set).unwrap();
        assert_eq!(prices.of("VISITOR").unwrap().cents, 4500);
        assert_eq!(
            prices.of("student").unwrap().product.to_string(),
            "code:day"
        );
        assert_eq!(prices.of("crew"), None);
        for (currency, one, fault) in [
            ("Euro", json!({}), "walkIn.currency"),
            ("EUR", json!({"type": ""}), "walkIn.types[0].type"),
            ("EUR", json!({"cents": 0}), "walkIn.types[0].cents"),
            ("EUR", json!({"product": "day"}), "walkIn.types[0].product"),
            ("EUR", json!({"price": 1}), "walkIn: unknown field"),
        ] {
            let mut price = json!({"type": "A", "product": 1, "cents": 1});
            crate::types::json::merge_patch(&mut price, one);
            let set = json!({"currency": currency, "types": [price]});
            let cause = WalkInPrices::parse(&set).unwrap_err();
            assert!(cause.to_string().starts_with(fault), "{cause}");
        }
    }
}
