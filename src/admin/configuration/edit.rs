//! The settings of all apps, of a type or of a device, as a form that changes the draft.

use super::{
    PAGE,
    fields::{groups, typed_settings},
    path, scope,
    tasks::{self, Card, Task},
};
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::{
        apps::{
            Settings, configuration, parameters,
            pin::{self, SUPERVISOR_PIN},
            scope::{Current, Scope, differences},
            values::Words,
        },
        devices::{self, RESOURCE, record::Record},
    },
};
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "configuration/edit.html")]
struct Page {
    layout: Layout,
    scope: Scope,
    /// The device that has the code.
    device: Option<i64>,
    has_own: bool,
    /// The task whose settings the form has; none: all of them.
    task: Option<&'static Task>,
    /// The settings by task, where the form of one is not open yet.
    cards: Vec<Card>,
    form: Form,
    /// The last one who changed it.
    who: String,
}

impl Page {
    fn read(
        connection: &Connection,
        layout: Layout,
        scope: Scope,
        zone: &Zone,
        shown: Shown,
    ) -> Result<Self> {
        let current = Current::read(connection)?;
        let base = scope.base(connection, current.document())?;
        let own = scope.settings(current.document());
        let places = super::places(connection)?;
        let words = Words {
            zone,
            places: &places,
        };
        let draft_by = current.draft.as_ref().map(|draft| &draft.actor);
        let actor = draft_by.or(current.published.actor.as_ref());
        let mut page = Self {
            device: devices::with_code(connection, scope.code())?.map(|device| device.id),
            has_own: !own.is_empty() && scope != Scope::All,
            task: shown.task(),
            cards: match shown {
                Shown::Cards => tasks::cards(&scope, &own, &base, &words),
                _ => Vec::new(),
            },
            form: Form {
                action: path(&scope),
                version: current.mark(),
                groups: groups(scope == Scope::All, shown.task(), &own, &base, &words),
                ..Form::default()
            },
            who: match actor {
                Some(actor) => audit::actor_shown(connection, actor)?,
                None => "Somebody".to_owned(),
            },
            layout,
            scope,
        };
        page.layout.title = page.scope.name(connection)?;
        Ok(page)
    }
}

/// The parts of the settings that a page has.
#[derive(Clone, Copy)]
enum Shown {
    /// All of them, to be read.
    Cards,
    /// The form of a task.
    Task(&'static Task),
    /// The form of all.
    All,
}

impl Shown {
    fn task(self) -> Option<&'static Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Cards | Self::All => None,
        }
    }
}

async fn page(request: &RequestContext, scope: Scope, shown: Shown) -> Result<Page> {
    let layout = request.layout("App configuration", Some(Area::Configuration));
    let zone = request.console.settings().zone.clone();
    request
        .read(move |connection| Page::read(connection, layout, scope, &zone, shown))
        .await
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let scope = scope(&request.query)?;
    let shown = match request.query.text("task") {
        "" if scope != Scope::All => Shown::Cards,
        "" | "all" => Shown::All,
        key => Shown::Task(
            Task::find(key).ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such page"))?,
        ),
    };
    answer::page(&page(&request, scope, shown).await?)
}

/// The form of the device with an id.
pub async fn of_device(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let record = request.look_up(|connection| Record::find(connection, id))?;
    if record.deleted_at.is_some() {
        return Err(RESOURCE.missing(&id));
    }
    let code = record.text("code").to_owned();
    Ok(answer::go(&path(&Scope::Device(code))))
}

/// The PIN that was typed, hashed: that takes too long for the writer's thread.
async fn hashed_pin(request: &RequestContext, of: &Scope) -> Result<Option<Value>> {
    let (typed, of) = (json!(request.form.text(SUPERVISOR_PIN)), of.clone());
    if pin::check(SUPERVISOR_PIN, &typed).is_err() {
        return Ok(None);
    }
    let hash = move |connection: &Connection| {
        let own = of.settings(Current::read(connection)?.document());
        pin::hashed(&typed, own.get(SUPERVISOR_PIN)).map(Some)
    };
    request.read(hash).await
}

enum Saved {
    Draft,
    /// Nothing differs from what is in force, so there is no draft.
    Same,
    Stale,
}

/// Stores a draft with the settings that were typed; none where that is what is in force.
fn save_draft(
    tx: &Tx<'_>,
    ctx: &Context,
    form: &Fields,
    scope: &Scope,
    pin: Option<Value>,
) -> Result<Saved> {
    let current = Current::read(tx)?;
    if current.mark() != form.text("version") {
        return Ok(Saved::Stale);
    }
    let zone = &ctx.settings.zone;
    let mut document = current.document().clone();
    let settings = if form.text("do") == "remove" && *scope != Scope::All {
        Settings::new()
    } else {
        let (own, base) = (scope.settings(&document), scope.base(tx, &document)?);
        let task = Task::find(form.text("task"));
        let mut settings = typed_settings(form, *scope == Scope::All, task, &own, &base, zone)?;
        if let (Some(pin), Some(kept)) = (pin, settings.get_mut(SUPERVISOR_PIN))
            && kept.is_string()
        {
            *kept = pin;
        }
        settings
    };
    scope.put(&mut document, settings);
    let seen = current.draft.map(|draft| draft.updated_at);
    configuration::save_draft(tx, ctx, &document, seen)?;
    let draft = configuration::draft(tx)?;
    let words = Words { zone, places: &[] };
    let is_same = draft.is_some_and(|draft| {
        differences(&current.published.document, &draft.document, &words).is_empty()
    });
    if is_same {
        configuration::discard_draft(tx, ctx)?;
        return Ok(Saved::Same);
    }
    Ok(Saved::Draft)
}

pub async fn save(request: RequestContext) -> Result<Response> {
    let scope = scope(&request.form)?;
    let (of, form) = (scope.clone(), request.form.clone());
    let pin = hashed_pin(&request, &scope).await?;
    let saved = request
        .write(move |tx, ctx| save_draft(tx, ctx, &form, &of, pin))
        .await;
    let cause = match saved {
        Ok(Saved::Draft) => {
            return request.done("Draft saved. Apps get it when you publish it.", PAGE);
        }
        Ok(Saved::Same) => return request.done("Nothing differs from what is in force.", PAGE),
        Ok(Saved::Stale) => None,
        Err(cause) if is_theirs(&cause) => Some(cause),
        Err(cause) => return Err(cause),
    };
    let of = Task::find(request.form.text("task")).map_or(Shown::All, Shown::Task);
    let mut shown = page(&request, scope.clone(), of).await?;
    if let Some(cause) = cause {
        shown.form.reject(&request.form, &beside_a_field(cause));
    } else {
        let now = page(&request, scope, of).await?.form;
        shown.form.warn(&request.form, &shown.who, now);
    }
    answer::form_again(&shown)
}

/// The error with the name of the field that shows it.
pub(super) fn beside_a_field(mut cause: Error) -> Error {
    match cause.field.first().map_or("", String::as_str) {
        "availableFeatures" => "features".clone_into(&mut cause.field[0]),
        "deviceHierarchy" => "rank".clone_into(&mut cause.field[0]),
        "forced" => "locks".clone_into(&mut cause.field[0]),
        known if parameters::parameter(known).is_some() => {}
        _ => {
            cause.message = format!("the setting {cause}");
            cause.field = vec!["rows".to_owned()];
        }
    }
    cause
}
