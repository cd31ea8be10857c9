//! Values out of a body: those of the right kind are read, the rest becomes inconsistencies. So does what does not
//! fit together across the purchase: sums, and the counters of items.

use super::{super::ERASED, Inconsistency, Item, Payment, Sale, Ticket};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};

/// The most inconsistencies of a body that are listed.
const INCONSISTENCIES_MAX: usize = 1_000;
/// Amounts are smaller, in cents: sums over a whole event stay exact.
const CENTS_END: i64 = 1_000_000_000_000;

/// The longest purchase code, in characters.
const CODE_MAX_CHARS: usize = 255;
/// The most payments of a purchase.
const PAYMENTS_MAX: usize = 1_000;
/// The most items of a purchase: their counter has four digits (spec: Limits).
const ITEMS_MAX: usize = 10_000;
/// The most tickets of a purchase.
const TICKETS_MAX: usize = 100_000;
/// The most units of a line.
const QUANTITY_MAX: i64 = 1_000_000;

/// Digits of the counter behind the purchase code in an item's code.
const COUNTER_DIGITS: usize = 4;
/// Gaps between counters that are listed.
const GAPS_MAX: usize = 20;

#[derive(Default)]
pub(super) struct Reading {
    pub(super) sale: Sale,
    barcodes: HashSet<String>,
    unlisted: usize,
}

