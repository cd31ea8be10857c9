//! One OAuth client: made, changed, given another secret, revoked.

use super::{
    Made, Tick,
    choice::{Chooser, Subject},
    clients::Use,
    role_ticks, short, show_once, ticked_roles,
};
use crate::{
    admin::{
        Area, Layout, RequestContext, Route, answer,
        form::{MEANWHILE, is_theirs},
        route,
    },
    domain::delegates,
    identity::{
        Edit, Roles, Scope,
        clients::{self, Client, NewClient},
    },
    types::{ClientId, DeviceId, error::Result},
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    let only = route::ADMINISTRATOR;
    vec![
        Route::get("/console/access/clients/new", only, blank),
        Route::post("/console/access/clients/new", only, make),
        Route::get("/console/access/clients/:id", only, show),
        Route::post("/console/access/clients/:id", only, change),
        Route::post("/console/access/clients/:id/secret", only, rotate),
        Route::post("/console/access/clients/:id/tokens", only, end_tokens),
        Route::post("/console/access/clients/:id/revoke", only, revoke),
    ]
}

#[derive(Template)]
#[template(path = "access/client.html")]
struct Page {
    layout: Layout,
    /// The client, unless it is yet to be made.
    client: Option<(Client, Use)>,
    action: String,
    name: String,
    /// The state that the form was begun on.
    state: String,
    roles: Vec<Tick>,
    scopes: Vec<Tick>,
    limited: bool,
    properties: Vec<(&'static str, bool)>,
    chooser: Chooser,
    failure: Option<String>,
}

impl Page {
    async fn read(
        request: &RequestContext,
        client: Option<(Client, Use)>,
        wanted: &NewClient,
        state: String,
    ) -> Result<Self> {
        let (title, action) = match &client {
            Some((client, _)) => (
                client.name.clone(),
                format!("/console/access/clients/{}", client.id),
            ),
            None => (
                "New client".to_owned(),
                "/console/access/clients/new".to_owned(),
            ),
        };
        let visible = wanted.visible_properties.as_deref();
        let ticked = |name: &&'static str| {
            let on = visible.is_none_or(|names| names.iter().any(|known| known == name));
            (*name, on)
        };
        let scope = |scope: &Scope| Tick {
            value: scope.name(),
            name: short(scope.name()),
            meaning: scope.meaning(),
            on: wanted.scopes.contains(scope),
        };
        let device = wanted.device.map(|device| device.0);
        Ok(Self {
            layout: request.layout(&title, Some(Area::Access)),
            chooser: Chooser::read(request, Subject::Device, action.clone(), device).await?,
            client,
            action,
            name: wanted.name.clone(),
            state,
            roles: role_ticks(wanted.roles),
            scopes: Scope::ALL.iter().map(scope).collect(),
            limited: visible.is_some(),
            properties: delegates::property_names().iter().map(ticked).collect(),
            failure: None,
        })
    }

    fn revoked(&self) -> bool {
        let revoked = |(client, _): &(Client, Use)| client.revoked_at.is_some();
        self.client.as_ref().is_some_and(revoked)
    }
}

/// What the form asks for.
fn wanted(request: &RequestContext) -> Result<NewClient> {
    let form = &request.form;
    let scopes: Result<Vec<Scope>> = form.all("scope").map(Scope::parse).collect();
    let seen: Vec<String> = form.all("property").map(ToOwned::to_owned).collect();
    Ok(NewClient {
        name: form.text("name").to_owned(),
        roles: ticked_roles(request)?,
        scopes: scopes?,
        device: form.number("device")?.map(DeviceId),
        visible_properties: (form.text("see") == "some").then_some(seen),
    })
}

fn stands(client: &Client) -> NewClient {
    NewClient {
        name: client.name.clone(),
        roles: client.roles,
        scopes: client.scopes.clone(),
        device: client.device,
        visible_properties: client.visible_properties.clone(),
    }
}

fn id(request: &RequestContext) -> Result<ClientId> {
    request.id("id").map(ClientId)
}

