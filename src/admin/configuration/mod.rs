//! App configuration: what is in force, the draft, settings of a type or a device, and earlier versions.

mod edit;
mod show;
mod versions;

use super::{
    Fields, RequestContext,
    route::{OPERATOR, Route},
};
use crate::{
    domain::apps::{
        Document,
        scope::{Changed, Current, Scope, differences},
    },
    types::{
        Zone,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::Connection;

const PAGE: &str = "/console/configuration";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(PAGE, OPERATOR, show::show),
        Route::get("/console/configuration/stream", OPERATOR, show::stream),
        Route::get("/console/configuration/edit", OPERATOR, edit::show),
        Route::post("/console/configuration/edit", OPERATOR, edit::save),
        Route::get(
            "/console/configuration/device/:id",
            OPERATOR,
            edit::of_device,
        ),
        Route::post("/console/configuration/publish", OPERATOR, show::publish),
        Route::post("/console/configuration/discard", OPERATOR, show::discard),
        Route::get("/console/configuration/versions", OPERATOR, versions::list),
        Route::get(
            "/console/configuration/versions/:version",
            OPERATOR,
            versions::show,
        ),
        Route::post(
            "/console/configuration/versions/:version/take",
            OPERATOR,
            versions::take,
        ),
    ]
}

fn scope(fields: &Fields) -> Result<Scope> {
    if let Some(kind) = fields.filled("type") {
        text::check_code("type", kind)?;
        return Ok(Scope::Type(kind.to_owned()));
    }
    if let Some(code) = fields.sent("code").filter(|code| !code.is_empty()) {
        text::check_code("code", code)?;
        return Ok(Scope::Device(code.to_owned()));
    }
    Ok(Scope::All)
}

/// The form of a scope.
fn path(scope: &Scope) -> String {
    let (name, value) = match scope {
        Scope::All => return format!("{PAGE}/edit"),
        Scope::Type(kind) => ("type", kind),
        Scope::Device(code) => ("code", code),
    };
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair(name, value)
        .finish();
    format!("{PAGE}/edit?{query}")
}

/// A change with the name of its scope.
struct NamedChange {
    name: String,
    change: Changed,
}

fn named(
    connection: &Connection,
    before: &Document,
    after: &Document,
    zone: &Zone,
) -> Result<Vec<NamedChange>> {
    let changes = differences(before, after, zone).into_iter();
    changes
        .map(|change| {
            let name = change.scope.name(connection)?;
            Ok(NamedChange { name, change })
        })
        .collect()
}

/// The mark that a form was begun on.
fn begun_on(request: &RequestContext) -> String {
    request.form.text("version").to_owned()
}

/// What is current, if it is still what a form was begun on.
fn unchanged(connection: &Connection, begun_on: &str) -> Result<Current> {
    let current = Current::read(connection)?;
    if current.mark() == begun_on {
        return Ok(current);
    }
    Err(Error::new(
        Kind::CodeTaken,
        "somebody changed the draft meanwhile, so nothing was done; look at what it says now",
    ))
}
