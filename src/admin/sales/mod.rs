//! Sales at tills: purchases, receipts, inconsistencies and totals.

mod filter;
mod inconsistencies;
mod list;
mod receipt;
mod totals;

use super::{Route, layout, route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/sales", route::VIEWER, list::show),
        Route::get("/console/sales/export", route::VIEWER, list::export),
        Route::get("/console/sales/totals", route::VIEWER, totals::show),
        Route::get(
            "/console/sales/totals/export",
            route::VIEWER,
            totals::export,
        ),
        Route::get(
            "/console/sales/inconsistencies",
            route::VIEWER,
            inconsistencies::open,
        ),
        Route::get(
            "/console/sales/inconsistencies/settled",
            route::VIEWER,
            inconsistencies::settled,
        ),
        Route::post(
            "/console/sales/inconsistencies/:id/reopen",
            route::OPERATOR,
            inconsistencies::reopen,
        ),
        Route::get("/console/sales/:id", route::VIEWER, receipt::show),
        Route::get(
            "/console/sales/:id/body/:body",
            route::VIEWER,
            receipt::body,
        ),
        Route::post(
            "/console/sales/:id/settle",
            route::OPERATOR,
            inconsistencies::settle,
        ),
    ]
}

/// `1,234.50`.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
fn money(cents: &i64) -> String {
    let units = i64::try_from(cents.unsigned_abs() / 100).unwrap_or(i64::MAX);
    let sign = if *cents < 0 { "-" } else { "" };
    format!(
        "{sign}{}.{:02}",
        layout::number(units),
        cents.unsigned_abs() % 100
    )
}

/// As [`money`]; a dash without one.
#[expect(clippy::ref_option, reason = "templates pass references")]
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
