//! One OAuth client: made, changed, given another secret, revoked.

use super::{
    Made, Tick,
    choice::{Chooser, Subject},
    clients::Use,
    role_ticks, short, show_once, ticked_roles,
};
use crate::{
    admin::{
        Area, Route, Shell, Visit, answer,
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
    shell: Shell,
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
        visit: &Visit,
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
            shell: visit.shell(&title, Some(Area::Access)),
            chooser: Chooser::read(visit, Subject::Device, action.clone(), device).await?,
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
fn wanted(visit: &Visit) -> Result<NewClient> {
    let form = &visit.form;
    let scopes: Result<Vec<Scope>> = form.all("scope").map(Scope::parse).collect();
    let seen: Vec<String> = form.all("property").map(ToOwned::to_owned).collect();
    Ok(NewClient {
        name: form.text("name").to_owned(),
        roles: ticked_roles(visit)?,
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

fn id(visit: &Visit) -> Result<ClientId> {
    visit.id("id").map(ClientId)
}

async fn read(visit: &Visit, id: ClientId) -> Result<(Client, Use)> {
    visit
        .console
        .store
        .read(move |connection| {
            let client = clients::get(connection, id)?;
            let known = Use::of(connection, &client)?;
            Ok((client, known))
        })
        .await
}

async fn blank(visit: Visit) -> Result<Response> {
    // What a gate app needs: the usual case.
    let gate = NewClient {
        roles: Roles::gate(),
        ..NewClient::default()
    };
    answer::page(&Page::read(&visit, None, &gate, String::new()).await?)
}

async fn make(visit: Visit) -> Result<Response> {
    let new = wanted(&visit)?;
    let (ctx, sought) = (visit.context(), new.clone());
    let made = visit
        .console
        .store
        .write(move |tx| clients::create(tx, &ctx, &sought, &delegates::property_names()))
        .await;
    match made {
        Ok(made) => show_once(
            &visit,
            Made {
                what: "Client secret",
                secret: made.client_secret,
                id: ("Client id", made.client_id),
                back: format!("/console/access/clients/{}", made.id),
                name: new.name,
            },
        ),
        Err(error) if is_theirs(&error) => {
            let mut page = Page::read(&visit, None, &new, String::new()).await?;
            page.failure = Some(answer::sentence(&error.message));
            answer::form_again(&page)
        }
        Err(error) => Err(error),
    }
}

async fn show(visit: Visit) -> Result<Response> {
    let (client, known) = read(&visit, id(&visit)?).await?;
    let (wanted, state) = (stands(&client), client.state());
    answer::page(&Page::read(&visit, Some((client, known)), &wanted, state).await?)
}

async fn change(visit: Visit) -> Result<Response> {
    let id = id(&visit)?;
    let mut new = wanted(&visit)?;
    if visit.form.sent("device").is_none() {
        // Another search took the device away that was chosen in the one before.
        new.device = read(&visit, id).await?.0.device;
    }
    let seen = visit.form.text("state").to_owned();
    let (ctx, sought, state) = (visit.context(), new.clone(), seen.clone());
    let outcome = visit
        .console
        .store
        .write(move |tx| {
            clients::change(tx, &ctx, id, &seen, &sought, &delegates::property_names())
        })
        .await;
    let (wanted, state, failure) = match outcome {
        Ok(Edit::Done(client)) => {
            visit.flash(format!(
                "{} is changed. Its running tokens follow at once.",
                client.name
            ));
            return Ok(answer::go(&format!("/console/access/clients/{id}")));
        }
        Ok(Edit::Outdated(client)) => (stands(&client), client.state(), MEANWHILE.to_owned()),
        Err(error) if is_theirs(&error) => (new, state, answer::sentence(&error.message)),
        Err(error) => return Err(error),
    };
    let client = read(&visit, id).await?;
    let mut page = Page::read(&visit, Some(client), &wanted, state).await?;
    page.failure = Some(failure);
    answer::form_again(&page)
}

async fn rotate(visit: Visit) -> Result<Response> {
    let id = id(&visit)?;
    let (ctx, ends) = (visit.context(), visit.form.ticked("tokens"));
    let (made, name) = visit
        .console
        .store
        .write(move |tx| {
            let client = clients::get(tx, id)?;
            let made = clients::rotate_secret(tx, &ctx, &client.client_id)?;
            if ends {
                clients::end_tokens(tx, &ctx, &client.client_id)?;
            }
            Ok((made, client.name))
        })
        .await?;
    show_once(
        &visit,
        Made {
            what: "New client secret",
            secret: made.client_secret,
            id: ("Client id", made.client_id),
            back: format!("/console/access/clients/{id}"),
            name,
        },
    )
}

async fn end_tokens(visit: Visit) -> Result<Response> {
    let id = id(&visit)?;
    let ctx = visit.context();
    visit
        .console
        .store
        .write(move |tx| {
            let client = clients::get(tx, id)?;
            clients::end_tokens(tx, &ctx, &client.client_id)
        })
        .await?;
    visit.flash("Its tokens are ended. It can get new ones with its secret.");
    Ok(answer::go(&format!("/console/access/clients/{id}")))
}

async fn revoke(visit: Visit) -> Result<Response> {
    let id = id(&visit)?;
    let ctx = visit.context();
    let name = visit
        .console
        .store
        .write(move |tx| {
            let client = clients::get(tx, id)?;
            clients::revoke(tx, &ctx, &client.client_id)?;
            Ok(client.name)
        })
        .await?;
    visit.flash(format!("{name} is revoked: it is locked out from now on."));
    Ok(answer::go("/console/access/clients"))
}
