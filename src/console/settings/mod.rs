//! The instance, for administrators: what it is called and how it is reached, what sections of data
//! hold, statements, backups, the rehearsal. A file each. `words`: what forms call the settings.

mod access;
mod backups;
mod general;
mod logo;
mod outgoing;
mod rehearsal;
mod schedule;
mod sections;
mod statements;
pub mod words;

use super::{Area, Route, Shell, Visit, answer};
use crate::{
    auth::secret,
    error::{Error, Kind},
};

pub(super) fn routes() -> Vec<Route> {
    [
        general::routes(),
        access::routes(),
        logo::routes(),
        outgoing::routes(),
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

fn shell(visit: &Visit, title: &str) -> Shell {
    visit.shell(title, Some(Area::Settings))
}

/// A mark of what somebody saw, to tell whether it is still so when they save.
pub(super) fn mark(seen: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(seen).unwrap_or_default();
    secret::hex(&secret::digest(&text)[..8])
}

/// As [`told`], where the message names a setting: in the words of its form.
fn told_of(mut error: Error) -> Result<String, Error> {
    error.message = words::in_words(&error.message);
    told(error)
}

/// What is to be told beside a form, where it is something that the form can be mended by.
pub(super) fn told(error: Error) -> Result<String, Error> {
    match error.kind {
        Kind::Defect | Kind::Unavailable => Err(error),
        _ => Ok(answer::sentence(&error.message)),
    }
}
