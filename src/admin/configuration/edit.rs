//! The settings of all apps, of a type or of a device. What is saved is a draft; apps get it when it
//! is published.

use super::{form::Form, scope::Scope, show::seen, words};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::{
        apps::{
            Document, Settings,
            configuration::{self, Draft},
            parameters::{FEATURES, PARAMETERS},
        },
        devices::{self, RESOURCE, record::Record},
    },
    types::{
        Timestamp, Zone,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::Value;

/// A parameter as the form shows it.
struct Line {
    name: &'static str,
    label: String,
    meaning: &'static str,
    set: bool,
    /// What holds where it is not set here.
    otherwise: String,
    locked: bool,
    wrong: bool,
}

#[derive(Template)]
#[template(path = "configuration/edit.html")]
struct Page {
    layout: Layout,
    scope: Scope,
    called: String,
    device: Option<i64>,
    form: Form,
    lines: Vec<Line>,
    features: &'static [(&'static str, &'static str)],
    /// Further settings that hold anyway: name and value.
    others: Vec<(String, String)>,
    has_own: bool,
    seen: String,
    version: i64,
    failure: Option<String>,
    meanwhile: bool,
}

/// Which configuration a form is made from: the draft, or what is in force.
struct Base {
    document: Document,
    published: Document,
    version: i64,
    draft: Option<Draft>,
}

impl Base {
    fn read(connection: &Connection) -> Result<Self> {
        let published = configuration::published(connection)?;
        let draft = configuration::draft(connection)?;
        let document = draft.as_ref().map(|draft| draft.document.clone());
        Ok(Self {
            document: document.unwrap_or_else(|| published.document.clone()),
            published: published.document,
            version: published.version,
            draft,
        })
    }
}

impl Page {
    /// The page of a scope; `form` is what was typed, without it what there is.
    fn read(
        connection: &Connection,
        layout: Layout,
        scope: Scope,
        form: Option<Form>,
        zone: &Zone,
    ) -> Result<Self> {
        let base = Base::read(connection)?;
        let above = scope.base(connection, &base.document)?;
        let own = scope.settings(&base.document);
        let form = form.unwrap_or_else(|| Form::of(&own, &above, zone));
        let lines = PARAMETERS.iter().map(|known| Line {
            name: known.name,
            label: words::label(known.name),
            meaning: known.meaning,
            set: form.sets(known.name),
            otherwise: words::value(
                known.name,
                above.get(known.name).unwrap_or(&Value::Null),
                zone,
            ),
            locked: form.locks(known.name),
            wrong: false,
        });
        let others = above
            .iter()
            .filter(|(name, _)| PARAMETERS.iter().all(|known| known.name != *name));
        Ok(Self {
            called: scope.called(connection)?,
            device: devices::with_code(connection, scope.code())?.map(|device| device.id),
            lines: lines.collect(),
            features: FEATURES,
            others: others
                .map(|(name, value)| (name.clone(), words::value(name, value, zone)))
                .collect(),
            has_own: !own.is_empty() && !scope.is_all(),
            seen: seen(base.draft.as_ref()),
            version: base.version,
            failure: None,
            meanwhile: false,
            layout,
            scope,
            form,
        })
    }

    fn failed(mut self, error: &Error) -> Result<Response> {
        let split = error.message.split_once(": ");
        let known = split.and_then(|(name, rest)| {
            let line = self.lines.iter_mut().find(|line| line.name == name)?;
            line.wrong = true;
            Some(format!("{}: {rest}", line.label))
        });
        let message = known.unwrap_or_else(|| format!("Further settings: {}", error.message));
        self.failure = Some(answer::sentence(&message));
        answer::form_again(&self)
    }
}

async fn page(request: &RequestContext, scope: Scope, form: Option<Form>) -> Result<Page> {
    let layout = request.layout("App configuration", Some(Area::Configuration));
    let zone = request.console.settings().zone.clone();
    request
        .read(move |connection| Page::read(connection, layout, scope, form, &zone))
        .await
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let scope = Scope::read(&request.query)?;
    answer::page(&page(&request, scope, None).await?)
}

/// From a device's page: the settings of its code.
pub async fn of_device(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let record = request.look_up(|connection| Record::find(connection, id))?;
    if record.deleted_at.is_some() {
        return Err(RESOURCE.missing(&id));
    }
    let code = record.text("code").to_owned();
    Ok(answer::go(&Scope::Device(code).path()))
}

/// How saving ended.
enum Saved {
    Draft,
    /// The draft says what is in force by now, so there is none any more.
    Same,
    /// Somebody else changed the draft or published meanwhile.
    Meanwhile,
}

pub async fn save(request: RequestContext) -> Result<Response> {
    let scope = Scope::read(&request.form)?;
    let form = Form::sent(&request.form);
    let draft_seen = request.form.number("seen")?.map(Timestamp);
    let version_seen = request.form.number("version")?;
    let remove = request.form.text("do") == "remove" && !scope.is_all();
    let typed = form.clone();
    let of = scope.clone();
    let saved = request
        .write(move |tx, ctx| {
            let Base {
                mut document,
                published,
                version,
                ..
            } = Base::read(tx)?;
            if version_seen != Some(version) {
                return Ok(Saved::Meanwhile);
            }
            let settings = if remove {
                Settings::new()
            } else {
                let (own, base) = (of.settings(&document), of.base(tx, &document)?);
                typed.settings(of.is_all(), &own, &base, &ctx.settings.zone)?
            };
            of.put(&mut document, settings);
            if configuration::save_draft(tx, ctx, &document, draft_seen)?.is_none() {
                return Ok(Saved::Meanwhile);
            }
            if words::differences(&published, &document, &ctx.settings.zone).is_empty() {
                configuration::discard_draft(tx, ctx)?;
                return Ok(Saved::Same);
            }
            Ok(Saved::Draft)
        })
        .await;
    match saved {
        Ok(Saved::Draft) => request.done(
            "Kept as a draft. Apps get it when you publish it.",
            "/console/configuration",
        ),
        Ok(Saved::Same) => request.done(
            "Nothing differs from what is in force.",
            "/console/configuration",
        ),
        Ok(Saved::Meanwhile) => {
            let mut page = page(&request, scope, Some(form)).await?;
            page.meanwhile = true;
            answer::form_again(&page)
        }
        Err(error) if error.kind == Kind::Invalid => {
            let mut page = page(&request, scope, Some(form)).await?;
            page.go_on_from(draft_seen, version_seen);
            page.failed(&error)
        }
        Err(error) => Err(error),
    }
}

impl Page {
    /// The form goes on from what it was filled in for, not from what is newer.
    fn go_on_from(&mut self, seen: Option<Timestamp>, version: Option<i64>) {
        self.seen = seen.map_or_else(String::new, |seen| seen.0.to_string());
        self.version = version.unwrap_or_default();
    }
}
