//! Devices and events: the tree they make, a page for each, its rules of entry in words, what its
//! app told last, and everything that can be changed about it.
//!
//! - `tree`: branches and searches; `record`: one device as it stands in the file
//! - `page`: the page of one; `access`: its rules in words; `app`: what its app told; `inside`: who
//!   is there; `history`: who changed it
//! - `form`: what can be changed, as a form; `document`: the free part of it; `parent`: what it
//!   belongs to; `edit`: the form's way in and out
//! - `actions`: deleting, restoring, revoking

mod access;
mod actions;
mod document;
mod edit;
mod form;
mod history;
mod inside;
mod page;
mod parent;
mod tree;

pub use tree::opened;

use super::route::{ADMINISTRATOR, OPERATOR, Route, VIEWER};
use crate::domain::devices::EVENT;

/// Types of devices that are known everywhere, with what they mean (spec: Device types); others may
/// be used as well.
const TYPES: &[(&str, &str)] = &[
    (EVENT, "What everything else belongs to."),
    (
        "room",
        "A room or an area; sessions belong to the room they are in.",
    ),
    (
        "session",
        "A talk, a workshop, a meal: it has a start and an end, and people check in to it.",
    ),
    ("sponsor", "A stand of somebody who shows something."),
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
    ("organisation", "Who holds events."),
    ("group", "Devices that are looked at together."),
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/devices", VIEWER, tree::show),
        Route::get("/console/devices/:id/branch", VIEWER, tree::branch),
        Route::get("/console/devices/parents", OPERATOR, parent::options),
        Route::get("/console/devices/new", OPERATOR, edit::new),
        Route::post("/console/devices/new", OPERATOR, edit::create),
        Route::get("/console/devices/:id", VIEWER, page::show),
        Route::get("/console/devices/:id/inside", VIEWER, inside::show),
        Route::get("/console/devices/:id/history", VIEWER, history::show),
        Route::get("/console/devices/:id/edit", OPERATOR, edit::show),
        Route::post("/console/devices/:id/edit", OPERATOR, edit::save),
        Route::post("/console/devices/:id/delete", OPERATOR, actions::delete),
        Route::post("/console/devices/:id/restore", OPERATOR, actions::restore),
        Route::post("/console/devices/:id/erase", ADMINISTRATOR, actions::erase),
        Route::post(
            "/console/devices/:id/clients/:client/revoke",
            OPERATOR,
            actions::revoke,
        ),
    ]
}
