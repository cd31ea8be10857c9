//! A purchase as a till sends it, read as far as it can be: what does not fit is told and passed
//! over, never refused (spec: Transaction endpoint, "Acceptance rule"). Pure; what only the file
//! knows, such as whether a product is there, is looked at when it is loaded.

use crate::auth::secret;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The longest purchase code, in characters.
const CODE_MAX_CHARS: usize = 255;
/// Digits of the counter behind the purchase code in an item's code.
const COUNTER_DIGITS: usize = 4;

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

#[derive(Default)]
struct Reading {
    sale: Sale,
}

/// A place in the body.
#[derive(Clone, Copy)]
struct At<'a> {
    path: &'a str,
    object: &'a Map<String, Value>,
}

impl At<'_> {
    fn of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}

impl Reading {
    fn tell(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.sale.inconsistencies.push(Inconsistency {
            path: path.into(),
            message: message.into(),
        });
    }

    fn purchase(&mut self, object: &Map<String, Value>) {
        let at = At { path: "", object };
        self.code(at);
        self.sale.context = self.integer(at, "context", true);
        self.sale.total_amount = self.cents(at, "totalAmount", true);
        self.sale.notes = self.text(at, "notes", false);
        self.sale.created_at_s = self.integer(at, "createdAt", true);
        if let Some(seconds) = self.sale.created_at_s
            && crate::types::Timestamp::from_unix_s(seconds).is_none()
        {
            self.tell("createdAt", "must be a Unix timestamp in seconds");
            self.sale.created_at_s = None;
        }
        self.sale.recorded_by = self.text(at, "recordedBy", true);
        for (path, object) in self.objects(at, "transactions") {
            self.payment(At {
                path: &path,
                object,
            });
        }
        for (path, object) in self.objects(at, "items") {
            self.item(At {
                path: &path,
                object,
            });
        }
        self.sums();
        self.counters();
    }

    fn code(&mut self, at: At<'_>) {
        match self.text(at, "code", true) {
            Some(code) if code.chars().count() > CODE_MAX_CHARS || code.contains('\0') => {
                self.tell(
                    "code",
                    format!("must have 1 to {CODE_MAX_CHARS} characters"),
                );
            }
            Some(code) => self.sale.code = code,
            None => {}
        }
    }

    fn payment(&mut self, at: At<'_>) {
        let payment = Payment {
            method: self.text(at, "paymentMethod", true),
            amount: self.cents(at, "amount", true),
            change: self.cents(at, "change", false),
            reference: self.text(at, "transactionId", false),
        };
        match payment.method.as_deref() {
            Some("cash") | None => {}
            Some("card") => {
                if payment.change.is_some_and(|change| change != 0) {
                    self.tell(at.of("change"), "a card gives no change");
                }
            }
            Some(_) => self.tell(at.of("paymentMethod"), "must be cash or card"),
        }
        self.sale.payments.push(payment);
    }

    fn item(&mut self, at: At<'_>) {
        let item = Item {
            code: self.text(at, "code", true),
            product: self.integer(at, "product", true),
            quantity: self.integer(at, "quantity", true),
            description: self.text(at, "description", false),
            unit_amount: self.cents(at, "unitAmount", true),
            total_amount: self.cents(at, "totalAmount", true),
            discount_amount: self.cents(at, "discountAmount", false),
        };
        if item.quantity.is_some_and(|quantity| quantity <= 0) {
            self.tell(at.of("quantity"), "must be greater than zero");
        }
        if let (Some(quantity), Some(unit), Some(total)) =
            (item.quantity, item.unit_amount, item.total_amount)
        {
            let full = i128::from(quantity) * i128::from(unit);
            let reduced = full - i128::from(item.discount_amount.unwrap_or(0));
            if i128::from(total) != full && i128::from(total) != reduced {
                self.tell(
                    at.of("totalAmount"),
                    format!("{total} is not {quantity} × {unit}, with or without the discount"),
                );
            }
        }
        let tickets = self.objects(at, "delegates");
        if let Some(quantity) = item
            .quantity
            .and_then(|quantity| usize::try_from(quantity).ok())
            && quantity > 0
            && !tickets.len().is_multiple_of(quantity)
        {
            let count = tickets.len();
            self.tell(
                at.of("delegates"),
                format!("{count} tickets do not go into {quantity} units"),
            );
        }
        let line = self.sale.items.len();
        self.sale.items.push(item);
        for (path, object) in tickets {
            self.ticket(
                line,
                At {
                    path: &path,
                    object,
                },
            );
        }
    }

