//! The list of OAuth clients.

use super::{LINES, before, choice::Subject, next_page};
use crate::{
    admin::{Area, Layout, RequestContext, Route, answer, route},
    domain::apps::presence,
    identity::{
        clients::{self, Client},
        last_seen::LastSeen,
        tokens,
    },
    types::{ClientId, Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get(
        "/console/access/clients",
        route::ADMINISTRATOR,
        show,
    )]
}

#[derive(Template)]
#[template(path = "access/clients.html")]
struct Page {
    layout: Layout,
    q: String,
    revoked: bool,
    lines: Vec<Line>,
    next: Option<String>,
}

/// A client with what it did.
pub(super) struct Line {
    pub(super) client: Client,
    pub(super) use_: Use,
    device: Option<String>,
}

impl Line {
    fn trusted(&self) -> bool {
        self.client
            .scopes
            .contains(&crate::identity::Scope::Trusted)
    }

    fn roles(&self) -> usize {
        self.client.roles.iter().count()
    }
}

/// What is known of a client's use.
pub(super) struct Use {
    /// Access tokens that can be used now.
    pub(super) live: i64,
    /// When it was heard of last: it got a token, or its device was seen.
    pub(super) last: Option<Timestamp>,
}

impl Use {
    pub(super) fn of(
        connection: &Connection,
        last_seen: &LastSeen,
        client: &Client,
    ) -> Result<Self> {
        let usage = tokens::usage_of_client(connection, client.id, Timestamp::now())?;
        let seen = match client.device {
            Some(device) => presence::last_seen(connection, last_seen, device)?,
            None => None,
        };
        Ok(Self {
            live: usage.live,
            last: usage.last.max(seen),
        })
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let (q, revoked) = (
        request.query.text("q").to_owned(),
        request.query.ticked("revoked"),
    );
    let (part, from) = (q.clone(), before(&request)?.map(ClientId));
    let console = request.console.clone();
    let mut lines = request
        .read(move |connection| {
            let clients = clients::page(connection, &part, revoked, from, LINES + 1)?;
            clients
                .into_iter()
                .map(|client| line(connection, &console.last_seen, client))
                .collect::<Result<Vec<Line>>>()
        })
        .await?;
    let more = lines.len() > LINES;
    lines.truncate(LINES);
    let next = lines.last().filter(|_| more);
    let next = next.map(|line| next_page(&request, line.client.id.0));
    answer::page(&Page {
        layout: request.layout("Users and clients", Some(Area::Access)),
        q,
        revoked,
        lines,
        next,
    })
}

fn line(connection: &Connection, last_seen: &LastSeen, client: Client) -> Result<Line> {
    let device = match client.device {
        Some(device) => Subject::Device.one(connection, device.0)?,
        None => None,
    };
    Ok(Line {
        use_: Use::of(connection, last_seen, &client)?,
        device: device.map(|device| device.name),
        client,
    })
}
