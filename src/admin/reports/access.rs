//! Which API clients may fetch a report.

use super::{
    edit::{Address, Reports},
    page,
};
use crate::{
    admin::prelude::*,
    domain::reports::{self, Report},
    identity::{Scope, clients},
};

/// Clients that are offered.
const CLIENTS_MAX: usize = 200;

/// The form of a report's address and of the clients that may fetch it, whoever made the report.
pub(super) struct Exposure;

/// The fields of who may fetch a report.
pub(super) fn group(connection: &Connection, exposed_to: &[String]) -> Result<Group> {
    let clients = client_choices(connection, exposed_to)?;
    let exposed = match exposed_to {
        [] => "none",
        all if all.iter().any(|client| client == "*") => "all",
        _ => "some",
    };
    let some = if clients.is_empty() {
        "these clients (none has the scope yet)"
    } else {
        "these clients"
    };
    let all = "every client that has the scope";
    let exposures = [("none", "no client"), ("all", all), ("some", some)];
    let mut access = vec![Input::radios(
        "exposed",
        "API access",
        choices(exposures, exposed),
    )];
    if !clients.is_empty() {
        access.push(Input::checks("client", "Clients", clients));
    }
    Ok(Group::new("API access", access).help(
        "A client needs the scope REPORT_READ besides; set it in Users and clients. In the console \
         everybody sees the report.",
    ))
}

/// Reads the clients that were chosen.
pub(super) fn typed(form: &Fields) -> Vec<String> {
    match form.text("exposed") {
        "all" => vec!["*".to_owned()],
        "some" => form.all("client").map(ToOwned::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The fields of a report's address.
pub(super) fn address(connection: &Connection) -> Result<[Input; 2]> {
    let dashboards = reports::dashboards(connection)?.into_iter();
    let help = "Part of the address for API clients: letters, digits, - and _.";
    Ok([
        Input::text("dashboard", "Group of reports")
            .max(64)
            .offered(dashboards.map(|(name, _)| name))
            .help(help),
        Input::text("id", "Id")
            .max(64)
            .placeholder("by-type")
            .help(help),
    ])
}

/// A report's address and its clients.
#[derive(Clone, serde::Serialize)]
pub(super) struct Exposed {
    label: String,
    dashboard: String,
    id: String,
    api_clients: Vec<String>,
}

impl Exposed {
    fn new(report: Report) -> Self {
        Self {
            label: report.label,
            dashboard: report.dashboard,
            id: report.id,
            api_clients: report.api_clients,
        }
    }

    fn put_into(&self, report: Report) -> Report {
        Report {
            dashboard: self.dashboard.clone(),
            id: self.id.clone(),
            api_clients: self.api_clients.clone(),
            ..report
        }
    }
}

impl Editor for Exposure {
    type Key = Address;
    type Draft = Exposed;
    type Created = ();
    const LIST: &'static str = Reports::LIST;
    const NOUN: &'static str = Reports::NOUN;
    const AREA: Area = Reports::AREA;

    fn blank(request: &RequestContext) -> Exposed {
        Exposed::new(Reports::blank(request))
    }

    fn find(connection: &Connection, key: &Address) -> Result<Exposed> {
        Ok(Exposed::new(Reports::find(connection, key)?))
    }

    fn name(draft: &Exposed) -> String {
        draft.label.clone()
    }

    fn groups(connection: &Connection, _: Option<&Address>, draft: &Exposed) -> Groups {
        let about = Group::new("Address", address(connection)?.into());
        let mut groups = engine::filled(vec![about], draft)?;
        groups.push(group(connection, &draft.api_clients)?);
        Ok(groups)
    }

    fn typed(_: &[Group], form: &Fields) -> Result<Exposed> {
        Ok(Exposed {
            label: String::new(),
            dashboard: form.text("dashboard").to_owned(),
            id: form.text("id").to_owned(),
            api_clients: typed(form),
        })
    }

    async fn prepare(at: At<'_, Self>, draft: Exposed) -> Result<Exposed> {
        if let Some(key) = at.key {
            let stored = at
                .request
                .look_up(|connection| Reports::find(connection, key))?;
            draft
                .put_into(stored)
                .check(at.request.console.store.path())?;
        }
        Ok(draft)
    }

    fn create(_: &Tx<'_>, _: &Context, _: &Exposed) -> Result<()> {
        Err(Error::defect("a report begins with its content"))
    }

    fn update(tx: &Tx<'_>, ctx: &Context, key: &Address, draft: &Exposed) -> Result<()> {
        let report = draft.put_into(Reports::find(tx, key)?);
        Reports::update(tx, ctx, key, &report)
    }

    fn created(request: &RequestContext, draft: Exposed, (): ()) -> Result<Response> {
        request.done("Report saved.", &page(&draft.dashboard, &draft.id))
    }

    fn saved(request: &RequestContext, _: &Address, draft: &Exposed) -> Result<Response> {
        request.done("Report saved.", &page(&draft.dashboard, &draft.id))
    }

    fn page(key: &Address) -> String {
        Reports::page(key)
    }

    fn last_actor(connection: &Connection, key: &Address) -> Result<String> {
        Reports::last_actor(connection, key)
    }
}

/// Clients that may read reports, and those that are named.
fn client_choices(connection: &Connection, named: &[String]) -> Result<Vec<Choice>> {
    let mut choices: Vec<Choice> = Vec::new();
    for client in clients::list(connection)?.into_iter().rev() {
        let on = named.contains(&client.client_id);
        let reads = !client.scopes.is_empty() && client.revoked_at.is_none();
        if on || (reads && choices.len() < CLIENTS_MAX) {
            let trusted = client.scopes.contains(&Scope::Trusted);
            let name = match (client.revoked_at.is_some(), trusted, reads) {
                (true, ..) => format!("{} (revoked)", client.name),
                (_, true, _) => format!("{} (may do everything)", client.name),
                (_, _, false) => format!("{} (lacks the scope)", client.name),
                _ => client.name,
            };
            choices.push(Choice::new(&client.client_id, name, on).help(&client.client_id));
        }
    }
    for client in named.iter().filter(|client| *client != "*") {
        if !choices.iter().any(|known| known.value == *client) {
            choices.push(Choice::new(client, "Unknown client", true).help(client));
        }
    }
    Ok(choices)
}