    fn ticket(&mut self, item: usize, at: At<'_>) {
        let product = self.integer(at, "product", true);
        let description = self.text(at, "description", false);
        let Some(barcode) = self.text(at, "barcode", true) else {
            return;
        };
        if let Err(cause) = crate::types::text::check_code("barcode", &barcode) {
            self.tell(at.of("barcode"), cause.message);
            return;
        }
        if self
            .sale
            .tickets
            .iter()
            .any(|known| known.barcode == barcode)
        {
            self.tell(at.of("barcode"), "another ticket of this purchase has it");
            return;
        }
        self.sale.tickets.push(Ticket {
            item,
            path: at.path.to_owned(),
            product,
            description,
            barcode,
        });
    }

    fn sums(&mut self) {
        let Some(total) = self.sale.total_amount.map(i128::from) else {
            return;
        };
        let sum = |amounts: &mut dyn Iterator<Item = Option<i64>>| -> Option<i128> {
            amounts.map(|amount| amount.map(i128::from)).sum()
        };
        let payments = &self.sale.payments;
        let paid = sum(&mut payments.iter().map(|payment| payment.amount));
        let change: i128 = payments
            .iter()
            .filter_map(|payment| payment.change)
            .map(i128::from)
            .sum();
        // Some tills send what was handed over, others what they kept.
        if let Some(paid) = paid
            && paid != total
            && paid - change != total
        {
            self.tell(
                "transactions",
                format!(
                    "they add up to {paid}, less change {}, and not to {total}",
                    paid - change
                ),
            );
        }
        let bought = sum(&mut self.sale.items.iter().map(|item| item.total_amount));
        if let Some(bought) = bought
            && bought != total
        {
            self.tell(
                "items",
                format!("they add up to {bought} and not to {total}"),
            );
        }
    }

    /// Item codes are the purchase code and a counter from 0000 on.
    fn counters(&mut self) {
        let mut seen = HashSet::new();
        let codes: Vec<Option<String>> = self
            .sale
            .items
            .iter()
            .map(|item| item.code.clone())
            .collect();
        for (line, code) in codes.iter().enumerate() {
            let Some(code) = code else { continue };
            let path = format!("items[{line}].code");
            let counter = code
                .strip_prefix(self.sale.code.as_str())
                .filter(|counter| counter.len() == COUNTER_DIGITS)
                .filter(|counter| counter.bytes().all(|digit| digit.is_ascii_digit()));
            match counter.and_then(|counter| counter.parse::<usize>().ok()) {
                None => self.tell(
                    path,
                    format!("must be the purchase code and {COUNTER_DIGITS} digits"),
                ),
                Some(counter) if !seen.insert(counter) => {
                    self.tell(path, "another item of this purchase has it");
                }
                Some(_) => {}
            }
        }
        if let Some(missing) = (0..seen.len()).find(|counter| !seen.contains(counter)) {
            self.tell(
                "items",
                format!("there is no item with counter {missing:04}"),
            );
        }
    }

