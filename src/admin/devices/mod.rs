//! Devices and events: the tree, a page each, and the form with the rules of entry.

mod form;
mod show;
mod tree;

pub use tree::opened;

use super::route::{ADMINISTRATOR, OPERATOR, Route, VIEWER};
use crate::domain::devices::EVENT;

/// Types that are offered, with their meanings.
const TYPES: &[(&str, &str)] = &[
    (EVENT, "The top: everything else belongs to an event."),
    (
        "room",
        "A room or an area; sessions belong to the room they are in.",
    ),
    (
        "session",
        "A talk, a workshop, a meal: it has a start and an end, and people check in to it.",
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
    let mut routes = vec![
        Route::get("/console/devices", VIEWER, tree::show),
        Route::get("/console/devices/:id/branch", VIEWER, tree::branch),
        Route::get("/console/devices/parents", OPERATOR, form::parents),
        Route::get("/console/devices/:id", VIEWER, show::show),
        Route::get("/console/devices/:id/inside", VIEWER, show::inside),
        Route::get("/console/devices/:id/history", VIEWER, show::history),
        Route::post("/console/devices/:id/delete", OPERATOR, show::delete),
        Route::post("/console/devices/:id/restore", OPERATOR, show::restore),
        Route::post("/console/devices/:id/erase", ADMINISTRATOR, show::erase),
        Route::post(
            "/console/devices/:id/clients/:client/revoke",
            OPERATOR,
            show::revoke,
        ),
    ];
    routes.extend(form::routes());
    routes
}
