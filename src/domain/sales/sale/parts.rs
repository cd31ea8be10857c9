//! The parts of a purchase.

use super::{
    super::ERASED,
    Item, Payment, Ticket,
    reading::{At, Reading},
};
use serde_json::{Map, Value};

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

impl Reading {
    pub(super) fn purchase(&mut self, object: &Map<String, Value>) {
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
        for (path, object) in self.objects(at, "transactions", PAYMENTS_MAX) {
            self.payment(At {
                path: &path,
                object,
            });
        }
        for (path, object) in self.objects(at, "items", ITEMS_MAX) {
            self.item(At {
                path: &path,
                object,
            });
        }
        self.net();
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
            net: None,
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
            Some(..=0) => self.tell(at.of("quantity"), "must be greater than zero"),
            Some(quantity) if quantity > QUANTITY_MAX => {
                self.tell(at.of("quantity"), format!("must be at most {QUANTITY_MAX}"));
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
                self.tell(
                    at.of("totalAmount"),
                    format!("{total} is not {quantity} × {unit}, with or without the discount"),
                );
            }
        }
        let free = TICKETS_MAX - self.sale.tickets.len();
        let tickets = self.objects(at, "delegates", free);
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
        if barcode == ERASED {
            // Somebody who was deleted for good; the ticket is not made anew.
            return;
        }
        if !self.barcodes.insert(barcode.clone()) {
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
}
