//! OAuth clients: the list, and the form of one with its secret, its tokens and its revocation.

use super::{Made, PAGE, lookup, parse_roles, role_names, roles, short, show_once};
use crate::admin::prelude::*;
use crate::{
    domain::{
        apps::{configuration, presence},
        delegates,
    },
    identity::{
        Roles, Scope,
        clients::{self, Client, Credentials, NewClient},
        last_seen::LastSeen,
        tokens,
    },
    types::{ClientId, DeviceId},
};
use serde::{Deserialize, Serialize};

const HERE: &str = "/console/access/clients";

pub(super) fn routes() -> Routes {
    let (new, edit) = ("/console/access/clients/new", "/console/access/clients/:id");
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .with(engine::routes::<Clients>(new, edit, ADMINISTRATOR))
        .post("/console/access/clients/:id/secret", rotate)
        .action("/console/access/clients/:id/tokens", end_tokens)
        .action("/console/access/clients/:id/revoke", revoke)
}

#[derive(Template)]
#[template(path = "access/clients.html")]
struct ClientList {
    layout: Layout,
    list: List,
    lines: Vec<Line>,
}

/// A client with its use and the name of its device.
struct Line {
    client: Client,
    usage: Usage,
    device: Option<String>,
}

impl Line {
    fn of(connection: &Connection, last_seen: &LastSeen, client: Client) -> Result<Self> {
        let device = match client.device {
            Some(device) => lookup::device(connection, device.0)?,
            None => None,
        };
        Ok(Self {
            usage: Usage::of(connection, last_seen, &client)?,
            device: device.map(|device| device.label),
            client,
        })
    }

    fn trusted(&self) -> bool {
        self.client.scopes.contains(&Scope::Trusted)
    }

    fn roles(&self) -> usize {
        self.client.roles.iter().count()
    }
}

struct Usage {
    /// Access tokens that can be used now.
    live: i64,
    /// The time when it got a token last, or its device was seen.
    last: Option<Timestamp>,
}

impl Usage {
    fn of(connection: &Connection, last_seen: &LastSeen, client: &Client) -> Result<Self> {
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

async fn list(request: RequestContext) -> Result<Response> {
    let query = &request.query;
    let (q, revoked) = (query.text("q").to_owned(), query.ticked("revoked"));
    let before = query.number("before")?.map(ClientId);
    let console = request.console.clone();
    let inputs = vec![
        Input::line("search", "q", "Name or id"),
        Input::flag("revoked", "the revoked ones too"),
    ];
    let mut list = List::new(&request, inputs, "before");
    let read = move |connection: &Connection, layout| {
        let found = clients::page(connection, &q, revoked, before, PAGE + 1)?;
        let found = list.cut(found, PAGE, |client| client.id.0).into_iter();
        let lines = found.map(|client| Line::of(connection, &console.last_seen, client));
        Ok(ClientList {
            lines: lines.collect::<Result<_>>()?,
            layout,
            list,
        })
    };
    request.page("Users and clients", Area::Access, read).await
}

struct Clients;

/// A client as its form has it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Draft {
    name: String,
    role: Vec<String>,
    scope: Vec<String>,
    /// `all`, or `some` for the properties that are chosen.
    see: String,
    property: Vec<String>,
    device: Option<i64>,
}

impl Draft {
    fn of(client: NewClient) -> Self {
        let limited = client.visible_properties.is_some();
        Self {
            name: client.name,
            role: role_names(client.roles),
            scope: client
                .scopes
                .iter()
                .map(|scope| scope.name().to_owned())
                .collect(),
            see: if limited { "some" } else { "all" }.to_owned(),
            property: client.visible_properties.unwrap_or_default(),
            device: client.device.map(|device| device.0),
        }
    }

    fn client(&self) -> Result<NewClient> {
        let scopes = self.scope.iter().map(|name| Scope::parse(name));
        Ok(NewClient {
            name: self.name.clone(),
            roles: parse_roles(&self.role)?,
            scopes: scopes.collect::<Result<_>>()?,
            device: self.device.map(DeviceId),
            visible_properties: (self.see == "some").then(|| self.property.clone()),
        })
    }
}

#[derive(Template)]
#[template(path = "access/client.html")]
struct Aside<'a> {
    layout: &'a Layout,
    client: Client,
    usage: Usage,
}

impl Editor for Clients {
    type Key = ClientId;
    type Draft = Draft;
    type Created = Credentials;
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "client";
    const AREA: Area = Area::Access;

    /// A client with the rights of a gate app: the usual case.
    fn blank(_: &RequestContext) -> Draft {
        Draft::of(NewClient {
            roles: Roles::gate(),
            ..NewClient::default()
        })
    }

