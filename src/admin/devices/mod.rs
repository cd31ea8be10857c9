//! Devices and events: the tree, a page each, and the form with the rules of entry.

mod entry;
mod form;
mod into_doors;
mod new;
mod pair;
mod parent;
mod programme;
mod row;
mod rules;
mod show;
mod tree;

use crate::admin::prelude::*;
use crate::domain::devices::EVENT;

/// Types that are offered, with their meanings.
pub(super) const TYPES: &[(&str, &str)] = &[
    (EVENT, "The top: everything else belongs to an event."),
    (
        "room",
        "A room or an area; sessions belong to the room they are in.",
    ),
    (
        "session",
        "A talk, a workshop, a meal: it has a start and an end, and people check in to it.",
    ),
    (
        "door",
        "An entrance of the place that it belongs to: whoever enters by one door is inside for all of them.",
    ),
    ("sponsor", "An exhibitor's stand."),
    (
        "rfidreader",
        "A reader of radio tags, such as a UHF gate or a portal.",
    ),
    (
        "regoapp",
        "A phone, tablet or laptop with a registration or gate app.",
    ),
    ("mobileapp", "A phone or tablet with another app."),
    ("bookable", "Something that can be booked."),
    ("product", "Something that is sold, such as a ticket."),
    ("location", "A place that holds rooms."),
    ("organisation", "An organiser of events."),
    ("group", "Devices that are looked at together."),
];

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/devices", tree::show)
        .get("/console/devices/entry", entry::show)
        .get("/console/devices/programme", programme::show)
        .then(OPERATOR)
        .post("/console/devices/:id/entry", entry::save)
        .post("/console/devices", new::create)
        .get("/console/devices/parents", parent::offers)
        .then(VIEWER)
        .get("/console/devices/:id", show::show)
        .get("/console/devices/:id/inside", show::inside)
        .get("/console/devices/:id/history", show::history)
        .then(OPERATOR)
        .get("/console/devices/:id/doors", into_doors::show)
        .post("/console/devices/:id/doors", into_doors::apply)
        .post("/console/devices/:id/door", new::add_door)
        .get("/console/devices/:id/pair", pair::show)
        .get("/console/devices/:id/pair.svg", pair::qr)
        .action("/console/devices/:id/move", programme::move_to)
        .action("/console/devices/:id/capacity", row::set_capacity)
        .action("/console/devices/:id/available", row::set_available)
        .post("/console/devices/:id/empty", row::empty)
        .action("/console/devices/:id/delete", show::delete)
        .action("/console/devices/:id/restore", show::restore)
        .then(ADMINISTRATOR)
        .action("/console/devices/:id/erase", show::erase)
        .then(OPERATOR)
        .action("/console/devices/:id/clients/:client/revoke", show::revoke)
        .with(form::routes())
        .all()
}

/// An error as a sentence; that of a rule without its path in the document.
fn fault(mut cause: Error) -> String {
    cause
        .field
        .retain(|field| !field.starts_with("data.Access."));
    answer::sentence(&cause)
}
