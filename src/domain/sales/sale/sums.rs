//! What has to fit together across a purchase: sums, and the counters of items.

use super::reading::Reading;
use std::collections::BTreeSet;

/// Digits of the counter behind the purchase code in an item's code.
const COUNTER_DIGITS: usize = 4;
/// Gaps between counters that are told one by one.
const GAPS_MAX: usize = 20;

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

    /// What of each payment stayed in the till: the amount where the amounts are the total already,
    /// otherwise the amount less the change.
    pub(super) fn net(&mut self) {
        let paid: i64 = self.sale.payments.iter().filter_map(|one| one.amount).sum();
        let kept = self.sale.total_amount == Some(paid);
        for payment in &mut self.sale.payments {
            let change = payment.change.filter(|_| !kept).unwrap_or(0);
            payment.net = payment.amount.map(|amount| amount - change);
        }
    }

    /// Item codes are the purchase code and a counter from 0000 on.
    pub(super) fn counters(&mut self) {
        // Without it, that it is missing is all that can be said.
        if self.sale.code.is_empty() {
            return;
        }
        let mut seen = BTreeSet::new();
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
        let counters: Vec<usize> = seen.into_iter().collect();
        let gaps = gaps(&counters);
        if !gaps.is_empty() {
            self.tell("items", format!("there is no item with counter {gaps}"));
        }
    }
}

/// Counters that are left out below the highest, such as `0001, 0004 to 0009`; of many gaps the first.
fn gaps(counters: &[usize]) -> String {
    let mut told = Vec::new();
    let mut next = 0;
    for counter in counters {
        match counter - next {
            0 => {}
            1 => told.push(format!("{next:04}")),
            _ => told.push(format!("{next:04} to {:04}", counter - 1)),
        }
        next = counter + 1;
    }
    let more = told.len() > GAPS_MAX;
    told.truncate(GAPS_MAX);
    if more {
        told.push("…".to_owned());
    }
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_is_told() {
        for (counters, told) in [
            (&[][..], ""),
            (&[0, 1, 2], ""),
            (&[1], "0000"),
            (&[0, 2, 5, 6, 9], "0001, 0003 to 0004, 0007 to 0008"),
            (&[9_999], "0000 to 9998"),
        ] {
            assert_eq!(gaps(counters), told);
        }
        let even: Vec<usize> = (0..100).step_by(2).collect();
        assert!(gaps(&even).ends_with(", …"), "{}", gaps(&even));
    }
}