async fn read(request: &RequestContext, id: ClientId) -> Result<(Client, Use)> {
    let console = request.console.clone();
    request
        .read(move |connection| {
            let client = clients::get(connection, id)?;
            let known = Use::of(connection, &console.last_seen, &client)?;
            Ok((client, known))
        })
        .await
}

async fn blank(request: RequestContext) -> Result<Response> {
    // What a gate app needs: the usual case.
    let gate = NewClient {
        roles: Roles::gate(),
        ..NewClient::default()
    };
    answer::page(&Page::read(&request, None, &gate, String::new()).await?)
}

async fn make(request: RequestContext) -> Result<Response> {
    let new = wanted(&request)?;
    let sought = new.clone();
    let made = request
        .write(move |tx, ctx| clients::create(tx, ctx, &sought, &delegates::property_names()))
        .await;
    match made {
        Ok(made) => show_once(
            &request,
            Made {
                what: "Client secret",
                secret: made.client_secret,
                id: ("Client id", made.client_id),
                back: format!("/console/access/clients/{}", made.id),
                name: new.name,
            },
        ),
        Err(error) if is_theirs(&error) => {
            let mut page = Page::read(&request, None, &new, String::new()).await?;
            page.failure = Some(answer::sentence(&error.message));
            answer::form_again(&page)
        }
        Err(error) => Err(error),
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let (client, known) = read(&request, id(&request)?).await?;
    let (wanted, state) = (stands(&client), client.state());
    answer::page(&Page::read(&request, Some((client, known)), &wanted, state).await?)
}

async fn change(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let mut new = wanted(&request)?;
    if request.form.sent("device").is_none() {
        // Another search took the device away that was chosen in the one before.
        new.device = read(&request, id).await?.0.device;
    }
    let seen = request.form.text("state").to_owned();
    let (sought, state) = (new.clone(), seen.clone());
    let outcome = request
        .write(move |tx, ctx| {
            clients::change(tx, ctx, id, &seen, &sought, &delegates::property_names())
        })
        .await;
    let (wanted, state, failure) = match outcome {
        Ok(Edit::Done(client)) => {
            return request.done(
                format!(
                    "{} is changed. Its running tokens follow at once.",
                    client.name
                ),
                &format!("/console/access/clients/{id}"),
            );
        }
        Ok(Edit::Outdated(client)) => (stands(&client), client.state(), MEANWHILE.to_owned()),
        Err(error) if is_theirs(&error) => (new, state, answer::sentence(&error.message)),
        Err(error) => return Err(error),
    };
    let client = read(&request, id).await?;
    let mut page = Page::read(&request, Some(client), &wanted, state).await?;
    page.failure = Some(failure);
    answer::form_again(&page)
}

async fn rotate(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let ends = request.form.ticked("tokens");
    let (made, name) = request
        .write(move |tx, ctx| {
            let client = clients::get(tx, id)?;
            let made = clients::rotate_secret(tx, ctx, &client.client_id)?;
            if ends {
                clients::end_tokens(tx, ctx, &client.client_id)?;
            }
            Ok((made, client.name))
        })
        .await?;
    show_once(
        &request,
        Made {
            what: "New client secret",
            secret: made.client_secret,
            id: ("Client id", made.client_id),
            back: format!("/console/access/clients/{id}"),
            name,
        },
    )
}

async fn end_tokens(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    request
        .write(move |tx, ctx| {
            let client = clients::get(tx, id)?;
            clients::end_tokens(tx, ctx, &client.client_id)
        })
        .await?;
    request.done(
        "Its tokens are ended. It can get new ones with its secret.",
        &format!("/console/access/clients/{id}"),
    )
}

async fn revoke(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let name = request
        .write(move |tx, ctx| {
            let client = clients::get(tx, id)?;
            clients::revoke(tx, ctx, &client.client_id)?;
            Ok(client.name)
        })
        .await?;
    request.done(
        format!("{name} is revoked: it is locked out from now on."),
        "/console/access/clients",
    )
}
