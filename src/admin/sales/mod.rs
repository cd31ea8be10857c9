//! Sales at tills: purchases, receipts, inconsistencies and totals.

mod filter;
mod inconsistencies;
mod list;
mod receipt;
mod totals;

use crate::admin::prelude::*;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/sales", list::show)
        .get("/console/sales/export", list::export)
        .get("/console/sales/totals", totals::show)
        .get("/console/sales/totals/export", totals::export)
        .get("/console/sales/inconsistencies", inconsistencies::open)
        .get(
            "/console/sales/inconsistencies/settled",
            inconsistencies::settled,
        )
        .then(OPERATOR)
        .action(
            "/console/sales/inconsistencies/:id/reopen",
            inconsistencies::reopen,
        )
        .then(VIEWER)
        .get("/console/sales/:id", receipt::show)
        .get("/console/sales/:id/body/:body", receipt::body)
        .then(OPERATOR)
        .post("/console/sales/:id/settle", inconsistencies::settle)
        .all()
}

/// The currency of the venue, behind an amount; nothing where none is set.
fn currency(request: &RequestContext) -> String {
    match request.console.settings().walk_in.currency.as_str() {
        "" => String::new(),
        code => format!(" {code}"),
    }
}

/// `1,234.50`.
pub(super) fn money(cents: &i64) -> String {
    let units = i64::try_from(cents.unsigned_abs() / 100).unwrap_or(i64::MAX);
    let sign = if *cents < 0 { "-" } else { "" };
    format!(
        "{sign}{}{}{:02}",
        texts::number(units),
        t("number-point"),
        cents.unsigned_abs() % 100
    )
}

/// The currency behind the heading of a column.
fn behind(currency: &str) -> String {
    match currency {
        "" => String::new(),
        currency => format!(",{currency}"),
    }
}

/// As [`money`]; a dash without one.
fn amount(cents: &Option<i64>) -> String {
    cents.as_ref().map_or_else(|| "–".to_owned(), money)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_readable() {
        for (cents, shown) in [
            (0, "0.00"),
            (5, "0.05"),
            (123_450, "1,234.50"),
            (-99, "-0.99"),
            (-100_000, "-1,000.00"),
        ] {
            assert_eq!(money(&cents), shown);
        }
        assert_eq!(amount(&None), "–");
    }
}
