//! What sales come to, by method, product and staff, by day; and as a file.

use super::{filter::Filter, money};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::sales::{
        find::Choices,
        inconsistencies::waiting,
        sums::{By, Row, Sum, Table, Whole},
    },
    types::{
        error::{Error, Result},
        spreadsheet::guarded,
    },
};
use askama::Template;
use poem::Response;

#[derive(Template)]
#[template(path = "sales/totals.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    failure: Option<String>,
    choices: Choices,
    tables: Vec<Table>,
    whole: Whole,
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

    fn heading(&self) -> &'static str {
        match self.by {
            By::Method => "Method",
            By::Product => "Product",
            By::CurrentUser => "Sold by",
        }
    }

    /// What the amounts are.
    fn about(&self) -> &'static str {
        match self.by {
            By::Method => "What stayed in the till: amounts less the change.",
            By::Product => "Lines as they were sold, and how many units.",
            By::CurrentUser => "Whole purchases, and how many.",
        }
    }

    /// The heads of the columns between name and total.
    fn heads(&self) -> Vec<String> {
        let (days, more) = self.columns();
        let earlier = more.then(|| "Before".to_owned());
        earlier.into_iter().chain(days.iter().cloned()).collect()
    }

    /// A line's cells with the heads of their columns.
    fn line(&self, row: &Row) -> Vec<(String, Option<Sum>)> {
        self.heads().into_iter().zip(self.cells(row)).collect()
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    let asked = filter.clone();
    let (tables, whole, choices, waiting) = request
        .read(move |connection| {
            let condition = asked.purchases().conditions();
            let tables = By::ALL
                .into_iter()
                .map(|by| Table::read(connection, by, &condition, &zone))
                .collect::<Result<Vec<Table>>>()?;
            let whole = Whole::read(connection, &condition)?;
            Ok((
                tables,
                whole,
                Choices::read(connection)?,
                waiting(connection)?,
            ))
        })
        .await?;
    let page = Page {
        layout: request.layout("Sales totals", Some(Area::Sales)),
        filter,
        failure,
        choices,
        tables,
        whole,
        waiting,
    };
    if page.failure.is_some() {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}

/// One of the tables as CSV: a line for each day and name.
pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let asked = request.query.text("by");
    let by = By::ALL
        .into_iter()
        .find(|by| by.name() == asked)
        .ok_or_else(|| Error::invalid("by: must be method, product or staff"))?;
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    let table = request
        .read(move |connection| {
            Table::read(connection, by, &filter.purchases().conditions(), &zone)
        })
        .await?;
    Ok(answer::download(
        &format!("sales-by-{}.csv", by.name()),
        "text/csv; charset=utf-8",
        csv(&table)?,
    ))
}

fn csv(table: &Table) -> Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer("\u{feff}".as_bytes().to_vec());
    let by = table.by;
    writer
        .write_record(["day", by.name(), by.counted(), "amount", "amountCents"])
        .map_err(Error::defect)?;
    for day in &table.days {
        for row in &table.rows {
            let Some(sum) = row.days.get(day) else {
                continue;
            };
            let sign = if sum.cents < 0 { "-" } else { "" };
            let cents = sum.cents.unsigned_abs();
            writer
                .write_record([
                    day.as_str(),
                    &guarded(&row.name),
                    &sum.count.to_string(),
                    &format!("{sign}{}.{:02}", cents / 100, cents % 100),
                    &sum.cents.to_string(),
                ])
                .map_err(Error::defect)?;
        }
    }
    writer.into_inner().map_err(Error::defect)
}
