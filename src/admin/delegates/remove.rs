//! Deleting, restoring, and erasing for good.

use super::{
    super::{Area, Layout, RequestContext, Route, answer, route},
    list,
};
use crate::{
    core::records::write,
    domain::{
        delegates::{RESOURCE, copies_with, erase, restore},
        interactions::history::count_of_delegate,
    },
    types::error::{Kind, Result},
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/console/delegates/:id/delete", route::OPERATOR, delete),
        Route::post(
            "/console/delegates/:id/restore",
            route::OPERATOR,
            bring_back,
        ),
        Route::get("/console/delegates/:id/erase", route::ADMINISTRATOR, ask),
        Route::post(
            "/console/delegates/:id/erase",
            route::ADMINISTRATOR,
            erase_one,
        ),
    ]
}

async fn delete(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    request
        .write(move |tx, ctx| write::delete(tx, ctx, &RESOURCE, id))
        .await?;
    request.done(
        "Deleted. It can be restored from here.",
        &format!("/console/delegates/{id}"),
    )
}

#[derive(Template)]
#[template(path = "delegates/restore.html")]
struct NotRestored {
    layout: Layout,
    id: i64,
    failure: String,
}

async fn bring_back(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let done = request.write(move |tx, ctx| restore(tx, ctx, id)).await;
    match done {
        Ok(()) => request.done(
            "Restored. Its codes are valid again.",
            &format!("/console/delegates/{id}"),
        ),
        Err(cause) if cause.kind == Kind::CodeTaken => answer::form_again(&NotRestored {
            layout: request.layout("Not restored", Some(Area::Delegates)),
            id,
            failure: answer::sentence(&cause.message),
        }),
        Err(cause) => Err(cause),
    }
}

#[derive(Template)]
#[template(path = "delegates/erase.html")]
struct Page {
    layout: Layout,
    id: i64,
    name: String,
    interactions: i64,
    /// Copies of the file that still have the person.
    copies: Vec<String>,
    failure: Option<String>,
}

impl Page {
    fn read(request: &RequestContext, failure: Option<String>) -> Result<Self> {
        let id = request.id("id")?;
        let database = request.console.store.path();
        let (name, interactions, copies) = request.look_up(|connection| {
            let name = super::name_of(connection, id)?.ok_or_else(|| list::missing(id))?;
            let copies = copies_with(connection, database, id)?;
            Ok((name, count_of_delegate(connection, id)?, copies))
        })?;
        Ok(Self {
            layout: request.layout(&format!("Delete {name} for good"), Some(Area::Delegates)),
            id,
            name,
            interactions,
            copies,
            failure,
        })
    }
}

async fn ask(request: RequestContext) -> Result<Response> {
    answer::page(&Page::read(&request, None)?)
}

async fn erase_one(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if request.form.text("confirm") != id.to_string() {
        let failure = format!("Type the number {id} to confirm; nothing is deleted.");
        return answer::form_again(&Page::read(&request, Some(failure))?);
    }
    let copies = erase::erase(request.console.app(), request.context(), id, None).await?;
    request.done(if copies.is_empty() {
        "Attendee deleted permanently.".to_owned()
    } else {
        format!(
            "Attendee deleted permanently. These copies of the file still have them: {}. gatepost restore takes \
             them out of a backup that it puts in place.",
            copies.join(", ")
        )
    }, "/console/delegates")
}
