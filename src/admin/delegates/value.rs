//! A value of an attendee, changed where it stands: the form that comes in its place, and the value again.

use super::{label, path, record::properties, text};
use crate::admin::prelude::*;
use crate::{
    core::records::{Kind as FieldKind, write},
    domain::delegates::RESOURCE,
};
use serde_json::{Map, Value, json};

#[derive(Template)]
#[template(path = "delegates/value.html")]
struct Shown {
    id: i64,
    name: String,
    label: String,
    value: String,
    /// The focus returns to it: it was just changed.
    is_new: bool,
}

#[derive(Template)]
#[template(path = "delegates/editing.html")]
struct Editing {
    layout: Layout,
    id: i64,
    name: String,
    label: String,
    /// The text that is typed, and the value when that began.
    typed: String,
    was: String,
    fault: Option<String>,
}

/// Reads from a request whose value it is about, and which.
fn about(request: &RequestContext) -> Result<(i64, String)> {
    let (id, name) = (request.id("id")?, request.path("name")?);
    let is_text = |name: &str| {
        let field = RESOURCE.property(name);
        field.is_some_and(|field| field.kind == FieldKind::Text)
    };
    if is_text(&name) {
        Ok((id, name))
    } else {
        Err(Error::new(Kind::NoSuchPath, "there is no such value"))
    }
}

fn editing(request: &RequestContext, id: i64, name: String, was: String) -> Editing {
    Editing {
        layout: request.layout("", Some(Area::Delegates)),
        label: label(&name).to_owned(),
        typed: was.clone(),
        fault: None,
        id,
        name,
        was,
    }
}

/// The form of a value, or with `shown` the value; without scripts the form of the whole record.
pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let (id, name) = about(&request)?;
    if !request.is_part() {
        return Ok(answer::go(&format!("{}/edit#{name}", path(id))));
    }
    let zone = request.console.settings().zone.clone();
    let record = request.look_up(|connection| properties(connection, id, &zone))?;
    let value = text(&record, &name).to_owned();
    if request.query.ticked("shown") {
        return answer::page(&Shown {
            label: label(&name).to_owned(),
            is_new: true,
            id,
            name,
            value,
        });
    }
    answer::page(&editing(&request, id, name, value))
}

/// Saves it, unless somebody else changed it meanwhile: then both are shown.
pub(super) async fn save(request: RequestContext) -> Result<Response> {
    let (id, name) = about(&request)?;
    let (typed, was) = (request.form.text("value"), request.form.text("was"));
    let (typed, was) = (typed.to_owned(), was.to_owned());
    let (property, new, seen) = (name.clone(), typed.clone(), was.clone());
    let written = request.write(move |tx, ctx| {
        let record = properties(tx, id, &ctx.settings.zone)?;
        let now = text(&record, &property).to_owned();
        if now != seen {
            return Ok(Some(now));
        }
        let value = if new.is_empty() {
            Value::Null
        } else {
            json!(new)
        };
        let body = Map::from_iter([(property.clone(), value)]);
        write::patch(tx, ctx, &RESOURCE, id, body).map(|()| None)
    });
    let mut again = editing(&request, id, name.clone(), was);
    again.typed.clone_from(&typed);
    match written.await {
        Ok(None) if request.is_part() => answer::page(&Shown {
            label: label(&name).to_owned(),
            is_new: true,
            value: typed,
            id,
            name,
        }),
        Ok(None) => Ok(answer::go(&path(id))),
        Ok(Some(now)) => {
            again.fault = Some(format!("Somebody changed this meanwhile; now: {now}"));
            again.was = now;
            answer::form_again(&again)
        }
        Err(mut cause) if is_theirs(&cause) => {
            cause.field.retain(|field| *field != name);
            again.fault = Some(answer::sentence(&cause));
            answer::form_again(&again)
        }
        Err(cause) => Err(cause),
    }
}
