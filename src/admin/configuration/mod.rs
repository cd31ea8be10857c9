//! App configuration: what is in force, the draft, settings of a type or a device, and earlier versions.

mod edit;
mod fields;
mod show;
mod tasks;
mod versions;

use crate::admin::prelude::*;
use crate::{
    domain::apps::{
        Document,
        scope::{Changed, Current, Scope, differences},
        values::Words,
    },
    types::text,
};

pub(super) use crate::domain::devices::places;
pub(super) use fields::place_choices;

const PAGE: &str = "/console/configuration";

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PAGE, show::show)
        .get("/console/configuration/stream", show::stream)
        .get("/console/configuration/edit", edit::show)
        .post("/console/configuration/edit", edit::save)
        .get("/console/configuration/device/:id", edit::of_device)
        .action("/console/configuration/publish", show::publish)
        .action("/console/configuration/discard", show::discard)
        .get("/console/configuration/versions", versions::list)
        .get("/console/configuration/versions/:version", versions::show)
        .action(
            "/console/configuration/versions/:version/take",
            versions::take,
        )
        .all()
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
    let places = places(connection)?;
    let words = Words {
        zone,
        places: &places,
    };
    let changes = differences(before, after, &words).into_iter();
    changes
        .map(|change| {
            let name = change.scope.name(connection)?;
            Ok(NamedChange { name, change })
        })
        .collect()
}

/// Reads the current settings, if they are still those that a button was shown with.
fn unchanged(connection: &Connection, action: &Action) -> Result<Current> {
    let current = Current::read(connection)?;
    if current.mark() == action.form.text("version") {
        return Ok(current);
    }
    Err(Error::new(
        Kind::CodeTaken,
        "somebody changed the draft meanwhile, so nothing was done; look at what it says now",
    ))
}
