//! Codes: their pictures, and what to do when a badge is lost.

use super::{
    super::{Area, Route, Shell, Visit, answer, route},
    history, label, list, record, text,
};
use crate::{
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
            by: history::called(connection, &blocked.actor)?,
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

fn code(visit: &Visit) -> Result<Code> {
    let id = visit.id("id")?;
    let kind = blocked::code_named(&visit.path("kind")?)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such code"))?;
    let zone = visit.console.settings().zone.clone();
    visit.console.store.look_up(|connection| {
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
async fn picture(visit: Visit) -> Result<Response> {
    answer::qr(&code(&visit)?.value)
}

#[derive(Template)]
#[template(path = "delegates/code.html")]
struct Print {
    shell: Shell,
    code: Code,
}

async fn print(visit: Visit) -> Result<Response> {
    let code = code(&visit)?;
    let title = format!("{} of {}", code.label(), code.name);
    answer::page(&Print {
        shell: visit.shell(&title, Some(Area::Delegates)),
        code,
    })
}

#[derive(Template)]
#[template(path = "delegates/badge.html")]
struct Page {
    shell: Shell,
    code: Code,
    reasons: &'static [&'static str],
    reason: String,
    other: String,
    new: String,
    failure: Option<String>,
}

impl Page {
    fn new(visit: &Visit, code: Code, failure: Option<String>) -> Self {
        Self {
            shell: visit.shell(
                &format!("Block the {} of {}", code.label(), code.name),
                Some(Area::Delegates),
            ),
            code,
            reasons: REASONS,
            reason: visit.form.text("reason").to_owned(),
            other: visit.form.text("other").to_owned(),
            new: visit.form.text("new").to_owned(),
            failure,
        }
    }
}

async fn ask(visit: Visit) -> Result<Response> {
    let code = code(&visit)?;
    answer::page(&Page::new(&visit, code, None))
}

async fn block(visit: Visit) -> Result<Response> {
    let code = code(&visit)?;
    if visit.form.text("value") != code.value {
        let failure = format!(
            "Meanwhile somebody gave this person the code {}; nothing is blocked. Look whether that is the one that was lost.",
            code.value
        );
        return answer::form_again(&Page::new(&visit, code, Some(failure)));
    }
    let reason = match visit.form.filled("other") {
        Some(other) => other.to_owned(),
        None => visit.form.text("reason").to_owned(),
    };
    let new = visit.form.filled("new").map(ToOwned::to_owned);
    let (id, kind) = (code.id, code.kind);
    let ctx = visit.context();
    let replaced = new.is_some();
    let done = visit
        .console
        .store
        .write(move |tx| blocked::block(tx, &ctx, DelegateId(id), kind, &reason, new.as_deref()))
        .await;
    match done {
        Ok(value) => {
            visit.flash(if replaced {
                format!("{value} is blocked, the new code is valid from now on.")
            } else {
                format!("{value} is blocked. Give this person another before they come back.")
            });
            Ok(answer::go(&format!("/console/delegates/{id}")))
        }
        Err(cause) if matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) => {
            let failure = answer::sentence(&cause.message);
            answer::form_again(&Page::new(&visit, code, Some(failure)))
        }
        Err(cause) => Err(cause),
    }
}

async fn unblock(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let kind = visit.form.text("kind").to_owned();
    let value = visit.form.sent("value").unwrap_or_default().to_owned();
    let back = visit.form.ticked("back");
    let told = if back {
        format!("{value} is valid again.")
    } else {
        format!("{value} is not blocked any more.")
    };
    let ctx = visit.context();
    visit
        .console
        .store
        .write(move |tx| blocked::unblock(tx, &ctx, &kind, &value, back))
        .await?;
    visit.flash(told);
    Ok(answer::go(&format!("/console/delegates/{id}")))
}
