//! A purchase as a till sends it, read as far as it can be: what does not fit is told and passed
//! over, never refused (spec: Transaction endpoint, "Acceptance rule"). Pure; what only the file
//! knows, such as whether a product is there, is looked at when it is loaded.
//!
//! - `reading`: values out of a body, whatever they are
//! - `parts`: the purchase, its payments, items and tickets
//! - `sums`: what has to fit together across them

mod parts;
mod reading;
mod sums;
#[cfg(test)]
mod tests;

use crate::auth::secret;
use reading::Reading;
use serde_json::Value;

/// Something in a purchase that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inconsistency {
    /// Where, such as `items[0].quantity`; empty for the whole.
    pub path: String,
    /// What, and what would be right.
    pub message: String,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payment {
    /// `cash`, `card`, or whatever was sent.
    pub method: Option<String>,
    /// In cents.
    pub amount: Option<i64>,
    /// Given back, in cents.
    pub change: Option<i64>,
    /// The payment's own identifier.
    pub reference: Option<String>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The Purchase Item Code.
    pub code: Option<String>,
    /// The device that is sold.
    pub product: Option<i64>,
    /// How many.
    pub quantity: Option<i64>,
    /// Mostly the product's name.
    pub description: Option<String>,
    /// In cents.
    pub unit_amount: Option<i64>,
    /// In cents.
    pub total_amount: Option<i64>,
    /// In cents.
    pub discount_amount: Option<i64>,
}

/// A ticket that was sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Its line.
    pub item: usize,
    /// Where it stands in the body.
    pub path: String,
    /// The device that it lets into.
    pub product: Option<i64>,
    /// Mostly the product's label.
    pub description: Option<String>,
    /// Its code.
    pub barcode: String,
}

/// A purchase, and what does not fit in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sale {
    /// The Purchase Code; the body's SHA-256 where it has none.
    pub code: String,
    /// The device that everything is joined to.
    pub context: Option<i64>,
    /// In cents.
    pub total_amount: Option<i64>,
    /// A note by the staff.
    pub notes: Option<String>,
    /// When it was bought, Unix seconds.
    pub created_at_s: Option<i64>,
    /// Who sold it.
    pub recorded_by: Option<String>,
    /// How it was paid.
    pub payments: Vec<Payment>,
    /// What was bought.
    pub items: Vec<Item>,
    /// The tickets among it.
    pub tickets: Vec<Ticket>,
    /// What does not fit, in the order of the body.
    pub inconsistencies: Vec<Inconsistency>,
}

impl Sale {
    /// Reads a body, whatever it is.
    #[must_use]
    pub fn read(body: &[u8]) -> Self {
        let mut reading = Reading::default();
        let parsed = crate::types::json::check_limits(body)
            .map_err(|cause| cause.message)
            .and_then(|()| {
                serde_json::from_slice::<Value>(body)
                    .map_err(|cause| format!("it is not JSON: {cause}"))
            });
        match parsed {
            Ok(Value::Object(purchase)) => reading.purchase(&purchase),
            Ok(_) => reading.tell("", "it must be a JSON object"),
            Err(message) => reading.tell("", message),
        }
        if reading.sale.code.is_empty() {
            reading.sale.code = secret::hex(&secret::digest(body));
        }
        reading.sale
    }
}