    /// The objects of a list, each with its path.
    fn objects<'a>(&mut self, at: At<'a>, name: &str) -> Vec<(String, &'a Map<String, Value>)> {
        let path = at.of(name);
        let list = match at.object.get(name) {
            Some(Value::Array(list)) => list,
            None | Some(Value::Null) => {
                // A line without tickets is a mug.
                if name != "delegates" {
                    self.tell(path, "is missing");
                }
                return Vec::new();
            }
            Some(_) => {
                self.tell(path, "must be a list");
                return Vec::new();
            }
        };
        let mut objects = Vec::with_capacity(list.len());
        for (index, entry) in list.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match entry {
                Value::Object(object) => objects.push((path, object)),
                _ => self.tell(path, "must be an object"),
            }
        }
        objects
    }

    fn text(&mut self, at: At<'_>, name: &str, needed: bool) -> Option<String> {
        match at.object.get(name) {
            Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
            Some(Value::Null | Value::String(_)) | None => {
                if needed {
                    self.tell(at.of(name), "is missing");
                }
            }
            Some(_) => self.tell(at.of(name), "must be a text"),
        }
        None
    }

    fn integer(&mut self, at: At<'_>, name: &str, needed: bool) -> Option<i64> {
        match at.object.get(name) {
            Some(Value::Number(number)) if number.as_i64().is_some() => return number.as_i64(),
            Some(Value::Null) | None => {
                if needed {
                    self.tell(at.of(name), "is missing");
                }
            }
            Some(_) => self.tell(at.of(name), "must be a whole number"),
        }
        None
    }

    fn cents(&mut self, at: At<'_>, name: &str, needed: bool) -> Option<i64> {
        let amount = self.integer(at, name, needed)?;
        if amount < 0 {
            self.tell(at.of(name), "must not be negative");
        }
        Some(amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sound() -> Value {
        json!({
            "context": 1, "code": "TLH26", "totalAmount": 5000, "createdAt": 1_790_000_000,
            "recordedBy": "Ada",
            "transactions": [
                {"paymentMethod": "cash", "amount": 3000, "change": 0},
                {"paymentMethod": "card", "amount": 2000, "transactionId": "T1"},
            ],
            "items": [
                {"code": "TLH260000", "product": 2, "quantity": 2, "unitAmount": 2000, "totalAmount": 4000,
                 "delegates": [{"product": 2, "barcode": "A"}, {"product": 2, "barcode": "B"}]},
                {"code": "TLH260001", "product": 3, "quantity": 1, "unitAmount": 1200, "totalAmount": 1000,
                 "discountAmount": 200},
            ],
        })
    }

    fn told(body: &Value) -> Vec<String> {
        let sale = Sale::read(body.to_string().as_bytes());
        let told = |found: &Inconsistency| format!("{}: {}", found.path, found.message);
        sale.inconsistencies.iter().map(told).collect()
    }

    #[test]
    fn a_sound_purchase_is_read_whole() {
        let sale = Sale::read(sound().to_string().as_bytes());
        assert_eq!(sale.inconsistencies, []);
        assert_eq!((sale.code.as_str(), sale.context), ("TLH26", Some(1)));
        assert_eq!((sale.payments.len(), sale.items.len()), (2, 2));
        let tickets: Vec<_> = sale
            .tickets
            .iter()
            .map(|ticket| ticket.barcode.as_str())
            .collect();
        assert_eq!(tickets, ["A", "B"]);
    }

    #[test]
    fn each_slip_is_told_where_it_is() {
        let cases: &[(&str, Value, &str)] = &[
            (
                "/totalAmount",
                json!(4999),
                "transactions: they add up to 5000",
            ),
            (
                "/totalAmount",
                json!("5000"),
                "totalAmount: must be a whole number",
            ),
            (
                "/totalAmount",
                json!(50.5),
                "totalAmount: must be a whole number",
            ),
            ("/context", json!(null), "context: is missing"),
            ("/code", json!(7), "code: must be a text"),
            (
                "/createdAt",
                json!(i64::MAX),
                "createdAt: must be a Unix timestamp",
            ),
            ("/transactions", json!({}), "transactions: must be a list"),
            (
                "/transactions/0",
                json!(1),
                "transactions[0]: must be an object",
            ),
            (
                "/transactions/0/paymentMethod",
                json!("iou"),
                "transactions[0].paymentMethod: must be cash or card",
            ),
            (
                "/transactions/1/amount",
                json!(-2000),
                "transactions[1].amount: must not be negative",
            ),
            (
                "/items/0/quantity",
                json!(0),
                "items[0].quantity: must be greater than zero",
            ),
            (
                "/items/0/quantity",
                json!(3),
                "items[0].delegates: 2 tickets do not go into 3 units",
            ),
            (
                "/items/0/unitAmount",
                json!(1999),
                "items[0].totalAmount: 4000 is not 2 × 1999",
            ),
            (
                "/items/0/code",
                json!("X"),
                "items[0].code: must be the purchase code and 4 digits",
            ),
            (
                "/items/1/code",
                json!("TLH260000"),
                "items[1].code: another item of this purchase has it",
            ),
            (
                "/items/1/code",
                json!("TLH260002"),
                "items: there is no item with counter 0001",
            ),
            (
                "/items/0/delegates/1/barcode",
                json!("A"),
                "items[0].delegates[1].barcode: another ticket",
            ),
            (
                "/items/0/delegates/1/barcode",
                json!(null),
                "items[0].delegates[1].barcode: is missing",
            ),
        ];
        for (pointer, value, expected) in cases {
            let mut body = sound();
            *body.pointer_mut(pointer).unwrap() = value.clone();
            let told = told(&body);
            assert!(
                told.iter().any(|line| line.starts_with(expected)),
                "{pointer}: {told:?}"
            );
        }
        let mut body = sound();
        body["transactions"][1]["change"] = json!(5);
        body["transactions"][1]["amount"] = json!(2005);
        assert_eq!(
            told(&body),
            ["transactions[1].change: a card gives no change"]
        );
    }

    #[test]
    fn what_was_handed_over_may_be_sent_or_what_was_kept() {
        let mut body = sound();
        body["transactions"][0]["amount"] = json!(5000);
        body["transactions"][0]["change"] = json!(2000);
        assert_eq!(told(&body), [] as [&str; 0]);
    }

    #[test]
    fn a_body_that_is_nothing_still_has_a_code() {
        for body in ["", "{", "[]", "\u{0}", "{\"code\": \"\"}"] {
            let sale = Sale::read(body.as_bytes());
            assert_eq!(sale.code.len(), 64, "{body}");
            assert!(!sale.inconsistencies.is_empty());
        }
        let huge = format!("{{\"totalAmount\": {}}}", "9".repeat(40));
        assert!(!Sale::read(huge.as_bytes()).inconsistencies.is_empty());
    }
}