/// An object of the body, and its path.
struct At<'a> {
    path: String,
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
    pub(super) fn purchase(&mut self, object: &Map<String, Value>) {
        let at = &At {
            path: String::new(),
            object,
        };
        self.code(at);
        self.sale.context = self.integer(at, "context", true);
        self.sale.total_amount = self.cents(at, "totalAmount", true);
        self.sale.notes = self.text(at, "notes", false);
        self.sale.created_at_s = self.integer(at, "createdAt", true);
        if let Some(seconds) = self.sale.created_at_s
            && crate::types::Timestamp::from_unix_s(seconds).is_none()
        {
            self.note("createdAt", "must be a Unix timestamp in seconds");
            self.sale.created_at_s = None;
        }
        self.sale.recorded_by = self.text(at, "recordedBy", true);
        for payment in self.objects(at, "transactions", PAYMENTS_MAX) {
            self.payment(&payment);
        }
        for item in self.objects(at, "items", ITEMS_MAX) {
            self.item(&item);
        }
        self.net();
        self.sums();
        self.counters();
    }

    fn code(&mut self, at: &At<'_>) {
        match self.text(at, "code", true) {
            Some(code) if code.chars().count() > CODE_MAX_CHARS || code.contains('\0') => {
                let message = format!("must have 1 to {CODE_MAX_CHARS} characters");
                self.note("code", message);
            }
            Some(code) => self.sale.code = code,
            None => {}
        }
    }

    fn payment(&mut self, at: &At<'_>) {
        let payment = Payment {
            method: self.text(at, "paymentMethod", true),
            amount: self.cents(at, "amount", true),
            change: self.cents(at, "change", false),
            reference: self.text(at, "transactionId", false),
            net: None,
        };
        match payment.method.as_deref() {
            Some("cash") | None => {}
            Some("card") => {
                if payment.change.is_some_and(|change| change != 0) {
                    self.note(at.of("change"), "a card gives no change");
                }
            }
            Some(_) => self.note(at.of("paymentMethod"), "must be cash or card"),
        }
        self.sale.payments.push(payment);
    }

    fn item(&mut self, at: &At<'_>) {
        let mut item = Item {
            code: self.text(at, "code", true),
            product: self.integer(at, "product", true),
            quantity: self.integer(at, "quantity", true),
            description: self.text(at, "description", false),
            unit_amount: self.cents(at, "unitAmount", true),
            total_amount: self.cents(at, "totalAmount", true),
            discount_amount: self.cents(at, "discountAmount", false),
        };
        match item.quantity {
            Some(..=0) => self.note(at.of("quantity"), "must be greater than zero"),
            Some(quantity) if quantity > QUANTITY_MAX => {
                self.note(at.of("quantity"), format!("must be at most {QUANTITY_MAX}"));
                item.quantity = None;
            }
            _ => {}
        }
        if let (Some(quantity), Some(unit), Some(total)) =
            (item.quantity, item.unit_amount, item.total_amount)
        {
            let full = i128::from(quantity) * i128::from(unit);
            let reduced = full - i128::from(item.discount_amount.unwrap_or(0));
            if i128::from(total) != full && i128::from(total) != reduced {
                let message =
                    format!("{total} is not {quantity} × {unit}, with or without the discount");
                self.note(at.of("totalAmount"), message);
            }
        }
        let free = TICKETS_MAX - self.sale.tickets.len();
        let tickets = self.objects(at, "delegates", free);
        let count = tickets.len();
        if let Some(quantity @ 1..) = item.quantity
            && usize::try_from(quantity).is_ok_and(|units| !count.is_multiple_of(units))
        {
            let message = format!("{count} tickets do not go into {quantity} units");
            self.note(at.of("delegates"), message);
        }
        let line = self.sale.items.len();
        self.sale.items.push(item);
        for ticket in tickets {
            self.ticket(line, &ticket);
        }
    }

    fn ticket(&mut self, item: usize, at: &At<'_>) {
        let product = self.integer(at, "product", true);
        let description = self.text(at, "description", false);
        let Some(barcode) = self.text(at, "barcode", true) else {
            return;
        };
        if let Err(cause) = crate::types::text::check_code("barcode", &barcode) {
            self.note(at.of("barcode"), cause.to_string());
            return;
        }
        if barcode == ERASED {
            // Somebody who was deleted for good; the ticket is not made anew.
            return;
        }
        if !self.barcodes.insert(barcode.clone()) {
            self.note(at.of("barcode"), "another ticket of this purchase has it");
            return;
        }
        self.sale.tickets.push(Ticket {
            item,
            path: at.path.clone(),
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
        let change = payments.iter().filter_map(|payment| payment.change);
        let change: i128 = change.map(i128::from).sum();
        // Some tills send what was handed over, others what they kept.
        if let Some(paid) = paid
            && paid != total
            && paid - change != total
        {
            let kept = paid - change;
            let message = format!("they add up to {paid}, less change {kept}, and not to {total}");
            self.note("transactions", message);
        }
        let bought = sum(&mut self.sale.items.iter().map(|item| item.total_amount));
        if let Some(bought) = bought
            && bought != total
        {
            let message = format!("they add up to {bought} and not to {total}");
            self.note("items", message);
        }
    }

    /// Works out what of each payment stayed in the till: the amount where the amounts are the total already, otherwise
    /// the amount less the change.
    fn net(&mut self) {
        let paid: i64 = self.sale.payments.iter().filter_map(|one| one.amount).sum();
        let kept = self.sale.total_amount == Some(paid);
        for payment in &mut self.sale.payments {
            let change = payment.change.filter(|_| !kept).unwrap_or(0);
            payment.net = payment.amount.map(|amount| amount - change);
        }
    }

    /// Item codes are the purchase code and a counter from 0000 on.
    fn counters(&mut self) {
        // Without it, that it is missing is all that can be said.
        if self.sale.code.is_empty() {
            return;
        }
        let mut seen = BTreeSet::new();
        let items = self.sale.items.iter();
        let codes: Vec<Option<String>> = items.map(|item| item.code.clone()).collect();
        for (line, code) in codes.iter().enumerate() {
            let Some(code) = code else { continue };
            let path = format!("items[{line}].code");
            let counter = code
                .strip_prefix(self.sale.code.as_str())
                .filter(|counter| counter.len() == COUNTER_DIGITS)
                .filter(|counter| counter.bytes().all(|digit| digit.is_ascii_digit()));
            match counter.and_then(|counter| counter.parse::<usize>().ok()) {
                None => self.note(
                    path,
                    format!("must be the purchase code and {COUNTER_DIGITS} digits"),
                ),
                Some(counter) if !seen.insert(counter) => {
                    self.note(path, "another item of this purchase has it");
                }
                Some(_) => {}
            }
        }
        let counters: Vec<usize> = seen.into_iter().collect();
        let gaps = gaps(&counters);
        if !gaps.is_empty() {
            self.note("items", format!("there is no item with counter {gaps}"));
        }
    }

    pub(super) fn note(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.sale.inconsistencies.len() == INCONSISTENCIES_MAX {
            self.unlisted += 1;
            return;
        }
        self.sale.inconsistencies.push(Inconsistency {
            path: path.into(),
            message: message.into(),
        });
    }

    /// Adds how many are left out.
    pub(super) fn finish(&mut self) {
        if self.unlisted > 0 {
            self.sale.inconsistencies.push(Inconsistency {
                path: String::new(),
                message: format!("and {} inconsistencies more", self.unlisted),
            });
        }
    }

    /// The objects of a list, each with its path; at most so many.
    fn objects<'a>(&mut self, at: &At<'a>, name: &str, most: usize) -> Vec<At<'a>> {
        let path = at.of(name);
        let list = match at.object.get(name) {
            Some(Value::Array(list)) => list,
            None | Some(Value::Null) => {
                // A line without tickets is a mug.
                if name != "delegates" {
                    self.note(path, "is missing");
                }
                return Vec::new();
            }
            Some(_) => {
                self.note(path, "must be a list");
                return Vec::new();
            }
        };
        if list.len() > most {
            let count = list.len();
            let message = format!("there are {count}, and only the first {most} are loaded");
            self.note(&*path, message);
        }
        let mut objects = Vec::with_capacity(list.len().min(most));
        for (index, entry) in list.iter().take(most).enumerate() {
            let path = format!("{path}[{index}]");
            match entry {
                Value::Object(object) => objects.push(At { path, object }),
                _ => self.note(path, "must be an object"),
            }
        }
        objects
    }

    fn text(&mut self, at: &At<'_>, name: &str, needed: bool) -> Option<String> {
        match at.object.get(name) {
            Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
            Some(Value::Null | Value::String(_)) | None if !needed => {}
            Some(Value::Null | Value::String(_)) | None => self.note(at.of(name), "is missing"),
            Some(_) => self.note(at.of(name), "must be a text"),
        }
        None
    }

    fn integer(&mut self, at: &At<'_>, name: &str, needed: bool) -> Option<i64> {
        match at.object.get(name) {
            Some(Value::Number(number)) if number.as_i64().is_some() => return number.as_i64(),
            Some(Value::Null) | None if !needed => {}
            Some(Value::Null) | None => self.note(at.of(name), "is missing"),
            Some(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => {
                self.note(at.of(name), "is out of range");
            }
            Some(_) => self.note(at.of(name), "must be a whole number"),
        }
        None
    }

    fn cents(&mut self, at: &At<'_>, name: &str, needed: bool) -> Option<i64> {
        let amount = self.integer(at, name, needed)?;
        if amount.abs_diff(0) >= CENTS_END.unsigned_abs() {
            let message = format!("must be less than {CENTS_END}; it is in cents");
            self.note(at.of(name), message);
            return None;
        }
        if amount < 0 {
            self.note(at.of(name), "must not be negative");
        }
        Some(amount)
    }
}

/// Counters that are left out below the highest, such as `0001, 0004 to 0009`; of many gaps the first.
fn gaps(counters: &[usize]) -> String {
    let mut shown = Vec::new();
    let mut next = 0;
    for counter in counters {
        match counter - next {
            0 => {}
            1 => shown.push(format!("{next:04}")),
            _ => shown.push(format!("{next:04} to {:04}", counter - 1)),
        }
        next = counter + 1;
    }
    let more = shown.len() > GAPS_MAX;
    shown.truncate(GAPS_MAX);
    if more {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_is_listed() {
        for (counters, shown) in [
            (&[][..], ""),
            (&[0, 1, 2], ""),
            (&[1], "0000"),
            (&[0, 2, 5, 6, 9], "0001, 0003 to 0004, 0007 to 0008"),
            (&[9_999], "0000 to 9998"),
        ] {
            assert_eq!(gaps(counters), shown);
        }
        let even: Vec<usize> = (0..100).step_by(2).collect();
        assert!(gaps(&even).ends_with(", …"), "{}", gaps(&even));
    }
}
