//! What has to fit together across a purchase: sums, and the counters of items.

use super::reading::Reading;
use std::collections::HashSet;

/// Digits of the counter behind the purchase code in an item's code.
const COUNTER_DIGITS: usize = 4;

impl Reading {
    pub(super) fn sums(&mut self) {
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
    pub(super) fn counters(&mut self) {
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
}
