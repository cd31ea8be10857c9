//! Deleting attendees, restoring them, and deleting them permanently.

use super::{missing, name_of};
use crate::admin::prelude::*;
use crate::{
    core::records::write,
    domain::{
        delegates::{RESOURCE, copies_with, erase as erasure, restore as restore_delegate},
        interactions::history::count_of_delegate,
    },
};

pub(super) fn delete(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    write::delete(tx, ctx, &RESOURCE, action.id)?;
    let message = "Attendee deleted. The record can be restored from here.";
    Ok(Done::new(message, super::path(action.id)))
}

pub(super) async fn restore(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let work = request.write(move |tx, ctx| restore_delegate(tx, ctx, id));
    match work.await {
        Ok(()) => request.done(
            "Attendee restored. Their codes are valid again.",
            &super::path(id),
        ),
        Err(cause) if cause.kind == Kind::CodeTaken => {
            request.failed(cause, super::record::show).await
        }
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
    /// Copies of the file that have the attendee.
    copies: Vec<String>,
    confirm: Input,
}

impl Page {
    fn read(request: &RequestContext) -> Result<Self> {
        let id = request.id("id")?;
        let database = request.console.store.path();
        let (name, interactions, copies) = request.look_up(|connection| {
            let name = name_of(connection, id)?.ok_or_else(|| missing(id))?;
            let copies = copies_with(connection, database, id)?;
            Ok((name, count_of_delegate(connection, id)?, copies))
        })?;
        Ok(Self {
            layout: request.layout(&format!("Erase {name}"), Some(Area::Delegates)),
            confirm: Input::text("confirm", "Confirmation")
                .value("")
                .required()
                .attribute("inputmode", "numeric")
                .help(format!("Type the number {id} to confirm.")),
            id,
            name,
            interactions,
            copies,
        })
    }
}

pub(super) async fn ask(request: RequestContext) -> Result<Response> {
    answer::page(&Page::read(&request)?)
}

pub(super) async fn erase(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if request.form.text("confirm") != id.to_string() {
        let mut page = Page::read(&request)?;
        let fault = format!("Type the number {id}; nothing is deleted.");
        page.confirm.error = Some(fault);
        return answer::form_again(&page);
    }
    let erased = erasure::erase(request.console.app(), request.context(), id, None).await?;
    let mut done = vec!["Attendee deleted permanently.".to_owned()];
    if !erased.copies.is_empty() {
        let copies = erased.copies.join(", ");
        done.push(format!(
            "These copies of the file still have the attendee: {copies}. gatepost restore \
             erases the attendee from a backup that it restores."
        ));
    }
    if !erased.review.is_empty() {
        done.push(format!(
            "Review {}: a phone number there may be the attendee's, written differently.",
            erased.review.join(", ")
        ));
    }
    request.done(done.join(" "), "/console/delegates")
}