    fn find(connection: &Connection, id: &ClientId) -> Result<Draft> {
        let client = clients::get(connection, *id)?;
        Ok(Draft::of(NewClient {
            name: client.name,
            roles: client.roles,
            scopes: client.scopes,
            device: client.device,
            visible_properties: client.visible_properties,
        }))
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, id: Option<&ClientId>, draft: &Draft) -> Groups {
        if let Some(id) = id
            && clients::get(connection, *id)?.revoked_at.is_some()
        {
            return Ok(Vec::new());
        }
        let scope =
            |scope: &Scope| Choice::from((scope.name(), short(scope.name()), scope.meaning()));
        let sight = [
            ("all", "everything"),
            ("some", "only the properties chosen here"),
        ];
        let properties = delegates::property_names();
        let properties = properties.iter().map(|name| (*name, *name));
        let mut device = Input::lookup(
            "device",
            "Device it is bound to",
            "/console/access/find/device",
            "name or code",
        );
        if let Some(id) = draft.device {
            device.choices.extend(lookup::device(connection, id)?);
        }
        let inputs = vec![
            Input::text("name", "Name").wide().required().max(255).placeholder("Gate B"),
            roles("Roles"),
            Input::checks("scope", "Scopes", Scope::ALL.iter().map(scope)).help(
                "Trusted lets whoever has the secret do everything with every record, whatever the \
                 roles say. Give it to a system of your own only, and never to an app on a phone. A \
                 role applies to running tokens at once, and so does the loss of a scope; a new scope \
                 applies from the client's next token on, within the hour.",
            ),
            Input::radios("see", "Visible properties of attendees", sight),
            Input::checks("property", "Properties", properties),
            device.help(
                "An app that runs on a device is bound to it: it pings and is configured as that device.",
            ),
        ];
        let mut groups = engine::filled(vec![Group::new("Permissions", inputs)], draft)?;
        let inputs = groups.iter_mut().flat_map(|group| &mut group.inputs);
        for input in inputs.filter(|input| input.name == "property") {
            input.folded = draft.property.is_empty();
        }
        Ok(groups)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        engine::typed(groups, sent)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Credentials> {
        clients::create(tx, ctx, &draft.client()?, &delegates::property_names())
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &ClientId, draft: &Draft) -> Result<()> {
        clients::change(tx, ctx, *id, &draft.client()?, &delegates::property_names())
    }

    fn created(request: &RequestContext, draft: Draft, made: Credentials) -> Result<Response> {
        show_secret(request, "Client secret", made, draft.name)
    }

    fn saved(request: &RequestContext, id: &ClientId, draft: &Draft) -> Result<Response> {
        let message = format!("{} saved. Its running tokens follow at once.", draft.name);
        request.done(message, &Self::page(id))
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let Some(id) = at.key.copied() else {
            return Ok(String::new());
        };
        let console = at.request.console.clone();
        let read = move |connection: &Connection| {
            let client = clients::get(connection, id)?;
            let usage = Usage::of(connection, &console.last_seen, &client)?;
            Ok((client, usage))
        };
        let (client, usage) = at.request.read(read).await?;
        answer::part(&Aside {
            layout: at.layout,
            client,
            usage,
        })
    }

    fn found(connection: &Connection, text: &str) -> Result<Vec<Choice>> {
        lookup::find_devices(connection, text)
    }
}

fn show_secret(
    request: &RequestContext,
    what: &'static str,
    made: Credentials,
    name: String,
) -> Result<Response> {
    let made = Made {
        what,
        secret: made.client_secret,
        id: ("Client id", made.client_id),
        back: format!("{HERE}/{}", made.id),
        name,
    };
    show_once(request, made)
}

async fn rotate(request: RequestContext) -> Result<Response> {
    let id = ClientId(request.id("id")?);
    let ends_tokens = request.form.ticked("tokens");
    let work = request.write(move |tx, ctx| {
        let client = clients::get(tx, id)?;
        let made = clients::rotate_secret(tx, ctx, &client.client_id)?;
        if ends_tokens {
            clients::end_tokens(tx, ctx, &client.client_id)?;
        }
        Ok((made, client.name))
    });
    let (made, name) = work.await?;
    show_secret(&request, "New client secret", made, name)
}

fn end_tokens(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let client = clients::get(tx, ClientId(action.id))?;
    clients::end_tokens(tx, ctx, &client.client_id)?;
    Ok(Done::new(
        format!(
            "Tokens of {} ended. It can get new ones with its secret.",
            client.name
        ),
        format!("{HERE}/{}", client.id),
    ))
}

fn revoke(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let client = clients::get(tx, ClientId(action.id))?;
    let about_pin = configuration::revoke_client(tx, ctx, &client)?;
    let message = format!(
        "{} revoked. It is locked out from now on.{about_pin}",
        client.name
    );
    Ok(Done::new(message, HERE))
}
