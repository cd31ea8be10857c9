//! Deleting, restoring, and erasing for good.

use super::{
    super::{Area, Route, Shell, Visit, answer, route},
    list,
};
use crate::{
    delegates::{RESOURCE, erase, restore},
    error::{Kind, Result},
    records::write,
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

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

async fn delete(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let ctx = visit.context();
    visit
        .console
        .store
        .write(move |tx| write::delete(tx, &ctx, &RESOURCE, id))
        .await?;
    visit.flash("Deleted. It can be restored from here.");
    Ok(answer::go(&format!("/console/delegates/{id}")))
}

#[derive(Template)]
#[template(path = "delegates/restore.html")]
struct NotRestored {
    shell: Shell,
    id: i64,
    failure: String,
}

async fn bring_back(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let ctx = visit.context();
    let done = visit
        .console
        .store
        .write(move |tx| restore::restore(tx, &ctx, id))
        .await;
    match done {
        Ok(()) => {
            visit.flash("Restored. Its codes are valid again.");
            Ok(answer::go(&format!("/console/delegates/{id}")))
        }
        Err(cause) if cause.kind == Kind::CodeTaken => answer::form_again(&NotRestored {
            shell: visit.shell("Not restored", Some(Area::Delegates)),
            id,
            failure: answer::sentence(&cause.message),
        }),
        Err(cause) => Err(cause),
    }
}

#[derive(Template)]
#[template(path = "delegates/erase.html")]
struct Page {
    shell: Shell,
    id: i64,
    name: String,
    interactions: i64,
    /// Copies of the file that still have the person.
    backups: Vec<String>,
    failure: Option<String>,
}

impl Page {
    fn read(visit: &Visit, failure: Option<String>) -> Result<Self> {
        let id = visit.id("id")?;
        let (name, interactions, backups) = visit.console.store.look_up(|connection| {
            let name = super::name_of(connection, id)?.ok_or_else(|| list::missing(id))?;
            Ok((name, interactions(connection, id)?, backups(connection)?))
        })?;
        Ok(Self {
            shell: visit.shell(&format!("Delete {name} for good"), Some(Area::Delegates)),
            id,
            name,
            interactions,
            backups,
            failure,
        })
    }
}

fn interactions(connection: &Connection, id: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM interactions
             WHERE first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1",
        )?
        .query_row([id], |row| row.get(0))?)
}

fn backups(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT path FROM backups WHERE failure IS NULL AND finished_at IS NOT NULL ORDER BY id DESC",
    )?;
    let backups = statement.query_map([], |row| row.get(0))?;
    Ok(backups.collect::<rusqlite::Result<_>>()?)
}

async fn ask(visit: Visit) -> Result<Response> {
    answer::page(&Page::read(&visit, None)?)
}

async fn erase_one(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let page = Page::read(&visit, None)?;
    if visit.form.text("confirm") != id.to_string() {
        let failure = format!("Type the number {id} to confirm; nothing is deleted.");
        return answer::form_again(&Page {
            failure: Some(failure),
            ..page
        });
    }
    erase::erase(&visit.console.store, visit.context(), id).await?;
    let app = visit.console.app().clone();
    // It may take a minute; the person is gone from everything that is read by now.
    tokio::spawn(async move {
        if let Err(cause) = erase::wipe_index(&app.store).await {
            tracing::warn!(
                "the search index still has letters of somebody who was erased: {cause}"
            );
        }
    });
    visit.flash(if page.backups.is_empty() {
        "The person is deleted for good.".to_owned()
    } else {
        format!(
            "The person is deleted for good. Backups still have them: {}.",
            page.backups.join(", ")
        )
    });
    Ok(answer::go("/console/delegates"))
}
