//! Automations: which template is sent by itself, when.

use super::{hindrance, layout};
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        form::{mark, told},
        route,
    },
    domain::{
        interactions::USUAL_TYPES,
        messages::{
            automations::{self, Automation, Entry},
            templates,
        },
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

const HERE: &str = "/console/messages/automations";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(HERE, route::VIEWER, list),
        Route::get(
            "/console/messages/automations/new",
            route::ADMINISTRATOR,
            new,
        ),
        Route::get(
            "/console/messages/automations/:id",
            route::ADMINISTRATOR,
            show,
        ),
        Route::post(
            "/console/messages/automations/save",
            route::ADMINISTRATOR,
            save,
        ),
        Route::post(
            "/console/messages/automations/:id/remove",
            route::ADMINISTRATOR,
            remove,
        ),
        Route::post(
            "/console/messages/automations/:id/switch",
            route::OPERATOR,
            switch,
        ),
    ]
}

#[derive(Template)]
#[template(path = "messages/automations.html")]
struct List {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    automations: Vec<(Automation, String)>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let automations = request.console.store.look_up(|connection| {
        automations::all(connection)?
            .into_iter()
            .map(|automation| {
                let at = device_name(connection, automation.device)?;
                Ok((automation, at))
            })
            .collect::<Result<Vec<_>>>()
    })?;
    answer::page(&List {
        layout: layout(&request, "Automations"),
        tab: "Automations",
        hindrance: hindrance(&request)?,
        automations,
    })
}

fn device_name(connection: &Connection, device: Option<i64>) -> Result<String> {
    let Some(device) = device else {
        return Ok("anywhere".to_owned());
    };
    Ok(connection
        .prepare_cached("SELECT coalesce(name, code) FROM devices WHERE id = ?1")?
        .query_row([device], |row| row.get(0))?)
}

#[derive(Template)]
#[template(path = "messages/automation.html")]
struct Editor {
    layout: Layout,
    tab: &'static str,
    failure: String,
    id: Option<i64>,
    seen: String,
    entry: Entry,
    /// The template as the form has it: `sms:order-cleared`.
    chosen: String,
    /// Templates to choose from.
    templates: Vec<(String, String)>,
    /// Devices to choose from: code and name.
    devices: Vec<(String, String)>,
    /// Types of interactions that are known.
    kinds: &'static [&'static str],
    types: Vec<String>,
}

impl Editor {
    fn new(request: &RequestContext, id: Option<i64>, seen: String, entry: Entry) -> Result<Self> {
        let title = if id.is_none() {
            "New automation"
        } else {
            "Automation"
        };
        let (templates, devices, types) = request.console.store.look_up(choices)?;
        Ok(Self {
            layout: layout(request, title),
            tab: "Automations",
            failure: String::new(),
            id,
            seen,
            chosen: format!("{}:{}", entry.channel, entry.template),
            entry,
            templates,
            devices,
            kinds: USUAL_TYPES,
            types,
        })
    }

    fn is_at(&self, code: &str) -> bool {
        self.entry.device.as_deref() == Some(code)
    }

    fn delegate_type(&self) -> &str {
        self.entry.delegate_type.as_deref().unwrap_or_default()
    }
}

type Choices = (Vec<(String, String)>, Vec<(String, String)>, Vec<String>);

fn choices(connection: &Connection) -> Result<Choices> {
    let templates = templates::all(connection)?.into_iter().map(|known| {
        let entry = known.entry;
        let noun = entry.channel().map_or("message", |channel| channel.noun());
        (
            format!("{}:{}", entry.channel, entry.slug),
            format!("{noun}: {}", entry.slug),
        )
    });
    let mut devices = connection.prepare_cached(
        "SELECT code, coalesce(name, code) FROM devices WHERE deleted_at IS NULL
         AND coalesce(device_type, '') NOT IN ('regoapp', 'mobileapp')
         ORDER BY device_type IS NOT 'event', coalesce(name, code) COLLATE NOCASE, id LIMIT 2000",
    )?;
    let devices = devices
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut types = connection.prepare_cached(
        "SELECT DISTINCT delegate_type FROM delegates
         WHERE delegate_type IS NOT NULL AND deleted_at IS NULL LIMIT 200",
    )?;
    let types = types
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((templates.collect(), devices, types))
}

