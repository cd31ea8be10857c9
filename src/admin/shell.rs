//! The state shown around every page: whether gates have contact, what needs somebody, and which day of the
//! event it is. Pages ask for it again and again, which counts as no use of the session.

use super::Console;
use crate::admin::prelude::*;
use crate::{
    core::settings::notices,
    domain::{events, gate::fleet, interactions::log::conflicts_since},
};

/// The address at which pages ask for it.
pub(super) const CONTACT: &str = "/console/contact";
/// The cookie with the groups of the navigation that are open, their names joined by dots. Scripts set it.
pub(super) const OPENED: &str = "gatepost_open";

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER).get(CONTACT, contact).all()
}

/// The state of the server; empty where it could not be read.
#[derive(Debug, Default)]
pub struct Shell {
    /// Gates that were heard of lately, and all.
    pub gates: (i64, i64),
    /// Gates that were there and are silent.
    silent: i64,
    /// Conflicts of this day.
    conflicts: i64,
    /// Notices that nobody acknowledged.
    notices: i64,
    /// The day of the event: its number and how many there are.
    day: Option<(i64, i64)>,
}

impl Shell {
    pub(super) fn read(console: &Console, zone: &Zone, now: Timestamp) -> Self {
        let read = |connection: &Connection| {
            let contact = fleet::contact(connection, console.app(), now)?;
            Ok(Self {
                gates: (contact.online, contact.all),
                silent: contact.silent,
                conflicts: conflicts_since(connection, zone.midnight(now))?,
                notices: notices::list(connection)?
                    .len()
                    .try_into()
                    .unwrap_or_default(),
                day: events::day(connection, zone, now)?,
            })
        };
        console.store.look_up(read).unwrap_or_else(|cause| {
            tracing::warn!("around a page: {cause}");
            Self::default()
        })
    }

    /// Tells whether an event takes place today.
    #[must_use]
    pub fn is_event_day(&self) -> bool {
        self.day.is_some()
    }

    /// The day, as `Day 1 of 2`; empty while there is no event.
    #[must_use]
    pub fn day(&self) -> String {
        match self.day {
            Some((_, 1)) => t("shell-today"),
            Some((day, days)) => {
                let text = tx("shell-day-of-days").with("day", day);
                text.with("days", days).to_string()
            }
            None => String::new(),
        }
    }

    /// Counts the things of an area that need somebody, and names them.
    #[must_use]
    pub fn needs(&self, area: &Area) -> (i64, &'static str) {
        match area {
            Area::Dashboard => (self.notices, "to acknowledge"),
            Area::Interactions => (self.conflicts, "conflicts today"),
            Area::Gates => (self.silent, "without contact"),
            _ => (0, ""),
        }
    }
}

#[derive(Template)]
#[template(path = "contact.html")]
struct Part {
    layout: Layout,
    is_part: bool,
}

async fn contact(request: RequestContext) -> Result<Response> {
    if !request.is_part() {
        return Ok(answer::go("/console"));
    }
    answer::page(&Part {
        layout: request.layout("", None),
        is_part: true,
    })
}
