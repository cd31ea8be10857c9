//! A purchase as a till sends it, read as far as possible: inconsistencies are listed and passed
//! over, never refused (spec: Transaction endpoint, "Acceptance rule"). Pure; what only the file
//! knows, such as whether a product is there, is looked at when it is loaded.
//!
//! - `reading`: the purchase, its payments, items and tickets
//! - `mended`: a body that is nearly JSON

mod mended;
mod reading;
#[cfg(test)]
mod tests;

use crate::types::{Timestamp, json, secret, text::shortened};
use reading::Reading;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most values of a body that is read: each takes memory many times its length.
const VALUES_MAX: usize = 1_000_000;

/// Something in a purchase that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inconsistency {
    /// The path, such as `items[0].quantity`; empty for the whole.
    pub path: String,
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
    /// The money that stayed in the till, in cents.
    pub net: Option<i64>,
    pub reference: Option<String>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    pub code: Option<String>,
    pub product: Option<i64>,
    pub quantity: Option<i64>,
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
    pub item: usize,
    pub path: String,
    pub product: Option<i64>,
    pub description: Option<String>,
    pub barcode: String,
}

/// A purchase, and what does not fit in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sale {
    /// The same for bodies that say the same, however their JSON is laid out.
    pub fingerprint: [u8; 16],
    /// The Purchase Code; the body's SHA-256 where it has none.
    pub code: String,
    pub context: Option<i64>,
    /// In cents.
    pub total_amount: Option<i64>,
    pub notes: Option<String>,
    pub created_at_s: Option<i64>,
    pub recorded_by: Option<String>,
    pub payments: Vec<Payment>,
    pub items: Vec<Item>,
    pub tickets: Vec<Ticket>,
    /// The details that do not fit, in the order of the body; of very many the first, and how many more.
    pub inconsistencies: Vec<Inconsistency>,
}

impl Sale {
    /// Reads a body, whatever it is.
    pub fn read(sent: &[u8]) -> Self {
        let mut reading = Reading::default();
        let digest = secret::digest(sent);
        reading.sale.fingerprint.copy_from_slice(&digest[..16]);
        let (body, read) = match parsed(sent) {
            Err(why) => reading.mended(sent, why),
            read => (Cow::Borrowed(sent), read),
        };
        match read {
            Ok(Value::Object(purchase)) => {
                match serde_json::from_slice(&body) {
                    // The later of two is read; the till meant one of them.
                    Err(cause) => reading.note("", json::fault(&cause)),
                    // What is read as something else is the same only if every byte is.
                    Ok(Whole(said)) => {
                        if matches!(body, Cow::Borrowed(_)) && json::check_limits(sent).is_ok() {
                            reading.sale.fingerprint = json::fingerprint(&said.into());
                        }
                    }
                }
                reading.purchase(&purchase);
            }
            Ok(_) => reading.note("", "it must be a JSON object"),
            Err(message) => reading.note("", message),
        }
        reading.finish();
        if reading.sale.code.is_empty() {
            reading.sale.code = secret::hex(&digest);
        }
        reading.sale
    }
}

impl Sale {
    /// Notes a query parameter; none is read.
    pub fn note_query(&mut self, name: &str) {
        let name = shortened(name);
        self.note(format!("\"{name}\" in the query string is not read"));
    }

    /// Adds an inconsistency of the whole request.
    pub fn note(&mut self, message: String) {
        self.inconsistencies.push(Inconsistency {
            path: String::new(),
            message,
        });
    }

    /// The time of purchase, where the till says so.
    pub fn bought_at(&self) -> Option<Timestamp> {
        self.created_at_s.and_then(Timestamp::from_unix_s)
    }
}

impl Reading {
    /// A body that is not JSON for the sake of a few letters or numbers, read without those.
    fn mended<'a>(
        &mut self,
        sent: &'a [u8],
        why: String,
    ) -> (Cow<'a, [u8]>, Result<Value, String>) {
        if let Some(body) = mended::mended(sent)
            && let Ok(value) = parsed(&body)
        {
            self.note(
                "",
                format!("{why}; it was read with such letters replaced, and such values left out"),
            );
            return (Cow::Owned(body), Ok(value));
        }
        (Cow::Borrowed(sent), Err(why))
    }
}

/// An object without duplicate properties.
#[derive(serde::Deserialize)]
struct Whole(#[serde(deserialize_with = "json::no_property_twice")] Map<String, Value>);

/// A body as JSON, mended where that helps; none where it is something else.
pub fn value(body: &[u8]) -> Option<Value> {
    let read = |body: &[u8]| serde_json::from_slice(body).ok();
    read(body).or_else(|| read(&mended::mended(body)?))
}

/// A body as JSON; an absurd number becomes an inconsistency where it is.
fn parsed(body: &[u8]) -> Result<Value, String> {
    let separators = body
        .iter()
        .filter(|byte| matches!(byte, b',' | b'[' | b'{'))
        .count();
    if separators > VALUES_MAX {
        return Err(format!(
            "it has more than {VALUES_MAX} values: it is kept, and not read"
        ));
    }
    serde_json::from_slice(body).map_err(|cause| format!("it {}", json::fault(&cause)))
}
