//! Sales at tills: what was bought, how it was paid, who sold it, and what does not fit in it.
//!
//! - `filter`: what is asked for, as SQL; `list`, `export`: the purchases, and taking them along
//! - `receipt`: one purchase, with what the till sent word for word
//! - `inconsistencies`: working through what does not fit
//! - `adding`, `sums`, `totals`: what it comes to, by method, product and staff

mod adding;
mod export;
mod filter;
mod inconsistencies;
mod list;
mod receipt;
mod sums;
mod totals;

use super::{Route, layout, route};
use crate::types::error::Result;
use rusqlite::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/sales", route::VIEWER, list::show),
        Route::get("/console/sales/export", route::VIEWER, export::export),
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

/// An amount as people write it: `1,234.50`.
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

/// What a method of payment is called.
fn method(name: Option<&str>) -> String {
    match name {
        Some("cash") => "Cash".to_owned(),
        Some("card") => "Card".to_owned(),
        Some(other) => crate::types::text::shortened(other),
        None => "Not said".to_owned(),
    }
}

/// What a place in a body is called: the whole of it has no path.
fn place(path: &str) -> &str {
    if path.is_empty() { "as a whole" } else { path }
}

/// How many purchases have something that is not settled.
fn waiting(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(DISTINCT b.transaction_id) FROM inconsistencies i
             JOIN transaction_bodies b ON b.id = i.body_id WHERE i.settled_at IS NULL",
        )?
        .query_row([], |row| row.get(0))?)
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
