//! The undo of one interaction, on activity and on the record of an attendee.

use crate::admin::prelude::*;
use crate::domain::{
    gate::walk_in,
    interactions::{
        log::{Entry, lines},
        undo::Page,
    },
};

/// The row in place of the one that was taken back.
#[derive(Template)]
#[template(path = "interactions/rows.html")]
struct Row {
    layout: Layout,
    entries: Vec<Entry>,
}

/// Takes an interaction back. A script gets the row that says so; others go on where the button was.
pub(super) async fn take_back(request: RequestContext) -> Result<Response> {
    let (id, caller) = (request.id("id")?, request.caller()?);
    let work =
        request.write(move |tx, ctx| walk_in::take_back(tx, ctx, caller, Page::Activity, id));
    match work.await {
        // Somebody else was faster.
        Err(gone) if gone.kind == Kind::InteractionNotFound => {}
        done => drop(done?),
    }
    let zone = request.console.settings().zone.clone();
    let line = request.look_up(|connection| lines::undone_of(connection, id, &zone))?;
    let line =
        line.ok_or_else(|| Error::new(Kind::InteractionNotFound, "there is no such interaction"))?;
    let person = request.form.number("delegate")?;
    if request.is_part() && person.is_none() {
        return answer::page(&Row {
            layout: request.layout("", Some(Area::Interactions)),
            entries: vec![Entry::One(line)],
        });
    }
    let path = match person {
        Some(person) => format!("/console/delegates/{person}?undone={id}"),
        None => "/console/interactions".to_owned(),
    };
    request.done("Undone.", &path)
}
