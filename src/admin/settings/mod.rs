//! The instance, for administrators: what it is called and how it is reached, what sections of data
//! hold, statements, backups, the rehearsal. A file each. `words`: what forms call the settings.

mod access;
mod backups;
mod general;
mod logo;
mod rehearsal;
mod schedule;
mod sections;
mod statements;
pub mod words;

use super::{
    Area, Layout, RequestContext, Route,
    form::{mark, told},
};
use crate::types::error::Error;

pub(super) fn routes() -> Vec<Route> {
    [
        general::routes(),
        logo::routes(),
        sections::routes(),
        statements::routes(),
        backups::routes(),
        schedule::routes(),
        rehearsal::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The parts, with their paths.
const TABS: &[(&str, &str)] = &[
    ("General", "/console/settings"),
    ("Data sections", "/console/settings/sections"),
    ("Statements", "/console/settings/statements"),
    ("Backups", "/console/settings/backups"),
    ("Rehearsal", "/console/settings/rehearsal"),
];

/// What every page of the area shows around its own part.
struct Frame {
    tabs: &'static [(&'static str, &'static str)],
    tab: &'static str,
}

impl Frame {
    fn is(&self, name: &&'static str) -> bool {
        self.tab == *name
    }
}

fn frame(tab: &'static str) -> Frame {
    Frame { tabs: TABS, tab }
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Settings))
}

/// As [`told`], where the message names a setting: in the words of its form.
fn told_of(mut error: Error) -> Result<String, Error> {
    error.message = words::in_words(&error.message);
    told(error)
}
