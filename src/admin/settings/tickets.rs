//! Keys of signed tickets: made and retired here. They go to another server by the command line alone.

use super::{TABS, layout};
use crate::admin::prelude::*;
use crate::{
    core::ticket_keys::{self, TicketKey},
    domain::{delegates::signed, tickets},
    ops::backup::run,
};

const HERE: &str = "/console/settings/tickets";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .post("/console/settings/tickets/key", make)
        .action("/console/settings/tickets/retire", |tx, ctx, action| {
            let kid = action.form.text("kid");
            let kid = kid
                .parse()
                .map_err(|_| Error::field("kid", "must be the number of a key"))?;
            ticket_keys::retire(tx, ctx, kid)?;
            let message = format!("Key {kid} retired. Gates know within seconds.");
            Ok(Done::new(message, HERE))
        })
}

#[derive(Template)]
#[template(path = "settings/tickets.html")]
struct Page {
    layout: Layout,
    keys: Vec<TicketKey>,
    /// The newest key that is in use.
    signs: Option<u8>,
    first_day: String,
}

impl Page {
    fn is_signing(&self, key: &TicketKey) -> bool {
        self.signs == Some(key.kid)
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let settings = request.console.settings();
    let (keys, first_day) = request.look_up(|connection| {
        let first_day = tickets::first_day(connection, &settings, Timestamp::now())?;
        Ok((ticket_keys::all(connection)?, first_day))
    })?;
    let mut in_use = keys.iter().filter(|key| key.retired_at.is_none());
    answer::page(&Page {
        layout: layout(&request, "Tickets"),
        signs: in_use.next().map(|key| key.kid),
        keys,
        first_day,
    })
}

async fn make(request: RequestContext) -> Result<Response> {
    let (app, ctx) = (request.console.app().clone(), request.context());
    let first_day = request.form.text("firstDay").to_owned();
    let made = run::on_thread(move || {
        signed::with_serials(&app.store, move |tx| {
            ticket_keys::make(tx, &ctx, &first_day)
        })
    });
    match made.await {
        Ok(kid) => {
            let told = format!("Key {kid} made. Tickets are signed by it from now on.");
            request.done(told, HERE)
        }
        Err(cause) => request.failed(cause, show).await,
    }
}
