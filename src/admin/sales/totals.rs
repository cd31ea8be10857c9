//! Totals of sales by method, product and staff, for each day.

use super::{behind, currency, filter, money};
use crate::admin::prelude::*;
use crate::{
    domain::sales::{
        inconsistencies::waiting,
        sums::{By, Row, Sum, Table, Whole},
    },
    types::spreadsheet::csv_bytes,
};

#[derive(Template)]
#[template(path = "sales/totals.html")]
struct Page {
    layout: Layout,
    list: List,
    tables: Vec<Table>,
    whole: Whole,
    currency: String,
    waiting: i64,
}

impl Table {
    fn title(&self) -> &'static str {
        match self.by {
            By::Method => "By method of payment",
            By::Product => "By product",
            By::CurrentUser => "By staff",
        }
    }

    fn heading(&self) -> String {
        t(match self.by {
            By::Method => "sales-method",
            By::Product => "sales-product",
            By::CurrentUser => "sales-sold-by",
        })
    }

    fn about(&self) -> &'static str {
        match self.by {
            By::Method => "What stayed in the till: amounts less the change.",
            By::Product => "Lines as they were sold, and how many units.",
            By::CurrentUser => "Whole purchases, and how many.",
        }
    }

    /// How many there are of what is counted.
    fn counted(&self, sum: &Sum) -> String {
        let key = match self.by {
            By::Method => "sales-payments",
            By::Product => "sales-units",
            By::CurrentUser => "sales-count-of-purchases",
        };
        let counted = tx(key).with("count", texts::number(sum.count));
        counted.to_string()
    }

    /// The heads of the columns between name and total.
    fn heads(&self) -> Vec<String> {
        let (days, more) = self.columns();
        let earlier = more.then(|| say("Before"));
        let days = days.iter().map(|day| texts::date(day));
        earlier.into_iter().chain(days).collect()
    }

    /// The cells of a row with the heads of their columns.
    fn line(&self, row: &Row) -> Vec<(String, Option<Sum>)> {
        self.heads().into_iter().zip(self.cells(row)).collect()
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (wanted, failure) = filter::wanted(&request);
    let mut list = filter::list(&request).await?;
    list.failure = failure;
    let layout = request.layout("Sales totals", Some(Area::Sales));
    let currency = currency(&request);
    let read = move |connection: &Connection| {
        let condition = wanted.conditions();
        let tables = By::ALL.into_iter();
        let tables = tables.map(|by| Table::read(connection, by, &condition, &zone));
        Ok(Page {
            layout,
            list,
            currency,
            tables: tables.collect::<Result<_>>()?,
            whole: Whole::read(connection, &condition)?,
            waiting: waiting(connection)?,
        })
    };
    let page = request.read(read).await?;
    answer::form_page(page.list.failure.is_some(), &page)
}

/// A table as CSV: a line for each day and name.
pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let asked = request.query.text("by");
    let by = By::ALL
        .into_iter()
        .find(|by| by.name() == asked)
        .ok_or_else(|| Error::field("by", "must be method, product or staff"))?;
    let zone = request.console.settings().zone.clone();
    let (wanted, failure) = filter::wanted(&request);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    let table = request
        .read(move |connection| {
            // Programs read it.
            texts::within(texts::languages().first(), || {
                Table::read(connection, by, &wanted.conditions(), &zone)
            })
        })
        .await?;
    Ok(answer::download(
        &format!("sales-by-{}.csv", by.name()),
        "text/csv; charset=utf-8",
        csv(&table)?,
    ))
}

fn csv(table: &Table) -> Result<Vec<u8>> {
    let by = table.by;
    let sums = table.days.iter().flat_map(|day| {
        let rows = table.rows.iter();
        rows.filter_map(move |row| Some((day, &row.name, row.days.get(day)?)))
    });
    let cells = sums.map(|(day, name, sum)| {
        let sign = if sum.cents < 0 { "-" } else { "" };
        let cents = sum.cents.unsigned_abs();
        [
            day.clone(),
            name.clone(),
            sum.count.to_string(),
            format!("{sign}{}.{:02}", cents / 100, cents % 100),
            sum.cents.to_string(),
        ]
    });
    let head = ["day", by.name(), by.counted(), "amount", "amountCents"];
    csv_bytes(Some(&head), cells)
}
