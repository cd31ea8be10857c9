//! Codes: their pictures, and what to do when a badge is lost.

use super::{
    super::{Area, Layout, RequestContext, Route, answer, route},
    label, list, record, text,
};
use crate::{
    core::audit::Actor,
    domain::delegates::blocked::{self, REASONS},
    types::{
        DelegateCode, DelegateId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/delegates/:id/qr/:kind", route::VIEWER, picture),
        Route::get("/console/delegates/:id/code/:kind", route::VIEWER, print),
        Route::get("/console/delegates/:id/badge/:kind", route::OPERATOR, ask),
        Route::post("/console/delegates/:id/badge/:kind", route::OPERATOR, block),
        Route::post("/console/delegates/:id/unblock", route::OPERATOR, unblock),
    ]
}

/// A blocked code, as the record shows it.
pub(super) struct Block {
    /// Its kind.
    pub kind: String,
    /// The code.
    pub value: String,
    /// Why.
    pub reason: String,
    /// Who blocked it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

impl Block {
    /// What its kind is called.
    pub fn label(&self) -> &str {
        label(&self.kind)
    }
}

/// The blocked codes of a delegate.
pub(super) fn blocks(connection: &Connection, id: i64) -> Result<Vec<Block>> {
    let blocked = blocked::of(connection, id)?;
    let shown = |blocked: blocked::Blocked| {
        Ok(Block {
            by: Actor::of(connection, &blocked.actor)?.name(),
            kind: blocked.kind,
            value: blocked.value,
            reason: blocked.reason,
            at: blocked.at,
        })
    };
    blocked.into_iter().map(shown).collect()
}

/// A code of a delegate.
struct Code {
    id: i64,
    name: String,
    company: String,
    kind: DelegateCode,
    value: String,
}

impl Code {
    fn label(&self) -> &str {
        label(self.kind.name())
    }
}

fn code(request: &RequestContext) -> Result<Code> {
    let id = request.id("id")?;
    let kind = blocked::code_named(&request.path("kind")?)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such code"))?;
    let zone = request.console.settings().zone.clone();
    request.look_up(|connection| {
        let found = record::properties(connection, id, &zone)?.ok_or_else(|| list::missing(id))?;
        let value = text(&found, kind.name());
        if value.is_empty() {
            return Err(Error::new(
                Kind::NoSuchPath,
                format!("this delegate has no {}", label(kind.name())),
            ));
        }
        Ok(Code {
            id,
            name: super::name_of(connection, id)?.unwrap_or_default(),
            company: text(&found, "company").to_owned(),
            kind,
            value: value.to_owned(),
        })
    })
}

/// The code as a QR, exactly as a scanner is to read it.
async fn picture(request: RequestContext) -> Result<Response> {
    answer::qr(&code(&request)?.value)
}

#[derive(Template)]
#[template(path = "delegates/code.html")]
struct Print {
    layout: Layout,
    code: Code,
}

async fn print(request: RequestContext) -> Result<Response> {
    let code = code(&request)?;
    let title = format!("{} of {}", code.label(), code.name);
    answer::page(&Print {
        layout: request.layout(&title, Some(Area::Delegates)),
        code,
    })
}

#[derive(Template)]
#[template(path = "delegates/badge.html")]
struct Page {
    layout: Layout,
    code: Code,
    reasons: &'static [&'static str],
    reason: String,
    other: String,
    new: String,
    failure: Option<String>,
}

impl Page {
    fn new(request: &RequestContext, code: Code, failure: Option<String>) -> Self {
        Self {
            layout: request.layout(
                &format!("Block the {} of {}", code.label(), code.name),
                Some(Area::Delegates),
            ),
            code,
            reasons: REASONS,
            reason: request.form.text("reason").to_owned(),
            other: request.form.text("other").to_owned(),
            new: request.form.text("new").to_owned(),
            failure,
        }
    }
}

async fn ask(request: RequestContext) -> Result<Response> {
    let code = code(&request)?;
    answer::page(&Page::new(&request, code, None))
}

async fn block(request: RequestContext) -> Result<Response> {
    let code = code(&request)?;
    if request.form.text("value") != code.value {
        let failure = format!(
            "Meanwhile somebody gave this person the code {}; nothing is blocked. Look whether that is the one that was lost.",
            code.value
        );
        return answer::form_again(&Page::new(&request, code, Some(failure)));
    }
    let reason = match request.form.filled("other") {
        Some(other) => other.to_owned(),
        None => request.form.text("reason").to_owned(),
    };
    let new = request.form.filled("new").map(ToOwned::to_owned);
    let (id, kind) = (code.id, code.kind);
    let replaced = new.is_some();
    let done = request
        .write(move |tx, ctx| {
            blocked::block(tx, ctx, DelegateId(id), kind, &reason, new.as_deref())
        })
        .await;
    match done {
        Ok(value) => request.done(
            if replaced {
                format!("{value} is blocked, the new code is valid from now on.")
            } else {
                format!("{value} is blocked. Give this person another before they come back.")
            },
            &format!("/console/delegates/{id}"),
        ),
        Err(cause) if matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) => {
            let failure = answer::sentence(&cause.message);
            answer::form_again(&Page::new(&request, code, Some(failure)))
        }
        Err(cause) => Err(cause),
    }
}

async fn unblock(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let kind = request.form.text("kind").to_owned();
    let value = request.form.sent("value").unwrap_or_default().to_owned();
    let back = request.form.ticked("back");
    let told = if back {
        format!("{value} is valid again.")
    } else {
        format!("{value} is not blocked any more.")
    };
    request
        .write(move |tx, ctx| blocked::unblock(tx, ctx, &kind, &value, back))
        .await?;
    request.done(told, &format!("/console/delegates/{id}"))
}
