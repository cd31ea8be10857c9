//! The instance, for administrators: name and address, data sections, statements, badges, signed tickets, backups, rehearsal,
//! the head office.

mod backups;
pub(super) mod badges;
mod general;
mod head_office;
mod printers;
mod rehearsal;
mod retention;
mod scans;
mod schedule;
mod sections;
mod statements;
mod tickets;
mod times;
mod walk_ins;

use crate::admin::prelude::*;

pub(super) fn routes() -> Vec<Route> {
    let routes = general::routes().with(sections::routes());
    let routes = routes.with(statements::routes()).with(backups::routes());
    routes
        .with(badges::routes())
        .with(printers::routes())
        .with(tickets::routes())
        .with(times::routes())
        .with(rehearsal::routes())
        .with(retention::routes())
        .with(head_office::routes())
        .all()
}

const TABS: &[(&str, &str)] = &[
    ("General", "/console/settings"),
    ("Data sections", "/console/settings/sections"),
    ("Statements", "/console/settings/statements"),
    ("Badges", "/console/settings/badges"),
    ("Printers", "/console/settings/printers"),
    ("Tickets", "/console/settings/tickets"),
    ("Backups", "/console/settings/backups"),
    ("Rehearsal", "/console/settings/rehearsal"),
    ("Retention", "/console/settings/retention"),
    ("Head office", "/console/settings/head-office"),
];

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Settings))
}
