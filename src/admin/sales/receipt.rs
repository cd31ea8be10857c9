//! The page of a purchase: items, payments, tickets, inconsistencies, and the bodies as the till sent
//! them.

use super::{amount, currency, inconsistencies::NOTE_MAX_CHARS};
use crate::admin::prelude::*;
use crate::domain::sales::{
    inconsistencies::{self, Inconsistency},
    receipt::{self, Body, Item, PARTS_MAX, Payment, Sale, Ticket},
};

#[derive(Template)]
#[template(path = "sales/receipt.html")]
struct Page {
    layout: Layout,
    currency: String,
    sale: Sale,
    items: Vec<Item>,
    payments: Vec<Payment>,
    tickets: Vec<Ticket>,
    inconsistencies: Vec<Inconsistency>,
    bodies: Vec<Body>,
}

impl Page {
    /// Returns whether an inconsistency is open.
    fn is_open(&self) -> bool {
        self.inconsistencies.iter().any(|one| one.settled.is_none())
    }

    /// Returns whether there are more parts than are shown.
    fn is_cut(&self) -> bool {
        [
            self.items.len(),
            self.payments.len(),
            self.tickets.len(),
            self.inconsistencies.len(),
        ]
        .iter()
        .any(|count| *count > PARTS_MAX)
    }
}

/// Tells when a body came in, and from whom.
fn sent(layout: &Layout, body: &Body) -> String {
    let time = layout.time(&body.received_at);
    match &body.sender {
        Some(sender) => {
            let sent = tx("sales-body-by").with("time", time);
            sent.with("sender", sender).to_string()
        }
        None => time,
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let currency = currency(&request);
    let read = move |connection: &Connection, layout| {
        Ok(Page {
            currency,
            sale: receipt::sale(connection, id)?,
            items: receipt::items(connection, id)?,
            payments: receipt::payments(connection, id)?,
            tickets: receipt::tickets(connection, id)?,
            inconsistencies: inconsistencies::of_purchase(connection, id, false, PARTS_MAX)?,
            bodies: receipt::bodies(connection, id)?,
            layout,
        })
    };
    request
        .page(&format!("Purchase {id}"), Area::Sales, read)
        .await
}

/// A body as the till sent it.
pub(super) async fn body(request: RequestContext) -> Result<Response> {
    let (id, body) = (request.id("id")?, request.id("body")?);
    let bytes = request
        .read(move |connection| receipt::body(connection, id, body))
        .await?;
    Ok(answer::download(
        &format!("purchase-{id}-{body}.json"),
        "application/octet-stream",
        bytes,
    ))
}