fn find(connection: &Connection, id: i64) -> Result<Automation> {
    automations::of_id(connection, id)?.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "there is no such automation any more; somebody removed it",
        )
    })
}

async fn new(request: RequestContext) -> Result<Response> {
    let entry = Entry {
        name: String::new(),
        active: true,
        interaction_type: "check-in".into(),
        device: None,
        delegate_type: None,
        channel: String::new(),
        template: String::new(),
        within_minutes: 60,
    };
    answer::page(&Editor::new(&request, None, String::new(), entry)?)
}

async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let known = request
        .console
        .store
        .look_up(|connection| find(connection, id))?;
    let seen = mark(&known.entry);
    answer::page(&Editor::new(&request, Some(id), seen, known.entry)?)
}

fn typed(form: &Fields) -> Result<Entry> {
    let filled = |name: &str| form.filled(name).map(ToOwned::to_owned);
    let (channel, template) = form
        .text("template")
        .split_once(':')
        .ok_or_else(|| Error::invalid("choose a template; write one first where there is none"))?;
    Ok(Entry {
        name: form.text("name").to_owned(),
        active: form.ticked("active"),
        interaction_type: form.text("interactionType").to_owned(),
        device: filled("device"),
        delegate_type: filled("delegateType"),
        channel: channel.to_owned(),
        template: template.to_owned(),
        within_minutes: form.number("withinMinutes")?.unwrap_or(60),
    })
}

async fn save(request: RequestContext) -> Result<Response> {
    match store(&request).await {
        Ok(()) => {
            request.flash("The automation is saved; it counts from now on.");
            Ok(answer::go(HERE))
        }
        Err(cause) => {
            let form = &request.form;
            let entry = typed(form).unwrap_or_else(|_| Entry {
                name: form.text("name").to_owned(),
                active: form.ticked("active"),
                interaction_type: form.text("interactionType").to_owned(),
                device: form.filled("device").map(ToOwned::to_owned),
                delegate_type: form.filled("delegateType").map(ToOwned::to_owned),
                channel: String::new(),
                template: String::new(),
                within_minutes: 60,
            });
            let id = form.number("id").ok().flatten();
            let mut page = Editor::new(&request, id, form.text("seen").to_owned(), entry)?;
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

async fn store(request: &RequestContext) -> Result<()> {
    let entry = typed(&request.form)?;
    let id = request.form.number("id")?;
    let (ctx, seen) = (request.context(), request.form.text("seen").to_owned());
    request
        .console
        .store
        .write(move |tx| {
            if let Some(id) = id
                && mark(&find(tx, id)?.entry) != seen
            {
                return Err(Error::invalid(
                    "somebody else changed this automation meanwhile, and nothing of yours was saved; open it again",
                ));
            }
            automations::save(tx, &ctx, id, &entry).map(|_| ())
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    request
        .console
        .store
        .write(move |tx| automations::remove(tx, &ctx, id))
        .await?;
    request.flash("Automation removed.");
    Ok(answer::go(HERE))
}

/// Switches one on or off: what somebody has to be able to do at once when it sends nonsense.
async fn switch(request: RequestContext) -> Result<Response> {
    let (id, ctx, on) = (
        request.id("id")?,
        request.context(),
        request.form.text("active") == "on",
    );
    let name = request
        .console
        .store
        .write(move |tx| {
            let mut entry = find(tx, id)?.entry;
            entry.active = on;
            automations::save(tx, &ctx, Some(id), &entry)?;
            Ok(entry.name)
        })
        .await?;
    request.flash(format!(
        "“{name}” is {}.",
        if on {
            "on; it counts from now on"
        } else {
            "off"
        }
    ));
    Ok(answer::go(HERE))
}
